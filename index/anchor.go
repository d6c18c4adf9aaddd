package index

// Anchors: the exact words of a payload that an agent comes back to. A preview has
// room for some twenty of hundreds. Each has a value for the characters that it costs:
// in recorded transcripts one name of code in four was used again, one short path in
// five, one long path or address in twenty; but a path that is nearly right is worth
// nothing, so paths, ids and addresses come first and names take what is left. That
// holds three fifths of the former and a third of the latter; names first would hold
// one third and two fifths. What occurs early or often is worth a little more.
// Regular expressions were decided against: they take ten times as long.

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// anchorKind is a list of the preview; the order is the order in the preview.
type anchorKind int

const (
	anchorID anchorKind = iota
	anchorPath
	anchorURL
)

var anchorNames = [...]string{"ids", "paths", "urls"}

const (
	maxAnchors   = 4096 // that are compared
	maxAnchorLen = 120
	maxWord      = 300 // longer runs are data: base64, bundles
	minNameLen   = 6
	maxNameLen   = 64
	minFolder    = 10 // characters of a folder that is worth factoring out
	maxFactored  = 256
)

// Values of an anchor, by what it is.
const (
	valuePath   = 150.
	valueLong   = 120. // a long path
	valueURL    = 80.
	valueID     = 60.
	valueName   = 24.
	valueNumber = 6.
)

// anchor is one word.
type anchor struct {
	text  []byte
	kind  anchorKind
	count int
	value float64
	order int // of first appearance
	taken bool
}

// anchors are the words of a view.
type anchors struct {
	list []anchor
	at   map[uint64]int32 // hash of a word: where it is; two words of one hash count as one
	json bool

	folder []byte // that paths are shown under, with its slash; may be empty
}

// findAnchors collects the words of v. In JSON keys are left out: the schema has
// them.
func findAnchors(v view, json bool) *anchors {
	a := &anchors{at: anchorMaps.Get().(map[uint64]int32), list: make([]anchor, 0, 256), json: json}
	defer a.drop()
	a.words(v.head)
	a.words(v.tail)
	return a
}

var anchorMaps = sync.Pool{New: func() any { return make(map[uint64]int32, maxAnchors) }}

// drop gives the map back: making it anew took a third of the bytes of a record.
func (a *anchors) drop() {
	clear(a.at)
	anchorMaps.Put(a.at)
	a.at = nil
}

// words splits b at the bytes that no anchor has.
func (a *anchors) words(b []byte) {
	for i := 0; i < len(b); {
		if wordClass[b[i]] == 0 {
			i++
			continue
		}
		if i > 0 && b[i-1] == '\\' { // an escape of JSON, not the first letter of a word
			if i++; b[i-1] == 'u' {
				i += 4
			}
		}
		start := i
		for i < len(b) && wordClass[b[i]] != 0 {
			i++
		}
		key := a.json && i+1 < len(b) && b[i] == '"' && b[i+1] == ':'
		if i-start >= minAnchor && i-start <= maxWord && !key {
			a.word(b[start:i])
		}
	}
}

const minAnchor = 5

// wordClass is 1 for letters, 2 for digits, 3 for '_', 4 for what joins.
var wordClass = func() (t [256]byte) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			t[c] = 1
		case c >= '0' && c <= '9':
			t[c] = 2
		case c == '_':
			t[c] = 3
		case bytes.IndexByte([]byte("./:@+~%#?=&-"), byte(c)) >= 0:
			t[c] = 4
		}
	}
	return t
}()

// word takes in one run of word bytes.
func (a *anchors) word(w []byte) {
	w = bytes.TrimRight(w, ".:,-=?&#+/")
	w = bytes.TrimLeft(w, ":=?&%+-#")
	switch {
	case len(w) < minAnchor:
	case bytes.Contains(w, []byte("://")):
		if len(w) <= maxAnchorLen && isURL(w) {
			a.add(w, anchorURL, valueURL)
		}
	case bytes.IndexByte(w, '/') >= 0:
		a.path(w)
	case isHexID(w):
		a.add(w, anchorID, valueID)
	case isTicket(w), isUUID(w):
		a.add(w, anchorID, valueID)
	case isNumber(w):
		a.add(w, anchorID, valueNumber)
	case isFile(cutLine(w)):
		a.add(cutLine(w), anchorPath, valuePath)
	default:
		a.names(w)
	}
}

// path takes in a word with a slash.
func (a *anchors) path(w []byte) {
	w = cutLine(w)
	if len(w) > maxAnchorLen || !isPath(w) {
		a.names(w)
		return
	}
	value := valuePath
	if len(w) > 36 {
		value = valueLong
	}
	a.add(w, anchorPath, value)
}

// names takes in the names that joiners separate.
func (a *anchors) names(w []byte) {
	for len(w) > 0 {
		n := 0
		for n < len(w) && wordClass[w[n]] < 4 {
			n++
		}
		if part := w[:n]; n >= minNameLen && n <= maxNameLen && isName(part) {
			a.add(part, anchorID, valueName)
		}
		for n < len(w) && wordClass[w[n]] == 4 {
			n++
		}
		w = w[n:]
	}
}

func (a *anchors) add(w []byte, kind anchorKind, value float64) {
	h := keyHash(w)
	if i, ok := a.at[h]; ok {
		a.list[i].count++
		return
	}
	if len(a.list) == maxAnchors {
		return
	}
	a.at[h] = int32(len(a.list))
	a.list = append(a.list, anchor{text: w, kind: kind, count: 1, value: value, order: len(a.list)})
}

// choose takes the anchors that are worth most for the characters that they cost,
// up to room characters.
func (a *anchors) choose(room int) {
	a.factor()
	order := make([]int, len(a.list))
	for i := range order {
		order[i] = i
		w := &a.list[i]
		early := 1.3 - 0.6*float64(i)/float64(len(a.list))
		often := 1 + 0.1*float64(min(w.count, 4)-1)
		w.value *= early * often / float64(len(w.text)-a.under(w)+4)
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(a.list[j].value, a.list[i].value), cmp.Compare(i, j))
	})
	var named [len(anchorNames)]bool
	factored := false
	for _, i := range order {
		w := &a.list[i]
		under := a.under(w)
		cost := utf8.RuneCount(w.text) - under + 1
		if !named[w.kind] {
			cost += len(` | paths: ""`)
		}
		if under > 0 && !factored {
			cost += under + len("{}")
		}
		if cost > room {
			continue
		}
		room -= cost
		w.taken, named[w.kind] = true, true
		factored = factored || under > 0
	}
}

// under returns how many bytes of w the common folder takes.
func (a *anchors) under(w *anchor) int {
	if w.kind == anchorPath && len(a.folder) > 0 && len(w.text) > len(a.folder) && bytes.HasPrefix(w.text, a.folder) {
		return len(a.folder)
	}
	return 0
}

// factor finds the folder that saves most characters when the paths under it are
// written "folder/{a b}".
func (a *anchors) factor() {
	saved := map[string]int{}
	best := 2 * minFolder
	for i, seen := 0, 0; i < len(a.list) && seen < maxFactored; i++ {
		w := &a.list[i]
		if w.kind != anchorPath {
			continue
		}
		seen++
		for end := bytes.LastIndexByte(w.text, '/') + 1; end >= minFolder; end = bytes.LastIndexByte(w.text[:end-1], '/') + 1 {
			dir := string(w.text[:end])
			saved[dir] += end
			if n := saved[dir] - end; n > best || n == best && end > len(a.folder) {
				best, a.folder = n, w.text[:end]
			}
		}
	}
}

// chosen returns what was taken of a kind, in order of appearance.
func (a *anchors) chosen(kind anchorKind) []string {
	var out, inside []string
	for i := range a.list {
		w := &a.list[i]
		if !w.taken || w.kind != kind {
			continue
		}
		if n := a.under(w); n > 0 {
			inside = append(inside, string(w.text[n:]))
		} else {
			out = append(out, string(w.text))
		}
	}
	switch len(inside) {
	case 0:
		return out
	case 1:
		return append([]string{string(a.folder) + inside[0]}, out...)
	}
	return append([]string{string(a.folder) + "{" + strings.Join(inside, " ") + "}"}, out...)
}

// cutLine drops a line and column number: "a.go:12:3" is "a.go".
func cutLine(w []byte) []byte {
	if i := bytes.IndexByte(w, ':'); i > 0 {
		return w[:i]
	}
	return w
}

func isURL(w []byte) bool {
	i := bytes.Index(w, []byte("://"))
	return i >= 2 && i <= 8 && len(w) > i+6
}

// isPath tells whether w, which has a slash, names a file rather than being two
// alternatives ("and/or"), a date or a ratio.
func isPath(w []byte) bool {
	slashes := bytes.Count(w, []byte("/"))
	letters := 0
	for _, c := range w {
		if wordClass[c] == 1 {
			letters++
		}
	}
	base := w[bytes.LastIndexByte(w, '/')+1:]
	return letters >= 3 && len(base) > 0 && (slashes >= 2 || isFile(base))
}

// fileEnds are the extensions that make a word without a slash a file: "a.go" is
// one, "a.name" is a field.
const fileEnds = " bash bat bin c cc cfg conf cpp cs css csv cue dart db diff dockerfile env ex exs gif go gradle gz h hpp hs html " +
	"ini ipynb java jpeg jpg js json jsonl jsx kt less lock log lua md mdx mjs mod patch pdf php pl plist png proto ps1 pub py pyi " +
	"r rb rs rst sass scala scss sh sql sqlite sum svelte svg swift tar tf toml ts tsx txt vue wasm xml yaml yml zig zip zsh "

// isFile tells whether w is a name with a usual extension.
func isFile(w []byte) bool {
	dot := bytes.LastIndexByte(w, '.')
	if dot < 1 || len(w)-dot < 2 || len(w)-dot > 10 || len(w) > 64 || bytes.IndexByte(w[:dot], '=') >= 0 {
		return false
	}
	return strings.Contains(fileEnds, " "+string(w[dot+1:])+" ")
}

// isHexID tells whether w is 7 to 64 hexadecimal digits of one case, with a digit
// and a letter among them.
func isHexID(w []byte) bool {
	if len(w) < 7 || len(w) > 64 {
		return false
	}
	var digits, lower, upper int
	for _, c := range w {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f':
			lower++
		case c >= 'A' && c <= 'F':
			upper++
		default:
			return false
		}
	}
	return digits > 0 && lower+upper > 0 && lower*upper == 0
}

// isUUID tells whether w is 8-4-4-4-12 hexadecimal digits.
func isUUID(w []byte) bool {
	if len(w) != 36 {
		return false
	}
	for i, c := range w {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
		if dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}

// isTicket tells whether w is like "ENT-238": capitals, a dash, digits.
func isTicket(w []byte) bool {
	dash := bytes.IndexByte(w, '-')
	if dash < 2 || dash > 10 || len(w)-dash > 8 || !isNumber(w[dash+1:]) {
		return false
	}
	for _, c := range w[:dash] {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

func isNumber(w []byte) bool {
	for _, c := range w {
		if wordClass[c] != 2 {
			return false
		}
	}
	return len(w) > 0
}

// isName tells whether w is a name of code: camelCase, snake_case, or letters with
// digits among them.
func isName(w []byte) bool {
	if wordClass[w[0]] == 2 {
		return false
	}
	inner := bytes.Trim(w, "_")
	if bytes.IndexByte(inner, '_') > 0 {
		return true
	}
	for i := 1; i < len(w); i++ {
		if w[i] >= 'A' && w[i] <= 'Z' && w[i-1] >= 'a' && w[i-1] <= 'z' {
			return true
		}
	}
	return false
}
