package index

// What a stub says about a payload, decided once, when it is recorded. It is a pure
// function of the payload: no clock, no map order, no model. Only what is certain
// is said (a misread format would mislead a model), and what comes from the payload
// is quoted and cut. The formats of text are in outline_text.go, the identifiers of
// the preview in anchor.go, the shape of JSON in shape.go.

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"docket"
)

const (
	// A stub of about 420 characters without schema and preview must be no longer
	// than half of its payload: a preview is made from 1,200 characters on, and of
	// no more characters than leave the stub that short.
	minPreviewed = 1200
	stubFrame    = 430
	maxSchema    = 300
	maxPreview   = 420 // about 120 tokens
	minPreview   = 60

	// Beyond these the payload is not looked into, except to count lines and to
	// find the shape of JSON.
	outlineHead = 64 << 10
	outlineTail = 16 << 10
)

// Outline returns what a stub shows of a payload: a summary that says what it is; if
// it is JSON, its shape; from 1,200 characters on a preview of how it begins and
// ends and of the identifiers, paths, addresses and errors in it. Each is one line.
func Outline(payload []byte, s Sections) (summary, schema, preview string) {
	if len(payload) == 0 {
		return "empty", "", ""
	}
	v := viewOf(payload)
	switch s.Kind {
	case docket.KindJSON, docket.KindNDJSON:
		shape := shapeOf(payload, s.Kind, schemaDepth)
		summary = summarizeJSON(shape, s.Kind)
		if shape.types&(typeObject|typeArray|typeDocs) != 0 {
			schema = shape.line(maxSchema)
		}
	default:
		summary = summarizeText(payload, v, s.Kind)
	}
	if s.Chars >= minPreviewed {
		room := s.Chars/2 - stubFrame - int64(utf8.RuneCountInString(summary)+utf8.RuneCountInString(schema))
		if room >= minPreview {
			preview = v.preview(int(min(room, maxPreview)), s.Kind)
		}
	}
	return summary, schema, preview
}

// summarizeJSON says what the top level is, and what lies in it that is large.
func summarizeJSON(s *shape, kind docket.Kind) string {
	var b strings.Builder
	if kind == docket.KindNDJSON {
		b.WriteString(thousands(s.length.most) + " JSON documents")
		if s.elements != nil && s.elements.types == typeObject && len(s.elements.fields) > 0 {
			b.WriteString(", objects of " + s.elements.members.text() + " keys")
		}
		return b.String()
	}
	switch s.types {
	case typeArray:
		b.WriteString("JSON array of " + thousands(s.length.most))
		if e := s.elements; e != nil && e.types == typeObject {
			b.WriteString(" objects of " + e.members.text() + " keys")
		}
	case typeObject:
		b.WriteString("JSON object, " + plural(s.members.most, "key"))
		b.WriteString(largeFields(s))
	default:
		b.WriteString("JSON " + s.describe())
	}
	return b.String()
}

// largeFields names the arrays and objects of an object, largest first.
func largeFields(s *shape) string {
	const most = 3
	var b strings.Builder
	shown := map[int]bool{}
	for range most {
		best, size := -1, 0
		for i, f := range s.fields {
			if n := max(f.length.most, f.members.most); !shown[i] && n > size {
				best, size = i, n
			}
		}
		if best < 0 {
			break
		}
		shown[best] = true
		f := s.fields[best]
		sep := "; "
		what := ": array of " + thousands(f.length.most)
		if f.types&typeArray == 0 {
			what = ": object of " + plural(f.members.most, "key")
		}
		b.WriteString(sep + keyLabel(f.key) + what)
	}
	return b.String()
}

// plural returns "1 key", "4,000 keys".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

// thousands returns n in decimal with a comma before each group of three digits.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// view is the part of a payload that is looked into: all of it, or its beginning
// and its end.
type view struct {
	head, tail []byte // tail is nil when head is everything
}

func viewOf(payload []byte) view {
	if len(payload) <= outlineHead+outlineTail {
		return view{head: payload}
	}
	h, t := outlineHead, len(payload)-outlineTail
	for !border(payload, h) {
		h--
	}
	for !border(payload, t) {
		t++
	}
	return view{head: payload[:h], tail: payload[t:]}
}

// end is where the last lines are.
func (v view) end() []byte {
	if v.tail != nil {
		return v.tail
	}
	return v.head
}

// preview returns the anchors of the payload in a fixed order, in about room
// characters: how it begins; ids, paths, urls, errors; for text how it ends.
func (v view) preview(room int, kind docket.Kind) string {
	if kind == docket.KindBinary {
		return ""
	}
	p := previewer{room: room}
	first := firstLine(v.head)
	p.quote("", first, previewFirst)
	last := lastLine(v.end())
	if bytes.Equal(first, last) {
		last = nil
	}
	lasting := p.reserve("last", last, previewLast)
	failing := p.reserve("errors", v.firstError(), previewError)
	a := findAnchors(v, kind != docket.KindText)
	a.choose(p.room)
	for k, name := range anchorNames {
		p.list(name, a.chosen(anchorKind(k)))
	}
	p.parts = append(p.parts, failing, lasting)
	return p.String()
}

const (
	previewFirst = 48 // characters of the first line
	previewLast  = 64
	previewError = 110
)

// previewer puts the parts of a preview together.
type previewer struct {
	parts []string
	room  int // characters that are left
}

func (p *previewer) String() string {
	var kept []string
	for _, s := range p.parts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, " | ")
}

// reserve returns a quoted part and takes its room.
func (p *previewer) reserve(name string, text []byte, most int) string {
	most = min(most, p.room-12-len(name))
	text = bytes.TrimSpace(text)
	if len(text) == 0 || most < 16 {
		return ""
	}
	s := strconv.Quote(name)[1:] // name"
	s = strings.TrimSuffix(s, `"`)
	if s != "" {
		s += ": "
	}
	s += `"` + squeezed(text, most) + `"`
	p.room -= utf8.RuneCountInString(s) + len(" | ")
	return s
}

func (p *previewer) quote(name string, text []byte, most int) {
	p.parts = append(p.parts, p.reserve(name, text, most))
}

func (p *previewer) list(name string, words []string) {
	if len(words) > 0 {
		p.parts = append(p.parts, name+`: "`+strings.Join(words, " ")+`"`)
	}
}

// squeezed returns text on one line, of at most a number of characters, runs of
// white space as one space, without characters that cannot be seen.
func squeezed(text []byte, most int) string {
	return strings.ReplaceAll(shown(bytes.Join(bytes.Fields(text[:min(len(text), 16*most)]), []byte(" ")), most), `"`, `'`)
}

// firstLine returns the first line that is not blank, without white space around it
// and without its number.
func firstLine(b []byte) []byte {
	b = bytes.TrimLeft(b, " \t\r\n")
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	return bytes.TrimSpace(withoutNumber(b))
}

// reminder begins what an agent's own program adds at the end of a result.
const reminder = "<system-reminder>"

// lastLine returns the last line that says something: not blank, not a lone tag or
// bracket.
func lastLine(b []byte) []byte {
	if i := bytes.LastIndex(b, []byte(reminder)); i >= 0 && bytes.HasSuffix(bytes.TrimSpace(b), []byte("</"+reminder[1:])) {
		b = b[:i]
	}
	for range 8 {
		b = bytes.TrimRight(b, " \t\r\n")
		i := bytes.LastIndexByte(b, '\n') + 1
		line := bytes.TrimSpace(withoutNumber(b[i:]))
		if len(line) > 2 && !(line[0] == '<' && bytes.IndexByte(line, '>') == len(line)-1) {
			return line
		}
		b = b[:i]
	}
	return nil
}
