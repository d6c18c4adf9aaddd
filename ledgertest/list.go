package ledgertest

// Identifiers as opaque bytes, threads apart from each other, and the order of
// what List yields.

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"docket"
)

func checkCallIDs(p *probe) error {
	var rs []docket.Result
	for i, id := range append(hostileIDs(), longIDs()...) {
		rs = append(rs, result(docket.CallID(id), fmt.Sprint("payload of id ", i)))
	}
	hs, err := p.recordAll(thread, rs)
	if err != nil {
		return err
	}
	if err := distinct(hs); err != nil {
		return err
	}
	for i, h := range hs {
		if h.CallID != rs[i].ID {
			return failf("the handle of call id %.40q has call id %.40q", rs[i].ID, h.CallID)
		}
	}
	if err := p.holdAll(thread, hs, rs); err != nil {
		return err
	}
	return p.lists(thread, 0, hs)
}

func checkThreadIDs(p *probe) error {
	for _, id := range []string{"", strings.Repeat("t", docket.MaxThreadID+1)} {
		if _, err := p.ledger.Record(p.ctx, docket.ThreadID(id), result("call_1", "x")); !errors.Is(err, docket.ErrThreadID) {
			return failf("Record in a thread id of %d bytes returned %v, want %v", len(id), err, docket.ErrThreadID)
		}
	}
	ids := append(hostileIDs(), strings.Repeat("t", docket.MaxThreadID), strings.Repeat("t", docket.MaxThreadID-1))
	hs := make([]docket.Handle, len(ids))
	for i, id := range ids {
		var err error
		if hs[i], err = p.record1(docket.ThreadID(id), result("call_1", id)); err != nil {
			return failf("thread %.40q: %w", id, err)
		}
	}
	for i, id := range ids {
		if err := p.lists(docket.ThreadID(id), 0, hs[i:i+1]); err != nil {
			return err
		}
		if err := p.holds(docket.ThreadID(id), hs[i], result("call_1", id)); err != nil {
			return err
		}
	}
	return nil
}

// checkIsolated: the same call ids in two threads, interleaved.
func checkIsolated(p *probe) error {
	threads := []docket.ThreadID{"a", "b", "a/b", "ab"}
	recorded := map[docket.ThreadID][]docket.Result{}
	handles := map[docket.ThreadID][]docket.Handle{}
	for i := range 20 {
		for _, th := range threads {
			r := result(docket.CallID(fmt.Sprint("call_", i)), fmt.Sprintf("result %d of thread %s", i, th))
			h, err := p.record1(th, r)
			if err != nil {
				return err
			}
			recorded[th], handles[th] = append(recorded[th], r), append(handles[th], h)
		}
	}
	for _, th := range threads {
		if err := p.lists(th, 0, handles[th]); err != nil {
			return err
		}
		if err := p.holdAll(th, handles[th], recorded[th]); err != nil {
			return err
		}
		for _, other := range threads {
			if other == th {
				continue
			}
			for _, h := range handles[other] {
				if _, err := p.notFound(th, h.MemID); err != nil {
					return failf("a record of thread %q: %w", other, err)
				}
			}
		}
	}
	return nil
}

func checkList(p *probe) error {
	if err := p.lists("a thread that never was", 0, nil); err != nil {
		return err
	}
	hs, err := p.recordAll(thread, results(40))
	if err != nil {
		return err
	}
	more, err := p.record(thread, varied()...)
	if err != nil {
		return err
	}
	hs = append(hs, more...)
	for i := 1; i < len(hs); i++ {
		if hs[i].Seq <= hs[i-1].Seq {
			return failf("record %d has Seq %d, the one before it %d", i, hs[i].Seq, hs[i-1].Seq)
		}
	}
	if err := p.lists(thread, 0, hs); err != nil {
		return err
	}
	for i := range hs {
		if err := p.lists(thread, hs[i].Seq, hs[i+1:]); err != nil {
			return err
		}
	}
	return p.lists(thread, math.MaxUint64, nil)
}

// checkListStops: a loop that breaks leaves nothing held.
func checkListStops(p *probe) error {
	hs, err := p.recordAll(thread, results(30))
	if err != nil {
		return err
	}
	for range 3 {
		n := 0
		for h, err := range p.ledger.List(p.ctx, thread, 0) {
			if err != nil {
				return err
			}
			if err := sameHandle(h, hs[n]); err != nil {
				return err
			}
			if n++; n == 5 {
				break
			}
		}
		if n != 5 {
			return failf("List yielded %d handles before a break at the fifth", n)
		}
	}
	if err := p.lists(thread, 0, hs); err != nil {
		return failf("after loops that broke off: %w", err)
	}
	return nil
}

// checkViewInside: a search lists or narrows, and views at once what it is given.
func checkViewInside(p *probe) error {
	rs := results(30)
	hs, err := p.recordAll(thread, rs)
	if err != nil {
		return err
	}
	holds := func(id docket.MemID, err error) error {
		i := slices.IndexFunc(hs, func(h docket.Handle) bool { return h.MemID == id })
		if err == nil && i < 0 {
			err = failf("%s was never recorded", id)
		}
		if err != nil {
			return err
		}
		return p.holds(thread, hs[i], rs[i])
	}
	for h, err := range p.ledger.List(p.ctx, thread, 0) {
		if err := holds(h.MemID, err); err != nil {
			return failf("inside a List: %w", err)
		}
	}
	n, ok := p.ledger.(docket.Narrower)
	if !ok {
		return nil
	}
	for id, err := range n.Narrow(p.ctx, thread, nil, false) {
		if err := holds(id, err); err != nil {
			return failf("inside a Narrow: %w", err)
		}
	}
	return nil
}
