package index

// What a walk says when a path leads nowhere: how far it came, and what is there.
// The answer is for a model that guessed a name, so the keys most like the wanted
// one come first. They are taken from the beginning of the object only: the cost of
// a miss stays that of a lookup.

import (
	"fmt"
	"slices"
	"strings"
)

const (
	missWindow = 64 << 10 // how many bytes of an object are searched for its keys
	missKeys   = 20       // how many keys a miss names
	missSearch = 200      // of how many that are compared
	missKeyLen = 64       // a longer key is cut, in bytes
)

// Reason says why a walk stopped.
type Reason uint8

// The reasons of a miss.
const (
	NoKey        Reason = iota + 1 // an object without that key
	OutOfRange                     // an array, or list of documents, that is shorter
	NeedsIndex                     // an array, or list of documents, and the segment is a key
	NeedsArray                     // an object, and the segment is a slice or query
	NotContainer                   // a string, number or literal
	NoMatch                        // no element for which the query holds
	TooDeep                        // more strings in strings than are entered
)

// MissError says that a path selects nothing. Its Error quotes the path and no
// bytes of the payload; Keys are bytes of the payload.
type MissError struct {
	Path   Path // the whole path
	At     int  // the segment that failed: Path[:At] exists
	Reason Reason
	What   string   // what Path[:At] is: "an object", "an array", "a string", …
	Count  int64    // its members
	Keys   []string // up to 20 of an object's keys, those most like the wanted one first, long ones cut
}

func (e *MissError) Error() string {
	seg := Path{e.Path[e.At]}.String()
	where := fmt.Sprintf("index: no value at %s: %s is %s", clip(e.Path.String(), 200), clip(e.Path[:e.At].String(), 200), e.What)
	switch e.Reason {
	case NoKey:
		return fmt.Sprintf("%s of %d members without the key %s", where, e.Count, clip(seg, 100))
	case OutOfRange:
		return fmt.Sprintf("%s of length %d, %s is out of range", where, e.Count, seg)
	case NeedsIndex:
		return fmt.Sprintf("%s of length %d, which needs an index as in [0], [-1], [20:40], [*], not %s", where, e.Count, clip(seg, 100))
	case NeedsArray:
		return fmt.Sprintf("%s, and %s needs an array", where, clip(seg, 100))
	case NoMatch:
		return fmt.Sprintf("%s of length %d, no element matches %s", where, e.Count, clip(seg, 100))
	case TooDeep:
		return fmt.Sprintf("%s inside %d others; fetch it and continue from there", where, maxEntered)
	}
	return where + ", which has no members"
}

// missedAgain stands for all misses of a walk but the first.
var missedAgain = &MissError{}

// miss returns the error for segment i of the path, which n does not have. Misses
// after the first of several selected values are not worked out: nobody sees them.
func (w *walker) miss(n node, i int) error {
	if w.many && w.missed != nil {
		return missedAgain
	}
	e := &MissError{Path: w.path, At: i, What: kindWords[n.kind]}
	s := w.path[i]
	switch n.kind {
	case kindString:
		e.Reason = NotContainer
		if w.entered == maxEntered {
			e.Reason = TooDeep
		}
		return e
	case kindScalar:
		e.Reason = NotContainer
		return e
	case kindObject:
		e.Reason = NeedsArray
		if s.Kind == SegmentKey || s.Kind == SegmentNumber {
			e.Reason = NoKey
		}
	default:
		e.Reason = NeedsIndex
		switch s.Kind {
		case SegmentNumber:
			e.Reason = OutOfRange
		case SegmentQuery:
			e.Reason = NoMatch
		}
	}
	return w.missIn(n, e)
}

// missIn completes the miss of a container.
func (w *walker) missIn(n node, e *MissError) error {
	var err error
	if e.Count, err = w.count(n); err != nil || n.kind != kindObject {
		return cmpErr(err, e)
	}
	n = n.whole()
	text := n.text
	if text == nil {
		if text, err = w.src.Bytes(n.start, min(n.end, n.start+missWindow)); err != nil {
			return err
		}
	}
	whole := n.end-n.start <= missWindow
	text = text[:min(len(text), missWindow)]
	e.Keys = nearest(keysOf(text, whole), e.Path[e.At:])
	return e
}

// cmpErr returns err, or e if err is nil.
func cmpErr(err error, e *MissError) error {
	if err != nil {
		return err
	}
	return e
}

// keysOf returns the keys of an object of which text is the beginning or the
// whole: the first [missSearch], without repetitions.
func keysOf(text []byte, whole bool) []string {
	var keys []string
	seen := map[string]bool{}
	walk, m := inside(text), member{}
	for len(keys) < missSearch && walk.next(&m) {
		if m.keyEnd == len(text) && !whole {
			break
		}
		key, _ := appendUnquote(nil, text[m.key:m.keyEnd])
		if !seen[string(key)] {
			seen[string(key)] = true
			keys = append(keys, string(key))
		}
	}
	return keys
}

// nearest returns up to [missKeys] of the keys, those most like the first segment
// of rest before the others, which stay in their order.
func nearest(keys []string, rest Path) []string {
	want := strings.ToLower(clip(rest[0].Key, missKeyLen))
	dotted := strings.ToLower(clip(dottedKey(rest), missKeyLen))
	type ranked struct {
		key  string
		rank int
	}
	all := make([]ranked, len(keys))
	for i, k := range keys {
		low := strings.ToLower(clip(k, missKeyLen))
		all[i] = ranked{clip(k, missKeyLen), min(unlike(low, want), unlike(low, dotted))}
	}
	slices.SortStableFunc(all, func(x, y ranked) int { return x.rank - y.rank })
	out := make([]string, 0, missKeys)
	for _, r := range all[:min(missKeys, len(all))] {
		out = append(out, r.key)
	}
	return out
}

// dottedKey joins the keys that rest begins with: somebody may have written a key
// with dots without quotes.
func dottedKey(rest Path) string {
	var parts []string
	for _, s := range rest {
		if s.Kind > SegmentNumber {
			break
		}
		parts = append(parts, s.Key)
	}
	return strings.Join(parts, ".")
}

// unlikely is the rank of keys that have nothing in common with the wanted one.
const unlikely = 1000

// unlike ranks how far a key is from the wanted one, both in lower case: equal, one
// inside the other, few edits, nothing in common.
func unlike(key, want string) int {
	switch {
	case key == want:
		return 0
	case want == "" || key == "":
		return unlikely
	case strings.Contains(key, want) || strings.Contains(want, key):
		return 1
	}
	if d := edits(key, want); d <= max(len(want), len(key))/2 {
		return 1 + d
	}
	return unlikely
}

// edits returns the Levenshtein distance of a and b in bytes. Cost: their lengths'
// product.
func edits(a, b string) int {
	line := make([]int, len(b)+1)
	for j := range line {
		line[j] = j
	}
	for i := range len(a) {
		diagonal := line[0]
		line[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = line[j+1]
			line[j+1] = min(cost, line[j]+1, diagonal+1)
		}
	}
	return line[len(b)]
}
