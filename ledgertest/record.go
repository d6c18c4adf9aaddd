package ledgertest

// What Record promises: durable, all or none, put if absent, and a handle that
// tells the truth.

import (
	"context"
	"errors"
	"slices"
	"strings"

	"docket"
)

func checkReadBack(p *probe) error {
	rs := varied()
	hs, err := p.recordAll(thread, rs)
	if err != nil {
		return err
	}
	return p.holdAll(thread, hs, rs)
}

func checkBatch(p *probe) error {
	if hs, err := p.ledger.Record(p.ctx, thread); err != nil || len(hs) != 0 {
		return failf("Record of no results: %d handles, error %v", len(hs), err)
	}
	rs := append(results(500), varied()...)
	hs, err := p.record(thread, rs...)
	if err != nil {
		return err
	}
	for i := 1; i < len(hs); i++ {
		if hs[i].Seq <= hs[i-1].Seq {
			return failf("result %d of a batch has Seq %d, the one before it %d", i, hs[i].Seq, hs[i-1].Seq)
		}
	}
	if err := p.holdAll(thread, hs, rs); err != nil {
		return err
	}
	return p.lists(thread, 0, hs)
}

// refused demands that recording rs ends in want and leaves nothing behind.
func (p *probe) refused(want error, rs ...docket.Result) error {
	before, err := p.list(thread, 0)
	if err != nil {
		return err
	}
	if _, err := p.ledger.Record(p.ctx, thread, rs...); !errors.Is(err, want) {
		return failf("Record returned %v, want %v", err, want)
	}
	if err := p.lists(thread, 0, before); err != nil {
		return failf("after a refused batch: %w", err)
	}
	return nil
}

func checkTooLarge(p *probe) error {
	fits := result("fits", strings.Repeat("a", p.opts.MaxPayload))
	h, err := p.record1(thread, fits)
	if err != nil {
		return failf("a payload of exactly MaxPayload: %w", err)
	}
	if err := p.holds(thread, h, fits); err != nil {
		return err
	}
	large := result("large", strings.Repeat("a", p.opts.MaxPayload+1))
	return p.refused(docket.ErrTooLarge, result("first", "1"), large, result("last", "3"))
}

func checkConflictingBatch(p *probe) error {
	if _, err := p.record1(thread, result("known", "original")); err != nil {
		return err
	}
	err := p.refused(docket.ErrConflict, result("first", "1"), result("known", "other"), result("last", "3"))
	if err != nil {
		return err
	}
	return p.refused(docket.ErrConflict, result("twice", "1"), result("twice", "2"))
}

func checkCancelled(p *probe) error {
	live := p.ctx
	h, err := p.record1(thread, result("before", "before"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(live)
	cancel()
	if _, err := p.ledger.Record(ctx, thread, result("during", "during")); !errors.Is(err, context.Canceled) {
		return failf("Record under a cancelled context returned %v, want %v", err, context.Canceled)
	}
	if err := p.lists(thread, 0, []docket.Handle{h}); err != nil {
		return failf("after Record under a cancelled context: %w", err)
	}
	called := false
	err = p.ledger.View(ctx, thread, h.MemID, func(docket.Record) error { called = true; return nil })
	if !errors.Is(err, context.Canceled) || called {
		return failf("View under a cancelled context returned %v, want %v; function called: %t", err, context.Canceled, called)
	}
	for _, err = range p.ledger.List(ctx, thread, 0) {
	}
	if !errors.Is(err, context.Canceled) {
		return failf("List under a cancelled context ended with %v, want %v", err, context.Canceled)
	}
	return nil
}

func checkReopened(p *probe) error {
	rs := varied()
	hs, err := p.record(thread, rs...)
	if err != nil {
		return err
	}
	p.reopen()
	if err := p.lists(thread, 0, hs); err != nil {
		return err
	}
	if err := p.holdAll(thread, hs, rs); err != nil {
		return err
	}
	again, err := p.record(thread, rs...)
	if err != nil {
		return err
	}
	for i := range again {
		if err := sameHandle(again[i], hs[i]); err != nil {
			return failf("recorded again after reopening: %w", err)
		}
	}
	return p.lists(thread, 0, hs)
}

func checkTwice(p *probe) error {
	rs := varied()
	first, err := p.recordAll(thread, rs)
	if err != nil {
		return err
	}
	for i, r := range rs {
		r.Tool, r.Args, r.IsError = "another name", []byte(`{"other":true}`), !r.IsError
		again, err := p.record1(thread, r)
		if err != nil {
			return err
		}
		if err := sameHandle(again, first[i]); err != nil {
			return failf("the same call id and payload again: %w", err)
		}
	}
	if err := p.holdAll(thread, first, rs); err != nil {
		return err
	}
	return p.lists(thread, 0, first)
}

func checkTwiceInBatch(p *probe) error {
	a, b := result("a", "payload"), result("b", "payload")
	hs, err := p.record(thread, a, b, a)
	if err != nil {
		return err
	}
	if err := sameHandle(hs[2], hs[0]); err != nil {
		return failf("one result twice in a batch: %w", err)
	}
	if hs[0].MemID == hs[1].MemID {
		return failf("two call ids with one payload have one mem id, %s", hs[0].MemID)
	}
	return p.lists(thread, 0, hs[:2])
}

func checkOtherPayload(p *probe) error {
	rs := []docket.Result{result("call_1", "one"), result("call_1", "two"), result("call_1", ""), result("call_1", "onetwo")}
	hs, err := p.recordAll(thread, rs)
	if err != nil {
		return err
	}
	if err := distinct(hs); err != nil {
		return err
	}
	if err := p.holdAll(thread, hs, rs); err != nil {
		return err
	}
	return p.lists(thread, 0, hs)
}

// distinct demands that no two handles share a mem id or a Seq.
func distinct(hs []docket.Handle) error {
	for i, h := range hs {
		same := func(other docket.Handle) bool { return other.MemID == h.MemID || other.Seq == h.Seq }
		if j := slices.IndexFunc(hs[:i], same); j >= 0 {
			return failf("results %d and %d share mem id or Seq: %s at %d, %s at %d", j, i, hs[j].MemID, hs[j].Seq, h.MemID, h.Seq)
		}
	}
	return nil
}

func checkConflict(p *probe) error {
	original := result("call_1", "one")
	h, err := p.record1(thread, original)
	if err != nil {
		return err
	}
	got, err := p.ledger.Record(p.ctx, thread, result("call_1", "two"))
	if !errors.Is(err, docket.ErrConflict) {
		return failf("the same call id with another payload: error %v, want %v", err, docket.ErrConflict)
	}
	if len(got) != 1 {
		return failf("a conflict returned %d handles, want the original one", len(got))
	}
	if err := sameHandle(got[0], h); err != nil {
		return failf("a conflict: %w", err)
	}
	if err := p.holds(thread, h, original); err != nil {
		return err
	}
	return p.lists(thread, 0, []docket.Handle{h})
}

func checkNoCallID(p *probe) error {
	rs := []docket.Result{result("", "one"), result("", "two"), result("", "")}
	hs, err := p.record(thread, rs...)
	if err != nil {
		return err
	}
	if err := distinct(hs); err != nil {
		return err
	}
	return p.holdAll(thread, hs, rs)
}
