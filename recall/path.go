package recall

// A path over the frames of a record: the index package walks and decides what to
// read; this gives it bytes, decoding the frames that hold them, and says by the
// grams section which frames cannot hold a key. A record without a usable paths
// section is read whole, which the walk asks for by itself.

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"docket"
	"docket/index"
)

// resolve returns the text that a path selects of the record that r reads. Errors:
// [*RequestError] for a path that is none and for a payload that is not JSON,
// [*index.MissError], and those of reading.
func (r *reader) resolve(text string) (slice, error) {
	path, err := index.ParsePath(text)
	if err != nil {
		return slice{}, badPath(err)
	}
	found, err := index.Payload{
		Source: &pathSource{r: r},
		Size:   r.total.Bytes,
		Kind:   r.rec.Handle().Kind,
		Paths:  r.rec.Section(docket.SectionPaths),
	}.Select(path)
	if err != nil {
		return slice{}, r.notJSON(err)
	}
	return selected(r, found)
}

// badPath says where the text of a path goes wrong, in characters.
func badPath(err error) error {
	var e *index.PathError
	if !errors.As(err, &e) {
		return err
	}
	msg := fmt.Sprintf("at character %d: %s", utf8.RuneCountInString(e.Text[:e.Offset]), e.Problem)
	if e.Instead != "" {
		msg += "; " + e.Instead
	}
	return &RequestError{"path", msg}
}

// notJSON says where a payload stops being JSON, in characters; other errors pass.
func (r *reader) notJSON(err error) error {
	var e *index.SyntaxError
	if !errors.As(err, &e) {
		return err
	}
	at, err := r.charOffset(e.Offset)
	if err != nil {
		return err
	}
	const instead = ": use query, or offset and max_chars"
	if e.Want == "" {
		return &RequestError{"path", fmt.Sprintf("the payload was recorded as text, not as JSON, though its first %d characters are valid", at) + instead}
	}
	return &RequestError{"path", fmt.Sprintf("the payload is not valid JSON at character %d (expected %s)", at, e.Want) + instead}
}

// pathSource is the index.Source of a record.
type pathSource struct {
	r      *reader
	text   []byte // what frames are candidates for
	frames index.FrameSet
}

func (s *pathSource) Bytes(start, end int64) ([]byte, error) { return s.r.bytes(start, end) }

// Skip returns the beginning of the first candidate frame that reaches beyond
// start. Where the frames' borders or the grams are not to be had it rules nothing
// out.
func (s *pathSource) Skip(text []byte, start, end int64) int64 {
	if s.r.frames < 2 || !s.r.indexed {
		return start
	}
	if !bytes.Equal(text, s.text) {
		s.text = bytes.Clone(text)
		s.frames = index.NewQuery(text, false).Candidates(s.r.grams(), s.r.frames)
	}
	n, _, err := s.r.atByte(start)
	if err != nil {
		return start
	}
	next := s.frames.Next(n)
	if next < 0 {
		return end
	}
	span, err := s.r.span(next)
	if err != nil {
		return start
	}
	return min(max(start, span.Byte), end)
}
