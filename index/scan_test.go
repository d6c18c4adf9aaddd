package index

import (
	"testing"
)

func BenchmarkScan(b *testing.B) {
	for name, text := range corpusJSON(b) {
		if len(text) < 1<<20 {
			continue
		}
		b.Run("check/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s := scan(text)
				for t := s.next(); t > tokenBad; t = s.next() {
				}
			}
		})
		b.Run("skip/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				skipValue(text, 0)
			}
		})
	}
}
