package engine

import (
	"path/filepath"
	"testing"

	"docket"
)

// open opens a ledger of its own for t.
func open(t testing.TB, o *Options) *Ledger {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "ledger"), o)
}

// openAt opens the ledger at path; it is closed with t, unless the test has closed
// it.
func openAt(t testing.TB, path string, o *Options) *Ledger {
	t.Helper()
	l, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
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
