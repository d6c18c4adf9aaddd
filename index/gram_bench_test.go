package index

import (
	"strconv"
	"testing"
)

func BenchmarkAppendGrams(b *testing.B) {
	for name, text := range corpusFiles(b) {
		if len(text) < 350<<10 {
			continue
		}
		cuts := cutsOf(text, 48<<10)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				AppendGrams(nil, text, cuts, len(text)/30)
			}
		})
	}
}

// BenchmarkCandidates looks for strings that are not there in the section of a 10 MB
// payload, and in the sections of 10,000 records of 30 KB.
func BenchmarkCandidates(b *testing.B) {
	text := numbered10MB()
	cuts := cutsOf(text, 48<<10)
	section := AppendGrams(nil, text, cuts, len(text)/30)
	q := NewQuery([]byte("no-such-identifier"), false)
	b.Run("frames=10MB", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			q.Candidates(section, len(cuts))
		}
	})
	one := AppendGrams(nil, text[:30<<10], []int64{30 << 10}, 1000)
	b.Run("records=10000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for range 10_000 {
				q.MayContain(one)
			}
		}
	})
	b.Run("query", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			NewQuery([]byte("no-such-identifier"), false)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	text := numbered10MB()[:48<<10]
	for _, fold := range []bool{false, true} {
		q := NewQuery([]byte("no-such-identifier"), fold)
		b.Run(map[bool]string{false: "exact", true: "fold"}[fold], func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				q.Find(text, 0)
			}
		})
	}
}

// numbered10MB is JSON with many different words and numbers.
func numbered10MB() []byte {
	var b []byte
	for x := uint64(1); len(b) < 10_000_000; x = x*6364136223846793005 + 1442695040888963407 {
		b = append(b, `{"id":"`...)
		b = strconv.AppendUint(b, x>>20, 36)
		b = append(b, `","name":"`...)
		for i := range 5 {
			b = append(b, [...]string{"river", "stone", "cloud", "amber", "maple", "north", "quiet", "field"}[x>>(40+3*i)&7]...)
			b = append(b, ' ')
		}
		b = append(b, `","price":`...)
		b = strconv.AppendUint(b, x>>48, 10)
		b = append(b, "},\n"...)
	}
	return b
}
