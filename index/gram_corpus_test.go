package index

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// oracle finds all matches of a query in a payload by folding the whole of it.
type oracle struct {
	text, folded []byte
	at           []int32 // where each byte of folded comes from; one more for the end
	starts       []bool  // whether a character begins there in folded
}

func newOracle(text []byte, fold bool) *oracle {
	o := &oracle{text: text}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		before := len(o.folded)
		switch {
		case r == utf8.RuneError && size == 1:
			o.folded = append(o.folded, text[i])
		case fold:
			o.folded = utf8.AppendRune(o.folded, foldOrbit(r))
		default:
			o.folded = utf8.AppendRune(o.folded, r)
		}
		for n := range len(o.folded) - before {
			o.at = append(o.at, int32(i))
			o.starts = append(o.starts, n == 0)
		}
		i += size
	}
	o.at = append(o.at, int32(len(text)))
	o.starts = append(o.starts, true)
	return o
}

// matches returns the first matches of a folded query, at most a number.
func (o *oracle) matches(query []byte, most int) (out [][2]int) {
	for i := 0; len(out) < most; i++ {
		n := bytes.Index(o.folded[i:], query)
		if n < 0 {
			break
		}
		i += n
		if o.starts[i] && o.starts[i+len(query)] {
			out = append(out, [2]int{int(o.at[i]), int(o.at[i+len(query)])})
		}
	}
	return out
}

// queryLengths are in characters.
var queryLengths = []int{1, 2, 3, 4, 5, 7, 12, 40, 300}

// E5, Q: on every payload of the corpus, queries of each length, in both cases, of
// whatever script stands there, inside of frames and across their borders: what the
// candidate frames hold is what a plain scan finds.
func TestE5EveryMatchIsInACandidate(t *testing.T) {
	const frame = 16 << 10
	for name, text := range corpusFiles(t) {
		most := 1 << 20 // a part of it says as much
		if raced {
			most >>= 3
		}
		text = text[len(text)-min(most, len(text)):]
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(len(text))))
			cuts := cutsOf(text, frame)
			section := AppendGrams(nil, text, cuts, len(text)/30)
			if section != nil && CheckGrams(section, len(cuts)) != nil {
				t.Fatal("the section does not pass its own check")
			}
			oracles := [2]*oracle{newOracle(text, false), newOracle(text, true)}
			for _, chars := range queryLengths {
				for round := range 6 {
					query := someQuery(r, text, cuts, chars)
					fold := round%2 == 1
					if fold {
						query = swapCase(query)
					}
					o := oracles[round%2]
					folded := query
					if fold {
						folded = appendFolded(nil, query)
					}
					checkQuery(t, text, cuts, section, query, fold, o.matches(folded, 200))
				}
			}
		})
	}
}

func checkQuery(t *testing.T, text []byte, cuts []int64, section, query []byte, fold bool, want [][2]int) {
	t.Helper()
	q := NewQuery(query, fold)
	set := q.Candidates(section, len(cuts))
	from := 0
	for _, w := range want {
		start, end := q.Find(text, from)
		if start != w[0] || end != w[1] {
			t.Fatalf("%.60q, fold %v, from %d: found [%d, %d), want %v", query, fold, from, start, end, w)
		}
		k, _ := slices.BinarySearch(cuts, int64(start)+1)
		if !set.Has(k) {
			t.Fatalf("%.60q, fold %v: the match at %d is in frame %d, which is no candidate", query, fold, start, k)
		}
		_, size := utf8.DecodeRune(text[start:])
		from = start + size
	}
	if len(want) > 0 && !q.MayContain(section) {
		t.Fatalf("%.60q, fold %v: the record is ruled out", query, fold)
	}
}

// someQuery returns some characters of text, half of the time across the border of
// two frames.
func someQuery(r *rand.Rand, text []byte, cuts []int64, chars int) []byte {
	if len(text) == 0 {
		return []byte("x")
	}
	i := r.IntN(len(text))
	if r.IntN(2) == 0 && len(cuts) > 1 {
		i = int(cuts[r.IntN(len(cuts)-1)]) - r.IntN(4*chars)
	}
	for i = max(i, 0); i > 0 && !border(text, i); i-- {
	}
	return text[i : i+ByteOfChar(text[i:], int64(chars))]
}

// swapCase changes the case of every letter that has one.
func swapCase(b []byte) []byte {
	if !utf8.Valid(b) {
		return b
	}
	return []byte(strings.Map(func(r rune) rune {
		if f := foldOrbit(r); f != r {
			return f
		}
		return []rune(strings.ToLower(string(r)))[0]
	}, string(b)))
}

// E5: the scripts and lengths that defeat indexes of words or of three letters.
func TestE5ShortQueriesOfEveryScript(t *testing.T) {
	text := []byte(strings.Repeat("filler, so that there is an index: 0123456789\n", 400) + "用户 has a db 📚 in Ελλάδα\n" + strings.Repeat("more of it ... 98765\n", 900))
	cuts := cutsOf(text, 4<<10)
	section := AppendGrams(nil, text, cuts, 2000)
	if section == nil {
		t.Fatal("no section")
	}
	for _, query := range []string{"用", "用户", "户 ", "db", "d", "📚", "a 📚 i", "ελλάδα", "ΕΛΛΆΔΑ", "DB", "has", "hasn"} {
		for _, fold := range []bool{false, true} {
			folded := []byte(query)
			if fold {
				folded = appendFolded(nil, folded)
			}
			checkQuery(t, text, cuts, section, []byte(query), fold, newOracle(text, fold).matches(folded, 1000))
		}
	}
}

// A query of the length around the cover, ending and beginning on either side of a
// border, of characters whose forms differ in length.
func TestLongQueriesAcrossABorder(t *testing.T) {
	for _, unit := range []string{"a1b2", "ⱥȺ-", "用户x", "k\u212a", "📚9", "é"} {
		body := strings.Repeat(unit+"·", 2000/len(unit))
		text := []byte(strings.Repeat("z", 2048) + body + strings.Repeat("y", 2048))
		cuts := cutsOf(text, 1024)
		section := AppendGrams(nil, text, cuts, 4000)
		for _, chars := range []int{60, 84, 85, 126, 127, 250, 251, 252, 253, 254, 255, 256, 257, 300} {
			for i := 2040; i < 3200; i += 17 {
				for !border(text, i) {
					i++
				}
				query := text[i : i+ByteOfChar(text[i:], int64(chars))]
				for _, fold := range []bool{false, true} {
					set := NewQuery(query, fold).Candidates(section, len(cuts))
					k, _ := slices.BinarySearch(cuts, int64(i)+1)
					if !set.Has(k) {
						t.Fatalf("%d characters of %q at %d, fold %v: frame %d is no candidate", chars, unit, i, fold, k)
					}
				}
			}
		}
	}
}

// Damage anywhere rules nothing out; the check finds it.
func TestDamagedGramsRuleNothingOut(t *testing.T) {
	text := numbered10MB()[:300<<10]
	cuts := cutsOf(text, 16<<10)
	section := AppendGrams(nil, text, cuts, 12000)
	at := len(text) / 2
	q := NewQuery(text[at:at+12], false)
	k, _ := slices.BinarySearch(cuts, int64(at)+1)
	for i := 0; i < len(section); i += 1 + len(section)/3000 {
		hurt := bytes.Clone(section)
		hurt[i] ^= 1 << (i % 8)
		set := q.Candidates(hurt, len(cuts))
		if !set.Has(k) {
			t.Fatalf("byte %d damaged: frame %d is ruled out", i, k)
		}
		if CheckGrams(hurt, len(cuts)) == nil {
			t.Fatalf("byte %d damaged: the check passes", i)
		}
	}
	for n := range 40 {
		set := q.Candidates(section[:n], len(cuts))
		if set.Len() != len(cuts) {
			t.Fatalf("cut to %d bytes: %d candidates", n, set.Len())
		}
	}
}

// A section is as small as its budget says, and the same for the same payload.
func TestGramsBudget(t *testing.T) {
	text := numbered10MB()[:600<<10]
	for _, frame := range []int{600 << 10, 48 << 10, 4 << 10} {
		cuts := cutsOf(text, frame)
		for _, budget := range []int{0, 100, 1000, 10_000, 100_000} {
			section := AppendGrams(nil, text, cuts, budget)
			if !bytes.Equal(section, AppendGrams([]byte("x"), text, cuts, budget)[1:]) {
				t.Errorf("frame %d, budget %d: two sections of one payload differ", frame, budget)
			}
			least := minBudget + minRows*len(cuts)/8
			if len(section) > max(budget, least)*1002/1000+8 {
				t.Errorf("frame %d, budget %d: %d bytes", frame, budget, len(section))
			}
		}
	}
	if AppendGrams(nil, text[:1023], []int64{1023}, 1000) != nil {
		t.Error("a payload of less than 1 KiB has a section")
	}
}

// What tells numbered items apart is a digit, with numbers all around.
func TestNumberedItemsNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var text []byte
	for i := range 20_000 {
		text = fmt.Appendf(text, `{"sku":"SKU-%06d","price":%d.%02d,"stock":%d,"views":%d},`, i, r.IntN(1000), r.IntN(100), r.IntN(1e5), r.IntN(1e6))
	}
	cuts := cutsOf(text, 48<<10)
	section := AppendGrams(nil, text, cuts, len(text)/20)
	candidates := 0
	for i := range 200 {
		set := NewQuery(fmt.Appendf(nil, "SKU-%06d", i*97), false).Candidates(section, len(cuts))
		candidates += set.Len()
	}
	if most := 200 * 3; candidates > most {
		t.Errorf("%d candidates for 200 items in %d frames, at most %d are right", candidates, len(cuts), most)
	}
}

func FuzzGrams(f *testing.F) {
	text := numbered10MB()[:40<<10]
	for _, frame := range []int{4 << 10, 64 << 10} {
		cuts := cutsOf(text, frame)
		f.Add(AppendGrams(nil, text, cuts, 700), len(cuts), "river stone")
	}
	f.Add([]byte{}, 0, "")
	f.Fuzz(func(t *testing.T, section []byte, frames int, query string) {
		frames = max(0, min(frames, 5000))
		for _, fold := range []bool{false, true} {
			q := NewQuery([]byte(query), fold)
			set := q.Candidates(section, frames)
			if set.Len() > frames {
				t.Fatal("more candidates than frames")
			}
			q.MayContain(section)
		}
		g, err := openGrams(section)
		if err != nil || CheckGrams(section, g.frames) != nil {
			return
		}
		body := make([]byte, g.body.Len())
		all, _ := g.body.Read(0, g.body.Len())
		copy(body, all)
		g.putHeader(body)
		if !bytes.Equal(body, all) {
			t.Errorf("header % x is read and written as % x", all[:gramHeader], body[:gramHeader])
		}
	})
}

func FuzzChars(f *testing.F) {
	f.Add(AppendChars(nil, []byte("ab用户"), []int64{2, 8}), 2, int64(8), int64(4), int64(3))
	f.Add([]byte(nil), 1, int64(5), int64(5), int64(9))
	f.Fuzz(func(t *testing.T, section []byte, frames int, size, chars, off int64) {
		frames = min(frames, 1<<16)
		c, err := OpenChars(section, frames, size, chars)
		if err != nil {
			return
		}
		c.AtByte(off)
		c.AtChar(off)
		if CheckChars(section, frames, size, chars) != nil || frames < 2 {
			return
		}
		var body []byte
		for n := range frames {
			s, _ := c.Frame(n)
			body = appendCharRow(body, s.Byte, s.Char)
		}
		body = appendCharRow(body, size, chars)
		if again := append(body, section[len(body):]...); !bytes.Equal(again, section) {
			t.Errorf("% x is read and written as % x", section, again)
		}
	})
}
