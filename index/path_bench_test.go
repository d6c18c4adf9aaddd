package index

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"

	"docket"
)

func BenchmarkBuildPaths(b *testing.B) {
	for name, text := range corpusJSON(b) {
		if len(text) < 1<<20 {
			continue
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				scanPaths(text, nil)
			}
		})
	}
}

// The size of the table against one zstd frame of the whole payload, and the
// frames of 32 KiB that a walk to a random value reads.
func BenchmarkPathCosts(b *testing.B) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		b.Fatal(err)
	}
	var sections, stored int
	for name, text := range corpusJSON(b) {
		if len(text) < 64<<10 {
			continue
		}
		kind, section := scanPaths(text, nil)
		if kind == docket.KindText {
			continue
		}
		packed := len(enc.EncodeAll(text, nil))
		sections, stored = sections+len(section), stored+packed
		root, err := parseTree(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(2, 2))
			var read, ops, worst int
			for b.Loop() {
				path := plainPath(r, root)
				f := &frames{payload: text, size: 32 << 10, read: map[int64]bool{}}
				p := Payload{Source: f, Size: int64(len(text)), Kind: kind, Paths: section}
				if _, err := p.Select(path); err != nil {
					b.Fatal(err)
				}
				ops++
				read += len(f.read)
				worst = max(worst, len(f.read))
			}
			b.ReportMetric(float64(read)/float64(ops), "frames/op")
			b.ReportMetric(float64(worst), "frames-worst")
			b.ReportMetric(float64(len(section))/float64(packed), "section/zstd")
		})
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(float64(sections)/float64(stored), "section/zstd")
	})
}

// plainPath walks from the root to a random leaf or container.
func plainPath(r *rand.Rand, t *tree) Path {
	var path Path
	for len(path) < MaxSegments && len(t.kids) > 0 && r.IntN(10) > 0 {
		k := r.IntN(len(t.kids))
		if t.kind == '{' {
			for i, key := range t.keys {
				if key == t.keys[k] {
					k = i
					break
				}
			}
			path = append(path, Segment{Key: t.keys[k]})
		} else {
			path = append(path, Segment{Kind: SegmentNumber, From: int64(k)})
		}
		t = t.kids[k]
	}
	return path
}

// whole is a payload in memory: what is measured is the walk.
type whole []byte

func (w whole) Bytes(start, end int64) ([]byte, error)   { return w[start:end], nil }
func (w whole) Skip(text []byte, start, end int64) int64 { return start }

// The cost of a walk without decoding, by the size of the payload.
func BenchmarkSelect(b *testing.B) {
	for _, n := range []int{100, 10000, 300000} {
		payload := []byte(`{"list":[`)
		for i := range n {
			payload = fmt.Appendf(payload, `{"id":%d,"name":"product %d","stats":{"avg30":%d.5,"avg90":%d.25}},`, i, i, i, i)
		}
		payload = append(payload[:len(payload)-1], `],"orders":{`...)
		for i := range n {
			payload = fmt.Appendf(payload, `"#W%07d":{"items":["%x","%x"],"status":"pending","note":"%0200d"},`, i*7919%9999991, i, i*i, i)
		}
		payload = append(payload[:len(payload)-1], "}}"...)
		kind, section := scanPaths(payload, nil)
		for name, text := range map[string]string{
			"index": fmt.Sprintf("list[%d].stats.avg90", n/2),
			"key":   fmt.Sprintf("orders.#W%07d.status", n/2*7919%9999991),
		} {
			path, err := ParsePath(text)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("size=%dk/%s", len(payload)>>10, name), func(b *testing.B) {
				b.ReportAllocs()
				p := Payload{Source: whole(payload), Size: int64(len(payload)), Kind: kind, Paths: section}
				for b.Loop() {
					if _, err := p.Select(path); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
