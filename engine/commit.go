package engine

// Group commit. A commit costs two fsyncs whatever is in it, so what arrives while
// one is under way goes into the next together. The first caller leads: it takes
// the whole queue, commits it, and wakes the others; there is no goroutine of our
// own. bbolt's Batch waits for a timer instead, which costs a lone writer six
// sevenths of its throughput.

import (
	"context"
	"fmt"
	"sync"

	"go.etcd.io/bbolt"

	"docket"
)

// maxBatch bounds the bytes that one commit holds in memory.
const maxBatch = 64 << 20

// op is one caller's part of a commit.
type op struct {
	// apply puts the op into the transaction. It may run more than once. It calls
	// writes before the first change; an error before that concerns this op only.
	apply func(tx txn, writes func()) error
	bytes int64 // about what it writes
	// alone, if set, runs instead, with no commit beside it. It may replace the
	// store.
	alone func(s *store) error

	err  error
	lead bool          // on waking: take over instead of returning
	done chan struct{} // closed when err or lead is set
}

// queue is what waits for the next commit.
type queue struct {
	mu      sync.Mutex // guards what follows
	waiting []*op
	leading bool // somebody commits, and will hand over
}

// commit makes o part of a commit and waits for the outcome. When ctx ends while o
// still waits in the queue it is withdrawn; once it is in a commit its outcome is
// waited for.
func (l *Ledger) commit(ctx context.Context, o *op) error {
	if err := l.writable(); err != nil {
		return err
	}
	q := &l.commits
	o.done = make(chan struct{})
	q.mu.Lock()
	q.waiting = append(q.waiting, o)
	if q.leading {
		q.mu.Unlock()
		select {
		case <-o.done:
		case <-ctx.Done():
			if q.withdraw(o) {
				return ctx.Err()
			}
			<-o.done
		}
		if !o.lead {
			return o.err
		}
		q.mu.Lock()
	}
	q.leading = true
	batch := q.take()
	q.mu.Unlock()
	l.run(batch)
	q.handOver()
	for _, other := range batch {
		if other != o {
			close(other.done)
		}
	}
	return o.err
}

// withdraw takes o out of the queue; false when it is there no more.
func (q *queue) withdraw(o *op) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range q.waiting {
		if other == o && !o.lead {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// take returns the next batch: all that waits, up to maxBatch bytes, or one that
// wants to be alone. The leader is the first of it.
func (q *queue) take() []*op {
	n, bytes := 1, q.waiting[0].bytes
	for q.waiting[0].alone == nil && n < len(q.waiting) && q.waiting[n].alone == nil && bytes+q.waiting[n].bytes <= maxBatch {
		bytes += q.waiting[n].bytes
		n++
	}
	batch := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	return batch
}

// handOver ends a leader's turn: the first that waits takes over.
func (q *queue) handOver() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leading = len(q.waiting) > 0
	if q.leading {
		q.waiting[0].lead = true
		close(q.waiting[0].done)
	}
}

// run commits a batch and sets the outcome of each op. An op that fails inside of
// the transaction is left out and the others are tried again.
func (l *Ledger) run(batch []*op) {
	s, err := l.acquire()
	if err != nil {
		fail(batch, err)
		return
	}
	defer l.release(s)
	if alone := batch[0].alone; alone != nil {
		batch[0].err = alone(s)
		return
	}
	for len(batch) > 0 {
		bad := l.try(s, batch)
		if bad < 0 {
			return
		}
		rest := append([]*op(nil), batch[:bad]...)
		batch = append(rest, batch[bad+1:]...)
	}
}

func fail(batch []*op, err error) {
	for _, o := range batch {
		o.err = err
	}
}

// try commits batch in one transaction and sets every op's outcome, or returns the
// number of the op that spoilt it, with that op's outcome set.
func (l *Ledger) try(s *store, batch []*op) (bad int) {
	tx, err := l.begin(s, true)
	if err != nil {
		fail(batch, fmt.Errorf("engine: begin: %w", err))
		return -1
	}
	x, changed := newTxn(tx, s, l.path), false
	for i, o := range batch {
		wrote := false
		o.err = guard(l.path, "file structure", func() error {
			return o.apply(x, func() { wrote, changed = true, true })
		})
		if o.err != nil && wrote {
			if err := l.rollback(s, tx); err != nil {
				fail(batch, err)
				return -1
			}
			return i
		}
	}
	if !changed {
		if err := l.rollback(s, tx); err != nil {
			fail(batch, err)
		}
		return -1
	}
	s.db.AllocSize = int(min(max(tx.Size()/4, firstAlloc), lastAlloc))
	if err := l.finish(s, tx); err != nil {
		fail(batch, err)
	}
	return -1
}

// rollback ends a write transaction without a change. A panic in it leaves bbolt's
// locks held, so the ledger stops.
func (l *Ledger) rollback(s *store, tx *bbolt.Tx) error {
	ended := false
	err := guard(l.path, "freelist", func() error {
		err := tx.Rollback()
		ended = true
		return err
	})
	if !ended {
		return l.stop(s, err)
	}
	return err
}

// finish commits tx. After an error nobody knows what is on the disk, and what the
// process sees is not what a restart would see; so the file is opened anew.
func (l *Ledger) finish(s *store, tx *bbolt.Tx) error {
	txid, ended := uint64(tx.ID()), false
	err := guard(l.path, "file structure", func() error {
		err := tx.Commit()
		ended = true
		return err
	})
	if err == nil {
		return nil
	}
	if !ended {
		l.halt(s, err)
	}
	err = fmt.Errorf("%w: %w", ErrUnknown, full(err))
	if again := l.reopen(s, txid); again != nil {
		return l.stop(nil, fmt.Errorf("%w; opening the file again: %w", err, again))
	}
	return err
}

// writable tells why nothing can be written, nil if it can.
func (l *Ledger) writable() error {
	if l.opts.ReadOnly {
		return docket.ErrReadOnly
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.halted
}

// halt makes every later write return err. Reading goes on. A store that is given
// has panicked with its locks held.
func (l *Ledger) halt(stuck *store, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if stuck != nil {
		stuck.stuck = true
	}
	if l.halted == nil {
		l.halted = err
	}
}
