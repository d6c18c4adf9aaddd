package recall

// A request, and what comes back. The arguments compose: the path selects, the
// query searches inside what it selected, offset and max characters page over what
// is left. Texts for a model are made elsewhere: answer.go, miss.go.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"docket"
)

// The formats of a request.
const (
	FormatSummary = "summary" // without a keyed argument: the stub; the default
	FormatFull    = "full"    // without a keyed argument: the whole payload
)

// Defaults of a request's limits.
const (
	DefaultWindow     = 200 // characters either side of a match
	DefaultMaxMatches = 20
)

// Request names a record and what to read of it. Path, Query, Offset and MaxChars
// are the keyed arguments. All offsets and limits are in characters of the
// selected text: the payload, or what Path selects.
type Request struct {
	MemID  docket.MemID
	Format string // FormatSummary, FormatFull; empty: FormatSummary
	// Path selects a part of a JSON payload; the grammar is index.ParsePath's.
	Path string
	// Query is looked for as a substring. Matches do not overlap and are found
	// from left to right; code points are compared exactly, without
	// normalisation. If nothing matches in JSON, its JSON-escaped forms are
	// tried, and Answer.Escaped says so.
	Query      string
	IgnoreCase bool // compare under simple case folding (unicode.SimpleFold)
	// Window is how many characters are shown either side of a match. Windows
	// that overlap or touch are merged. 0: DefaultWindow; negative: none.
	Window int
	// MaxMatches stops a search. 0: DefaultMaxMatches.
	MaxMatches int
	// Offset is where a range or a search begins; nil: at the beginning. Beyond
	// the end it gives an empty answer.
	Offset *int64
	// MaxChars limits the characters of a range, or of all windows together with
	// their heads (Answer.AppendText); one match is always shown, at least its
	// first character. 0: no limit.
	MaxChars int64
	// Form fixes the bytes of the stub; the zero value is the current version's.
	Form docket.Form
}

// Span is a stretch of the selected text, in characters.
type Span struct {
	Offset int64 `json:"offset"`
	Chars  int64 `json:"chars"`
}

// Answer is what a request reads. Its slices are the caller's.
type Answer struct {
	Handle docket.Handle
	// Text is the slice, unchanged bytes; of a query the windows one after the
	// other (AppendText heads them); of a summary the stub.
	Text []byte
	// Start and End are the range that the answer covers: what Text holds of the
	// selected text, or what was searched.
	Start, End int64
	// TotalChars is the length of the selected text.
	TotalChars int64
	Matches    []Span   // of a query: every match shown, in order
	Windows    []Window // of a query: in order, not touching
	// MatchCount is the number of matches in the covered range, and when
	// MatchCountExact from Start to the end of the selected text.
	MatchCount      int
	MatchCountExact bool
	// NextOffset continues a range or a search; -1: there is no more.
	NextOffset int64
	// Escaped is the JSON-escaped form of the query that was found; empty: the
	// query was tried as it is.
	Escaped string
	// Stub tells that Text is the stub.
	Stub bool
	// FramesDecoded is what the answer cost.
	FramesDecoded int
}

// MarshalJSON writes the answer as the fetch command prints it. Bytes of the text
// that are not UTF-8 become U+FFFD.
func (a Answer) MarshalJSON() ([]byte, error) {
	out := struct {
		MemID           docket.MemID `json:"mem_id"`
		Text            string       `json:"text"`
		Start           int64        `json:"start"`
		End             int64        `json:"end"`
		TotalChars      int64        `json:"total_chars"`
		Matches         []Span       `json:"matches"`
		MatchCount      int          `json:"match_count"`
		MatchCountExact bool         `json:"match_count_exact"`
		NextOffset      *int64       `json:"next_offset"`
	}{a.Handle.MemID, string(a.AppendText(nil)), a.Start, a.End, a.TotalChars, a.Matches, a.MatchCount, a.MatchCountExact, nil}
	if out.Matches == nil {
		out.Matches = []Span{}
	}
	if a.NextOffset >= 0 {
		out.NextOffset = &a.NextOffset
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the caller's encoder decides
	err := e.Encode(out)
	return b.Bytes(), err
}

// AppendText appends what a person reads of the answer: the text, or the windows,
// each on its own lines after a line with its range.
func (a Answer) AppendText(dst []byte) []byte {
	if a.Windows == nil {
		return append(dst, a.Text...)
	}
	for i, w := range a.Windows {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = append(appendWindowHead(dst, w), '\n')
		dst = append(dst, w.Text...)
	}
	return dst
}

// Fetch answers a request about a record of thread. Errors: those of
// [docket.Ledger.View], [*RequestError], and [*index.MissError] for a path that leads
// nowhere.
func Fetch(ctx context.Context, l docket.Ledger, thread docket.ThreadID, req Request) (Answer, error) {
	req, err := req.checked()
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	err = l.View(ctx, thread, req.MemID, func(rec docket.Record) error {
		a, err = fetch(ctx, rec, req)
		return err
	})
	if err != nil {
		return Answer{}, err
	}
	return a, nil
}

// checked returns the request with defaults filled in.
func (req Request) checked() (Request, error) {
	switch req.Format {
	case "":
		req.Format = FormatSummary
	case FormatSummary, FormatFull:
	default:
		return req, &RequestError{"format", fmt.Sprintf("it is %q (the default) or %q, not %s", FormatSummary, FormatFull, quote(req.Format))}
	}
	if req.Offset != nil && *req.Offset < 0 {
		return req, &RequestError{"offset", "it counts characters from the beginning and cannot be negative"}
	}
	if req.MaxChars < 0 {
		return req, &RequestError{"max_chars", "it cannot be negative; 0 means no limit"}
	}
	if req.MaxMatches < 0 {
		return req, &RequestError{"max_matches", "it cannot be negative"}
	}
	if req.MaxMatches == 0 {
		req.MaxMatches = DefaultMaxMatches
	}
	switch {
	case req.Window == 0:
		req.Window = DefaultWindow
	case req.Window < 0:
		req.Window = 0
	}
	req.Window = min(req.Window, docket.MaxPayload)
	return req, nil
}

// keyed tells whether the request asks for a slice.
func (req Request) keyed() bool {
	return req.Path != "" || req.Query != "" || req.Offset != nil || req.MaxChars > 0
}

// fetch answers a checked request from rec, during its view.
func fetch(ctx context.Context, rec docket.Record, req Request) (Answer, error) {
	if !req.keyed() && req.Format == FormatSummary {
		return stub(rec.Handle(), req.Form), nil
	}
	r := newReader(rec)
	defer r.free()
	s, err := req.slice(r)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	if req.Query != "" {
		a, err = search(ctx, s, req)
	} else {
		a, err = s.read(req)
	}
	if err != nil {
		return Answer{}, err
	}
	a.Handle, a.TotalChars, a.FramesDecoded = rec.Handle(), s.chars, r.decoded
	return a, nil
}

func stub(h docket.Handle, form docket.Form) Answer {
	return Answer{Handle: h, Text: h.AppendStub(nil, form), TotalChars: h.Chars, NextOffset: -1, Stub: true}
}

// slice returns the text that the rest of the request works on.
func (req Request) slice(r *reader) (slice, error) {
	kind := r.rec.Handle().Kind
	if req.Path == "" {
		s := whole(r)
		s.json = kind == docket.KindJSON || kind == docket.KindNDJSON
		return s, nil
	}
	return r.resolve(req.Path)
}

// read returns the range of s that the request asks for.
func (s slice) read(req Request) (Answer, error) {
	a := Answer{NextOffset: -1}
	a.Start, a.End = req.span(s.chars)
	from, err := s.byteOf(a.Start)
	if err != nil {
		return a, err
	}
	to, err := s.byteAfter(from, a.Start, a.End)
	if err != nil {
		return a, err
	}
	if a.Text, err = s.r.appendBytes(make([]byte, 0, to-from), from, to); err != nil {
		return a, err
	}
	if a.End < s.chars {
		a.NextOffset = a.End
	}
	return a, nil
}

// span returns the range that the request asks for of a text of the given number
// of characters.
func (req Request) span(chars int64) (start, end int64) {
	if req.Offset != nil {
		start = min(*req.Offset, chars)
	}
	end = chars
	if req.MaxChars > 0 {
		end = start + min(req.MaxChars, chars-start)
	}
	return start, end
}
