package recall

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"docket"
)

// endless is a record of 64 MiB that is made as it is read.
type endless struct {
	docket.Record
	frame string
}

// endlessLedger is the ledger that holds it.
type endlessLedger struct {
	docket.Ledger
	rec *endless
}

// endlessFrames is the number of frames.
func endlessFrames() int {
	if raced {
		return 128
	}
	return 2048
}

func (e endlessLedger) View(_ context.Context, _ docket.ThreadID, _ docket.MemID, fn func(docket.Record) error) error {
	return fn(e.rec)
}

func (e *endless) Handle() docket.Handle {
	return docket.Handle{Bytes: int64(endlessFrames() * len(e.frame)), Chars: int64(endlessFrames() * (len(e.frame) - 2))}
}

func (e *endless) Frames() int                     { return endlessFrames() }
func (e *endless) Section(docket.SectionID) []byte { return nil }

func (e *endless) AppendFrame(dst []byte, n int) ([]byte, error) {
	if n == endlessFrames()-1 {
		return append(append(dst, e.frame[:len(e.frame)-6]...), "needle"...), nil
	}
	return append(dst, e.frame...), nil
}

// TestSearchMemoryIsBounded: a search through 64 MiB without any index, and a
// range at its end, keep a few frames.
func TestSearchMemoryIsBounded(t *testing.T) {
	e := &endless{frame: "€" + strings.Repeat("abcdefghijklmno\n", 2048)[3:]}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, req := range []Request{
		{Query: "needle"}, {Query: "NEEDLE", IgnoreCase: true}, {Query: "absent"},
		{Offset: new(e.Handle().Chars - 20), MaxChars: 100},
	} {
		a, err := Fetch(t.Context(), endlessLedger{rec: e}, "t", req)
		if err != nil || a.FramesDecoded > endlessFrames()+2 || (req.Query != "absent") != strings.Contains(string(a.Text), "needle") {
			t.Errorf("%+v: %q, %d frames decoded, error %v", req, a.Text, a.FramesDecoded, err)
		}
	}
	runtime.ReadMemStats(&after)
	const limit = 4 << 20
	if got := after.TotalAlloc - before.TotalAlloc; got > limit {
		t.Errorf("allocated %d bytes in all, more than %d", got, limit)
	}
}
