package ledgertest

// Threads through time (docket.Forker), for ledgers that have them: checkpoints, forks,
// rewinds. Moving threads is in move.go.

import (
	"errors"
	"maps"
	"slices"

	"docket"
)

// forks is a ledger whose threads have a past, and its log.
type forks struct {
	*decisions
	forker docket.Forker
}

func newForks(p *probe) (*forks, error) {
	forker, ok := p.ledger.(docket.Forker)
	if !ok {
		return nil, errSkipped
	}
	d, err := newDecisions(p)
	if err != nil {
		return nil, err
	}
	return &forks{d, forker}, nil
}

// state is what can be seen of a thread.
type state struct {
	handles   []docket.Handle
	decisions docket.Decisions
}

func (f *forks) state(id docket.ThreadID) (state, error) {
	hs, err := f.list(id, 0)
	if err != nil {
		return state{}, err
	}
	ds, err := f.log.Decided(f.ctx, id)
	if err != nil {
		return state{}, failf("Decided of %q: %w", id, err)
	}
	return state{hs, ds}, nil
}

// is demands that id is in state want: handles but for the thread, decisions wholly.
func (f *forks) is(id docket.ThreadID, want state) error {
	got, err := f.state(id)
	if err != nil {
		return err
	}
	if len(got.handles) != len(want.handles) {
		return failf("thread %q has %d records, want %d", id, len(got.handles), len(want.handles))
	}
	for i, h := range want.handles {
		h.Thread = id
		if err := sameHandle(got.handles[i], h); err != nil {
			return failf("thread %q: %w", id, err)
		}
		if err := f.ledger.View(f.ctx, id, h.MemID, func(docket.Record) error { return nil }); err != nil {
			return failf("View of %s in thread %q: %w", h.MemID, id, err)
		}
	}
	return sameDecisions(id, got.decisions, want.decisions)
}

func sameDecisions(id docket.ThreadID, got, want docket.Decisions) error {
	if !maps.Equal(got.Epochs, want.Epochs) || !slices.Equal(got.Messages, want.Messages) {
		return failf("thread %q decided %v in requests of %v messages, want %v of %v", id, got.Epochs, got.Messages, want.Epochs, want.Messages)
	}
	if len(want.Epochs) > 0 && got.Form.Filled() != want.Form.Filled() {
		return failf("thread %q has the form %+v, want %+v", id, got.Form, want.Form)
	}
	return nil
}

// step makes the thread go on: one record, one decision.
func (f *forks) step(id docket.ThreadID, n int) error {
	name := docket.CallID("step " + string(rune('a'+n)))
	h, err := f.record1(id, result(name, string(name)+" of anybody"))
	if err != nil {
		return err
	}
	_, err = f.log.Append(f.ctx, id, docket.Epoch{Form: docket.Form{RecallTool: "first"}, Mems: []docket.MemID{h.MemID}, Messages: 10 + n})
	if err != nil {
		return failf("Append to %q: %w", id, err)
	}
	return nil
}

// mark keeps the present of the thread.
func (f *forks) mark(id docket.CheckpointID) (state, error) {
	c, err := f.forker.Checkpoint(f.ctx, thread, id)
	if err != nil {
		return state{}, failf("Checkpoint %q: %w", id, err)
	}
	s, err := f.state(thread)
	if err == nil && (c.ID != id || c.Thread != thread || c.Epochs != len(s.decisions.Messages)) {
		err = failf("Checkpoint %q returns %+v of %d epochs", id, c, len(s.decisions.Messages))
	}
	return s, err
}

// listed returns the ids of a thread's checkpoints.
func (f *forks) listed(id docket.ThreadID) (ids []docket.CheckpointID, err error) {
	for c, err := range f.forker.Checkpoints(f.ctx, id) {
		if err != nil {
			return nil, failf("Checkpoints of %q: %w", id, err)
		}
		if c.Thread != id {
			return nil, failf("Checkpoints of %q yields one of %q", id, c.Thread)
		}
		ids = append(ids, c.ID)
	}
	return ids, nil
}

func (f *forks) fork(at docket.CheckpointID, to docket.ThreadID) error {
	if err := f.forker.Fork(f.ctx, thread, at, to); err != nil {
		return failf("Fork at %q: %w", at, err)
	}
	return nil
}

// demand compares an error with the wanted one.
func demand(what string, err, want error) error {
	if !errors.Is(err, want) {
		return failf("%s: error %v, want %v", what, err, want)
	}
	return nil
}

func checkCheckpoints(p *probe) error {
	f, err := newForks(p)
	if err != nil {
		return err
	}
	if ids, err := f.listed("a thread that never was"); err != nil || len(ids) != 0 {
		return failf("Checkpoints of a thread that never was: %v, error %v", ids, err)
	}
	if _, err := f.mark("one"); err != nil {
		return err
	}
	if _, err := f.mark("one"); err != nil {
		return failf("the same moment again: %w", err)
	}
	if err := f.step(thread, 1); err != nil {
		return err
	}
	_, err = f.forker.Checkpoint(f.ctx, thread, "one")
	if err := demand("Checkpoint under the id of another moment", err, docket.ErrCheckpointExists); err != nil {
		return err
	}
	a, err := f.forker.Checkpoint(f.ctx, thread, "")
	b, err2 := f.forker.Checkpoint(f.ctx, thread, "")
	if err != nil || err2 != nil || a.ID == "" || a.ID == b.ID {
		return failf("Checkpoint without an id: %q, %q, errors %v, %v", a.ID, b.ID, err, err2)
	}
	_, err = f.forker.Checkpoint(f.ctx, thread, docket.CheckpointID(make([]byte, docket.MaxCheckpointID+1)))
	if err := demand("Checkpoint under too long an id", err, docket.ErrCheckpointID); err != nil {
		return err
	}
	ids, err := f.listed(thread)
	if err != nil || len(ids) != 3 || !slices.Contains(ids, "one") || !slices.Contains(ids, a.ID) {
		return failf("Checkpoints yields %q, error %v", ids, err)
	}
	if _, err := f.forker.Checkpoint(f.ctx, "a new thread", "start"); err != nil {
		return failf("Checkpoint of a new thread: %w", err)
	}
	return nil
}

func checkFork(p *probe) error {
	f, err := newForks(p)
	if err != nil {
		return err
	}
	var marks []state
	ids := []docket.CheckpointID{"0", "1", "2", "3"}
	for i, id := range ids {
		s, err := f.mark(id)
		if err == nil {
			err = f.step(thread, i)
		}
		if err != nil {
			return err
		}
		marks = append(marks, s)
	}
	now, err := f.state(thread)
	if err != nil {
		return err
	}
	for i, id := range ids {
		to := docket.ThreadID("fork at " + id)
		if err := f.fork(id, to); err != nil {
			return err
		}
		if err := f.is(to, marks[i]); err != nil {
			return failf("forked at checkpoint %d: %w", i, err)
		}
		if got, err := f.listed(to); err != nil || !slices.Equal(got, ids[:i+1]) {
			return failf("the fork at checkpoint %d has checkpoints %q, error %v", i, got, err)
		}
	}
	if err := f.fork("", "fork now"); err != nil {
		return err
	}
	if err := f.is("fork now", now); err != nil {
		return err
	}
	return f.is(thread, now)
}

// checkForkDiverges: nothing of what one of them does afterwards is seen in the other,
// and the same result has the same mem id in both.
func checkForkDiverges(p *probe) error {
	f, err := newForks(p)
	if err != nil {
		return err
	}
	before, err := f.state(thread)
	if err == nil {
		err = f.fork("", "fork")
	}
	if err == nil {
		err = f.step("fork", 1)
	}
	if err != nil {
		return err
	}
	if err := f.is(thread, before); err != nil {
		return failf("after its fork went on: %w", err)
	}
	mark, err := f.mark("before the same")
	if err != nil {
		return err
	}
	if err := f.step(thread, 1); err != nil {
		return err
	}
	if err := f.step(thread, 2); err != nil {
		return err
	}
	a, err := f.state(thread)
	b, err2 := f.state("fork")
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if len(b.handles) != len(before.handles)+1 || len(a.handles) != len(before.handles)+2 {
		return failf("%d records became %d in the thread and %d in its fork, want 2 and 1 more", len(before.handles), len(a.handles), len(b.handles))
	}
	if !slices.ContainsFunc(a.handles, func(h docket.Handle) bool { return h.MemID == b.handles[len(b.handles)-1].MemID }) {
		return failf("the same result has another mem id in the fork")
	}
	if err := f.fork("before the same", "late"); err != nil {
		return err
	}
	if err := f.is("late", mark); err != nil {
		return failf("a record that the fork had recorded before the checkpoint, and the thread after it: %w", err)
	}
	return nil
}

func checkForkErrors(p *probe) error {
	f, err := newForks(p)
	if err != nil {
		return err
	}
	if err := f.fork("", "fork"); err != nil {
		return err
	}
	before, err := f.state("fork")
	if err != nil {
		return err
	}
	fork := f.forker.Fork
	for _, err := range []error{
		demand("Fork of nothing", fork(f.ctx, "a thread that never was", "", "x"), docket.ErrNoThread),
		demand("Fork at nothing", fork(f.ctx, thread, "nothing", "x"), docket.ErrNoCheckpoint),
		demand("Fork onto a thread", fork(f.ctx, thread, "", "fork"), docket.ErrThreadExists),
		demand("Fork to no id", fork(f.ctx, thread, "", ""), docket.ErrThreadID),
		demand("Rewind of nothing", f.forker.Rewind(f.ctx, "a thread that never was", "x"), docket.ErrNoThread),
		demand("Rewind to nothing", f.forker.Rewind(f.ctx, thread, "nothing"), docket.ErrNoCheckpoint),
	} {
		if err != nil {
			return err
		}
	}
	if err := f.is("x", state{}); err != nil {
		return failf("after forks that failed: %w", err)
	}
	return f.is("fork", before)
}

// checkRewind: back, another way, back to the first way; records stay.
func checkRewind(p *probe) error {
	f, err := newForks(p)
	if err != nil {
		return err
	}
	marks := map[docket.CheckpointID]state{}
	keep := func(id docket.CheckpointID, step int) error {
		s, err := f.mark(id)
		if err != nil {
			return err
		}
		marks[id] = s
		return f.step(thread, step)
	}
	back := func(id docket.CheckpointID) error {
		had, err := f.state(thread)
		if err != nil {
			return err
		}
		if err := f.forker.Rewind(f.ctx, thread, id); err != nil {
			return failf("Rewind to %q: %w", id, err)
		}
		if err := f.is(thread, state{had.handles, marks[id].decisions}); err != nil {
			return failf("after a rewind to %q: %w", id, err)
		}
		return nil
	}
	steps := []func() error{
		func() error { return keep("0", 0) }, func() error { return keep("1", 1) }, func() error { return keep("2", 2) },
		func() error { return back("1") }, func() error { return f.step(thread, 3) },
		func() error { return keep("other 2", 4) },
		func() error { return back("2") }, func() error { return back("0") }, func() error { return back("other 2") },
		func() error { return back("other 2") }, func() error { return f.step(thread, 5) },
		func() error { return back("1") },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return failf("step %d: %w", i, err)
		}
	}
	for id, s := range marks { // forks at moments of every line
		to := docket.ThreadID("fork of " + id)
		if err := f.fork(id, to); err != nil {
			return err
		}
		if err := f.is(to, s); err != nil {
			return failf("forked at %q after rewinds: %w", id, err)
		}
	}
	return nil
}

func checkPastReopened(p *probe) error {
	f, err := newForks(p)
	if err != nil {
		return err
	}
	mark, err := f.mark("mark")
	if err == nil {
		err = f.step(thread, 1)
	}
	if err == nil {
		err = f.fork("", "fork")
	}
	if err != nil {
		return err
	}
	fork, err := f.state("fork")
	if err != nil {
		return err
	}
	if err := f.forker.Rewind(f.ctx, thread, "mark"); err != nil {
		return failf("Rewind: %w", err)
	}
	after, err := f.state(thread)
	if err != nil {
		return err
	}
	p.reopen()
	f.forker, f.log = p.ledger.(docket.Forker), p.ledger.(decisionLog)
	if err := f.fork("mark", "again"); err != nil {
		return err
	}
	return errors.Join(f.is(thread, after), f.is("fork", fork), f.is("again", mark))
}
