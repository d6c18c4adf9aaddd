package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"docket"
)

// TestG2Locked: a second opening fails within its timeout with an error that names
// file and holder, whichever way, and succeeds once the lock is free.
func TestG2Locked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l := openAt(t, path, nil)
	recordOne(t, l, result("1", "x"))
	for _, o := range []*Options{nil, {ReadOnly: true}, {LockTimeout: -1}, {LockTimeout: 100 * time.Millisecond}} {
		start := time.Now()
		_, err := Open(path, o)
		var locked *docket.LockedError
		if !errors.As(err, &locked) || locked.File != path || !strings.Contains(locked.Holder, strconv.Itoa(os.Getpid())) {
			t.Errorf("a second opening: %v", err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("a second opening took %v", took)
		}
	}
	holds(t, l, list(t, l)[0].MemID, "x")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	reader := openAt(t, path, &Options{ReadOnly: true})
	var locked *docket.LockedError
	if _, err := Open(path, &Options{LockTimeout: -1}); !errors.As(err, &locked) || !strings.Contains(locked.Holder, "another process") {
		t.Errorf("a writer beside a reader: %v", err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	openAt(t, path, nil)
}

// TestG2WaitsForTheLock: an opening that is patient gets the file.
func TestG2WaitsForTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	first := openAt(t, path, nil)
	opened := make(chan error)
	go func() {
		l, err := Open(path, &Options{LockTimeout: time.Minute})
		if err == nil {
			err = l.Close()
		}
		opened <- err
	}()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// TestG2BoltLock: a tool that has the file itself open is no corruption either.
func TestG2BoltLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	if err := openAt(t, path, nil).Close(); err != nil {
		t.Fatal(err)
	}
	s, err := openStore(path, &Options{LockTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var locked *docket.LockedError
	if _, err := Open(path, &Options{LockTimeout: 60 * time.Millisecond}); !errors.As(err, &locked) {
		t.Errorf("beside another tool: %v", err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	openAt(t, path, nil)
}

// TestLockNote: who holds the lock is said as long as it is true, and a note that
// cannot be read is no error.
func TestLockNote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	if got := readHolder(path); got != "another process" {
		t.Errorf("without a lock file: %q", got)
	}
	l := openAt(t, path, &Options{Now: func() time.Time { return time.Unix(0, 0) }})
	if got := readHolder(path); !strings.Contains(got, "since 1970-01-01T00:00:00Z") {
		t.Errorf("held: %q", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, note := range []string{"", "\n", " {", ` {"pid":0}`, ` "x"`, strings.Repeat("{", 5000)} {
		if err := os.WriteFile(path+lockSuffix, []byte(note), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := readHolder(path); got != "another process, reading" {
			t.Errorf("note %.20q: %q", note, got)
		}
	}
	openAt(t, path, nil)
}
