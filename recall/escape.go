package recall

// The spellings that a text can have inside of a JSON string. A query that a model
// read in a decoded string ("line one\nline two", "café") does not occur in the
// payload's bytes when the encoder escaped it; encoders differ in what they escape
// beyond what JSON asks for.

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escaping is what an encoder of JSON does to the characters of a string.
type escaping struct {
	ascii  bool   // everything beyond ASCII as \u
	html   bool   // <, >, & and the two Unicode line separators as \u
	slash  bool   // / as \/
	digits string // the hexadecimal digits that it uses
}

// escapings are the encoders that are tried, the most common first: what JSON
// asks for, Python's default, Go's default, PHP's default, upper-case digits.
var escapings = []escaping{
	{digits: "0123456789abcdef"},
	{digits: "0123456789abcdef", ascii: true},
	{digits: "0123456789abcdef", html: true},
	{digits: "0123456789abcdef", ascii: true, slash: true},
	{digits: "0123456789ABCDEF", ascii: true},
}

// shortEscapes are the characters with an escape of one letter.
const shortEscapes = "\"\\\n\t\r\b\f"

// escapedForms returns the forms of query that differ from it, each once. With fold
// also those of its lower and upper case: folding a query does not fold the code
// points that its escapes spell.
func escapedForms(query string, fold bool) []string {
	spellings := []string{query}
	if fold {
		spellings = append(spellings, strings.ToLower(query), strings.ToUpper(query))
	}
	forms := []string{query}
	for _, s := range spellings {
		for _, e := range escapings {
			if f := e.escape(s); f != s && !slices.Contains(forms, f) {
				forms = append(forms, f)
			}
		}
	}
	return forms[1:]
}

func (e escaping) escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		e.write(&b, s[i:i+size], r)
		i += size
	}
	return b.String()
}

// write writes r, whose bytes are raw.
func (e escaping) write(b *strings.Builder, raw string, r rune) {
	short := strings.IndexRune(shortEscapes, r)
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		b.WriteString(raw)
	case short >= 0:
		b.WriteByte('\\')
		b.WriteByte(`"\ntrbf`[short])
	case r == '/' && e.slash:
		b.WriteString(`\/`)
	case r < 0x20, e.html && strings.ContainsRune("<>&\u2028\u2029", r), e.ascii && r >= utf8.RuneSelf:
		for _, u := range utf16.AppendRune(nil, r) {
			e.writeUnit(b, u)
		}
	default:
		b.WriteString(raw)
	}
}

func (e escaping) writeUnit(b *strings.Builder, u uint16) {
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte(e.digits[u>>shift&15])
	}
}
