package index

// Walking JSON that was found valid: skipping values, going over the members of a
// container, unquoting. These functions look at brackets and quotes only, which is
// several times faster than checking the grammar. On bytes that are not JSON they
// stay in bounds and stop; what they return then means nothing. The checking half
// is scan.go.

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// skipSpace returns the index of the first byte at or after i that is not white
// space, commas included: between members they separate and say nothing.
func skipSpace(b []byte, i int) int {
	for i < len(b) {
		c := b[i]
		if c > ',' || !isSpace(c) && c != ',' {
			return i
		}
		i++
		for i+8 <= len(b) && binary.LittleEndian.Uint64(b[i:]) == eight*' ' {
			i += 8
		}
	}
	return i
}

// skipString returns the end of the string whose opening quote is at i.
func skipString(b []byte, i int) int {
	i++
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		q, e := w^(eight*'"'), w^(eight*'\\')
		stop := ((q-eight)&^q | (e-eight)&^e) & topBits
		if stop == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(stop) / 8
		if b[i] == '"' {
			return i + 1
		}
		i += 2
	}
	for i < len(b) {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
		i++
	}
	return len(b)
}

// stops marks the bytes at which [skipValue] must look: they open, close or quote.
var stops = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true}

// skipValue returns the end of the value at i.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipContainer(b, i)
	}
	for i < len(b) && !scalarEnd[b[i]] {
		i++
	}
	return i
}

// scalarEnd marks the bytes that cannot be part of a number or literal.
var scalarEnd = [256]bool{' ': true, '\n': true, '\t': true, '\r': true, ',': true, ':': true, '"': true, '{': true, '[': true, '}': true, ']': true}

// skipContainer returns the end of the container at i.
func skipContainer(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		c := b[i]
		if !stops[c] {
			i++
			continue
		}
		if c == '"' {
			i = skipString(b, i)
			continue
		}
		i++
		// '{' and '[' have bit 2 clear, '}' and ']' have it set.
		if c&4 == 0 {
			depth++
		} else if depth--; depth == 0 {
			return i
		}
	}
	return len(b)
}

// member is one member of an object or element of an array, as offsets in the
// bytes that are walked.
type member struct {
	key, keyEnd int // the key with its quotes; both 0 in an array
	start, end  int // the value
}

// members walks the members of a container, or of a run of whole members of it.
type members struct {
	b      []byte
	pos    int
	object bool
}

// inside returns a walk over the members of the container b, with its brackets.
func inside(b []byte) members {
	return members{b: b, pos: 1, object: len(b) > 0 && b[0] == '{'}
}

// next steps to the next member and tells whether there is one.
func (w *members) next(m *member) bool {
	if !w.begin(m) {
		return false
	}
	m.end = skipValue(w.b, m.start)
	w.pos = m.end
	return m.end > m.start
}

// begin is next for a caller that finds out where the value ends, and sets pos.
func (w *members) begin(m *member) bool {
	i := skipSpace(w.b, w.pos)
	if i >= len(w.b) || w.b[i] == '}' || w.b[i] == ']' {
		return false
	}
	m.key, m.keyEnd = 0, 0
	if w.object {
		if w.b[i] != '"' {
			return false
		}
		m.key = i
		m.keyEnd = skipString(w.b, i)
		i = skipColon(w.b, m.keyEnd)
	}
	m.start = i
	return i < len(w.b)
}

// skipColon returns the start of the value whose key ends at i.
func skipColon(b []byte, i int) int {
	for i < len(b) && (b[i] == ':' || isSpace(b[i])) {
		i++
	}
	return i
}

// keyIs tells whether a key, given with its quotes, spells want.
func keyIs(quoted []byte, want string) bool {
	if len(quoted) < 2 {
		return false
	}
	raw := quoted[1 : len(quoted)-1]
	if len(raw) < len(want) {
		return false // an escape is never shorter than what it stands for
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw) == want
	}
	text, _ := appendUnquote(make([]byte, 0, 64), quoted)
	return string(text) == want
}

// appendUnquote appends what a valid JSON string, given with its quotes, spells.
// Bytes that are not UTF-8 stay as they are. A surrogate without partner becomes
// U+FFFD, as everywhere in Go, and whole is then false.
func appendUnquote(dst, quoted []byte) (text []byte, whole bool) {
	whole = true
	if len(quoted) < 2 {
		return dst, whole
	}
	for b := quoted[1 : len(quoted)-1]; len(b) > 0; {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			return append(dst, b...), whole
		}
		dst = append(dst, b[:i]...)
		if i+1 < len(b) && b[i+1] != 'u' {
			dst = append(dst, short[b[i+1]])
			b = b[i+2:]
			continue
		}
		r, n := unescape(b[i:])
		if r >= 0xD800 && r < 0xE000 {
			r, whole = utf8.RuneError, false
		}
		dst = utf8.AppendRune(dst, r)
		b = b[i+n:]
	}
	return dst, whole
}

// short is what the escapes of two characters stand for, by the second; others
// stand for themselves.
var short = func() (t [256]byte) {
	for c := range t {
		t[c] = byte(c)
	}
	t['b'], t['f'], t['n'], t['r'], t['t'] = '\b', '\f', '\n', '\r', '\t'
	return t
}()

// unescape returns the character and length of the \u escape that b begins with; a
// surrogate without partner comes back as it is.
func unescape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return utf8.RuneError, len(b)
	}
	r, ok := hex4(b[2:])
	if !ok {
		return utf8.RuneError, 2
	}
	if !utf16.IsSurrogate(r) || len(b) < 12 || b[6] != '\\' || b[7] != 'u' {
		return r, 6
	}
	low, ok := hex4(b[8:])
	if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
		return pair, 12
	}
	return r, 6
}
