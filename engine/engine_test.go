package engine

// What the tests from inside of the package share: those that need a failing
// commit, a queue that waits, or bytes. The tests of behaviour are in package
// engine_test.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"docket"
)

// open opens a ledger of its own for t.
func open(t testing.TB, o *Options) *Ledger {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "ledger"), o)
}

// openAt opens the ledger at path. It is checked and closed with t, unless the test
// has closed it.
func openAt(t testing.TB, path string, o *Options) *Ledger {
	t.Helper()
	l, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checkAndClose(t, l) })
	return l
}

func checkAndClose(t testing.TB, l *Ledger) {
	t.Helper()
	if _, benchmark := t.(*testing.B); !benchmark {
		report, err := l.Check(t.Context(), nil)
		if err != nil && !errors.Is(err, docket.ErrClosed) && t.Context().Err() == nil {
			t.Errorf("check at the end of the test: %v", err)
		}
		for _, f := range report.Findings {
			t.Errorf("check at the end of the test: %v", f)
		}
	}
	if err := l.Close(); err != nil && !errors.Is(err, docket.ErrClosed) {
		t.Errorf("close at the end of the test: %v", err)
	}
}

func result(call docket.CallID, payload string) docket.Result {
	return docket.Result{Call: docket.Call{ID: call, Tool: "tool", Args: []byte(`{"a":1}`)}, Payload: []byte(payload)}
}

// recordOne records one result in thread "t".
func recordOne(t testing.TB, l docket.Ledger, r docket.Result) docket.Handle {
	t.Helper()
	hs, err := l.Record(t.Context(), "t", r)
	if err != nil {
		t.Fatal(err)
	}
	return hs[0]
}

// read returns the payload of a record.
func read(t testing.TB, l docket.Ledger, thread docket.ThreadID, id docket.MemID) ([]byte, error) {
	t.Helper()
	var payload []byte
	err := l.View(t.Context(), thread, id, func(rec docket.Record) (err error) {
		payload, err = payloadOf(rec)
		return err
	})
	return payload, err
}

// holds demands that a record of thread "t" has this payload.
func holds(t testing.TB, l docket.Ledger, id docket.MemID, want string) {
	t.Helper()
	if got, err := read(t, l, "t", id); err != nil || string(got) != want {
		t.Errorf("record %s: %d bytes, error %v, want %d bytes", id, len(got), err, len(want))
	}
}

// payloadOf concatenates the frames of rec.
func payloadOf(rec docket.Record) (payload []byte, err error) {
	for n := range rec.Frames() {
		if payload, err = rec.AppendFrame(payload, n); err != nil {
			return nil, err
		}
	}
	return payload, nil
}

// list returns the handles of thread "t".
func list(t testing.TB, l docket.Ledger) (hs []docket.Handle) {
	t.Helper()
	for h, err := range l.List(t.Context(), "t", 0) {
		if err != nil {
			t.Fatal(err)
		}
		hs = append(hs, h)
	}
	return hs
}

// unchanged runs fn and demands that it leaves the file's bytes as they are.
func unchanged(t testing.TB, path string, fn func()) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fn()
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file changed: %d bytes, before %d; error %v", len(after), len(before), err)
	}
}

// fill records n small results in batches.
func fill(t testing.TB, l *Ledger, n int) {
	t.Helper()
	for at := 0; at < n; at += 1000 {
		var batch []docket.Result
		for i := at; i < min(at+1000, n); i++ {
			batch = append(batch, result(docket.CallID(fmt.Sprint("call ", i)), fmt.Sprintf("payload of call %d", i)))
		}
		if _, err := l.Record(t.Context(), "t", batch...); err != nil {
			t.Fatal(err)
		}
	}
}
