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
			preview = v.preview(int(min(room, maxPreview)), s)
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
			b.WriteString(", objects of " + keys(s.elements.members))
		}
		return b.String()
	}
	switch s.types {
	case typeArray:
		b.WriteString("JSON array of " + thousands(s.length.most))
		if e := s.elements; e != nil && e.types == typeObject {
			b.WriteString(" objects of " + keys(e.members))
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

// keys returns "1 key", "3 to 5 keys".
func keys(n span) string {
	if n.most == 1 {
		return n.text() + " key"
	}
	return n.text() + " keys"
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
// characters: how it begins; ids, paths, urls, errors; for JSON its first and last
// element, for other text its last line.
func (v view) preview(room int, s Sections) string {
	if s.Kind == docket.KindBinary {
		return ""
	}
	p := previewer{room: room}
	var first, last []byte
	json := s.Kind != docket.KindText
	if json {
		first, last = v.elements(s.Kind)
	} else {
		first, last = v.lines()
	}
	var begins, failing, firsts string
	if json {
		firsts = p.reserve("first", first, previewElement)
	} else {
		begins = p.reserve("", first, previewFirst)
		failing = p.reserve("errors", v.firstError(), previewError)
	}
	lasts := p.reserve("last", last, previewLast)
	p.parts = append(p.parts, begins)
	a := findAnchors(v, json)
	a.choose(p.room)
	for k, name := range anchorNames {
		p.list(name, a.chosen(anchorKind(k)))
	}
	p.parts = append(p.parts, failing, firsts, lasts)
	return p.String()
}

// lines returns the first and the last line; no last line where it is just one of
// many of its kind.
func (v view) lines() (first, last []byte) {
	first, last = firstLine(v.head), lastLine(v.end())
	lines := sampleLines(v.head)
	_, _, listing := numbered(lines, nil)
	if listing || bytes.HasPrefix(first, []byte("diff --git ")) || located(lines) || bytes.Equal(first, last) {
		last = nil
	}
	return first, last
}

// elements returns the first and the last element of the largest array of JSON, or
// document of NDJSON; nothing where finding them takes long.
func (v view) elements(kind docket.Kind) (first, last []byte) {
	if kind == docket.KindNDJSON {
		return firstLine(v.head), lastLine(v.end())
	}
	list := v.head
	if i := skipSpace(list, markLen(list)); i < len(list) && list[i] == '{' {
		list = largestList(list[i:])
	} else {
		list = list[i:]
	}
	if len(list) == 0 || list[0] != '[' {
		return nil, nil
	}
	var m member
	for walk := inside(list); walk.next(&m); {
		if first == nil {
			first = list[m.start:m.end]
		}
		last = list[m.start:m.end]
		if v.tail != nil {
			return first, nil
		}
	}
	return first, last
}

// largestList returns the member of an object that is the largest array, nil if it
// has none.
func largestList(object []byte) (list []byte) {
	var m member
	for walk := inside(object); walk.next(&m); {
		if v := object[m.start:m.end]; v[0] == '[' && len(v) > len(list) {
			list = v
		}
	}
	return list
}

const (
	previewFirst   = 48 // characters of the first line
	previewLast    = 64
	previewError   = 110
	previewElement = 100
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
	s := `"` + squeezed(text, most) + `"`
	if name != "" {
		s = name + ": " + s
	}
	p.room -= utf8.RuneCountInString(s) + len(" | ")
	return s
}

func (p *previewer) list(name string, words []string) {
	if len(words) > 0 {
		p.parts = append(p.parts, name+`: "`+strings.Join(words, " ")+`"`)
	}
}

// squeezed returns text on one line, of at most a number of characters: runs of white
// space as one space, without the colours of a terminal, without characters that
// cannot be seen.
func squeezed(text []byte, most int) string {
	text = text[:min(len(text), 16*most)]
	plain := make([]byte, 0, len(text))
	for len(text) > 0 {
		if n := colour(text); n > 0 {
			text = text[n:]
			continue
		}
		plain, text = append(plain, text[0]), text[1:]
	}
	return strings.ReplaceAll(shown(bytes.Join(bytes.Fields(plain), []byte(" ")), most), `"`, `'`)
}

// colour returns the length of the terminal's control sequence that text begins
// with, 0 if it begins with none.
func colour(text []byte) int {
	if len(text) < 3 || text[0] != 0x1b || text[1] != '[' {
		return 0
	}
	for i, c := range text[2:min(len(text), 16)] {
		if c >= '@' && c <= '~' {
			return i + 3
		}
	}
	return 0
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
