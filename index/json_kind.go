package index

// What a payload is, as far as JSON goes. A payload of several values counts as
// NDJSON however they are separated (lines, nothing, pretty-printed over many
// lines), but only if all of them are objects or arrays: two words or numbers in a
// row are text more often than data.

import (
	"docket"
)

// documents follows the values at depth 0 of a scan.
type documents struct {
	count   int
	scalars bool // one of them is neither object nor array
	start   int  // where the one being read began
}

// begin takes note of a value that begins at start, and returns false when it
// cannot follow what came before.
func (d *documents) begin(start int, container bool) bool {
	d.start = start
	d.count++
	d.scalars = d.scalars || !container
	return d.count == 1 || !d.scalars
}

// kind returns what the values make together.
func (d *documents) kind() docket.Kind {
	switch d.count {
	case 0:
		return docket.KindText
	case 1:
		return docket.KindJSON
	}
	return docket.KindNDJSON
}

// scanKind tells whether payload is JSON, NDJSON, or (KindText) neither; the error
// then says where it stops being so.
func scanKind(payload []byte) (docket.Kind, error) {
	s, d := scan(payload), documents{}
	for {
		depth := s.depth
		t := s.next()
		switch {
		case depth == 0 && t == tokenNone && d.count > 0:
			return d.kind(), nil
		case depth == 0 && d.count > 0 && d.scalars:
			return docket.KindText, &SyntaxError{Offset: int64(s.start), Want: "the end"}
		case t <= tokenBad:
			return docket.KindText, s.syntaxError(t)
		case depth == 0 && !d.begin(s.start, t == tokenOpen):
			return docket.KindText, &SyntaxError{Offset: int64(s.start), Want: "an object or array, or the end"}
		}
	}
}

// syntaxError returns the error of a scan that ended with t.
func (s *scanner) syntaxError(t token) error {
	if t == tokenNone {
		return &SyntaxError{Offset: int64(s.pos), Want: "a value"}
	}
	return &SyntaxError{Offset: int64(s.pos), Want: s.want}
}
