package bench

// Recording: one result after the other, and from many goroutines at once. Both
// include the fsync.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"docket"
)

// maxRecorded bounds the bytes that one record workload hands to one subject.
const maxRecorded = 1 << 30

// record measures recording the payload under a new call id each time. The
// subjects alternate each operation: a round would let one write while the disk
// still works for the other.
func (r *runner) record(ctx context.Context, s sample) error {
	r.Progress(fmt.Sprintf("record, %s", s))
	return r.inEmptyLanes(func(lanes []*lane) error {
		if err := r.recordInTurn(ctx, s.payload, lanes); err != nil {
			return err
		}
		for _, l := range lanes {
			row := Result{Workload: "record", Size: int64(len(s.payload)), Kind: s.kind, Subject: l.name(), Payload: s.name}
			if err := l.weigh(); err != nil {
				return err
			}
			row.BytesOnDisk = l.disk / l.ops()
			if err := r.give(l.into(row)); err != nil {
				return err
			}
		}
		return nil
	})
}

// recordInTurn records until the budgets are spent, three times at least.
func (r *runner) recordInTurn(ctx context.Context, payload []byte, lanes []*lane) error {
	most := max(3, min(500, maxRecorded/max(len(payload), 1)))
	for n := range most {
		if n >= 3 && lanes[0].spent > r.Budget && lanes[len(lanes)-1].spent > r.Budget {
			return nil
		}
		for _, l := range lanes {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := l.time(func() error {
				_, err := l.record(ctx, fmt.Sprintf("call-%d", n), payload)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", l.name(), err)
			}
		}
	}
	return nil
}

const (
	recorders      = 64   // goroutines of the concurrent workload
	recordsEach    = 32   // results of each of them
	concurrentSize = 4096 // bytes of each result
)

// concurrent measures many goroutines that record small results, and how many
// records share a commit.
func (r *runner) concurrent(ctx context.Context) error {
	return r.concurrently(ctx, recordsEach)
}

func (r *runner) concurrently(ctx context.Context, each int) error {
	payloads := make([][]byte, recorders*each)
	for i := range payloads {
		payloads[i] = Generate(docket.KindJSON, concurrentSize, r.Seed+uint64(i))
	}
	return r.inEmptyLanes(func(lanes []*lane) error {
		for _, l := range lanes {
			r.Progress(fmt.Sprintf("concurrent, %s: %d goroutines, %d results", l.name(), recorders, len(payloads)))
			row, err := recordAtOnce(ctx, l, payloads)
			if err != nil {
				return fmt.Errorf("%s: %w", l.name(), err)
			}
			if err := r.give(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// recordAtOnce measures one lane.
func recordAtOnce(ctx context.Context, l *lane, payloads [][]byte) (Result, error) {
	row := Result{Workload: "concurrent", Size: concurrentSize, Kind: docket.KindJSON, Subject: l.name()}
	before, err := l.commits()
	if err != nil {
		return row, err
	}
	start := time.Now()
	if err := l.recordFrom(ctx, payloads); err != nil {
		return row, err
	}
	wall := time.Since(start)
	after, err := l.commits()
	if err != nil {
		return row, err
	}
	if err := l.weigh(); err != nil {
		return row, err
	}
	row = l.into(row)
	row.Commits = after - before
	row.MBPerSecond = float64(len(payloads)) * concurrentSize / wall.Seconds() / 1e6
	row.BytesOnDisk = l.disk / int64(len(payloads))
	return row, nil
}

// recordFrom starts the goroutines and waits for them.
func (l *lane) recordFrom(ctx context.Context, payloads [][]byte) error {
	var wg sync.WaitGroup
	meters, errs := make([]*meter, recorders), make([]error, recorders)
	for g := range recorders {
		meters[g] = newMeter()
		wg.Go(func() {
			for i := g; i < len(payloads) && errs[g] == nil; i += recorders {
				errs[g] = meters[g].time(func() error {
					return l.recordShared(ctx, fmt.Sprintf("call-%d", i), payloads[i])
				})
			}
		})
	}
	wg.Wait()
	l.meter = newMeter()
	for _, m := range meters {
		l.hist.Merge(m.hist)
		l.spent += m.spent
	}
	return errors.Join(errs...)
}
