package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"docket"
)

// BenchmarkFork forks a thread of 10,000 records, fsync included: what is copied is
// what the fork sees, not what it holds.
func BenchmarkFork(b *testing.B) {
	l := open(b, nil)
	fill(b, l, 10_000)
	n := 0
	for b.Loop() {
		if err := l.Fork(context.Background(), "t", "", docket.ThreadID(fmt.Sprint("fork ", n))); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

// movable is a thread of 32 payloads of 256 KiB.
func movable(b *testing.B) *Ledger {
	l := open(b, &Options{NoSync: true})
	for i := range 32 {
		recordOne(b, l, result(docket.CallID(fmt.Sprint(i)), string(sampleJSON(256<<10, uint64(i)))))
	}
	b.SetBytes(32 * 256 << 10)
	return l
}

func BenchmarkExport(b *testing.B) {
	l := movable(b)
	for b.Loop() {
		if err := l.Export(context.Background(), "t", io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkImport(b *testing.B) {
	var export bytes.Buffer
	if err := movable(b).Export(context.Background(), "t", &export); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		l := open(b, nil)
		b.StartTimer()
		if _, err := l.Import(context.Background(), bytes.NewReader(export.Bytes()), nil); err != nil {
			b.Fatal(err)
		}
	}
}
