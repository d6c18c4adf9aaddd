package recall

// Long queries under case folding. Comparing the query at every place where its
// first character occurs, as the index package does, costs the product of both
// lengths on a payload like "aaaa…" and a query that differs in its last
// character; a rolling hash over folded characters (Rabin and Karp) costs their
// sum. For short queries, that is for nearly all, the other is several times
// faster.

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"docket/index"
)

// longFold is the number of characters from which a query is long.
const longFold = 32

// folded is a long query, prepared.
type folded struct {
	query       []rune // folded characters
	hash, power uint32 // of the query; of the character that leaves the window
}

// newFolded prepares a query, nil if it is not long.
func newFolded(query []byte) *folded {
	f := &folded{power: 1}
	for len(query) > 0 {
		r, size := foldedChar(query)
		f.query, query = append(f.query, r), query[size:]
		f.hash = f.hash*hashBase + uint32(r)
		f.power *= hashBase
	}
	if len(f.query) < longFold {
		return nil
	}
	return f
}

// hashBase is the one of the standard library's Rabin-Karp: FNV's 32-bit prime.
const hashBase = 16777619

// foldedChar returns the first character of text, folded, and its bytes. A byte
// that is not UTF-8 is a value of its own beyond all code points.
func foldedChar(text []byte) (rune, int) {
	r, size := utf8.DecodeRune(text)
	if r == utf8.RuneError && size == 1 {
		return unicode.MaxRune + 1 + rune(text[0]), 1
	}
	return index.FoldRune(r), size
}

// find returns the first match in text that begins at the border from or after it,
// as a half-open range of bytes; start is -1 if there is none.
func (f *folded) find(text []byte, from int) (start, end int) {
	start, end = from, from
	hash, n := uint32(0), 0
	for end < len(text) {
		r, size := foldedChar(text[end:])
		hash = hash*hashBase + uint32(r)
		end += size
		if n++; n > len(f.query) {
			r, size = foldedChar(text[start:])
			hash -= f.power * uint32(r)
			start, n = start+size, n-1
		}
		if n == len(f.query) && hash == f.hash && f.equals(text[start:end]) {
			return start, end
		}
	}
	return -1, -1
}

// equals compares text, which has as many characters as the query.
func (f *folded) equals(text []byte) bool {
	return !slices.ContainsFunc(f.query, func(want rune) bool {
		r, size := foldedChar(text)
		text = text[size:]
		return r != want
	})
}
