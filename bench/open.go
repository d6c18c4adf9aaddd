package bench

// Opening a ledger that holds many records: how long it takes, and how much of
// the heap it holds afterwards.

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"docket"
)

const (
	openRecords = 10_000 // of a default run; the goals take ten times as many
	openSize    = 1 << 10
	openOps     = 30
)

// open measures it over the default number of records.
func (r *runner) open(ctx context.Context) error {
	rows, err := r.openWith(ctx, openRecords)
	return errors.Join(err, r.give(rows...))
}

// openWith measures opening ledgers of n records.
func (r *runner) openWith(ctx context.Context, n int) (rows []Result, err error) {
	err = r.inEmptyLanes(func(lanes []*lane) error {
		if _, err := r.fill(ctx, lanes, n, openSize); err != nil {
			return err
		}
		r.Progress(fmt.Sprintf("open, %d records", n))
		for _, l := range lanes {
			row := Result{Workload: "open", Size: int64(n) * openSize, Kind: docket.KindJSON, Subject: l.name(), Records: n}
			heap, err := l.openOften(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", l.name(), err)
			}
			row.BytesOnDisk = l.disk
			row.Heap = heap
			rows = append(rows, l.into(row))
		}
		return nil
	})
	return rows, err
}

// openOften reopens the lane and returns the bytes of the heap that the open
// ledger holds.
func (l *lane) openOften(ctx context.Context) (heap int64, err error) {
	l.meter = newMeter()
	for range openOps {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := l.close(); err != nil {
			return 0, err
		}
		before := heapInUse()
		err := l.time(func() (err error) {
			l.subject, err = l.open(l.dir)
			return err
		})
		if err != nil {
			return 0, err
		}
		heap = max(heapInUse()-before, 0)
	}
	return heap, nil
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
