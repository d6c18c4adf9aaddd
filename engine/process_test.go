package engine_test

// Two processes and one file, case G2. What one process can show of the lock is in
// lock_test.go.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"docket"
	"docket/engine"
)

// lockRequest asks a child to open a ledger, or to close it again.
type lockRequest struct {
	Path     string
	ReadOnly bool
	Wait     time.Duration
	Close    bool
}

// lockAnswer is what came of it.
type lockAnswer struct {
	Err    string
	Locked bool // the error is a LockedError
	Took   time.Duration
	IDs    []docket.CallID // of the thread, when it was opened
}

func lockChild(requests *json.Decoder, answers *json.Encoder) error {
	var l *engine.Ledger
	for {
		var r lockRequest
		if err := requests.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var a lockAnswer
		if r.Close {
			if err := l.Close(); err != nil {
				return err
			}
		} else {
			l = r.open(&a)
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

func (r lockRequest) open(a *lockAnswer) *engine.Ledger {
	begin := time.Now()
	l, err := engine.Open(r.Path, &engine.Options{ReadOnly: r.ReadOnly, LockTimeout: r.Wait})
	a.Took = time.Since(begin)
	if err != nil {
		var locked *docket.LockedError
		a.Err, a.Locked = err.Error(), errors.As(err, &locked)
		return nil
	}
	for h, err := range l.List(noTest, "thread", 0) {
		if err != nil {
			a.Err = err.Error()
		}
		a.IDs = append(a.IDs, h.CallID)
	}
	return l
}

func ask(t *testing.T, c *child, r lockRequest) (a lockAnswer) {
	t.Helper()
	if err := c.ask(r, &a, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestG2AnotherProcess: within a second it is told who has the file; it may have
// it afterwards; readers share it.
func TestG2AnotherProcess(t *testing.T) {
	l := openNew(t, nil)
	record(t, l, "thread", result("1", "one"))
	c := start(t, "lock")
	for _, readOnly := range []bool{false, true} {
		a := ask(t, c, lockRequest{Path: l.Path(), ReadOnly: readOnly})
		if !a.Locked || a.Took > time.Second {
			t.Errorf("read-only %t: %+v, want a LockedError within a second", readOnly, a)
		}
		for _, part := range []string{l.Path(), fmt.Sprint("process ", os.Getpid())} {
			if !strings.Contains(a.Err, part) {
				t.Errorf("read-only %t: %q does not name %q", readOnly, a.Err, part)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if a := ask(t, c, lockRequest{Path: l.Path(), ReadOnly: true}); a.Err != "" || len(a.IDs) != 1 {
		t.Fatalf("after it was closed: %+v", a)
	}
	reader, err := engine.Open(l.Path(), &engine.Options{ReadOnly: true})
	if err != nil {
		t.Fatalf("a second reader: %v", err)
	}
	defer reader.Close()
	var locked *docket.LockedError
	if _, err := engine.Open(l.Path(), nil); !errors.As(err, &locked) {
		t.Errorf("a writer beside readers: %v", err)
	}
	ask(t, c, lockRequest{Close: true})
}

// TestG2KilledHolder: a process that died holds nothing.
func TestG2KilledHolder(t *testing.T) {
	path := filled(t)
	c := start(t, "lock")
	if a := ask(t, c, lockRequest{Path: path}); a.Err != "" {
		t.Fatal(a.Err)
	}
	c.kill()
	open(t, path, nil)
}

// TestVacuumBesideAWaitingProcess: a process that waits for the lock while the file
// is exchanged gets the new file, not the old one.
func TestVacuumBesideAWaitingProcess(t *testing.T) {
	l := openNew(t, nil)
	record(t, l, "thread", result("before", "one"))
	c := start(t, "lock")
	if err := c.requests.Encode(lockRequest{Path: l.Path(), Wait: 20 * time.Second}); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if report, err := l.Vacuum(t.Context(), &engine.VacuumOptions{Force: true}); err != nil || !report.Done {
			t.Fatalf("error %v, report %+v", err, report)
		}
		record(t, l, "thread", result(docket.CallID(fmt.Sprint(i)), "after"))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var a lockAnswer
	select {
	case line := <-c.answers:
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the waiting process never got the file")
	}
	if a.Err != "" || len(a.IDs) != 6 {
		t.Errorf("it sees %v, error %q, want six records", a.IDs, a.Err)
	}
}
