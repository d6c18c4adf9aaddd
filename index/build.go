package index

// All that is derived from a payload when it is recorded. The grams section is
// apart (AppendGrams): its budget is a share of the frames' compressed bytes,
// which are known later.

import (
	"unicode/utf8"

	"docket"
)

// Sections is what [Build] derives from a payload. The sections are sealed, nil
// where the payload needs none.
type Sections struct {
	Kind    docket.Kind
	Chars   int64
	CharMap []byte // docket.SectionChars
	Paths   []byte // docket.SectionPaths
}

// Build derives the kind, the number of characters, and the chars and paths
// sections of a payload that is cut into frames at cuts.
func Build(payload []byte, cuts []int64) Sections {
	s := Sections{Chars: CountChars(payload)}
	s.Kind, s.Paths = scanPaths(payload, cuts)
	if s.Kind == docket.KindText && !utf8.Valid(payload) {
		s.Kind = docket.KindBinary
	}
	s.CharMap = AppendChars(nil, payload, cuts)
	return s
}
