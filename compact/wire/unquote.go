package wire

// Decoding JSON strings: most of what a view of an unchanged history does. jsontext takes
// twice as long, since it looks at each character; it decides wherever something is out of
// the ordinary.

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// plainEscapes are what stands for the letter after a backslash, 0 if it is not that simple.
var plainEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unquote decodes a JSON string that has an escape to memory of a. lossy tells that it holds
// a lone surrogate or bytes that are not UTF-8, for which U+FFFD stands.
func unquote(lit []byte, a *arena) (s []byte, lossy bool) {
	in := lit[1 : len(lit)-1]
	out := a.take(len(in) + 8) // words are written whole
	n, ok := unescape(out, in)
	if ok && utf8.Valid(out[:n]) {
		return out[:n:n], false
	}
	s, err := jsontext.AppendUnquote(nil, lit)
	return s, err != nil
}

// unescape decodes in to out, which has room for all of it and a word more. It returns the
// number of bytes, and false where it met what is not for it to decide.
func unescape(out, in []byte) (n int, ok bool) {
	for len(in) > 0 {
		if len(in) >= 8 {
			w := binary.LittleEndian.Uint64(in)
			binary.LittleEndian.PutUint64(out[n:], w)
			k := before(w)
			if k == 8 { // a longer run: that is sooner found and copied as a whole
				if k = bytes.IndexByte(in, '\\'); k < 0 {
					return n + copy(out[n:], in), true
				}
				copy(out[n:], in[:k])
			}
			if k > 0 {
				in, n = in[k:], n+k
				continue
			}
		}
		if in[0] != '\\' { // near the end
			out[n] = in[0]
			in, n = in[1:], n+1
			continue
		}
		if len(in) < 2 {
			return n, false
		}
		if c := plainEscapes[in[1]]; c != 0 {
			out[n] = c
			in, n = in[2:], n+1
			continue
		}
		r, size := unicodeEscape(in)
		if size == 0 {
			return n, false
		}
		n += utf8.EncodeRune(out[n:], r)
		in = in[size:]
	}
	return n, true
}

// before returns how many of the eight bytes of w stand before the first backslash.
func before(w uint64) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	x := w ^ '\\'*ones
	// The lowest byte that is zero in x has its high bit set; those above it may, too.
	return bits.TrailingZeros64((x-ones)&^x&highs) / 8
}

// unicodeEscape decodes the \u escape, or the pair of them, that in begins with; a size of 0
// is for what is none, or a lone surrogate.
func unicodeEscape(in []byte) (r rune, size int) {
	r = hex4(in)
	switch {
	case r < 0:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if r = utf16.DecodeRune(r, hex4(in[6:])); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// hex4 returns the code unit of the \u escape that in begins with, −1 if it begins with
// none.
func hex4(in []byte) (r rune) {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return -1
	}
	for _, c := range in[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
