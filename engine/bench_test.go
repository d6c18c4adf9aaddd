package engine

// Benchmarks against the naive ledger (one zstd frame over the whole payload, one
// Put, one commit), both sides in one run:
//
//	go test -run '^$' -bench . ./engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sort"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"docket"
	"docket/codec"
)

// sampleJSON makes n bytes of JSON with the entropy of a product list.
func sampleJSON(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	words := []string{"amber", "basalt", "cedar", "delta", "ember", "fjord", "grove", "harbor", "iris", "juniper", "krill", "lagoon"}
	out := []byte(`{"products":[`)
	for i := 0; len(out) < n-2; i++ {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `{"id":%d,"sku":"%08x","title":"%s %s %s","price":%d.%02d,"stats":{"avg90":%d,"rank":%d},"url":"https://shop.example/p/%x"}`,
			i, r.Uint32(), words[r.IntN(12)], words[r.IntN(12)], words[r.IntN(12)], r.IntN(900), r.IntN(100), r.IntN(1<<20), r.IntN(1<<16), r.Uint64())
	}
	return append(out, "]}"...)
}

func quantiles(b *testing.B, times []time.Duration, name string) {
	sort.Slice(times, func(i, j int) bool { return times[i] < times[j] })
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), name+"-p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), name+"-p99-µs")
}

// BenchmarkRecord records payloads of their own, one at a time, on both ledgers in
// turn.
func BenchmarkRecord(b *testing.B) {
	for _, size := range []int{440, 4 << 10, 30 << 10, 360 << 10, 4 << 20} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			payload := sampleJSON(size, 7)
			l := open(b, nil)
			n := openNaive(b)
			var ours, naive []time.Duration
			b.SetBytes(int64(size))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				copy(payload[2:10], fmt.Sprintf("%08x", i))
				start := time.Now()
				if _, err := l.Record(b.Context(), "t", docket.Result{Call: docket.Call{ID: "call", Tool: "list"}, Payload: payload}); err != nil {
					b.Fatal(err)
				}
				ours = append(ours, time.Since(start))
				b.StopTimer()
				start = time.Now()
				n.record(b, i, payload)
				naive = append(naive, time.Since(start))
				b.StartTimer()
			}
			quantiles(b, ours, "ours")
			quantiles(b, naive, "naive")
			b.ReportMetric(float64(ours[len(ours)/2])/float64(naive[len(naive)/2]), "times-naive")
		})
	}
}

type naive struct {
	db  *bbolt.DB
	enc *codec.Encoder
}

func openNaive(b *testing.B) *naive {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "naive"), 0o600, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return &naive{db: db, enc: codec.NewEncoder(codec.MaxFrame, codec.LevelDefault)}
}

func (n *naive) record(b *testing.B, i int, payload []byte) {
	frames := n.enc.Encode(payload, n.enc.Cut(payload))
	err := n.db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucketIfNotExists([]byte("payloads"))
		if err != nil {
			return err
		}
		return bucket.Put(fmt.Appendf(nil, "call %d", i), frames.Stored)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkBuild is Record without the store.
func BenchmarkBuild(b *testing.B) {
	for _, size := range []int{440, 4 << 10, 30 << 10, 360 << 10, 4 << 20} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			r := docket.Result{Payload: sampleJSON(size, 7)}
			enc := codec.NewEncoder(0, 0)
			b.SetBytes(int64(len(r.Payload)))
			b.ReportAllocs()
			for b.Loop() {
				build(enc, &r, docket.Digest{})
			}
		})
	}
}

// BenchmarkTogether records results of 4 KB from 64 goroutines and reports how
// many went into one commit.
func BenchmarkTogether(b *testing.B) {
	l := open(b, nil)
	before := txid(b, l)
	var n atomic.Int64
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		payload := sampleJSON(4<<10, 3)
		for pb.Next() {
			copy(payload[2:10], fmt.Sprintf("%08x", n.Add(1)))
			if _, err := l.Record(b.Context(), "t", docket.Result{Call: docket.Call{ID: "call"}, Payload: payload}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/float64(txid(b, l)-before), "records/commit")
}

// BenchmarkNarrow looks for a string that one of 10,000 records of 30 KB holds, by
// signatures and by scanning all payloads.
func BenchmarkNarrow(b *testing.B) {
	const records = 10_000
	l := open(b, &Options{NoSync: true})
	needle := []byte("zanzibar-7731")
	for at := 0; at < records; at += 100 {
		var batch []docket.Result
		for i := at; i < at+100; i++ {
			payload := sampleJSON(30<<10, uint64(i))
			if i == records/2 {
				copy(payload[20_000:], needle)
			}
			batch = append(batch, docket.Result{Call: docket.Call{ID: "call"}, Payload: payload})
		}
		if _, err := l.Record(b.Context(), "t", batch...); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("signatures", func(b *testing.B) {
		candidates := 0
		for b.Loop() {
			candidates = 0
			for id, err := range l.Narrow(b.Context(), "t", needle, false) {
				if err != nil {
					b.Fatal(err)
				}
				candidates++
				contains(b, l, id, needle)
			}
		}
		b.ReportMetric(float64(candidates), "candidates")
	})
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			found := 0
			for h, err := range l.List(b.Context(), "t", 0) {
				if err != nil {
					b.Fatal(err)
				}
				if contains(b, l, h.MemID, needle) {
					found++
				}
			}
			if found != 1 {
				b.Fatal(found)
			}
		}
	})
}

// contains scans one payload.
func contains(t testing.TB, l *Ledger, id docket.MemID, needle []byte) bool {
	t.Helper()
	payload, err := read(t, l, "t", id)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(payload, needle)
}

// BenchmarkOpen opens a ledger of 100,000 records.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "ledger")
	l := openAt(b, path, &Options{NoSync: true})
	fill(b, l, 100_000)
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l, err := Open(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
