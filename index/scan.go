package index

// The scanner: JSON grammar (RFC 8259) over bytes that may be anything. It is
// iterative and gives up below [MaxDepth], because recursion on `[[[[…` overflows
// the stack, which a Go process cannot survive. It is more lenient than the RFC in
// three places where payloads of real tools are: a byte order mark before the
// first value is skipped, strings may hold bytes that are not UTF-8, and escaped
// surrogates need no partner. jsontext does the same but costs three times as much
// and cannot report where a value ended without copying. What is valid is walked
// by the faster functions of json.go, which trust it.

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// MaxDepth is how deep containers may be nested in what counts as JSON. Real
// payloads stay below 50; the scanner's stack of one bit a level is a small array.
const MaxDepth = 1000

// SyntaxError says where bytes stop being JSON.
type SyntaxError struct {
	Offset int64 // of the first byte that cannot be there; the length if it ends too early
	// Want is what would have been valid there. Empty: what comes before is valid, what
	// follows was not read, and the payload's kind says that it is not JSON.
	Want string
}

func (e *SyntaxError) Error() string {
	if e.Want == "" {
		return fmt.Sprintf("index: recorded as text, not as JSON; its first %d bytes do not show why", e.Offset)
	}
	return fmt.Sprintf("index: not valid JSON at byte %d: expected %s", e.Offset, e.Want)
}

// token is what a call of [scanner.next] found.
type token uint8

const (
	tokenNone   token = iota // the end of the input
	tokenBad                 // not JSON: scanner.want and pos say what and where
	tokenOpen                // '{' or '['
	tokenClose               // '}' or ']'; start is that of its tokenOpen's partner only by the caller's stack
	tokenKey                 // a member's key, the ':' is consumed
	tokenString              // a string value
	tokenScalar              // a number, true, false, null
)

// state is what may follow inside the innermost container.
type state uint8

const (
	stateValue state = iota // a value, and nothing else
	stateFirst              // a first member, or the end
	stateNext               // a comma, or the end
)

// scanner yields the tokens of a sequence of JSON values. start and end are the
// borders of the last token, with the quotes of a string; escaped tells whether
// that string holds a backslash.
type scanner struct {
	b          []byte
	pos        int
	start, end int
	escaped    bool
	object     bool // the innermost container is an object
	state      state
	depth      int
	want       string // why the last token was tokenBad
	objects    [(MaxDepth + 63) / 64]uint64
}

// scan returns a scanner at the beginning of b, after a byte order mark.
func scan(b []byte) *scanner {
	return &scanner{b: b, pos: markLen(b)}
}

// markLen returns the length of the byte order mark that b begins with, 0 if none.
func markLen(b []byte) int {
	if len(b) >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF {
		return 3
	}
	return 0
}

// next returns the next token. Between values at depth 0 no comma is wanted, so
// that the values of NDJSON follow one another. After tokenNone and tokenBad it
// must not be called again.
func (s *scanner) next() token {
	c := s.space()
	if s.depth == 0 {
		return s.value(c)
	}
	switch s.state {
	case stateNext:
		if c == s.closer() {
			return s.pop()
		}
		if c != ',' {
			return s.bad(s.pos, "',' or the container's end")
		}
		s.pos++
		c = s.space()
	case stateFirst:
		if c == s.closer() {
			return s.pop()
		}
	case stateValue:
		return s.value(c)
	}
	if s.object {
		return s.key(c)
	}
	return s.value(c)
}

// space skips white space and returns the byte after it, 0 at the end. No token
// begins with a NUL, so the two zeros need not be told apart here.
func (s *scanner) space() byte {
	b, i := s.b, s.pos
	for i < len(b) {
		c := b[i]
		if c > ' ' || !isSpace(c) {
			s.pos = i
			return c
		}
		i++
		for i+8 <= len(b) && binary.LittleEndian.Uint64(b[i:]) == eight*' ' {
			i += 8
		}
	}
	s.pos = i
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// closer returns the byte that ends the innermost container.
func (s *scanner) closer() byte {
	if s.object {
		return '}'
	}
	return ']'
}

// value reads a value that begins with c, or only its opening bracket.
func (s *scanner) value(c byte) token {
	s.start = s.pos
	switch {
	case c == '"':
		if !s.quoted() {
			return tokenBad
		}
		s.state = stateNext
		return tokenString
	case c == '{' || c == '[':
		return s.push(c == '{')
	case c == '-' || isDigit(c):
		return s.scalar(s.number())
	case c == 't':
		return s.scalar(s.literal("true"))
	case c == 'f':
		return s.scalar(s.literal("false"))
	case c == 'n':
		return s.scalar(s.literal("null"))
	case s.depth == 0 && s.pos == len(s.b):
		return tokenNone
	}
	return s.bad(s.pos, "a value")
}

// scalar ends a number or literal at end, which is negative where it was bad.
func (s *scanner) scalar(end int) token {
	if end < 0 {
		return tokenBad
	}
	s.pos, s.end, s.state = end, end, stateNext
	return tokenScalar
}

// key reads a key that begins with c, and the colon after it.
func (s *scanner) key(c byte) token {
	s.start = s.pos
	if c != '"' {
		return s.bad(s.pos, "a key in double quotes")
	}
	if !s.quoted() {
		return tokenBad
	}
	if s.space() != ':' {
		return s.bad(s.pos, "':'")
	}
	s.pos++
	s.state = stateValue
	return tokenKey
}

func (s *scanner) push(object bool) token {
	if s.depth == MaxDepth {
		return s.bad(s.pos, "no more than 1,000 nested containers")
	}
	bit := uint64(1) << (s.depth % 64)
	s.objects[s.depth/64] &^= bit
	if object {
		s.objects[s.depth/64] |= bit
	}
	s.depth++
	s.object, s.state = object, stateFirst
	s.pos++
	s.end = s.pos
	return tokenOpen
}

func (s *scanner) pop() token {
	s.start = s.pos
	s.pos++
	s.end = s.pos
	s.depth--
	s.state = stateNext
	if s.depth > 0 {
		s.object = s.objects[(s.depth-1)/64]>>((s.depth-1)%64)&1 != 0
	}
	return tokenClose
}

func (s *scanner) bad(at int, want string) token {
	s.pos, s.want = at, want
	return tokenBad
}

// Eight copies of a byte in a word, and the test whether a byte of a word is zero
// or below a limit: exact for the lowest byte that it flags, which is the one that
// is looked at. (Bit Twiddling Hacks, "Determine if a word has a byte less than n".)
const (
	eight   = 0x0101010101010101
	topBits = 0x8080808080808080
)

// plain returns the index of the first byte of b at or after i that ends the plain
// run of a string: a quote, a backslash or a control character; len(b) if none.
func plain(b []byte, i int) int {
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		q, e := w^(eight*'"'), w^(eight*'\\')
		stop := ((w-eight*0x20)&^w | (q-eight)&^q | (e-eight)&^e) & topBits
		if stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
		i += 8
	}
	for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// quoted reads the string whose opening quote is at pos.
func (s *scanner) quoted() bool {
	b := s.b
	s.escaped = false
	for i := s.pos + 1; ; {
		i = plain(b, i)
		switch {
		case i == len(b):
			return s.bad(i, "the string's end") != tokenBad
		case b[i] == '"':
			s.pos, s.end = i+1, i+1
			return true
		case b[i] != '\\':
			return s.bad(i, "no control character in a string") != tokenBad
		}
		n := escapeLen(b[i:])
		if n == 0 {
			return s.bad(i, "a valid escape") != tokenBad
		}
		s.escaped = true
		i += n
	}
}

// escapeLen returns the length of the escape that b begins with, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

// hex4 returns the value of the four hexadecimal digits that b begins with.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func isDigit(c byte) bool { return c-'0' < 10 }

// digits returns the index of the first byte at or after i that is no digit.
func digits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

// number returns the end of the number at pos, -1 if it is bad.
func (s *scanner) number() int {
	b, i := s.b, s.pos
	if b[i] == '-' {
		i++
	}
	first := i
	i = digits(b, i)
	if i == first {
		s.bad(i, "a digit")
		return -1
	}
	if b[first] == '0' && i > first+1 {
		s.bad(first+1, "no digit after a leading zero")
		return -1
	}
	if i < len(b) && b[i] == '.' {
		first, i = i+1, digits(b, i+1)
		if i == first {
			s.bad(i, "a digit")
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		return s.exponent(i + 1)
	}
	return i
}

// exponent returns the end of the exponent whose sign or digits are at i.
func (s *scanner) exponent(i int) int {
	b := s.b
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	end := digits(b, i)
	if end == i {
		s.bad(i, "a digit")
		return -1
	}
	return end
}

// literal returns the end of word at pos, -1 if something else is there.
func (s *scanner) literal(word string) int {
	b, i := s.b, s.pos
	for n := range len(word) {
		if i+n >= len(b) || b[i+n] != word[n] {
			s.bad(i+n, word)
			return -1
		}
	}
	return i + len(word)
}
