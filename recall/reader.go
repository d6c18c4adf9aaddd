package recall

// Reading a payload as one contiguous text while decoding only the frames that a
// request touches. The frame table in both units is the index package's; a record
// without one (a ledger that keeps no sections, a damaged section) is scanned
// from its beginning as far as needed. What a path selects is found over a reader
// in path.go.

import (
	"fmt"
	"sort"
	"sync"

	"docket"
	"docket/index"
)

// reader is the text of one record during its view, or text that was derived from
// it. It keeps the two frames that it used last, so that a window over a border
// or a path's last step decodes nothing twice, and no more than that, whatever
// the size of the payload. For one goroutine.
type reader struct {
	rec     docket.Record // nil: derived text, whole in slots[0]
	frames  int
	total   index.Span
	chars   index.Chars
	indexed bool         // chars is usable
	scanned []index.Span // without an index: the frames from the first on, as far as scanned
	near    int          // the frame that was looked up last, -1: none
	nearAt  index.Span   // where it lies
	slots   [2]slot
	last    int    // the slot that was used last
	stitch  []byte // bytes of more than one frame
	decoded int    // frames decoded so far
}

// slot holds one decoded frame.
type slot struct {
	n   int // its number, -1: none
	buf []byte
}

// maxPooled is the largest buffer that is kept for the next request: a few frames
// of the usual size.
const maxPooled = 1 << 20

var readers = sync.Pool{New: func() any { return new(reader) }}

// newReader returns a reader of rec; free returns it to the pool.
func newReader(rec docket.Record) *reader {
	r := readers.Get().(*reader)
	h := rec.Handle()
	r.rec, r.frames, r.decoded = rec, rec.Frames(), 0
	r.total = index.Span{Bytes: h.Bytes, Chars: h.Chars}
	chars, err := index.OpenChars(rec.Section(docket.SectionChars), r.frames, h.Bytes, h.Chars)
	r.chars, r.indexed, r.scanned = chars, err == nil, r.scanned[:0]
	r.slots[0].n, r.slots[1].n, r.last, r.near = -1, -1, 0, -1
	return r
}

// derivedReader returns a reader of text that was made from a payload: an
// unescaped string, the elements that a wildcard collected.
func derivedReader(text []byte) *reader {
	r := &reader{indexed: true, near: -1, slots: [2]slot{{0, text}, {-1, nil}}}
	r.total = index.Span{Bytes: int64(len(text)), Chars: index.CountChars(text)}
	r.frames = min(1, len(text))
	r.chars, _ = index.OpenChars(nil, r.frames, r.total.Bytes, r.total.Chars)
	return r
}

// free ends the use of r and of everything that it handed out.
func (r *reader) free() {
	if r.rec == nil {
		return
	}
	r.rec, r.chars = nil, index.Chars{}
	if cap(r.stitch) <= maxPooled && cap(r.slots[0].buf) <= maxPooled && cap(r.slots[1].buf) <= maxPooled {
		readers.Put(r)
	}
}

// frame returns the decoded bytes of frame n, 0 ≤ n < frames. They are valid
// until two other frames were asked for.
func (r *reader) frame(n int) ([]byte, error) {
	for i := range r.slots {
		if r.slots[i].n == n {
			r.last = i
			return r.slots[i].buf, nil
		}
	}
	s := &r.slots[1-r.last]
	s.n = -1
	buf, err := r.rec.AppendFrame(s.buf[:0], n)
	if err != nil {
		return nil, err
	}
	r.decoded++
	s.n, s.buf, r.last = n, buf, 1-r.last
	return buf, nil
}

// span returns where frame n lies, 0 ≤ n < frames.
func (r *reader) span(n int) (index.Span, error) {
	if r.indexed {
		s, err := r.chars.Frame(n)
		if err == nil {
			return s, nil
		}
		r.indexed = false
	}
	if err := r.scan(func(index.Span) bool { return len(r.scanned) > n }); err != nil {
		return index.Span{}, err
	}
	return r.scanned[n], nil
}

// atByte returns the number and span of the frame that holds the byte at off. That
// there is none is a [*docket.CorruptError]: the handle says that there is.
func (r *reader) atByte(off int64) (n int, s index.Span, err error) {
	if r.near >= 0 && off >= r.nearAt.Byte && off < r.nearAt.Byte+r.nearAt.Bytes {
		return r.near, r.nearAt, nil
	}
	if r.indexed {
		n, s, err = r.chars.AtByte(off)
		r.indexed = err == nil
	}
	if !r.indexed {
		n, s, err = r.find(func(s index.Span) bool { return off < s.Byte+s.Bytes })
	}
	if err == nil && (off < s.Byte || off >= s.Byte+s.Bytes) {
		err = r.corrupt(n, r.total.Bytes, s.Byte+s.Bytes)
	}
	return r.noted(n, s, err)
}

// atChar is atByte for the character at off.
func (r *reader) atChar(off int64) (n int, s index.Span, err error) {
	if r.near >= 0 && off >= r.nearAt.Char && off < r.nearAt.Char+r.nearAt.Chars {
		return r.near, r.nearAt, nil
	}
	if r.indexed {
		n, s, err = r.chars.AtChar(off)
		r.indexed = err == nil
	}
	if !r.indexed {
		n, s, err = r.find(func(s index.Span) bool { return off < s.Char+s.Chars })
	}
	if err == nil && (off < s.Char || off >= s.Char+s.Chars) {
		err = r.corrupt(n, r.total.Chars, s.Char+s.Chars)
	}
	return r.noted(n, s, err)
}

// noted remembers a lookup: the next is mostly for the same frame.
func (r *reader) noted(n int, s index.Span, err error) (int, index.Span, error) {
	if err == nil {
		r.near, r.nearAt = n, s
	}
	return n, s, err
}

// find returns the first frame for which before is true, else the last frame, by
// scanning.
func (r *reader) find(before func(index.Span) bool) (int, index.Span, error) {
	if err := r.scan(before); err != nil {
		return 0, index.Span{}, err
	}
	if len(r.scanned) == 0 {
		return 0, index.Span{}, nil
	}
	n := sort.Search(len(r.scanned), func(i int) bool { return before(r.scanned[i]) })
	n = min(n, len(r.scanned)-1)
	return n, r.scanned[n], nil
}

// scan decodes frames in order and notes where they lie, until enough is true of
// the last one or none is left.
func (r *reader) scan(enough func(index.Span) bool) error {
	var next index.Span
	if n := len(r.scanned); n > 0 {
		next = r.scanned[n-1]
	}
	for n := len(r.scanned); n < r.frames && (n == 0 || !enough(next)); n++ {
		f, err := r.frame(n)
		if err != nil {
			return err
		}
		next = index.Span{Byte: next.Byte + next.Bytes, Char: next.Char + next.Chars, Bytes: int64(len(f)), Chars: index.CountChars(f)}
		r.scanned = append(r.scanned, next)
	}
	return nil
}

// part returns the bytes of frame n, which lies at s, from start on and before
// end, both in bytes of the payload.
func (r *reader) part(n int, s index.Span, start, end int64) ([]byte, error) {
	f, err := r.frame(n)
	if err != nil {
		return nil, err
	}
	if int64(len(f)) != s.Bytes {
		return nil, r.corrupt(n, s.Bytes, int64(len(f)))
	}
	return f[max(start-s.Byte, 0):min(end-s.Byte, s.Bytes)], nil
}

// corrupt says that a frame is not as large as the handle and the frames before it
// promise.
func (r *reader) corrupt(n int, want, got int64) error {
	return &docket.CorruptError{
		Place:    fmt.Sprintf("record %s, frame %d", r.rec.Handle().MemID, n),
		Expected: fmt.Sprintf("a size of %d", want),
		Found:    fmt.Sprint(got),
	}
}

// bytes returns the bytes [start, end) of the payload, 0 ≤ start ≤ end ≤ its
// length, contiguous. They are valid until the next call of a method.
func (r *reader) bytes(start, end int64) ([]byte, error) {
	if start >= end {
		return nil, nil
	}
	n, s, err := r.atByte(start)
	if err != nil {
		return nil, err
	}
	if end <= s.Byte+s.Bytes {
		return r.part(n, s, start, end)
	}
	r.stitch = r.stitch[:0]
	for start < end {
		if n, s, err = r.atByte(start); err != nil {
			return nil, err
		}
		p, err := r.part(n, s, start, end)
		if err != nil {
			return nil, err
		}
		r.stitch = append(r.stitch, p...)
		start = s.Byte + s.Bytes
	}
	return r.stitch, nil
}

// appendBytes appends the bytes [start, end) of the payload to dst. Frames in the
// middle are decoded into dst, without a copy.
func (r *reader) appendBytes(dst []byte, start, end int64) ([]byte, error) {
	for start < end {
		n, s, err := r.atByte(start)
		if err != nil {
			return dst, err
		}
		next := s.Byte + s.Bytes
		if start == s.Byte && next < end && r.slots[0].n != n && r.slots[1].n != n {
			before := len(dst)
			if dst, err = r.rec.AppendFrame(dst, n); err != nil {
				return dst, err
			}
			r.decoded++
			if int64(len(dst)-before) != s.Bytes {
				return dst, r.corrupt(n, s.Bytes, int64(len(dst)-before))
			}
		} else {
			p, err := r.part(n, s, start, end)
			if err != nil {
				return dst, err
			}
			dst = append(dst, p...)
		}
		start = next
	}
	return dst, nil
}

// charOffset returns how many characters begin before the byte at off, which is a
// character border, 0 ≤ off ≤ the payload's length.
func (r *reader) charOffset(off int64) (int64, error) {
	if off <= 0 {
		return 0, nil
	}
	if off >= r.total.Bytes {
		return r.total.Chars, nil
	}
	n, s, err := r.atByte(off)
	if err != nil || s.Byte == off {
		return s.Char, err
	}
	if s.ASCII() {
		return s.Char + off - s.Byte, nil
	}
	p, err := r.part(n, s, s.Byte, off)
	return s.Char + index.CountChars(p), err
}

// byteOffset returns where the character at off begins, 0 ≤ off ≤ the number of
// characters.
func (r *reader) byteOffset(off int64) (int64, error) {
	if off <= 0 {
		return 0, nil
	}
	if off >= r.total.Chars {
		return r.total.Bytes, nil
	}
	n, s, err := r.atChar(off)
	if err != nil || s.Char == off {
		return s.Byte, err
	}
	if s.ASCII() {
		return s.Byte + off - s.Char, nil
	}
	p, err := r.part(n, s, s.Byte, s.Byte+s.Bytes)
	return s.Byte + int64(index.ByteOfChar(p, off-s.Char)), err
}
