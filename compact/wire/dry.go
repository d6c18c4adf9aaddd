package wire

// The decision log of a dry run: what was decided for good, and on top of it, in memory,
// what would have been.

import (
	"context"
	"sync"

	"docket"
	"docket/compact"
)

// dryLog is a [compact.Log] that writes nothing.
type dryLog struct {
	log compact.Log

	mu     sync.Mutex
	epochs map[docket.ThreadID][]docket.Epoch
}

func (d *dryLog) Decided(ctx context.Context, thread docket.ThreadID) (docket.Decisions, error) {
	decided, err := d.log.Decided(ctx, thread)
	if err != nil {
		return decided, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	decided = decided.Clone()
	for _, e := range d.epochs[thread] {
		if e.Mems = decided.Undecided(e.Mems); len(e.Mems) > 0 {
			decided.Add(&e)
		}
	}
	return decided, nil
}

func (d *dryLog) Append(ctx context.Context, thread docket.ThreadID, e docket.Epoch) (docket.Decisions, error) {
	d.mu.Lock()
	if d.epochs == nil || len(d.epochs) >= DefaultThreads && d.epochs[thread] == nil {
		d.epochs = map[docket.ThreadID][]docket.Epoch{} // forgotten: the next views decide anew
	}
	d.epochs[thread] = append(d.epochs[thread], e)
	d.mu.Unlock()
	return d.Decided(ctx, thread)
}
