package wire

// Reading a request body: one pass of jsontext that keeps spans, never values.
// Decoding into maps and back was decided against: it reorders keys, rounds
// numbers and changes escapes, and with them every byte that a provider caches.
// The index package's scanner is faster still, but gives no spans.

import (
	"bytes"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// span is a range of bytes of a body. The zero span means absent.
type span struct{ start, end int }

func (s span) of(src []byte) []byte { return src[s.start:s.end] }
func (s span) absent() bool         { return s.end == 0 }

// reader walks a body once.
type reader struct {
	src      []byte
	dec      *jsontext.Decoder
	arena    *arena // of the payloads in it
	markEnds []int  // where members end that are cache marks, of the objects that were walked
}

func newReader(src []byte) *reader {
	// A *bytes.Buffer makes the decoder read from src itself, without a copy.
	return &reader{src: src, dec: jsontext.NewDecoder(bytes.NewBuffer(src),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

// newBodyReader is newReader for a body, whose payloads are an arena's.
func newBodyReader(src []byte) *reader {
	r := newReader(src)
	r.arena = newArena()
	return r
}

// value consumes the next value, whatever it is.
func (r *reader) value() (span, error) {
	v, err := r.dec.ReadValue()
	end := int(r.dec.InputOffset())
	return span{end - len(v), end}, err
}

// skip consumes the next value.
func (r *reader) skip() error { return r.dec.SkipValue() }

// into consumes the next value into s. A name that comes twice raises doubt: nobody
// knows which of the two the provider takes.
func (r *reader) into(s *span, doubt *bool) (err error) {
	*doubt = *doubt || !s.absent()
	*s, err = r.value()
	return err
}

// end checks that nothing but white space follows.
func (r *reader) end() error {
	switch _, err := r.dec.ReadToken(); err {
	case io.EOF:
		return nil
	case nil:
		return errAfter
	default:
		return err
	}
}

// next is the kind of the next value, 0 if there is none.
func (r *reader) next() byte { return byte(r.dec.PeekKind()) }

// object consumes the next value, which must be an object, and calls member for
// each name; member consumes the value and does not keep the name.
func (r *reader) object(member func(name []byte) error) (span, error) {
	return r.container('{', '}', func() error {
		lit, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		name, _ := text(lit, nil)
		isMark := slices.Contains(markNames, string(name))
		if err = member(name); isMark {
			r.markEnds = append(r.markEnds, int(r.dec.InputOffset()))
		}
		return err
	})
}

// ifObject is object that skips a value of another type and returns its span.
func (r *reader) ifObject(member func(name []byte) error) (span, error) {
	if r.next() != '{' {
		return r.value()
	}
	return r.object(member)
}

// elements consumes the next value into s; of an array it calls element for each
// element, which consumes it.
func (r *reader) elements(s *span, doubt *bool, element func() error) (err error) {
	if r.next() != '[' {
		return r.into(s, doubt)
	}
	*doubt = *doubt || !s.absent()
	*s, err = r.container('[', ']', element)
	return err
}

// container consumes a container, whose elements or members inner consumes. With an
// error comes no span.
func (r *reader) container(open, close byte, inner func() error) (s span, err error) {
	if r.next() != open {
		_, err = r.dec.ReadToken()
		return s, orShape(err)
	}
	if _, err = r.dec.ReadToken(); err != nil {
		return s, err
	}
	s.start = int(r.dec.InputOffset()) - 1
	for {
		switch r.next() {
		case close:
			_, err = r.dec.ReadToken()
			s.end = int(r.dec.InputOffset())
			return s, err
		case 0: // damaged: the next read says how
			_, err = r.dec.ReadToken()
			return span{}, orShape(err)
		}
		if err = inner(); err != nil {
			return span{}, err
		}
	}
}

// text decodes a JSON string. Where it has no escape the result aliases lit; lossy
// tells that it holds a lone surrogate or bytes that are not UTF-8.
func text(lit []byte, a *arena) (s []byte, lossy bool) {
	inner := lit[1 : len(lit)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner, !utf8.Valid(inner)
	}
	return unquote(lit, a)
}

// isString tells whether a value's bytes are a JSON string.
func isString(v []byte) bool { return len(v) >= 2 && v[0] == '"' }

// str decodes a value that should be a string; anything else is empty.
func str(v []byte) string {
	if !isString(v) {
		return ""
	}
	s, _ := text(v, nil)
	return string(s)
}
