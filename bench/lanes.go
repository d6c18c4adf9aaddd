package bench

// Lanes: each subject on a file of its own in one temporary folder.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"

	"go.etcd.io/bbolt"
)

// lane is one subject, what it holds, and what was measured of it.
type lane struct {
	subject
	dir  string
	open opener
	id   string // of the payload, where there is one
	disk int64  // bytes of the pages that the file uses
	*meter
}

// inLanes records the payload in a fresh ledger of each subject and calls fn.
func (r *runner) inLanes(ctx context.Context, payload []byte, fn func([]*lane) error) error {
	return r.inEmptyLanes(func(lanes []*lane) (err error) {
		for _, l := range lanes {
			if l.id, err = l.record(ctx, "call", payload); err == nil {
				err = l.weigh()
			}
			if err == nil {
				err = l.warm(ctx)
			}
			if err != nil {
				return fmt.Errorf("bench: %s: %w", l.name(), err)
			}
		}
		runtime.GC() // what recording left behind
		return fn(lanes)
	})
}

// inEmptyLanes opens a fresh ledger of each subject, calls fn, and removes them.
func (r *runner) inEmptyLanes(fn func([]*lane) error) error {
	return r.inTemp(func(dir string) (err error) {
		var lanes []*lane
		defer func() {
			for _, l := range lanes {
				err = errors.Join(err, l.close())
			}
		}()
		for _, open := range r.openers {
			sub, err := open(dir)
			if err != nil {
				return err
			}
			lanes = append(lanes, &lane{subject: sub, dir: dir, open: open, meter: newMeter()})
		}
		return fn(lanes)
	})
}

// inTemp calls fn with a new folder and removes it.
func (r *runner) inTemp(fn func(dir string) error) (err error) {
	dir, err := os.MkdirTemp(r.Dir, "docket-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return fn(dir)
}

// reopen closes the lane's ledger, calls between, and opens it again.
func (l *lane) reopen(between func() error) error {
	if err := l.close(); err != nil {
		return err
	}
	if err := between(); err != nil {
		return err
	}
	sub, err := l.open(l.dir)
	if err != nil {
		return err
	}
	l.subject = sub
	return nil
}

// chill makes the next operation a cold one: the ledger is closed, its file's
// pages are dropped from the page cache where the system lets us (Linux), and it
// is opened again. What is not cold: the processor's caches, the program's code,
// the disk's own cache, and what opening reads.
func (l *lane) chill() error {
	return l.reopen(func() error {
		if err := evict(l.file()); err != nil {
			return fmt.Errorf("bench: evict %q: %w", l.file(), err)
		}
		return nil
	})
}

// warm reads the payload once, whole. It is what the naive ledger does at every
// fetch: without it docket alone would meet, at each new place, pages that the
// process has not mapped yet.
func (l *lane) warm(ctx context.Context) error {
	_, err := l.fetch(ctx, l.id, target{chars: math.MaxInt64 / 2})
	return err
}

// weigh notes what the lane takes on disk. A file's size would say more about the
// steps in which it grows.
func (l *lane) weigh() error {
	return l.reopen(func() (err error) {
		l.disk, err = usedBytes(l.file())
		return err
	})
}

// usedBytes is the size of a bbolt file without its free pages.
func usedBytes(path string) (used int64, err error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.View(func(tx *bbolt.Tx) error {
		stats := db.Stats()
		used = tx.Size() - int64(stats.FreePageN+stats.PendingPageN)*int64(db.Info().PageSize)
		return nil
	})
	return used, err
}

// commits returns the number of commits that the lane's file has seen: the id of
// bbolt's last transaction, read from the file itself, whoever wrote it.
func (l *lane) commits() (n int64, err error) {
	err = l.reopen(func() error {
		db, err := bbolt.Open(l.file(), 0o600, &bbolt.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		defer db.Close()
		return db.View(func(tx *bbolt.Tx) error {
			n = int64(tx.ID())
			return nil
		})
	})
	return n, err
}
