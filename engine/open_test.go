package engine_test

// What the tests of the file share: a ledger that is checked when its test ends,
// and results to put into it.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"docket"
	"docket/engine"
)

// open opens the ledger at path and, when the test ends, checks and closes it.
func open(t *testing.T, path string, o *engine.Options) *engine.Ledger {
	t.Helper()
	l, err := engine.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := l.Check(noTest, nil)
		if errors.Is(err, docket.ErrClosed) {
			return
		}
		if err != nil {
			t.Errorf("check at the end of the test: %v", err)
		}
		for _, f := range report.Findings {
			t.Errorf("check at the end of the test: %v", f)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// openNew opens a new ledger.
func openNew(t *testing.T, o *engine.Options) *engine.Ledger {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "ledger.docket"), o)
}

func result(id docket.CallID, payload string) docket.Result {
	return docket.Result{Call: docket.Call{ID: id, Tool: "tool", Args: []byte(`{"a":1}`)}, Payload: []byte(payload)}
}

// record records results one call each and returns their handles.
func record(t *testing.T, l docket.Ledger, thread docket.ThreadID, rs ...docket.Result) []docket.Handle {
	t.Helper()
	hs, err := l.Record(t.Context(), thread, rs...)
	if err != nil {
		t.Fatal(err)
	}
	return hs
}

// payload reads a record's payload.
func payload(l docket.Ledger, thread docket.ThreadID, id docket.MemID) ([]byte, error) {
	var out []byte
	err := l.View(noTest, thread, id, func(r docket.Record) (err error) {
		for n := range r.Frames() {
			if out, err = r.AppendFrame(out, n); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// text makes about n bytes of words and numbers that compress like text does, a
// different one for each seed.
func text(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "line %d: %s %x\n", b.Len(), words[r.IntN(len(words))], r.Uint32())
	}
	return b.String()[:n]
}

var words = []string{"alpha", "beta", "gamma", "the quick brown fox", "error: no such file", "日本語", "ok", "naïve"}

// noTest is the context of what runs without a test's own: children, cleanups.
var noTest = context.Background()
