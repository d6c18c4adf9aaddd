package index

// A substring to look for, prepared once for any number of payloads: what it
// matches (fold.go) and which grams it has (gram.go).

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Query is a substring to look for. It is immutable and safe for concurrent use.
type Query struct {
	text   []byte // as given
	folded []byte // [appendFolded] of text, if fold
	fold   bool
	valid  bool // text is UTF-8: a match of its bytes begins and ends at characters

	maxBytes int
	needle   needle

	grams [classes][]uint64 // hashes, in the order in which they are probed
}

// maxProbes is how many grams of a class are looked up: each costs a row, and a
// query that dozens of grams do not rule out is not ruled out by more.
const maxProbes = 48

// NewQuery prepares a query: exact, or with fold under simple case folding. It
// copies text.
func NewQuery(text []byte, fold bool) *Query {
	q := &Query{text: bytes.Clone(text), fold: fold, valid: utf8.Valid(text)}
	prefix := 0 // of text, is sure to lie inside of the cover of the frame where a match begins
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		most := size
		if fold && (r != utf8.RuneError || size > 1) {
			most = foldedMax(r)
		}
		q.maxBytes += most
		i += size
		if q.maxBytes <= sureCover {
			prefix = i
		}
	}
	if fold {
		q.folded = appendFolded(nil, text)
		q.needle = newNeedle(q.folded)
	}
	if q.valid {
		q.setGrams(appendFolded(nil, text[:prefix]))
	}
	return q
}

// MaxBytes returns the length of the longest text that q can match, in bytes.
func (q *Query) MaxBytes() int { return q.maxBytes }

// setGrams hashes the grams of a folded prefix. Neighbours tell much the same, so they
// are probed far apart: every fourth, then those between.
func (q *Query) setGrams(folded []byte) {
	padded := append(folded, pad[:]...)
	all := make([]uint64, 0, classes*min(len(folded), maxProbes))
	for i := range anchorsOf(folded) {
		if len(all) < maxProbes {
			all = append(all, gramHash(binary.LittleEndian.Uint64(padded[i:]), anchored))
		}
	}
	q.grams[anchored] = all
	for class := fours; class < classes; class++ {
		from := len(all)
		for first := range 4 {
			for i := first; i+gramWidths[class] <= len(folded) && len(all)-from < maxProbes; i += 4 {
				all = append(all, gramHash(binary.LittleEndian.Uint64(padded[i:]), class))
			}
		}
		q.grams[class] = all[from:]
	}
}
