package engine

// Recording: put if absent, all or none.

import (
	"context"
	"fmt"

	"docket"
	"docket/codec"
)

// recording is one call of Record on its way.
type recording struct {
	l       *Ledger
	thread  docket.ThreadID
	results []docket.Result
	digests []docket.Digest
	handles []docket.Handle
	drafts  []*draft // nil where the record is already there
}

// Record persists results in thread; see [docket.Ledger]. What is there already is
// found by reading only. The rest is compressed and indexed before the commit, in
// the caller's goroutine and as many more as there are processors. One commit
// takes all that arrive while another is under way.
//
// Errors besides the interface's: [docket.ErrReadOnly], [docket.ErrClosed],
// [ErrUnknown] and [ErrFull] when the commit fails. ctx is waited on until the
// commit begins; after that its outcome is waited for.
func (l *Ledger) Record(ctx context.Context, thread docket.ThreadID, results ...docket.Result) ([]docket.Handle, error) {
	if err := checkResults(ctx, thread, results, l.opts.MaxPayload); err != nil {
		return nil, err
	}
	if err := l.writable(); err != nil {
		return nil, err
	}
	r := &recording{
		l: l, thread: thread, results: results,
		digests: make([]docket.Digest, len(results)),
		handles: make([]docket.Handle, len(results)),
		drafts:  make([]*draft, len(results)),
	}
	for i := range results {
		r.digests[i] = docket.DigestOf(results[i].Payload)
	}
	missing, err := r.lookup()
	if err != nil || len(missing) == 0 {
		return r.outcome(err)
	}
	o := &op{apply: r.apply}
	for _, i := range missing {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.drafts[i] = build(l.enc, &results[i], r.digests[i])
		o.bytes += r.drafts[i].stored
	}
	return r.outcome(l.commit(ctx, o))
}

// checkResults refuses what no ledger records.
func checkResults(ctx context.Context, thread docket.ThreadID, results []docket.Result, maxPayload int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(thread) == 0 || len(thread) > docket.MaxThreadID {
		return docket.ErrThreadID
	}
	for i := range results {
		if n := int64(len(results[i].Payload)); n > maxPayload {
			return fmt.Errorf("%w: %d bytes, at most %d", docket.ErrTooLarge, n, maxPayload)
		}
		if n := asideOf(&results[i]).Size(); n > codec.MaxAside {
			return fmt.Errorf("%w: arguments and attachments of %d bytes, at most %d", docket.ErrTooLarge, n, codec.MaxAside)
		}
	}
	return nil
}

// outcome is what Record returns: the handles, and with a conflict those of the
// originals.
func (r *recording) outcome(err error) ([]docket.Handle, error) {
	if err != nil && !isConflict(err) {
		return nil, err
	}
	return r.handles, err
}

// lookup finds which results are recorded and returns the numbers of the others.
func (r *recording) lookup() (missing []int, err error) {
	err = r.l.view("thread", func(tx txn) error {
		t, err := openThread(tx, r.l.path, r.thread)
		if err != nil {
			return err
		}
		missing, err = r.present(t)
		return err
	})
	return missing, err
}

// present sets the handles of the results that thread t (nil: it does not exist)
// has live and visible, and returns the numbers of the others. Errors:
// [docket.ErrErased], else [docket.ErrConflict].
func (r *recording) present(t *thread) (missing []int, err error) {
	for i := range r.results {
		h, ok, err := r.recorded(t, i)
		if err != nil {
			return nil, err
		}
		r.handles[i] = h
		if !ok {
			missing = append(missing, i)
		}
	}
	if r.l.opts.StrictIDs {
		err = r.conflicts(t)
	}
	return missing, err
}

// conflicts looks for results whose call id stands for another payload, in thread t
// or earlier in the call, and sets their handles to the original's.
func (r *recording) conflicts(t *thread) (conflict error) {
	seen := map[docket.CallID]docket.Digest{}
	for i := range r.results {
		call, digest := r.results[i].ID, r.digests[i]
		if call == "" {
			continue
		}
		original, other, err := t.original(call, digest)
		if err != nil {
			return err
		}
		if before, ok := seen[call]; other || (ok && before != digest) {
			r.handles[i] = r.named(original)
			conflict = fmt.Errorf("%w: call id %q", docket.ErrConflict, call)
		}
		seen[call] = digest
	}
	return conflict
}

// recorded returns the handle of result i if the thread sees it live.
func (r *recording) recorded(t *thread, i int) (docket.Handle, bool, error) {
	if t == nil {
		return docket.Handle{}, false, nil
	}
	id := docket.DeriveMemID(t.key, r.results[i].ID, r.digests[i])
	seq, err := t.seqOf(id)
	if err != nil || seq == 0 {
		return docket.Handle{}, false, err
	}
	row, err := t.rowOf(id, seq)
	if err != nil {
		return docket.Handle{}, false, err
	}
	if row.state == erased {
		return docket.Handle{}, false, docket.ErrErased
	}
	visible, err := t.sees(seq)
	if err != nil || !visible || row.state != live {
		return docket.Handle{}, false, err
	}
	return r.named(row.handle), true, nil
}

// named puts the thread into a handle.
func (r *recording) named(h docket.Handle) docket.Handle {
	if h.MemID != "" {
		h.Thread = r.thread
	}
	return h
}

// original returns the first handle that thread t has of a call id, and whether
// its payload is another one. Of an erased record nothing is left to be in
// conflict with.
func (t *thread) original(call docket.CallID, digest docket.Digest) (h docket.Handle, other bool, err error) {
	if t == nil {
		return h, false, nil
	}
	for seq, err := range t.callSeqs(call) {
		if err != nil {
			return h, false, err
		}
		row, err := t.row(seq)
		if err != nil {
			return h, false, err
		}
		if row.state != erased && row.handle.CallID == call {
			return row.handle, row.handle.Digest != digest, nil
		}
	}
	return h, false, nil
}

// apply puts the drafts into a transaction. What others committed since lookup is
// found again.
func (r *recording) apply(tx txn, writes func()) error {
	t, err := openThread(tx, r.l.path, r.thread)
	if err != nil {
		return err
	}
	missing, err := r.present(t)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	writes()
	now := r.l.opts.Now()
	if t == nil {
		if t, err = makeThread(tx, r.l.path, r.thread, now); err != nil {
			return err
		}
	}
	for _, i := range missing {
		h, ok, err := r.recorded(t, i) // twice in one call: the first one is there by now
		if err == nil && !ok {
			h, err = t.put(r.drafts[i], now)
		}
		if err != nil {
			return fmt.Errorf("engine: record: %w", err)
		}
		r.handles[i] = r.named(h)
	}
	return nil
}
