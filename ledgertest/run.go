package ledgertest

// The table of checks and what they share. A check returns an error instead of
// failing a *testing.T (as testing/fstest does), so that this package's tests can
// run each on a ledger that must fail it. The checks themselves are in record.go,
// view.go, list.go, narrow.go, decide.go, fork.go, move.go and together.go.

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"docket"
)

// Options says what the suite cannot see from the interface. The zero value, like
// nil, suits a ledger with default limits.
type Options struct {
	// StrictIDs says that the ledger answers a known call id with another payload
	// with [docket.ErrConflict] and the original handle. Default: such a result is
	// a record of its own.
	StrictIDs bool
	// MaxPayload is the largest payload in bytes that the ledger accepts, at least
	// 1 MiB. Default: unknown, the limit is not checked.
	MaxPayload int
	// MaxFrame is the largest frame in bytes that a record may hand out. Default:
	// 64 KiB; a reader decodes whole frames, so larger ones make slices dear.
	MaxFrame int
	// Reopen closes a ledger and opens it again as a new process would. Default:
	// nil, the ledger ends with the process and durability is not checked.
	Reopen func(t *testing.T, l docket.Ledger) docket.Ledger
}

// Run runs each check as a subtest on a ledger that open returns. The ledger must
// be empty, and open be good for two at once; open registers its own cleanup with its t.
func Run(t *testing.T, open func(t *testing.T) docket.Ledger, opts *Options) {
	t.Helper()
	if opts == nil {
		opts = &Options{}
	}
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			if reason := c.skip(*opts); reason != "" {
				t.Skip(reason)
			}
			p := newProbe(t.Context(), open(t), *opts)
			p.other = func() docket.Ledger { return open(t) }
			if opts.Reopen != nil {
				p.reopen = func() { p.ledger = opts.Reopen(t, p.ledger) }
			}
			if err := c.run(p); err == errSkipped {
				t.Skip("the ledger does not implement it")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// check is one property. An error tells how the ledger fails it.
type check struct {
	name string
	when condition
	run  func(p *probe) error
}

// condition says for which options a check is meant.
type condition int

const (
	always condition = iota
	ifLoose
	ifStrict
	ifLimited
	ifDurable
)

func (c check) skip(o Options) string {
	switch {
	case c.when == ifLoose && o.StrictIDs:
		return "the ledger has strict ids"
	case c.when == ifStrict && !o.StrictIDs:
		return "the ledger has no strict ids"
	case c.when == ifLimited && o.MaxPayload == 0:
		return "Options.MaxPayload is not set"
	case c.when == ifDurable && o.Reopen == nil:
		return "Options.Reopen is not set"
	}
	return ""
}

func checks() []check {
	return []check{
		{"L1 recorded and read back", always, checkReadBack},
		{"L1 batch in order", always, checkBatch},
		{"L1 nothing of a refused batch", ifLimited, checkTooLarge},
		{"L1 nothing of a conflicting batch", ifStrict, checkConflictingBatch},
		{"L1 nothing under a cancelled context", always, checkCancelled},
		{"L1 survives reopening", ifDurable, checkReopened},
		{"L2 same result twice", always, checkTwice},
		{"L2 same result twice in a batch", always, checkTwiceInBatch},
		{"L3 same call id, other payload", ifLoose, checkOtherPayload},
		{"L3 same call id, other payload, strict", ifStrict, checkConflict},
		{"L3 no call id", ifLoose, checkNoCallID},
		{"L4 handle tells the result", always, checkHandle},
		{"L4 descriptive fields are lines", always, checkLines},
		{"L5 mem id and tag are the thread's own", always, checkDerived},
		{"L8 unknown and foreign mem ids", always, checkUnknown},
		{"L10 sizes count characters", always, checkChars},
		{"call ids are opaque bytes", always, checkCallIDs},
		{"thread ids are opaque bytes", always, checkThreadIDs},
		{"threads are isolated", always, checkIsolated},
		{"caller keeps its slices", always, checkCallerOwns},
		{"copies stay as they were", always, checkCopies},
		{"frames make the payload", always, checkFrames},
		{"sections parse or are nil", always, checkSections},
		{"view passes errors through", always, checkViewErrors},
		{"list in order of recording", always, checkList},
		{"list stops when asked", always, checkListStops},
		{"view inside a loop", always, checkViewInside},
		{"narrow never misses", always, checkNarrow},
		{"log is grow-only", always, checkLog},
		{"log is the thread's own", always, checkLogIsolated},
		{"log survives reopening", ifDurable, checkLogReopened},
		{"checkpoint names a moment", always, checkCheckpoints},
		{"fork has the past", always, checkFork},
		{"fork goes its own way", always, checkForkDiverges},
		{"fork and rewind tell what is missing", always, checkForkErrors},
		{"rewind brings decisions back", always, checkRewind},
		{"past survives reopening", ifDurable, checkPastReopened},
		{"L5 exported and imported", always, checkMove},
		{"import brings forward", always, checkMoveForward},
		{"import joins its lineage", always, checkMoveJoins},
		{"import refuses what is damaged", always, checkMoveDamaged},
		{"export tells what is missing", always, checkMoveErrors},
		{"together", always, checkTogether},
		{"log together", always, checkLogTogether},
	}
}

// failf makes the error that a check returns. It begins with the name of the method
// that failed, so it is no error string as libraries have them.
func failf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// probe is what a check works with.
type probe struct {
	ctx    context.Context
	ledger docket.Ledger
	opts   Options
	reopen func()
	other  func() docket.Ledger // another ledger, empty
}

func newProbe(ctx context.Context, l docket.Ledger, o Options) *probe {
	if o.MaxFrame == 0 {
		o.MaxFrame = 64 << 10
	}
	return &probe{ctx: ctx, ledger: l, opts: o}
}

// record records results and returns as many handles.
func (p *probe) record(thread docket.ThreadID, results ...docket.Result) ([]docket.Handle, error) {
	hs, err := p.ledger.Record(p.ctx, thread, results...)
	if err != nil {
		return nil, failf("Record of %d results: %w", len(results), err)
	}
	if len(hs) != len(results) {
		return nil, failf("Record of %d results returned %d handles", len(results), len(hs))
	}
	return hs, nil
}

// record1 records one result.
func (p *probe) record1(thread docket.ThreadID, r docket.Result) (docket.Handle, error) {
	hs, err := p.record(thread, r)
	if err != nil {
		return docket.Handle{}, err
	}
	return hs[0], nil
}

// recordAll records results one call each.
func (p *probe) recordAll(thread docket.ThreadID, results []docket.Result) ([]docket.Handle, error) {
	hs := make([]docket.Handle, len(results))
	for i, r := range results {
		var err error
		if hs[i], err = p.record1(thread, r); err != nil {
			return nil, err
		}
	}
	return hs, nil
}

// list returns the handles of thread after a position.
func (p *probe) list(thread docket.ThreadID, after docket.Seq) ([]docket.Handle, error) {
	var hs []docket.Handle
	for h, err := range p.ledger.List(p.ctx, thread, after) {
		if err != nil {
			return nil, failf("List of %q after %d: %w", thread, after, err)
		}
		hs = append(hs, h)
	}
	return hs, nil
}

// lists demands that List yields exactly want.
func (p *probe) lists(thread docket.ThreadID, after docket.Seq, want []docket.Handle) error {
	got, err := p.list(thread, after)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return failf("List of %q after %d yields %d handles, want %d", thread, after, len(got), len(want))
	}
	for i := range want {
		if err := sameHandle(got[i], want[i]); err != nil {
			return failf("List of %q after %d, handle %d: %w", thread, after, i, err)
		}
	}
	return nil
}

// holds demands that the record of h gives back r, and h.
func (p *probe) holds(thread docket.ThreadID, h docket.Handle, r docket.Result) error {
	called := false
	err := p.ledger.View(p.ctx, thread, h.MemID, func(rec docket.Record) error {
		called = true
		return sameRecord(rec, h, r)
	})
	if err == nil && !called {
		err = failf("returned nil without calling the function")
	}
	if err != nil {
		return failf("View of %s (call id %.40q, %d bytes): %w", h.MemID, r.ID, len(r.Payload), err)
	}
	return nil
}

// holdAll is holds for results recorded in order.
func (p *probe) holdAll(thread docket.ThreadID, hs []docket.Handle, rs []docket.Result) error {
	for i := range rs {
		if err := p.holds(thread, hs[i], rs[i]); err != nil {
			return err
		}
	}
	return nil
}

func sameRecord(rec docket.Record, h docket.Handle, r docket.Result) error {
	if err := sameHandle(rec.Handle(), h); err != nil {
		return err
	}
	got, err := payloadOf(rec)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, r.Payload) {
		return failf("the payload differs: %d bytes with digest %s, recorded %d with %s",
			len(got), docket.DigestOf(got), len(r.Payload), docket.DigestOf(r.Payload))
	}
	if !bytes.Equal(rec.Args(), r.Args) || (rec.Args() == nil) != (r.Args == nil) {
		return failf("Args differ: %d bytes (nil: %t), recorded %d (nil: %t)",
			len(rec.Args()), rec.Args() == nil, len(r.Args), r.Args == nil)
	}
	return sameAttachments(rec, r.Attachments)
}

func sameAttachments(rec docket.Record, want []docket.Attachment) error {
	got, err := rec.Attachments()
	if err != nil {
		return failf("Attachments: %w", err)
	}
	if len(got) != len(want) {
		return failf("%d attachments, recorded %d", len(got), len(want))
	}
	for i := range want {
		if got[i].Kind != want[i].Kind || !bytes.Equal(got[i].Data, want[i].Data) {
			return failf("attachment %d differs: %q of %d bytes, recorded %q of %d",
				i, got[i].Kind, len(got[i].Data), want[i].Kind, len(want[i].Data))
		}
	}
	return nil
}

// payloadOf concatenates the frames of rec.
func payloadOf(rec docket.Record) ([]byte, error) {
	var payload []byte
	for n := range rec.Frames() {
		var err error
		if payload, err = rec.AppendFrame(payload, n); err != nil {
			return nil, failf("frame %d of %d: %w", n, rec.Frames(), err)
		}
	}
	return payload, nil
}

// sameHandle compares all fields; instants by the moment that they name.
func sameHandle(got, want docket.Handle) error {
	if !got.Created.Equal(want.Created) {
		return failf("handle of %s: created %v, want %v", want.MemID, got.Created, want.Created)
	}
	got.Created = want.Created
	if got != want {
		return failf("handles differ: %+v, want %+v", got, want)
	}
	return nil
}
