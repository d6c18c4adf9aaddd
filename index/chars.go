package index

// Characters and bytes: where each frame of a payload begins, in both units, and
// the two conversions inside of a frame. A character is a Unicode code point; a
// byte that is not part of valid UTF-8 counts as one. Only borders of frames are
// kept: the table of a 100 MB payload is 50 KB, and inside a frame counting is
// faster than any table (decoding the frame costs more). The reader that joins
// this with decoded frames is in the recall package.

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"docket/internal/seal"
)

// ErrDamaged says that a section is not what FORMAT.md allows, or does not
// belong to a payload of the given size. The caller scans instead.
var ErrDamaged = errors.New("index: damaged section")

// Span is where a frame lies in its payload, in bytes and in characters.
type Span struct {
	Byte, Char   int64 // its first byte, its first character
	Bytes, Chars int64 // its length
}

// ASCII tells whether a character is a byte throughout the frame, so that offsets
// convert by arithmetic.
func (s Span) ASCII() bool { return s.Bytes == s.Chars }

// charRow is the size of a row: first byte u64, first character u64.
const charRow = 16

// AppendChars appends the chars section of a payload that is cut into frames at
// cuts (ends, exclusive, ascending, at character borders) to dst. A payload of
// one frame or none needs no section and gets none.
func AppendChars(dst, payload []byte, cuts []int64) []byte {
	if len(cuts) < 2 {
		return dst
	}
	body := make([]byte, 0, charRow*(len(cuts)+1))
	var start, chars int64
	for _, end := range cuts {
		body = appendCharRow(body, start, chars)
		chars += CountChars(payload[start:end])
		start = end
	}
	return seal.Append(dst, appendCharRow(body, start, chars))
}

func appendCharRow(dst []byte, byteOff, charOff int64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(byteOff))
	return binary.LittleEndian.AppendUint64(dst, uint64(charOff))
}

// Chars converts between bytes, characters and frames of one payload. It aliases
// the section that it was opened on, and is for one goroutine.
type Chars struct {
	table  seal.Bytes // empty for one frame or none
	frames int
	total  Span
}

// OpenChars opens the chars section of a payload of the given number of frames,
// bytes and characters. One frame or none needs no section. The totals must
// match: otherwise, and for a section that cannot be one, it returns
// [ErrDamaged]. The rest is verified where it is read.
func OpenChars(section []byte, frames int, bytes, chars int64) (Chars, error) {
	c := Chars{frames: frames, total: Span{Bytes: bytes, Chars: chars}}
	if bytes < 0 || chars < 0 || chars > bytes || frames < 0 || (frames == 0) != (bytes == 0) {
		return Chars{}, ErrDamaged
	}
	if frames < 2 {
		return c, nil
	}
	table, err := seal.Open(section)
	if err != nil || table.Len()/charRow != frames+1 || table.Len()%charRow != 0 {
		return Chars{}, ErrDamaged
	}
	c.table = table
	b, n, err := c.row(frames)
	if err != nil || b != bytes || n != chars {
		return Chars{}, ErrDamaged
	}
	return c, nil
}

// Frames returns the number of frames.
func (c *Chars) Frames() int { return c.frames }

// Total returns the span of the whole payload.
func (c *Chars) Total() Span { return c.total }

// Frame returns the span of frame n, 0 ≤ n < Frames(). The error is [ErrDamaged].
func (c *Chars) Frame(n int) (Span, error) {
	if n < 0 || n >= c.frames {
		return Span{}, ErrDamaged
	}
	if c.frames == 1 {
		return c.total, nil
	}
	b, ch, err := c.row(n)
	if err != nil {
		return Span{}, err
	}
	b2, ch2, err := c.row(n + 1)
	s := Span{Byte: b, Char: ch, Bytes: b2 - b, Chars: ch2 - ch}
	if err != nil || s.Bytes <= 0 || s.Chars <= 0 || s.Chars > s.Bytes {
		return Span{}, ErrDamaged
	}
	return s, nil
}

// AtByte returns the number and span of the frame that holds the byte at off; an
// offset outside of the payload means its nearest byte. It reads O(log frames)
// rows.
func (c *Chars) AtByte(off int64) (int, Span, error) { return c.find(off, false) }

// AtChar returns the number and span of the frame that holds the character at
// off, like [Chars.AtByte].
func (c *Chars) AtChar(off int64) (int, Span, error) { return c.find(off, true) }

func (c *Chars) find(off int64, inChars bool) (int, Span, error) {
	lo, hi := 0, c.frames // the answer is in [lo, hi)
	for hi-lo > 1 {
		mid := int(uint(lo+hi) / 2)
		first, char, err := c.row(mid)
		if err != nil {
			return 0, Span{}, err
		}
		if inChars {
			first = char
		}
		if off < first {
			hi = mid
		} else {
			lo = mid
		}
	}
	s, err := c.Frame(lo)
	return lo, s, err
}

func (c *Chars) row(n int) (byteOff, charOff int64, err error) {
	b, err := c.table.Read(charRow*n, charRow)
	if err != nil {
		return 0, 0, ErrDamaged
	}
	byteOff = int64(binary.LittleEndian.Uint64(b))
	charOff = int64(binary.LittleEndian.Uint64(b[8:]))
	if byteOff < 0 || charOff < 0 || charOff > byteOff || byteOff > c.total.Bytes || charOff > c.total.Chars {
		return 0, 0, ErrDamaged
	}
	return byteOff, charOff, nil
}

// CheckChars verifies every page and row of a chars section: rows ascend, the
// first is zero.
func CheckChars(section []byte, frames int, bytes, chars int64) error {
	c, err := OpenChars(section, frames, bytes, chars)
	if err != nil {
		return err
	}
	if frames < 2 && len(section) > 0 {
		return ErrDamaged
	}
	var next Span
	for n := range frames {
		s, err := c.Frame(n)
		if err != nil {
			return err
		}
		if s.Byte != next.Byte || s.Char != next.Char {
			return ErrDamaged
		}
		next = Span{Byte: s.Byte + s.Bytes, Char: s.Char + s.Chars}
	}
	return nil
}

// highBits selects the bit that no ASCII byte has set, of eight bytes at once.
const highBits = 0x8080808080808080

// CountChars returns the number of characters of b.
func CountChars(b []byte) int64 {
	var n int64
	for {
		a := asciiPrefix(b)
		n += int64(a)
		b = b[a:]
		if len(b) == 0 {
			return n
		}
		for len(b) > 0 && b[0] >= utf8.RuneSelf {
			_, size := utf8.DecodeRune(b)
			b = b[size:]
			n++
		}
	}
}

// ByteOfChar returns the offset in bytes of character n of b, len(b) if b has no
// more than n characters.
func ByteOfChar(b []byte, n int64) int {
	off := 0
	for n > 0 && off < len(b) {
		a := min(int64(asciiPrefix(b[off:min(int64(len(b)), int64(off)+n)])), n)
		off += int(a)
		n -= a
		for n > 0 && off < len(b) && b[off] >= utf8.RuneSelf {
			_, size := utf8.DecodeRune(b[off:])
			off += size
			n--
		}
	}
	return off
}

// asciiPrefix returns how many bytes b has before its first byte that is not
// ASCII.
func asciiPrefix(b []byte) int {
	n := 0
	for w := b; len(w) >= 32; w = w[32:] {
		x := binary.LittleEndian.Uint64(w) | binary.LittleEndian.Uint64(w[8:])
		y := binary.LittleEndian.Uint64(w[16:]) | binary.LittleEndian.Uint64(w[24:])
		if (x|y)&highBits != 0 {
			break
		}
		n += 32
	}
	for len(b)-n >= 8 && binary.LittleEndian.Uint64(b[n:])&highBits == 0 {
		n += 8
	}
	for n < len(b) && b[n] < utf8.RuneSelf {
		n++
	}
	return n
}
