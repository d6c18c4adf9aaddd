package recall

// The text that the rest of a request works on, once its path is resolved. How a
// path is resolved is in path.go.

import "docket/index"

// slice is a text that is searched and paged: the bytes [start, end) of a
// reader, and how many characters they are. All offsets that a request or an
// answer names count from its beginning.
type slice struct {
	r          *reader
	start, end int64
	charStart  int64 // characters of the reader's text before start
	chars      int64
	json       bool // strings in it are escaped
}

// maxOwn is the size in bytes up to which a selected value is a text of its own.
const maxOwn = 64 << 10

// whole returns the whole text of r.
func whole(r *reader) slice {
	return slice{r: r, end: r.total.Bytes, chars: r.total.Chars}
}

// selected returns the text that a path selected of the payload that r reads. A small
// one is a text of its own: nobody asks how many characters of its frame precede it.
func selected(r *reader, s index.Selected) (slice, error) {
	if !s.Derived && s.End-s.Start <= maxOwn {
		text, err := r.bytes(s.Start, s.End)
		if err != nil {
			return slice{}, err
		}
		s.Derived, s.Text = true, text
	}
	if s.Derived {
		out := whole(derivedReader(s.Text))
		out.json = true
		return out, nil
	}
	from, err := r.charOffset(s.Start)
	if err != nil {
		return slice{}, err
	}
	to, err := r.charOffset(s.End)
	return slice{r: r, start: s.Start, end: s.End, charStart: from, chars: to - from, json: true}, err
}

// byteOf returns the byte of the reader's text where character off of the slice
// begins.
func (s slice) byteOf(off int64) (int64, error) {
	if off >= s.chars {
		return s.end, nil
	}
	return s.r.byteOffset(s.charStart + off)
}

// byteAfter is byteOf(end) when character start begins at from: inside of one frame
// it counts from there, not from the frame's beginning.
func (s slice) byteAfter(from, start, end int64) (int64, error) {
	near := s.r.nearAt
	if s.r.near < 0 || s.charStart+start < near.Char || s.charStart+end >= near.Char+near.Chars {
		return s.byteOf(end)
	}
	at, _, err := s.forward(from, end-start)
	return at, err
}
