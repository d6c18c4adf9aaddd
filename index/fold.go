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
	"unicode"
	"unicode/utf8"
)

// FoldRune returns the smallest rune of the orbit of r under
// [unicode.SimpleFold].
func FoldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	low := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		low = min(low, f)
	}
	return low
}

// appendFolded appends b folded: each character replaced by [FoldRune] of it,
// bytes that are not UTF-8 as they are.
func appendFolded(dst, b []byte) []byte {
	for len(b) > 0 {
		if c := b[0]; c < utf8.RuneSelf {
			dst = append(dst, byte(FoldRune(rune(c))))
			b = b[1:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, b[0])
		} else {
			dst = utf8.AppendRune(dst, FoldRune(r))
		}
		b = b[size:]
	}
	return dst
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

// findFolded looks for places where the needle's rune may be.
func (q *Query) findFolded(text []byte, from int) (start, end int) {
	for from < len(text) {
		i := q.anchor.next(text[from:])
		if i < 0 {
			break
		}
		start = from + i
		if n := q.matchFolded(text[start:]); n > 0 && (q.valid || border(text, start) && border(text, start+n)) {
			return start, start + n
		}
		from = start + 1
	}
	return -1, -1
}

// needle finds the bytes that a folded query can begin with.
type needle struct {
	leads []byte
	set   [4]uint64
}

func newNeedle(folded []byte) needle {
	var n needle
	if len(folded) == 0 {
		return n
	}
	r, size := utf8.DecodeRune(folded)
	if r == utf8.RuneError && size == 1 {
		n.add(folded[0])
		return n
	}
	var b [utf8.UTFMax]byte
	for f := r; ; {
		utf8.EncodeRune(b[:], f)
		n.add(b[0])
		if f = unicode.SimpleFold(f); f == r {
			return n
		}
	}
}

func (n *needle) add(c byte) {
	if n.set[c>>6]&(1<<(c&63)) == 0 {
		n.set[c>>6] |= 1 << (c & 63)
		n.leads = append(n.leads, c)
	}
}

// next returns the offset of the first byte of text that can begin a match.
func (n *needle) next(text []byte) int {
	if len(n.leads) == 1 {
		return bytes.IndexByte(text, n.leads[0])
	}
	for i, c := range text {
		if n.set[c>>6]&(1<<(c&63)) != 0 {
			return i
		}
	}
	return -1
}

// matchFolded returns the length of the match at the start of text, 0 if there
// is none.
func (q *Query) matchFolded(text []byte) int {
	want, n := q.folded, 0
	for len(want) > 0 {
		if n >= len(text) {
			return 0
		}
		if c := text[n]; c < utf8.RuneSelf {
			if byte(FoldRune(rune(c))) != want[0] {
				return 0
			}
			n, want = n+1, want[1:]
			continue
		}
		r, size := utf8.DecodeRune(text[n:])
		w, wsize := utf8.DecodeRune(want)
		if size == 1 || wsize == 1 && w == utf8.RuneError { // a byte that is not UTF-8
			if text[n] != want[0] || size != wsize {
				return 0
			}
		} else if FoldRune(r) != w {
			return 0
		}
		n, want = n+size, want[wsize:]
	}
	return n
}
