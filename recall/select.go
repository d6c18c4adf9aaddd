package recall

// The text that the rest of a request works on, once its path is resolved. How a
// path is resolved is in path.go.

// selected is what a path selects: a span of the payload, byte for byte, or text
// that was derived from it.
type selected struct {
	start, end int64  // bytes of the payload; unused for derived text
	text       []byte // the derived text
	derived    bool
	json       bool // the text is JSON: strings in it are escaped
}

// slice is a text that is searched and paged: the bytes [start, end) of a
// reader, and how many characters they are. All offsets that a request or an
// answer names count from its beginning.
type slice struct {
	r          *reader
	start, end int64
	charStart  int64 // characters of the reader's text before start
	chars      int64
	json       bool
}

// whole returns the whole text of r.
func whole(r *reader) slice {
	return slice{r: r, end: r.total.Bytes, chars: r.total.Chars}
}

// slice returns the text that s selects of the payload that r reads.
func (s selected) slice(r *reader) (slice, error) {
	if s.derived {
		out := whole(derivedReader(s.text))
		out.json = s.json
		return out, nil
	}
	from, err := r.charOffset(s.start)
	if err != nil {
		return slice{}, err
	}
	to, err := r.charOffset(s.end)
	return slice{r: r, start: s.start, end: s.end, charStart: from, chars: to - from, json: s.json}, err
}

// byteOf returns the byte of the reader's text where character off of the slice
// begins.
func (s slice) byteOf(off int64) (int64, error) {
	if off >= s.chars {
		return s.end, nil
	}
	return s.r.byteOffset(s.charStart + off)
}
