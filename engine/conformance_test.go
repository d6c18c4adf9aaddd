package engine_test

// Both ledgers under the suite that adopters run on theirs.

import (
	"path/filepath"
	"testing"

	"docket"
	"docket/codec"
	"docket/engine"
	"docket/ledgertest"
)

// conforming are the options that the suite runs under. Small frames make many of
// payloads that a test has time for. Nothing is synced: the suite kills no process.
var conforming = map[string]engine.Options{
	"defaults":     {NoSync: true},
	"strict":       {StrictIDs: true, NoSync: true},
	"small frames": {FrameSize: 1 << 10, NoSync: true},
	"fastest":      {Level: codec.LevelFastest, NoSync: true},
}

func TestL9FileConforms(t *testing.T) {
	for name, o := range conforming {
		o.MaxPayload = 1 << 20
		t.Run(name, func(t *testing.T) {
			ledgertest.Run(t, func(t *testing.T) docket.Ledger {
				return open(t, filepath.Join(t.TempDir(), "ledger.docket"), &o)
			}, suite(o, func(t *testing.T, l docket.Ledger) docket.Ledger {
				path := l.(*engine.Ledger).Path()
				if err := l.(*engine.Ledger).Close(); err != nil {
					t.Fatal(err)
				}
				return open(t, path, &o)
			}))
		})
	}
}

func TestL9MemoryConforms(t *testing.T) {
	for name, o := range conforming {
		o.MaxPayload = 1 << 20
		t.Run(name, func(t *testing.T) {
			ledgertest.Run(t, func(t *testing.T) docket.Ledger { return engine.NewMemory(&o) }, suite(o, nil))
		})
	}
}

func suite(o engine.Options, reopen func(*testing.T, docket.Ledger) docket.Ledger) *ledgertest.Options {
	return &ledgertest.Options{StrictIDs: o.StrictIDs, MaxPayload: int(o.MaxPayload), MaxFrame: codec.FrameSize, Reopen: reopen}
}
