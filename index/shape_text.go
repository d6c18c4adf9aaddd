package index

// A shape written down: on one line for a stub's schema, and as an indented text
// whose labels are path segments. Both are bounded, say what they leave out, and
// depend on nothing but the value. What comes from the value is quoted as JSON
// does, cut, and shown without characters that cannot be seen.

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ShapeLimits bounds what [Shape] says. The zero value of a field is its default.
type ShapeLimits struct {
	Depth int // containers below it are only counted; default and most 8
	Keys  int // keys of an object that are listed; default and most 64
	Lines int // lines in all; default 400
}

const (
	shapeLines   = 400
	shapeKeyLen  = 64 // characters of a key that are shown
	shapeTextLen = 40 // of an example
)

// Shape describes a JSON value, or the documents of NDJSON: keys, types, counts,
// lengths, and an example of each scalar. A label that begins a line goes on the
// path of the line that it is indented under.
//
//	object of 2 keys
//	  products: array of 4000
//	    [*]: object of 3 keys
//	      id: number, 1
//	      name: string, "Shirt"
//	      sizes (in 12 of 64): array of 0 to 3
//	        [*]: string, "XL"
//	  total: number, 4000
//
// Elements beyond the first 64 of an array are counted but not looked into. The
// error is a [*SyntaxError].
func Shape(value []byte, limits ShapeLimits) (string, error) {
	kind, err := scanKind(value)
	if err != nil {
		return "", err
	}
	w := shapeWriter{limits: limits.filled()}
	w.write(shapeOf(value, kind, w.limits.Depth), "", 0)
	return string(w.out), nil
}

func (l ShapeLimits) filled() ShapeLimits {
	clamp := func(v *int, most int) {
		if *v <= 0 || *v > most {
			*v = most
		}
	}
	clamp(&l.Depth, shapeDepth)
	clamp(&l.Keys, shapeKeys)
	if l.Lines <= 0 {
		l.Lines = shapeLines
	}
	return l
}

// shapeWriter writes the indented text.
type shapeWriter struct {
	limits ShapeLimits
	out    []byte
	lines  int
}

// line writes a line, and returns false when there have been enough.
func (w *shapeWriter) line(indent int, text string) bool {
	if w.lines == w.limits.Lines {
		w.out = append(w.out, "…\n"...)
	}
	w.lines++
	if w.lines > w.limits.Lines {
		return false
	}
	w.out = append(w.out, strings.Repeat("  ", indent)...)
	w.out = append(append(w.out, text...), '\n')
	return true
}

// write writes a shape that stands under label, and what is inside it.
func (w *shapeWriter) write(s *shape, label string, indent int) bool {
	if label != "" {
		label += ": "
	}
	if !w.line(indent, label+s.describe()) {
		return false
	}
	if indent >= w.limits.Depth {
		return true
	}
	if values := s.asMap(); values != nil {
		key := "[*]"
		if !w.line(indent+1, "keys as "+keyLabel(s.fields[0].key)+", "+keyLabel(s.fields[1].key)+", "+keyLabel(s.fields[2].key)+", …") {
			return false
		}
		if !w.write(values, key, indent+1) {
			return false
		}
	} else if !w.fields(s, indent+1) {
		return false
	}
	if s.elements != nil && !w.write(s.elements, "[*]", indent+1) {
		return false
	}
	return s.held == nil || w.write(s.held, "holds JSON", indent+1)
}

// fields writes the fields of an object.
func (w *shapeWriter) fields(s *shape, indent int) bool {
	for i, f := range s.fields {
		if i == w.limits.Keys {
			break
		}
		label := keyLabel(f.key)
		if s.lacks(f) {
			label += " (in " + strconv.Itoa(f.in) + " of " + strconv.Itoa(s.objects) + ")"
		}
		if !w.write(f.shape, label, indent) {
			return false
		}
	}
	if s.missed {
		return w.line(indent, "… and other keys")
	}
	if more := len(s.fields) - w.limits.Keys; more > 0 {
		return w.line(indent, "… and "+strconv.Itoa(more)+" keys more")
	}
	return true
}

// lacks tells whether some objects do not have a field, as far as is known.
func (s *shape) lacks(f shapeField) bool { return f.in < s.objects && !s.missed }

// describe names the types, with counts and an example.
func (s *shape) describe() string {
	var parts []string
	for i, name := range typeNames {
		switch t := types(1 << i); {
		case s.types&t == 0:
		case t == typeObject:
			parts = append(parts, "object of "+s.members.text()+" keys")
		case t == typeArray:
			parts = append(parts, "array of "+s.length.text())
		case t == typeDocs:
			parts = append(parts, s.length.text()+" documents")
		default:
			parts = append(parts, name)
		}
	}
	text := strings.Join(parts, " or ")
	if s.example != nil {
		text += ", " + shown(s.example, shapeTextLen)
	}
	return text
}

// text returns "3", or "0 to 3".
func (s span) text() string {
	if s.least == s.most {
		return strconv.Itoa(s.least)
	}
	return strconv.Itoa(s.least) + " to " + strconv.Itoa(s.most)
}

// keyLabel returns a quoted key as the segment of a path.
func keyLabel(quoted []byte) string {
	key, _ := appendUnquote(nil, quoted)
	return shown([]byte(Path{{Key: string(key)}}.String()), shapeKeyLen)
}

// shown returns text cut to a number of characters, with escapes for those that
// cannot be seen and for bytes that are not UTF-8.
func shown(text []byte, most int) string {
	var b strings.Builder
	for n := 0; len(text) > 0; n++ {
		r, size := utf8.DecodeRune(text)
		switch {
		case n == most:
			b.WriteString("…")
			return b.String()
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[0]), 16))
		case !unicode.IsPrint(r):
			b.WriteString(`\u{` + strconv.FormatUint(uint64(r), 16) + `}`)
		default:
			b.WriteRune(r)
		}
		text = text[size:]
	}
	return b.String()
}

// schemaDepth is the depth of the richest schema.
const schemaDepth = 4

// schemaSteps are the depths and numbers of keys with which a schema is tried, from
// the richest to one that always fits.
var schemaSteps = [...]struct{ depth, keys int }{
	{schemaDepth, 24}, {schemaDepth, 16}, {3, 16}, {3, 10}, {3, 6}, {2, 12}, {2, 6}, {1, 12}, {1, 6}, {1, 3}, {1, 1}, {0, 0},
}

// line returns the shape on one line of at most a number of bytes:
//
//	{"products":[4000 × {"id":number,"sizes"?:[0–3 × string]}],"total":number}
//
// A key that not all objects of an array have is marked with '?'. What does not fit
// is left out from the inside: "{5 keys}", "…".
func (s *shape) line(most int) string {
	text := ""
	for _, step := range schemaSteps {
		w := schemaWriter{keys: step.keys}
		w.value(s, step.depth)
		if text = w.b.String(); len(text) <= most {
			return text
		}
	}
	return clip(text, most)
}

// schemaWriter writes the one line.
type schemaWriter struct {
	b    strings.Builder
	keys int
}

// value writes a shape, to a depth.
func (w *schemaWriter) value(s *shape, depth int) {
	first := true
	for i, name := range typeNames {
		t := types(1 << i)
		if s.types&t == 0 {
			continue
		}
		if !first {
			w.b.WriteByte('|')
		}
		first = false
		switch t {
		case typeObject:
			w.object(s, depth)
		case typeArray:
			w.b.WriteByte('[')
			w.list(s, depth, s.length.dashed())
			w.b.WriteByte(']')
		case typeDocs:
			w.list(s, depth, s.length.dashed()+" documents")
		default:
			w.b.WriteString(name)
			if t == typeString && s.held != nil && depth > 0 {
				w.b.WriteString(" holding ")
				w.value(s.held, depth)
			}
		}
	}
}

// list writes a count, and the shape of what is counted.
func (w *schemaWriter) list(s *shape, depth int, count string) {
	if s.length.most == 0 {
		return
	}
	w.b.WriteString(count)
	if depth > 0 && s.elements != nil {
		w.b.WriteString(" × ")
		w.value(s.elements, depth-1)
	}
}

// dashed returns "3", or "0–3".
func (s span) dashed() string { return strings.Replace(s.text(), " to ", "–", 1) }

// object writes the fields of an object.
func (w *schemaWriter) object(s *shape, depth int) {
	w.b.WriteByte('{')
	defer w.b.WriteByte('}')
	if s.members.most == 0 {
		return
	}
	if depth == 0 || len(s.fields) == 0 {
		w.b.WriteString(s.members.dashed() + " keys")
		return
	}
	if values := s.asMap(); values != nil {
		w.b.WriteString(s.members.dashed() + " keys as " + schemaKey(s.fields[0].key) + ":")
		w.value(values, depth-1)
		return
	}
	for i, f := range s.fields[:min(w.keys, len(s.fields))] {
		if i > 0 {
			w.b.WriteByte(',')
		}
		w.b.WriteString(schemaKey(f.key))
		if s.lacks(f) {
			w.b.WriteByte('?')
		}
		w.b.WriteByte(':')
		w.value(f.shape, depth-1)
	}
	if more := len(s.fields) - w.keys; more > 0 || s.missed {
		w.b.WriteString(",…")
	}
}

// schemaKey returns a key in quotes, cut.
func schemaKey(quoted []byte) string {
	return `"` + shown(quoted[1:len(quoted)-1], shapeTextLen) + `"`
}
