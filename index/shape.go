package index

// The shape of JSON: which keys, of which types, how many. One pass over the value
// merges the elements of an array into one; it looks into the first of them only
// and skips over the rest, so that it costs little more than to find the value's
// end. How a shape is written down is in shape_text.go.

import (
	"bytes"
	"unicode/utf8"

	"docket"
)

const (
	shapeDepth   = 8       // containers below that are counted, not looked into
	shapeSample  = 64      // elements of the outermost arrays that are looked into; fewer further in
	shapeKeys    = 64      // different keys of an object that are told apart, fewer further in
	shapeFewKeys = 24      // but no fewer than that: more than shapeMapKeys
	shapeStrings = 4       // strings that are looked into for JSON
	shapeString  = 1 << 20 // of what length at most
	shapeMapKeys = 16      // an object of more keys than that, with values of one kind, is a map
)

// types is a set of the types that the values of one place have.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeNumber
	typeString
	typeObject
	typeArray
	typeDocs
)

var typeNames = [...]string{"null", "boolean", "number", "string", "object", "array", "documents"}

// shapeExample is how many bytes of a scalar are kept as an example: enough for the
// characters that are shown and one more, so that a cut character is not among them.
const shapeExample = (shapeTextLen + 1) * utf8.UTFMax

// span is a range of counts.
type span struct{ least, most int }

func (s *span) add(n, seen int) {
	if seen == 0 {
		*s = span{n, n}
	}
	*s = span{min(s.least, n), max(s.most, n)}
}

// shape is what is known of the values at one place.
type shape struct {
	types    types
	seen     int // values merged into it
	objects  int // of them, objects
	arrays   int
	members  span // of the objects
	length   span // of the arrays
	fields   []shapeField
	missed   bool   // there were more keys than fields
	elements *shape // of the arrays; nil: they were empty, or not looked into
	held     *shape // JSON that the strings hold
	values   *shape // asMap's answer; nil: not asked yet
	example  []byte // the first scalar, cut; aliases the value
}

// shapeField is a key of an object, and the shape of its values.
type shapeField struct {
	key []byte // with its quotes
	in  int    // objects that have it
	*shape
}

// shaper makes one shape.
type shaper struct {
	depth   int // containers below it are only counted
	strings int // that may still be looked into
}

// shapeOf returns the shape of a valid payload, to a depth of at most [shapeDepth].
func shapeOf(text []byte, kind docket.Kind, depth int) *shape {
	s, root := shaper{depth: depth, strings: shapeStrings}, &shape{}
	if n := rootNode(text, kind); n.kind == kindDocs {
		root.types, root.seen = typeDocs, 1
		s.list(root, n.members(), 0)
	} else {
		s.value(root, n.text, 0, 0)
	}
	return root
}

// value merges the value at i of b into to, and returns its end.
func (s *shaper) value(to *shape, b []byte, i, depth int) int {
	to.seen++
	walk := members{b: b, pos: i + 1}
	switch c := b[i]; {
	case c == '{':
		walk.object = true
		to.types |= typeObject
		return s.object(to, walk, depth)
	case c == '[':
		to.types |= typeArray
		return s.list(to, walk, depth)
	}
	end := skipValue(b, i)
	raw := b[i:end]
	switch raw[0] {
	case '"':
		to.types |= typeString
		s.holds(to, raw)
	case 't', 'f':
		to.types |= typeBoolean
	case 'n':
		to.types |= typeNull
		return end
	default:
		to.types |= typeNumber
	}
	if to.example == nil {
		to.example = raw[:min(len(raw), shapeExample)]
	}
	return end
}

// list merges the elements of an array, or documents.
func (s *shaper) list(to *shape, walk members, depth int) int {
	n, m, sample := 0, member{}, max(2, shapeSample>>(2*depth))
	for walk.begin(&m) {
		if n < sample && depth < s.depth {
			if to.elements == nil {
				to.elements = &shape{}
			}
			walk.pos = s.value(to.elements, walk.b, m.start, depth+1)
		} else {
			walk.pos = skipValue(walk.b, m.start)
		}
		if walk.pos <= m.start {
			break
		}
		n++
	}
	to.length.add(n, to.arrays)
	to.arrays++
	return min(skipSpace(walk.b, walk.pos)+1, len(walk.b))
}

// object merges the members of an object. Objects of one array mostly have their
// keys in one order, so the field after the last one is tried first.
func (s *shaper) object(to *shape, walk members, depth int) int {
	n, m, next, most := 0, member{}, 0, max(shapeFewKeys, shapeKeys>>depth)
	for walk.begin(&m) {
		var f *shapeField
		if n < most && depth < s.depth {
			f, next = to.field(walk.b[m.key:m.keyEnd], next)
		}
		if f != nil {
			f.in++
			walk.pos = s.value(f.shape, walk.b, m.start, depth+1)
		} else {
			walk.pos = skipValue(walk.b, m.start)
		}
		if walk.pos <= m.start {
			break
		}
		n++
	}
	to.missed = to.missed || n > most && depth < s.depth
	to.members.add(n, to.objects)
	to.objects++
	return min(skipSpace(walk.b, walk.pos)+1, len(walk.b))
}

// field returns the field of a key and the number of the one after it; nil where
// there are too many.
func (to *shape) field(key []byte, next int) (*shapeField, int) {
	if next < len(to.fields) && bytes.Equal(to.fields[next].key, key) {
		return &to.fields[next], next + 1
	}
	for i := range to.fields {
		if bytes.Equal(to.fields[i].key, key) {
			return &to.fields[i], i + 1
		}
	}
	if len(to.fields) == shapeKeys {
		to.missed = true
		return nil, next
	}
	to.fields = append(to.fields, shapeField{key: key, shape: &shape{}})
	return &to.fields[len(to.fields)-1], len(to.fields)
}

// holds looks for JSON in a string.
func (s *shaper) holds(to *shape, raw []byte) {
	if to.held != nil || s.strings == 0 || len(raw) > shapeString || !mayHoldJSON(raw) {
		return
	}
	s.strings--
	text, _ := appendUnquote(make([]byte, 0, len(raw)), raw)
	kind, err := scanKind(text)
	if err != nil {
		return
	}
	n := rootNode(text, kind)
	held := &shape{}
	switch n.kind {
	case kindDocs:
		held.types, held.seen = typeDocs, 1
		s.list(held, n.members(), 1)
	case kindObject, kindArray:
		s.value(held, n.text, 0, 1)
	default:
		return
	}
	to.held = held
}

// notMap is asMap's answer for an object that does not look like a map.
var notMap = &shape{}

// asMap returns the merged shape of an object's values, if it looks like a map: many
// keys, with values of one kind. A record may have as many columns, so that more
// keys are wanted when the values are scalars.
func (to *shape) asMap() *shape {
	if to.values == nil {
		to.values = to.mapped()
	}
	if to.values == notMap {
		return nil
	}
	return to.values
}

func (to *shape) mapped() *shape {
	if len(to.fields) <= shapeMapKeys {
		return notMap
	}
	var kind types
	for _, f := range to.fields {
		kind |= f.types &^ typeNull
	}
	if kind&(kind-1) != 0 || kind&(typeObject|typeArray) == 0 && !to.missed {
		return notMap
	}
	values := &shape{}
	for _, f := range to.fields {
		values.merge(f.shape)
	}
	return values
}

// merge adds what other saw.
func (to *shape) merge(other *shape) {
	to.types |= other.types
	if other.objects > 0 {
		to.members.add(other.members.least, to.objects)
		to.members.add(other.members.most, 1)
	}
	if other.arrays > 0 {
		to.length.add(other.length.least, to.arrays)
		to.length.add(other.length.most, 1)
	}
	to.seen, to.objects, to.arrays = to.seen+other.seen, to.objects+other.objects, to.arrays+other.arrays
	to.missed = to.missed || other.missed
	for _, f := range other.fields {
		if mine, _ := to.field(f.key, 0); mine != nil {
			mine.in += f.in
			mine.merge(f.shape)
		}
	}
	if other.elements != nil {
		if to.elements == nil {
			to.elements = &shape{}
		}
		to.elements.merge(other.elements)
	}
	if to.held == nil {
		to.held = other.held
	}
	if to.example == nil {
		to.example = other.example
	}
}
