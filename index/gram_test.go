package index

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// findAll is the oracle: every place where q's text matches, character by
// character.
func findAll(text, query []byte, fold bool) (starts []int) {
	if len(query) == 0 {
		return nil
	}
	for i := 0; i < len(text); {
		if matchAt(text[i:], query, fold) {
			starts = append(starts, i)
		}
		_, size := utf8.DecodeRune(text[i:])
		i += size
	}
	return starts
}

func matchAt(text, query []byte, fold bool) bool {
	for len(query) > 0 {
		if len(text) == 0 {
			return false
		}
		a, n := utf8.DecodeRune(text)
		b, m := utf8.DecodeRune(query)
		badA, badB := a == utf8.RuneError && n == 1, b == utf8.RuneError && m == 1
		switch {
		case badA != badB, badA && text[0] != query[0]:
			return false
		case !badA && a != b && (!fold || FoldRune(a) != FoldRune(b)):
			return false
		}
		text, query = text[n:], query[m:]
	}
	return true
}

func TestFindAgreesWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText(t)
		query := anyQuery(t, text)
		fold := rapid.Bool().Draw(t, "fold")
		q := NewQuery(query, fold)
		want := findAll(text, query, fold)
		from := 0
		for _, w := range want {
			start, end := q.Find(text, from)
			if start != w || end-start > q.MaxBytes() {
				t.Fatalf("%q in %q from %d: [%d, %d), want %d", query, text, from, start, end, w)
			}
			from = start + 1
		}
		if start, _ := q.Find(text, from); start >= 0 {
			t.Fatalf("%q in %q: surplus match at %d", query, text, start)
		}
	})
}

// anyQuery draws a piece of text or something else.
func anyQuery(t *rapid.T, text []byte) []byte {
	if len(text) == 0 || rapid.IntRange(0, 3).Draw(t, "other") == 0 {
		return anyText(t)
	}
	a := rapid.IntRange(0, len(text)-1).Draw(t, "a")
	b := rapid.IntRange(a, min(len(text), a+400)).Draw(t, "b")
	return text[a:b]
}

func TestCandidatesNeverMiss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		for len(text) < 2000 {
			text = append(text, anyText(t)...)
			text = append(text, "filler that makes it long enough "...)
		}
		cuts := cutsOf(text, rapid.IntRange(100, 900).Draw(t, "size"))
		section := AppendGrams(nil, text, cuts, rapid.IntRange(64, 4000).Draw(t, "budget"))
		query := anyQuery(t, text)
		fold := rapid.Bool().Draw(t, "fold")
		q := NewQuery(query, fold)
		set := q.Candidates(section, len(cuts))
		for _, at := range findAll(text, query, fold) {
			k := 0
			for int64(at) >= cuts[k] {
				k++
			}
			if !set.Has(k) || !q.MayContain(section) {
				t.Fatalf("%q at %d: frame %d of %d is no candidate", query, at, k, len(cuts))
			}
		}
	})
}
