package index

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Sections hold folded grams: if the fold of any rune changed with the standard
// library's tables, sections written before would miss. Should this test fail after
// an upgrade of Go, freeze the old tables beside the new ones.
func TestFoldIsFrozen(t *testing.T) {
	h := crc32.NewIEEE()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if f := FoldRune(r); f != r {
			h.Write(utf8.AppendRune(utf8.AppendRune(nil, r), f))
		}
	}
	if got := h.Sum32(); got != 0xdd76abb {
		t.Errorf("the folds of Unicode %s have the checksum %#x", unicode.Version, got)
	}
}

func TestFoldIsTheSmallestOfTheOrbit(t *testing.T) {
	for r := rune(-1); r <= unicode.MaxRune+1; r++ {
		if got, want := FoldRune(r), foldOrbit(r); got != want {
			t.Fatalf("%U folds to %U, want %U", r, got, want)
		}
		if utf8.RuneLen(FoldRune(r)) > utf8.RuneLen(r) {
			t.Fatalf("%U gets longer", r)
		}
		if foldedMax(r) > utf8.UTFMax || foldedMax(r) < utf8.RuneLen(r) {
			t.Fatalf("%U: longest of its orbit is %d", r, foldedMax(r))
		}
	}
}

func TestAppendFoldedFoldsEachCharacter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyText(t)
		if rapid.Bool().Draw(t, "wild") {
			b = append(b, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")...)
		}
		var want []byte
		for i := 0; i < len(b); {
			r, size := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && size == 1 {
				want = append(want, b[i])
			} else {
				want = utf8.AppendRune(want, foldOrbit(r))
			}
			i += size
		}
		if got := appendFolded([]byte("x"), b); string(got[1:]) != string(want) {
			t.Fatalf("%q folds to %q, want %q", b, got[1:], want)
		}
	})
}

// E4: matching is on code points. Nothing is normalised, and a letter never matches
// a part of another character.
func TestE4ExactCodePoints(t *testing.T) {
	for _, c := range []struct {
		text, query string
		fold        bool
		start, end  int
	}{
		{"cafe\u0301", "caf\u00e9", false, -1, -1},
		{"cafe\u0301", "caf\u00e9", true, -1, -1},
		{"cafe\u0301", "cafe", false, 0, 4},
		{"ąb", "a", false, -1, -1},
		{"ąb", "a", true, -1, -1},
		{"Ą", "ą", true, 0, 2},
		{"x\u212aelvin", "KELVIN", true, 1, 9},
		{"straſſe", "STRASSE", true, 0, 9},
		{"straße", "STRASSE", true, -1, -1},
		{"ÅNGSTRÖM", "ångström", true, 0, 10},
		{"\u212bngström", "ÅNGSTRÖM", true, 0, 11},
		{"Ⱥ", "ⱥ", true, 0, 2},
		{"İstanbul", "istanbul", true, -1, -1},
		{"abc", "", false, -1, -1},
		{"é", "\xa9", false, -1, -1},
		{"é", "\xc3", true, -1, -1},
		{"\xc3\xff", "\xc3", true, 0, 1},
		{"📚", "\x9f", false, -1, -1},
		{"a📚b", "📚", false, 1, 5},
	} {
		start, end := NewQuery([]byte(c.query), c.fold).Find([]byte(c.text), 0)
		if start != c.start || end != c.end {
			t.Errorf("%+q in %+q, fold %v: [%d, %d), want [%d, %d)", c.query, c.text, c.fold, start, end, c.start, c.end)
		}
	}
}

// To find a letter costs the way to it, also where its other form is nowhere: what
// every match pays for must not be the text's length.
func TestFindFoldedLooksNoFurtherThanItMust(t *testing.T) {
	q := NewQuery([]byte("e"), true)
	for _, letter := range []string{"e", "E"} {
		for _, way := range []int{0, 1, 255, 256, 5000} {
			text := []byte(strings.Repeat(".", way) + strings.Repeat(letter, 1<<20))
			s := places{text: text, needle: &q.needle}
			if got := s.next(); got != way {
				t.Errorf("%s after %d bytes: found at %d", letter, way, got)
			}
			if seen := max(s.ahead[0], s.ahead[1]); seen > 4*way+firstStep {
				t.Errorf("%s after %d bytes: looked at %d", letter, way, seen)
			}
		}
	}
}

func TestFindAllocatesNothing(t *testing.T) {
	text := []byte(strings.Repeat("Lorem ipsum dolor sit amet, Kelvin \u212a and ſ. ", 100) + "needle")
	for _, fold := range []bool{false, true} {
		q := NewQuery([]byte("NEEDLE"[:3]+"dle"), fold)
		if n := testing.AllocsPerRun(20, func() { q.Find(text, 0) }); n != 0 {
			t.Errorf("fold %v: %v allocations", fold, n)
		}
	}
}

// Four times the text, four times the time: also where every word matches.
func BenchmarkFindFoldedEverywhere(b *testing.B) {
	q := NewQuery([]byte("lorem"), true)
	for _, size := range []int{48 << 10, 192 << 10, 768 << 10} {
		text := []byte(strings.Repeat("lorem ipsum ", size/12))
		b.Run(fmt.Sprintf("size=%dk", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				for at := 0; at >= 0; {
					_, at = q.Find(text, at)
				}
			}
		})
	}
}
