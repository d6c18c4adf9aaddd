package engine

// The ledger on bbolt: opening, closing, and the way of every access to the file.
// What is read and written is in the files named after it.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"go.etcd.io/bbolt"

	"docket"
	"docket/codec"
)

// Ledger is a durable [docket.Ledger] in one bbolt file. It is safe for concurrent
// use by one process; another process that opens the same file gets a
// [*docket.LockedError].
type Ledger struct {
	path string // absolute
	opts Options
	lock *lock
	enc  *codec.Encoder
	dec  *codec.Decoder

	commits queue
	imports sync.Mutex // one import at a time: one that fails takes back what it added

	mu      sync.Mutex // guards what follows
	idle    sync.Cond  // on mu: the last user of the current store has left
	cur     *store
	closed  bool
	stopped error // the file cannot be trusted any more: every call returns it
	halted  error // writes cannot go on: Record and its like return it
}

var _ docket.Ledger = (*Ledger)(nil)

// Open opens the ledger at path, or makes it. nil options are the defaults. A
// folder that is missing is made, for the owner only.
//
// Errors: [docket.ErrNoLedger], [docket.ErrNotLedger], [*docket.CorruptError],
// [*docket.VersionError], [*docket.LockedError] within Options.LockTimeout, the
// file system's own. No error changes the file.
func Open(path string, opts *Options) (*Ledger, error) {
	o := opts.filled()
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	if err := prepare(path, &o); err != nil {
		return nil, err
	}
	lock, err := takeLock(path, &o)
	if err != nil {
		return nil, err
	}
	s, err := openLocked(path, &o)
	if err != nil {
		_ = lock.release()
		return nil, err
	}
	l := &Ledger{path: path, opts: o, lock: lock, cur: s, enc: codec.NewEncoder(o.FrameSize, o.Level), dec: codec.NewDecoder()}
	l.idle.L = &l.mu
	return l, nil
}

// prepare checks what can be checked before anything is made, even a lock file.
func prepare(path string, o *Options) error {
	err := look(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if o.ReadOnly || o.MustExist {
		return fmt.Errorf("%w: %q", docket.ErrNoLedger, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return nil
}

// openLocked opens the file, and makes it where it is missing.
func openLocked(path string, o *Options) (*store, error) {
	err := look(path)
	if errors.Is(err, fs.ErrNotExist) {
		if o.ReadOnly || o.MustExist {
			return nil, fmt.Errorf("%w: %q", docket.ErrNoLedger, path)
		}
		err = create(path, o)
	}
	if err != nil {
		return nil, err
	}
	if err := inspect(path); err != nil {
		return nil, err
	}
	if !o.ReadOnly {
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
		_ = os.Remove(path + vacuumSuffix) // of a vacuum that did not end
	}
	return openStore(path, o)
}

// Path returns the absolute path of the ledger's file.
func (l *Ledger) Path() string { return l.path }

// Close waits for commits and views that are running, closes the file and lets go
// of the lock. It must not be called inside of a view. Later calls of any method
// return [docket.ErrClosed].
func (l *Ledger) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return docket.ErrClosed
	}
	l.closed = true
	for l.cur.refs > 0 {
		l.idle.Wait()
	}
	l.mu.Unlock()
	return errors.Join(l.cur.close(), l.lock.release())
}

// acquire returns the current store for one access; release ends it.
func (l *Ledger) acquire() (*store, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, docket.ErrClosed
	}
	if l.stopped != nil {
		return nil, l.stopped
	}
	l.cur.refs++
	return l.cur, nil
}

func (l *Ledger) release(s *store) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.refs--; s.refs > 0 {
		return
	}
	if s.retired {
		_ = s.close()
	}
	l.idle.Broadcast() // Close may have waited for s before it was retired
}

// stop makes every later call return err: what the process sees of the file is not
// to be trusted any more. A store that is given has panicked with its locks held.
func (l *Ledger) stop(stuck *store, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if stuck != nil {
		stuck.stuck = true
	}
	if l.stopped == nil {
		l.stopped = err
	}
	return err
}

// view runs fn in a read transaction. place names, for a damaged file, what was
// read.
func (l *Ledger) view(place string, fn func(tx txn) error) error {
	s, err := l.acquire()
	if err != nil {
		return err
	}
	defer l.release(s)
	tx, err := l.begin(s, false)
	if err != nil {
		return err
	}
	defer tx.Rollback() // of a reader: it cannot fail
	return guard(l.path, place, func() error { return fn(newTxn(tx, s, l.path)) })
}

// begin begins a transaction. A panic in it leaves bbolt's locks held, so the
// ledger stops.
func (l *Ledger) begin(s *store, write bool) (tx *bbolt.Tx, err error) {
	begun := false
	err = guard(l.path, "meta pages", func() (err error) {
		tx, err = s.db.Begin(write)
		begun = true
		return err
	})
	if !begun {
		return nil, l.stop(s, err)
	}
	return tx, err
}
