package engine

// The lock between processes: a file of its own beside the ledger, never renamed
// and never removed. A lock on the ledger itself would follow the old file when
// vacuum renames a new one into its place, and let a waiting process write into
// the old one.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"docket"
)

// lockSuffix is what the lock's name adds to the ledger's.
const lockSuffix = ".lock"

// lockRetry is the time between two tries.
const lockRetry = 10 * time.Millisecond

// holder is what the lock file says about who holds it.
type holder struct {
	PID     int       `json:"pid"`
	Command string    `json:"command"`
	Since   time.Time `json:"since"`
}

func (h holder) String() string {
	return fmt.Sprintf("process %d (%q) since %s", h.PID, h.Command, h.Since.UTC().Format(time.RFC3339))
}

// lock is a held lock; nil where none could be made, which only a reader may
// go without.
type lock struct {
	flock *flock.Flock
	owner bool // the file names us
}

// takeLock locks the ledger at path: alone, or with other readers. A lock that
// another process keeps for the whole timeout is a [*docket.LockedError].
func takeLock(path string, o *Options) (*lock, error) {
	f := flock.New(path+lockSuffix, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	try := f.TryLock
	if o.ReadOnly {
		try = f.TryRLock
	}
	ok, err := retry(try, o.LockTimeout)
	switch {
	case err != nil && o.ReadOnly && (errors.Is(err, fs.ErrPermission) || readOnlyDisk(err)):
		return nil, nil // bbolt's own lock on the file still keeps a writer out
	case err != nil:
		return nil, fmt.Errorf("engine: lock %q: %w", path+lockSuffix, err)
	case !ok:
		return nil, &docket.LockedError{File: path, Holder: readHolder(path)}
	}
	l := &lock{flock: f, owner: !o.ReadOnly}
	if l.owner {
		l.writeHolder(holder{PID: os.Getpid(), Command: filepath.Base(os.Args[0]), Since: o.Now()})
	}
	return l, nil
}

// retry calls try until it succeeds, fails, or timeout has passed; once at least.
func retry(try func() (bool, error), timeout time.Duration) (bool, error) {
	ok, err := try()
	if ok || err != nil || timeout <= 0 {
		return ok, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	tick := time.NewTicker(lockRetry)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-tick.C:
		}
		if ok, err := try(); ok || err != nil {
			return ok, err
		}
	}
}

// writeHolder names the holder in the lock file, as one line of JSON after a
// space: on Windows the locked first byte cannot be read by others. That the note
// cannot be written is no reason not to go on.
func (l *lock) writeHolder(h holder) {
	line, err := json.Marshal(h)
	if err != nil {
		return
	}
	f, err := os.OpenFile(l.flock.Path(), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(append(line, '\n'), 1)
	}
}

// readHolder tells who holds the lock, as far as the lock file says.
func readHolder(path string) string {
	f, err := os.Open(path + lockSuffix)
	if err != nil {
		return "another process"
	}
	defer f.Close()
	buf := make([]byte, 512)
	n, _ := f.ReadAt(buf, 1)
	var h holder
	if json.Unmarshal(buf[:n], &h) != nil || h.PID == 0 {
		return "another process, reading"
	}
	return h.String()
}

// release lets go of the lock. The file stays, empty.
func (l *lock) release() error {
	if l == nil {
		return nil
	}
	if l.owner {
		_ = os.Truncate(l.flock.Path(), 0)
	}
	return l.flock.Unlock()
}
