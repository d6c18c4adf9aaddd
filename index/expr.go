package index

// The path language. Models write paths from memory of jq, JSONPath, JSON Pointer,
// gjson and JavaScript, so what is common to them is accepted and means one thing;
// a construct that these languages disagree on is refused with what to write
// instead, since a path that silently selects something else is worse than none.
// Wildcards in keys, recursive descent and pipes are not supported: their cost has
// no bound. Walking a path over a payload is in path_walk.go; queries have a
// language of their own, expr_query.go.

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxSegments is the most segments that a path may have.
const MaxSegments = 64

// SegmentKind says how a segment selects.
type SegmentKind uint8

// The kinds of segments.
const (
	SegmentKey    SegmentKind = iota // the member called Key
	SegmentNumber                    // element From, counted from the end if negative; on an object the member called Key
	SegmentSlice                     // elements From up to, not including, To; negative: from the end
	SegmentAll                       // all elements, or the values of all members
	SegmentQuery                     // the first element for which the query Key holds
	SegmentFilter                    // all elements for which it holds
)

// openEnd is the To of a slice that reaches to the end.
const openEnd = math.MaxInt64

// Segment is one step of a path. Fields that a kind does not use are zero.
type Segment struct {
	Kind     SegmentKind
	Key      string
	From, To int64
}

// Path leads from the root of a payload to a value, or to several. The empty path
// is the root. Paths compare with slices.Equal.
type Path []Segment

// PathError says what is wrong with the text of a path.
type PathError struct {
	Text    string // the path as it was given
	Offset  int    // the byte of Text at which it goes wrong
	Problem string
	Instead string // what to write instead; may be empty
}

func (e *PathError) Error() string {
	s := fmt.Sprintf("index: path %q: at byte %d: %s", clip(e.Text, 80), e.Offset, e.Problem)
	if e.Instead != "" {
		s += "; " + e.Instead
	}
	return s
}

// clip cuts s to at most n bytes, at a character border, with an ellipsis.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// ParsePath parses the text of a path. Errors are [*PathError].
//
//	products.3999.stats.avg90   keys and indexes; a number is an index on an array, a key on an object
//	a[0]["x.y"]['z']            the same in brackets; a quoted text is always a key
//	$.a  $[0]  .a               a leading $ or dot is ignored; "", "$" and "." are the root
//	a\.b                        a backslash makes the next character part of a key
//	/a/0/x~1y                   a text that begins with a slash is a JSON Pointer
//	a[-1]  a[20:40]  a[-5:]     from the end, and slices
//	a[*].b  a.#.b               all elements, or the values of all members
//	a.#(price>10).b             the first element for which a query holds
//	a.#(name=="x")#.b           all elements for which it holds
func ParsePath(text string) (Path, error) {
	p := parser{text: text}
	var err error
	if strings.HasPrefix(text, "/") {
		err = p.pointer()
	} else {
		err = p.dotted()
	}
	if err != nil {
		return nil, err
	}
	return p.path, nil
}

// parser reads the text of a path from pos on.
type parser struct {
	text string
	pos  int
	path Path
}

func (p *parser) fail(problem, instead string) error {
	return &PathError{Text: p.text, Offset: p.pos, Problem: problem, Instead: instead}
}

func (p *parser) add(s Segment) error {
	if len(p.path) == MaxSegments {
		return p.fail("more than 64 segments", "fetch a part first, then a path inside it")
	}
	p.path = append(p.path, s)
	return nil
}

// at tells whether the text goes on with s.
func (p *parser) at(s string) bool { return strings.HasPrefix(p.text[p.pos:], s) }

func (p *parser) done() bool { return p.pos == len(p.text) }

// pointer reads a JSON Pointer (RFC 6901).
func (p *parser) pointer() error {
	for !p.done() {
		p.pos++
		word, _, _ := strings.Cut(p.text[p.pos:], "/")
		for i := 0; i < len(word); i++ {
			if word[i] == '~' && (i+1 == len(word) || word[i+1] != '0' && word[i+1] != '1') {
				p.pos += i
				return p.fail("'~' in a JSON Pointer", "write ~0 for '~' and ~1 for '/'")
			}
		}
		key := strings.NewReplacer("~1", "/", "~0", "~").Replace(word)
		if err := p.add(bare(key)); err != nil {
			return err
		}
		p.pos += len(word)
	}
	return nil
}

// dotted reads everything else.
func (p *parser) dotted() error {
	if p.text == "$" || p.text == "." {
		return nil
	}
	if p.at("$.") || p.at("$[") {
		p.pos++
	} else if !p.done() && !p.at("[") && !p.at(".") {
		if err := p.name(); err != nil {
			return err
		}
	}
	for !p.done() {
		if err := p.step(); err != nil {
			return err
		}
	}
	return nil
}

// step reads one segment that begins with a dot or a bracket.
func (p *parser) step() error {
	if p.at("[") {
		return p.bracket()
	}
	p.pos++
	switch {
	case p.at("."):
		return p.fail("two dots: there is no recursive descent", `write the whole path; the empty key is [""]`)
	case p.done():
		return p.fail("the path ends in a dot", `leave it out; the empty key is [""]`)
	case p.at("["):
		return p.bracket()
	}
	return p.name()
}

// name reads a key, an index, '#', or a query, up to the next dot or bracket.
func (p *parser) name() error {
	if p.at("#(") {
		return p.query()
	}
	start := p.pos
	var key []byte
	for !p.done() && !p.at(".") && !p.at("[") {
		c := p.text[p.pos]
		if c == ']' {
			return p.fail("']' without '['", `write the key in quotes: ["…"]`)
		}
		if c == '\\' {
			p.pos++
			if p.done() || isAlnum(p.text[p.pos]) {
				return p.fail("a backslash makes only punctuation part of a key", `write the key in quotes: ["…"]`)
			}
			c = p.text[p.pos]
		}
		key = append(key, c)
		p.pos++
	}
	s := bare(string(key))
	if raw := p.text[start:p.pos]; raw == "#" {
		s = Segment{Kind: SegmentAll}
	} else if len(raw) != len(key) {
		s = Segment{Key: string(key)}
	}
	return p.add(s)
}

func isAlnum(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// bare makes the segment of an unquoted word: a number in its one canonical
// spelling is an index, everything else a key.
func bare(word string) Segment {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != word || n == openEnd || n == math.MinInt64 {
		return Segment{Key: word}
	}
	return Segment{Kind: SegmentNumber, Key: word, From: n}
}

// bracket reads a segment in brackets.
func (p *parser) bracket() error {
	p.pos++
	if p.at(`"`) || p.at(`'`) {
		return p.bracketKey()
	}
	n := strings.IndexByte(p.text[p.pos:], ']')
	if n < 0 {
		return p.fail("'[' without ']'", `write the key in quotes: ["…"]`)
	}
	s, ok := bracketed(strings.TrimSpace(p.text[p.pos : p.pos+n]))
	if !ok {
		return p.fail("not an index, a slice, '*', or a quoted key", `write [0], [-1], [20:40], [*], ["key"], or .#(price>10) for a query`)
	}
	p.pos += n + 1
	return p.add(s)
}

// bracketed makes the segment of what stands unquoted in brackets.
func bracketed(word string) (Segment, bool) {
	if word == "*" {
		return Segment{Kind: SegmentAll}, true
	}
	from, to, slice := strings.Cut(word, ":")
	if !slice {
		s := bare(word)
		return s, s.Kind == SegmentNumber
	}
	s := Segment{Kind: SegmentSlice, To: openEnd}
	return s, bound(from, &s.From) && bound(to, &s.To)
}

// bound reads a bound of a slice into n, and leaves n as it is for an absent one.
func bound(word string, n *int64) bool {
	word = strings.TrimSpace(word)
	s := bare(word)
	if s.Kind == SegmentNumber {
		*n = s.From
	}
	return word == "" || s.Kind == SegmentNumber
}

// bracketKey reads a quoted key, whose quote is at pos, and the closing bracket.
func (p *parser) bracketKey() error {
	key, n, ok := unquoteWord(p.text[p.pos:])
	if !ok {
		return p.fail("the quoted key is not a JSON string", `escape quotes and backslashes: ["a\"b"]`)
	}
	p.pos += n
	if !p.at("]") {
		return p.fail("']' is missing after the quoted key", "")
	}
	p.pos++
	return p.add(Segment{Key: key})
}

// unquoteWord reads the string in double or single quotes that text begins with,
// and returns what it spells and its length in text.
func unquoteWord(text string) (word string, n int, ok bool) {
	quoted, n := []byte(text), 0
	if text[0] == '\'' {
		quoted, n = doubleQuotes(text)
	}
	s := scan(quoted)
	if !s.quoted() {
		return "", 0, false
	}
	if n == 0 {
		n = s.end
	}
	spelled, _ := appendUnquote(nil, quoted[:s.end])
	return string(spelled), n, true
}

// doubleQuotes respells the string in single quotes that text begins with, and
// returns its length in text. A string without end comes back without end.
func doubleQuotes(text string) (quoted []byte, n int) {
	quoted = append(quoted, '"')
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\'':
			return append(quoted, '"'), i + 1
		case text[i] == '"':
			quoted = append(quoted, '\\', '"')
		case text[i] == '\\' && i+1 < len(text):
			if i++; text[i] != '\'' {
				quoted = append(quoted, '\\')
			}
			quoted = append(quoted, text[i])
		default:
			quoted = append(quoted, text[i])
		}
	}
	return quoted, len(text)
}

// String returns the canonical text of the path, "$" for the root. [ParsePath] of
// it gives the same path.
func (p Path) String() string {
	if len(p) == 0 {
		return "$"
	}
	var b []byte
	for _, s := range p {
		b = s.append(b)
	}
	return string(b)
}

func (s Segment) append(dst []byte) []byte {
	switch s.Kind {
	case SegmentNumber:
		return append(append(append(dst, '['), s.Key...), ']')
	case SegmentSlice:
		dst = strconv.AppendInt(append(dst, '['), s.From, 10)
		dst = append(dst, ':')
		if s.To != openEnd {
			dst = strconv.AppendInt(dst, s.To, 10)
		}
		return append(dst, ']')
	case SegmentAll:
		return append(dst, "[*]"...)
	case SegmentKey:
		if !plainKey(s.Key) {
			return append(appendQuote(append(dst, '['), s.Key), ']')
		}
	}
	if len(dst) > 0 {
		dst = append(dst, '.')
	}
	switch s.Kind {
	case SegmentQuery:
		return append(append(append(dst, "#("...), s.Key...), ')')
	case SegmentFilter:
		return append(append(append(dst, "#("...), s.Key...), ")#"...)
	}
	return append(dst, s.Key...)
}

// plainKey tells whether a key can stand in a path without quotes.
func plainKey(key string) bool {
	if key == "" || strings.TrimSpace(key) != key || strings.ContainsAny(key[:1], "#$/") {
		return false
	}
	for i := range len(key) {
		if c := key[i]; c < 0x20 || c == 0x7f || strings.IndexByte(`.[]\"'`, c) >= 0 {
			return false
		}
	}
	return bare(key).Kind == SegmentKey
}

// appendQuote appends key as a JSON string that escapes what it must and no more.
func appendQuote(dst []byte, key string) []byte {
	dst = append(dst, '"')
	for i := range len(key) {
		switch c := key[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20 || c == 0x7f:
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
