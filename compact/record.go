package compact

// Recording: every result above the threshold, at first sight, in one commit. The
// ledger is put-if-absent, so a run on every request churns nothing.

import (
	"context"
	"errors"
	"fmt"

	"docket"
)

// minStub is less than any stub has characters; what is not twice as long can
// have been decided by nobody.
const minStub = 200

// record hands to the ledger what it must keep.
func (r *run) record(ctx context.Context) {
	var due []*occurrence
	for i := range r.list {
		if o := &r.list[i]; r.due(o) {
			due = append(due, o)
		}
	}
	r.recordAll(ctx, due)
}

// due tells whether o is to be recorded: a result above the threshold that has an
// id, whose payload is certain, and that is not our own output.
func (r *run) due(o *occurrence) bool {
	certain := o.hold != ReasonLossy && o.hold != ReasonAmbiguous
	return o.state == statePlain && o.Message >= r.policy.StartIndex &&
		o.Size > r.policy.ForTool(o.Tool).threshold() && o.CallID != "" && certain
}

// recordAll records due in one call. Record is all or nothing, so where one result
// is refused (erased, too large, in conflict) the halves are tried: the others, in
// particular those that are stubs in views already sent, must not suffer.
func (r *run) recordAll(ctx context.Context, due []*occurrence) {
	if len(due) == 0 {
		return
	}
	results := make([]docket.Result, len(due))
	for i, o := range due {
		results[i] = o.result
	}
	handles, err := r.service.Ledger.Record(ctx, r.thread, results...)
	switch {
	case err == nil && len(handles) == len(due):
		for i, o := range due {
			o.handle, o.key, o.MemID = handles[i], handles[i].MemID, handles[i].MemID
		}
	case err == nil:
		r.fail(fmt.Errorf("record: the ledger gave %d handles for %d results", len(handles), len(due)))
	case len(due) > 1 && ctx.Err() == nil && !errors.Is(err, docket.ErrClosed):
		r.recordAll(ctx, due[:len(due)/2])
		r.recordAll(ctx, due[len(due)/2:])
	default:
		r.refuse(due[0].CallID, err)
	}
}

// match finds the records of results that are not due (any more) but decided:
// the threshold was lower once. It lists the thread only if there can be one.
func (r *run) match(ctx context.Context) {
	open := map[docket.CallID][]*occurrence{}
	seen := map[docket.MemID]bool{}
	for i := range r.list {
		o := &r.list[i]
		if r.isDecided(o) {
			seen[o.key] = true
		}
		if o.key == "" && o.state == statePlain && o.CallID != "" && o.hold == "" && o.Size >= 2*minStub {
			open[o.CallID] = append(open[o.CallID], o)
		}
	}
	if len(open) == 0 || len(r.decided.Epochs) == len(seen) {
		return
	}
	for h, err := range r.service.Ledger.List(ctx, r.thread, 0) {
		if err != nil {
			r.fail(fmt.Errorf("list records: %w", err))
			return
		}
		if _, ok := r.decided.Epochs[h.MemID]; ok {
			matchHandle(open[h.CallID], h)
		}
	}
}

// matchHandle gives h to those of open that it is the handle of.
func matchHandle(open []*occurrence, h docket.Handle) {
	for _, o := range open {
		if o.key == "" && o.Size == h.Chars && docket.DigestOf(o.result.Payload) == h.Digest {
			o.handle, o.key, o.MemID = h, h.MemID, h.MemID
		}
	}
}
