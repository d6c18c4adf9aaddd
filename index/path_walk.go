package index

// Walking a path over a payload. A walk descends the table to the smallest row that
// encloses its target, reads the bytes between two marks, and finishes inside them.
// Without a table it reads the whole payload and does the same in memory, so both
// give the same values and the same misses; tests hold them against each other. The
// steps over rows are in path_rows.go, what a miss says in path_miss.go.

import (
	"bytes"
	"errors"

	"docket"
)

// maxEntered is how often a walk enters JSON that is held by a JSON string.
const maxEntered = 8

// Source gives a walk the bytes of a payload. recall's reads frames.
type Source interface {
	// Bytes returns payload[start:end]. It is valid until the next call.
	Bytes(start, end int64) ([]byte, error)
	// Skip returns the first position, of start ≤ position < end, from which on
	// text may occur, end if it cannot. It may be wrong only by being too small.
	Skip(text []byte, start, end int64) int64
}

// Payload is what a walk needs to know of a payload.
type Payload struct {
	Source Source
	Size   int64 // in bytes
	Kind   docket.Kind
	Paths  []byte // its paths section; nil or damaged: the walk reads the payload whole
}

// Selected is what a path selects: a part of the payload, or text that is made from
// parts.
type Selected struct {
	Start, End int64  // the part, in bytes
	Derived    bool   // Text is the value: it is an array of several, or lies in a string
	Text       []byte // a copy
}

// Select walks path. Values are source bytes: a string has its quotes and escapes,
// a number its digits. A path with a slice, [*], '#' or a filter gives a JSON array
// of all that it selects, in order, without the elements that the rest of the path
// is missing from. Of members with one key the first is found. A string that holds
// a JSON object or array is entered when the path goes on. The root of NDJSON is
// the payload (without byte order mark), its children are the documents.
//
// Errors: [*MissError]; [*SyntaxError] for a payload that is not JSON by its kind;
// those of the source. The cost is the bytes between two marks of the paths section, for each
// row on the way; for a key among many small ones, the parts where Skip allows it.
func (p Payload) Select(path Path) (Selected, error) {
	if p.Kind != docket.KindJSON && p.Kind != docket.KindNDJSON {
		return Selected{}, p.notJSON()
	}
	if table, err := ParsePaths(p.Paths, p.Size); err == nil {
		w := walker{src: p.Source, table: &table, path: path}
		selected, err := w.run(w.rowNode(table.root()))
		if !errors.Is(err, ErrDamaged) {
			return selected, err
		}
	}
	text, err := p.Source.Bytes(0, p.Size)
	if err != nil {
		return Selected{}, err
	}
	w := walker{src: p.Source, path: path}
	return w.run(rootNode(text, p.Kind), nil)
}

// whyText is how much of a payload is read to say why it is not JSON.
const whyText = 1 << 20

// notJSON returns where the payload stops being JSON, as far as [whyText] tells.
func (p Payload) notJSON() error {
	const margin = 16 // an escape or literal that the window cuts is bad before its end
	for window := int64(whyText / 16); ; window *= 16 {
		text, err := p.Source.Bytes(0, min(window, p.Size))
		if err != nil {
			return err
		}
		whole, end := window >= p.Size, len(text)
		var bad *SyntaxError
		if _, err = scanKind(text); errors.As(err, &bad) && (whole || bad.Offset+margin < window) {
			return bad
		}
		if whole || window >= whyText {
			if !whole {
				end -= margin
			}
			for end < len(text) && !border(text, end) {
				end--
			}
			return &SyntaxError{Offset: int64(end)}
		}
	}
}

// node is where a walk stands: a value that has a row, or one whose bytes are in
// memory. Where such a value ends is found out when it matters: a walk that goes on
// inside would pass over the same bytes twice.
type node struct {
	kind       valueKind
	start, end int64  // in the payload; meaningless if derived; the end is negative if it is not known
	text       []byte // its bytes, and others if the end is not known; nil if it has a row
	row        int    // its number, if text is nil
	derived    bool   // it lies in a string
}

// rootNode returns the root of a document or several.
func rootNode(text []byte, kind docket.Kind) node {
	start, end := markLen(text), len(text)
	if kind == docket.KindNDJSON {
		return node{kind: kindDocs, start: int64(start), end: int64(end), text: text[start:]}
	}
	return node{text: text}.from(skipSpace(text, start))
}

// kindOf returns the kind of the value that text is.
func kindOf(text []byte) valueKind {
	if len(text) == 0 {
		return kindScalar
	}
	switch text[0] {
	case '{':
		return kindObject
	case '[':
		return kindArray
	case '"':
		return kindString
	}
	return kindScalar
}

// part returns the value that lies at start to end of n's text.
func (n node) part(start, end int) node {
	text := n.text[start:end:end]
	return node{kind: kindOf(text), start: n.start + int64(start), end: n.start + int64(end), text: text, derived: n.derived}
}

// from returns the value that begins at start of n's text.
func (n node) from(start int) node {
	text := n.text[start:]
	return node{kind: kindOf(text), start: n.start + int64(start), end: -1, text: text, derived: n.derived}
}

// whole returns n with its end.
func (n node) whole() node {
	if n.end < 0 {
		end := skipValue(n.text, 0)
		n.end, n.text = n.start+int64(end), n.text[:end:end]
	}
	return n
}

// members walks the members of a node that has text.
func (n node) members() members {
	if n.kind == kindDocs {
		return members{b: n.text}
	}
	return inside(n.text)
}

// walker carries one walk.
type walker struct {
	src     Source
	table   *Paths // nil: none
	path    Path
	entered int
	many    bool   // a segment selects several values
	out     []byte // their array, so far
	missed  error  // the first miss among them
}

// run walks from root and returns what the path selects.
func (w *walker) run(root node, err error) (Selected, error) {
	if err != nil {
		return Selected{}, err
	}
	n, err := w.walk(root, 0)
	if err != nil {
		return Selected{}, err
	}
	n = n.whole()
	if w.many {
		if len(w.out) == 0 && w.missed != nil {
			return Selected{}, w.missed
		}
		return Selected{Derived: true, Text: w.array()}, nil
	}
	if n.derived {
		return Selected{Derived: true, Text: append([]byte(nil), n.text...)}, nil
	}
	return Selected{Start: n.start, End: n.end}, nil
}

// array closes the array of what was selected.
func (w *walker) array() []byte {
	if len(w.out) == 0 {
		return []byte("[]")
	}
	return append(w.out, ']')
}

// walk goes from n along the segments from i on. Once a segment selects several
// values it collects them in out, and what it returns means nothing.
func (w *walker) walk(n node, i int) (node, error) {
	for ; i < len(w.path); i++ {
		var err error
		if n, err = w.enter(n); err != nil {
			return n, err
		}
		switch s := w.path[i]; s.Kind {
		case SegmentSlice, SegmentAll, SegmentFilter:
			w.many = true
			return n, w.each(n, i)
		case SegmentQuery:
			n, err = w.first(n, i)
		default:
			n, err = w.child(n, i)
		}
		if err != nil {
			return n, err
		}
	}
	if w.many {
		return n, w.collect(n)
	}
	return n, nil
}

// collect appends n to the array of selected values.
func (w *walker) collect(n node) error {
	text, err := w.load(n)
	if err != nil {
		return err
	}
	sep := byte(',')
	if len(w.out) == 0 {
		sep = '['
	}
	w.out = append(append(w.out, sep), text...)
	return nil
}

// load returns the bytes of n.
func (w *walker) load(n node) ([]byte, error) {
	if n.text != nil {
		return n.whole().text, nil
	}
	return w.src.Bytes(n.start, n.end)
}

// enter goes from a string to the JSON that it holds, if it holds any, and leaves
// other nodes as they are.
func (w *walker) enter(n node) (node, error) {
	for n.kind == kindString && w.entered < maxEntered {
		quoted, err := w.load(n)
		if err != nil {
			return n, err
		}
		if !mayHoldJSON(quoted) {
			return n, nil
		}
		text, _ := appendUnquote(make([]byte, 0, len(quoted)), quoted)
		kind, err := scanKind(text)
		if err != nil {
			return n, nil
		}
		inner := rootNode(text, kind)
		if inner.kind == kindScalar {
			return n, nil
		}
		inner.derived = true
		n = inner
		w.entered++
	}
	return n, nil
}

// mayHoldJSON tells whether a string could hold a container, from its first
// characters: most do not, and need not be unquoted to know.
func mayHoldJSON(quoted []byte) bool {
	b := bytes.TrimLeft(quoted[1:], " ")
	if len(b) < 2 {
		return false
	}
	if b[0] == '\\' {
		return bytes.IndexByte([]byte(`nrtu"`), b[1]) >= 0
	}
	return b[0] == '{' || b[0] == '[' || b[0] == 0xEF // a byte order mark
}

// child steps to the member that a key or number selects.
func (w *walker) child(n node, i int) (node, error) {
	s := w.path[i]
	switch {
	case n.kind == kindObject:
		return w.byKey(n, i)
	case n.kind != kindArray && n.kind != kindDocs || s.Kind != SegmentNumber:
		return n, w.miss(n, i)
	}
	at := s.From
	if at < 0 || n.text == nil {
		count, err := w.count(n)
		if err != nil {
			return n, err
		}
		if at < 0 {
			at += count
		}
		if at < 0 || at >= count {
			return n, w.miss(n, i)
		}
	}
	if n.text == nil {
		return w.rowElement(n, at)
	}
	walk, m := n.members(), member{}
	for ; at > 0 && walk.next(&m); at-- {
	}
	if at > 0 || !walk.begin(&m) {
		return n, w.miss(n, i)
	}
	return n.from(m.start), nil
}

// byKey steps to the first member of an object that has the key.
func (w *walker) byKey(n node, i int) (node, error) {
	key := w.path[i].Key
	if n.text == nil {
		found, ok, err := w.rowMember(n, key)
		if err != nil || ok {
			return found, err
		}
		return n, w.miss(n, i)
	}
	if start := find(n.text, n.members(), key); start >= 0 {
		return n.from(start), nil
	}
	return n, w.miss(n, i)
}

// find returns where the value of the first member that has the key begins, -1 if
// none has it.
func find(text []byte, walk members, key string) int {
	var m member
	for walk.begin(&m) {
		if keyIs(text[m.key:m.keyEnd], key) {
			return m.start
		}
		if walk.pos = skipValue(text, m.start); walk.pos <= m.start {
			break
		}
	}
	return -1
}

// count returns the number of members of a container.
func (w *walker) count(n node) (int64, error) {
	if n.text == nil {
		r, err := w.table.row(n.row)
		return int64(r.members), err
	}
	count, walk, m := int64(0), n.members(), member{}
	for walk.next(&m) {
		count++
	}
	return count, nil
}
