package engine_test

// Opening does not cost what the ledger holds.

import (
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"docket"
	"docket/engine"
)

var openRecords = flag.Int("open.records", 5_000, "records in TestOpenTime; 100000 is what it is judged by")

// TestOpenTime prints how long opening takes, and the memory of it:
//
//	go test ./engine -run TestOpenTime -open.records=100000 -v
func TestOpenTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.docket")
	l, err := engine.Open(path, &engine.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	var batch []docket.Result
	var last docket.Handle
	for i := range *openRecords {
		batch = append(batch, result(docket.CallID(fmt.Sprint(i)), text(100+i%700, uint64(i))))
		if len(batch) == 1000 || i == *openRecords-1 {
			hs := record(t, l, "thread", batch...)
			batch, last = batch[:0], hs[len(hs)-1]
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var opening, first []time.Duration
	var before, after runtime.MemStats
	for range 15 {
		runtime.GC()
		runtime.ReadMemStats(&before)
		begin := time.Now()
		l, err := engine.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		opened := time.Now()
		runtime.ReadMemStats(&after)
		read := time.Now()
		if _, err := payload(l, "thread", last.MemID); err != nil {
			t.Fatal(err)
		}
		opening, first = append(opening, opened.Sub(begin)), append(first, time.Since(read))
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(opening)
	slices.Sort(first)
	memory := after.TotalAlloc - before.TotalAlloc
	t.Logf("%d records, %d bytes: open p50 %v, max %v; first view p50 %v, max %v; %d bytes allocated by opening",
		*openRecords, sizeOf(t, path), opening[7], opening[14], first[7], first[14], memory)
	if opening[7] > 50*time.Millisecond || memory > 4<<20 {
		t.Errorf("open p50 %v and %d bytes, want at most 50 ms and 4 MiB", opening[7], memory)
	}
}
