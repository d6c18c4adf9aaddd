package index

// Matching on bytes: exact, or under simple case folding with offsets in the
// original. Two characters match when they are in one orbit of
// unicode.SimpleFold; there is no normalisation, no locale, and no folding that
// changes the number of characters ("ß" is not "ss"). A folded match may differ
// from the query in bytes: the Kelvin sign is three, "k" is one. Folding a copy
// of the payload first was decided against: it costs an allocation as large as
// the frame and a second map for the offsets.

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// FoldRune returns the smallest rune of the orbit of r under
// [unicode.SimpleFold].
func FoldRune(r rune) rune {
	switch {
	case r < 0:
		return r
	case r < foldTableEnd:
		return rune(foldTable()[r])
	case r < 0xa640, r >= 0xac00 && r < 0xfb00, r >= 0x1e944: // scripts without case, private use, pictures
		return r
	}
	return foldOrbit(r)
}

func foldOrbit(r rune) rune {
	low := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		low = min(low, f)
	}
	return low
}

// foldTableEnd is the end of the runes whose folding is tabulated: walking an orbit
// takes 50 times as long.
const foldTableEnd = 0x2e00

var foldTable = sync.OnceValue(func() *[foldTableEnd]uint16 {
	var t [foldTableEnd]uint16
	for r := range t {
		t[r] = uint16(foldOrbit(rune(r)))
	}
	return &t
})

// appendFolded appends b folded: each character replaced by [FoldRune] of it, bytes
// that are not UTF-8 as they are. The smallest rune of an orbit has the shortest
// encoding, so nothing gets longer.
func appendFolded(dst, b []byte) []byte {
	dst = slices.Grow(dst, len(b)+8)
	for len(b) > 0 {
		n := len(dst)
		for len(b) >= 8 {
			x := binary.LittleEndian.Uint64(b)
			if x&highBits != 0 {
				break
			}
			binary.LittleEndian.PutUint64(dst[n:n+8], upper8(x))
			n, b = n+8, b[8:]
		}
		dst = dst[:n]
		for i := 0; i < 8 && len(b) > 0; {
			size := 1
			if c := b[0]; c < utf8.RuneSelf {
				dst = append(dst, upper(c))
			} else {
				var r rune
				if r, size = utf8.DecodeRune(b); size == 1 {
					dst = append(dst, c)
				} else {
					dst = utf8.AppendRune(dst, FoldRune(r))
				}
			}
			b, i = b[size:], i+size
		}
	}
	return dst
}

// upper8 is upper of eight ASCII bytes at once.
func upper8(x uint64) uint64 {
	const ones = 0x0101010101010101
	from := x + (0x80-'a')*ones   // high bit: 'a' or more
	beyond := x + (0x7f-'z')*ones // high bit: more than 'z'
	return x - (from&^beyond&highBits)>>2
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

// foldedMax returns the number of bytes of the longest encoding in the orbit of r.
func foldedMax(r rune) int {
	n := utf8.RuneLen(r)
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		n = max(n, utf8.RuneLen(f))
	}
	return n
}

// Find returns the first match in text that begins at or after byte from, as a
// half-open range of bytes; start is -1 when there is none. A match begins and
// ends at character borders of text. An empty query matches nowhere. It
// allocates nothing.
func (q *Query) Find(text []byte, from int) (start, end int) {
	if len(q.text) == 0 || from < 0 {
		return -1, -1
	}
	if q.fold {
		return q.findFolded(text, from)
	}
	for from <= len(text)-len(q.text) {
		i := bytes.Index(text[from:], q.text)
		if i < 0 {
			break
		}
		start, end = from+i, from+i+len(q.text)
		if q.valid || border(text, start) && border(text, end) {
			return start, end
		}
		from = start + 1
	}
	return -1, -1
}

// border tells whether a character of text begins at i. Valid UTF-8 is
// self-synchronising; only a continuation byte needs a look back.
func border(text []byte, i int) bool {
	if i <= 0 || i >= len(text) || utf8.RuneStart(text[i]) {
		return true
	}
	for back := 1; back < utf8.UTFMax && back <= i; back++ {
		if !utf8.RuneStart(text[i-back]) {
			continue
		}
		_, size := utf8.DecodeRune(text[i-back:])
		return size <= back
	}
	return true
}

// findFolded goes from place to place where the needle is, and compares what stands
// before and after it. Where the needle has an orbit of its own the places ascend, so
// the first match is the first that is found. On a text and a query that agree nearly
// everywhere ("aaaa") it takes the product of their lengths; recall has another way
// for long queries.
func (q *Query) findFolded(text []byte, from int) (start, end int) {
	n := &q.needle
	scan := places{text: text, at: from, needle: n}
	for {
		i := scan.next()
		if i < 0 {
			return -1, -1
		}
		before := foldedSuffix(text[from:i], q.folded[:n.at])
		if before < 0 {
			continue
		}
		after := foldedPrefix(text[i:], q.folded[n.at:])
		if after >= 0 && (q.valid || border(text, i-before) && border(text, i+after)) {
			return i - before, i + after
		}
	}
}

// needle is the part of a folded query that is looked for first: bytes that match
// only themselves; else a letter of ASCII with two forms; else (one is nil) whatever
// the first character can begin with.
type needle struct {
	at    int    // where it is in the folded query
	run   []byte // bytes to look for; empty: look for both forms of a letter, or leads
	forms [2]byte
	leads [4]uint64
}

// letterRank lists the letters that have exactly two forms, rare ones first. K and S
// have a third, the Kelvin sign and the long s.
const letterRank = "QZXJVWYFGBPHMCUDLRNOITAE"

func newNeedle(folded []byte) needle {
	var n, run needle
	rank := len(letterRank)
	for i := 0; i < len(folded); {
		r, size := utf8.DecodeRune(folded[i:])
		switch rare := strings.IndexByte(letterRank, folded[i]); {
		case r == utf8.RuneError && size == 1, unicode.SimpleFold(r) == r:
			if len(run.run) == 0 || run.at+len(run.run) != i {
				run = needle{at: i}
			}
			run.run = folded[run.at : i+size]
			if len(run.run) > len(n.run) && (len(run.run) > 1 || rank == len(letterRank)) {
				n = run
			}
		case rare >= 0 && rare < rank && len(n.run) < 2:
			rank = rare
			n = needle{at: i, forms: [2]byte{folded[i], folded[i] + 'a' - 'A'}}
		}
		i += size
	}
	if len(n.run) == 0 && n.forms[0] == 0 && len(folded) > 0 {
		n.setLeads(folded)
	}
	return n
}

// setLeads lists the first bytes of all forms of the first character.
func (n *needle) setLeads(folded []byte) {
	r, _ := utf8.DecodeRune(folded)
	var b [utf8.UTFMax]byte
	for f := r; ; {
		utf8.EncodeRune(b[:], f)
		n.leads[b[0]>>6] |= 1 << (b[0] & 63)
		if f = unicode.SimpleFold(f); f == r {
			return
		}
	}
}

// places finds the places of a needle in a text.
type places struct {
	text   []byte
	at     int // places before it were found
	needle *needle
	ahead  [2]int // where each form of a letter was looked for: it is not before that
}

// next returns the next place, -1 if there is none.
func (s *places) next() int {
	if s.at > len(s.text) {
		return -1
	}
	i := -1
	switch n := s.needle; {
	case len(n.run) > 0:
		if i = bytes.Index(s.text[s.at:], n.run); i >= 0 {
			i += s.at
		}
	case n.forms[0] != 0:
		i = s.letter()
	default:
		i = s.lead()
	}
	s.at = i + 1
	if i < 0 {
		s.at = len(s.text) + 1
	}
	return i
}

// firstStep is how far ahead both forms of a letter are looked for at first.
const firstStep = 256

// letter returns the next place of a letter, -1 if there is none. Both forms are
// looked for in steps that double: to look for each to the end would take, for a
// form that does not occur, the text's length for each match of the other.
func (s *places) letter() int {
	for step := firstStep; ; step *= 2 {
		end := min(s.at+step, len(s.text))
		if i := min(s.form(0, end), s.form(1, end)); i < end {
			return i
		}
		if end == len(s.text) {
			return -1
		}
	}
}

// form returns the next place of a form of a letter before end, end if there is
// none.
func (s *places) form(k, end int) int {
	from := max(s.at, s.ahead[k])
	if from >= end {
		return end
	}
	i := bytes.IndexByte(s.text[from:end], s.needle.forms[k])
	if i < 0 {
		i = end - from
	}
	s.ahead[k] = from + i
	return from + i
}

func (s *places) lead() int {
	for i, c := range s.text[s.at:] {
		if s.needle.leads[c>>6]&(1<<(c&63)) != 0 {
			return s.at + i
		}
	}
	return -1
}

// foldedPrefix returns the length of what of text matches all of want, from its
// start; -1 if it does not.
func foldedPrefix(text, want []byte) int {
	n := 0
	for len(want) > 0 {
		if n >= len(text) {
			return -1
		}
		if c := text[n]; c < utf8.RuneSelf {
			if upper(c) != want[0] {
				return -1
			}
			n, want = n+1, want[1:]
			continue
		}
		size, wsize := sameFolded(text[n:], want)
		if size == 0 {
			return -1
		}
		n, want = n+size, want[wsize:]
	}
	return n
}

// sameFolded returns the sizes of the first characters of text and want if they
// match. That of text is not ASCII.
func sameFolded(text, want []byte) (size, wsize int) {
	r, size := utf8.DecodeRune(text)
	w, wsize := utf8.DecodeRune(want)
	if size == 1 || w == utf8.RuneError && wsize == 1 { // a byte that is not UTF-8
		if size != wsize || text[0] != want[0] {
			return 0, 0
		}
		return 1, 1
	}
	if FoldRune(r) != w {
		return 0, 0
	}
	return size, wsize
}

// foldedSuffix returns the length of what of text matches all of want, back from its
// end; -1 if it does not.
func foldedSuffix(text, want []byte) int {
	end := len(text)
	for len(want) > 0 {
		if end == 0 {
			return -1
		}
		if c := text[end-1]; c < utf8.RuneSelf {
			if upper(c) != want[len(want)-1] {
				return -1
			}
			end, want = end-1, want[:len(want)-1]
			continue
		}
		_, size := utf8.DecodeLastRune(text[:end])
		_, wsize := utf8.DecodeLastRune(want)
		if n, _ := sameFolded(text[end-size:end], want[len(want)-wsize:]); n == 0 {
			return -1
		}
		end, want = end-size, want[:len(want)-wsize]
	}
	return len(text) - end
}
