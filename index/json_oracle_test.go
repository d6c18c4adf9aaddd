package index

// The oracle: JSON read by jsontext into a tree, and paths walked over the tree in
// the plainest way. It shares no code with the scanner, the table or the walk.

import (
	"bytes"
	"errors"
	"io"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// tree is a value: its bytes, its kind as jsontext names it ('{', '[', '"', …; 'd'
// for the documents of NDJSON), and its members.
type tree struct {
	whole      []byte // what start and end count in
	start, end int
	kind       jsontext.Kind
	keys       []string
	kids       []*tree
}

func (t *tree) raw() []byte { return t.whole[t.start:t.end] }

var errNotJSON = errors.New("not JSON")

// parseTree reads a payload: one value, or several that are all containers.
func parseTree(payload []byte) (*tree, error) {
	skip := len(payload) - len(bytes.TrimPrefix(payload, []byte("\xEF\xBB\xBF")))
	d := jsontext.NewDecoder(bytes.NewReader(payload[skip:]), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	root := &tree{whole: payload, start: skip, end: len(payload), kind: 'd'}
	for {
		t, err := readTree(d, payload, skip)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, errNotJSON
		}
		root.kids = append(root.kids, t)
	}
	for _, k := range root.kids {
		if len(root.kids) > 1 && k.kind != '{' && k.kind != '[' {
			return nil, errNotJSON
		}
	}
	switch len(root.kids) {
	case 0:
		return nil, errNotJSON
	case 1:
		return root.kids[0], nil
	}
	return root, nil
}

// readTree reads one value. The decoder began at skip.
func readTree(d *jsontext.Decoder, payload []byte, skip int) (*tree, error) {
	var stack []*tree
	for {
		before := skip + int(d.InputOffset())
		tok, err := d.ReadToken()
		if err != nil {
			if len(stack) > 0 {
				err = errNotJSON
			}
			return nil, err
		}
		kind, end := tok.Kind(), skip+int(d.InputOffset())
		if kind == '}' || kind == ']' {
			top := stack[len(stack)-1]
			top.end = end
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return top, nil
			}
			continue
		}
		read := payload[before:end]
		t := &tree{whole: payload, start: end - len(bytes.TrimLeft(read, " \t\r\n,:")), end: end, kind: kind}
		if n := len(stack); n > 0 {
			top := stack[n-1]
			if top.kind == '{' && len(top.keys) == len(top.kids) {
				top.keys = append(top.keys, spelled(t.raw()))
				continue
			}
			top.kids = append(top.kids, t)
		}
		if kind == '{' || kind == '[' {
			stack = append(stack, t)
		} else if len(stack) == 0 {
			return t, nil
		}
	}
}

var escapeRuns = regexp.MustCompile(`(\\u[0-9a-fA-F]{4})+|\\.`)

// spelled unquotes a string; jsontext would repair bytes that are not UTF-8.
func spelled(quoted []byte) string {
	return string(escapeRuns.ReplaceAllFunc(quoted[1:len(quoted)-1], func(run []byte) []byte {
		text, _ := jsontext.AppendUnquote(nil, `"`+string(run)+`"`)
		return text
	}))
}

// picked is what the oracle says of a path.
type picked struct {
	many   bool
	missed bool // somewhere; at says at which segment, if not many
	at     int
	vals   [][]byte
}

// answer returns the text that a walk must give; ok is false for a miss.
func (p *picked) answer() (text []byte, ok bool) {
	if !p.many {
		if p.missed {
			return nil, false
		}
		return p.vals[0], true
	}
	if len(p.vals) == 0 && p.missed {
		return nil, false
	}
	return append(append([]byte{'['}, bytes.Join(p.vals, []byte{','})...), ']'), true
}

func (p *picked) miss(i int) {
	p.missed = true
	p.at = i
}

// pick walks segments i on from t.
func (p *picked) pick(t *tree, path Path, i, entered int) {
	if i == len(path) {
		p.vals = append(p.vals, t.raw())
		return
	}
	for t.kind == '"' && entered < maxEntered {
		inner, err := parseTree([]byte(spelled(t.raw())))
		if err != nil || inner.kind != '{' && inner.kind != '[' && inner.kind != 'd' && inner.kind != '"' {
			break
		}
		t, entered = inner, entered+1
	}
	list := t.kind == '[' || t.kind == 'd'
	switch s := path[i]; {
	case t.kind == '{' && (s.Kind == SegmentKey || s.Kind == SegmentNumber):
		for k, key := range t.keys {
			if key == s.Key {
				p.pick(t.kids[k], path, i+1, entered)
				return
			}
		}
		p.miss(i)
	case list && s.Kind == SegmentNumber:
		at := int(s.From)
		if s.From < 0 {
			at += len(t.kids)
		}
		if at < 0 || at >= len(t.kids) {
			p.miss(i)
			return
		}
		p.pick(t.kids[at], path, i+1, entered)
	case s.Kind == SegmentAll && t.kind == '{':
		p.many = true
		seen := map[string]bool{}
		for k, key := range t.keys {
			if !seen[key] {
				p.pick(t.kids[k], path, i+1, entered)
			}
			seen[key] = true
		}
	case s.Kind == SegmentAll && list:
		p.many = true
		p.each(t.kids, path, i, entered)
	case s.Kind == SegmentSlice && list:
		p.many = true
		from, to := bruteBound(s.From, len(t.kids)), bruteBound(s.To, len(t.kids))
		if from < to {
			p.each(t.kids[from:to], path, i, entered)
		}
	case s.Kind == SegmentQuery && list:
		if kids := matching(t, s.Key); len(kids) > 0 {
			p.pick(kids[0], path, i+1, entered)
		} else {
			p.miss(i)
		}
	case s.Kind == SegmentFilter && list:
		p.many = true
		p.each(matching(t, s.Key), path, i, entered)
	default:
		p.many = p.many || s.Kind == SegmentAll || s.Kind == SegmentSlice || s.Kind == SegmentFilter
		p.miss(i)
	}
}

func (p *picked) each(kids []*tree, path Path, i, entered int) {
	for _, k := range kids {
		p.pick(k, path, i+1, entered)
	}
}

func bruteBound(i int64, n int) int {
	if i < 0 {
		i += int64(n)
	}
	for i < 0 {
		i++
		if i < -int64(n) {
			i = 0
		}
	}
	return int(min(i, int64(n)))
}

// matching asks gjson about the whole list at once.
func matching(t *tree, query string) []*tree {
	whole := []byte{'['}
	starts := map[int]*tree{}
	for i, k := range t.kids {
		if i > 0 {
			whole = append(whole, ',')
		}
		starts[len(whole)] = k
		whole = append(whole, k.raw()...)
	}
	var out []*tree
	found := gjson.GetBytes(append(whole, ']'), "#("+query+")#")
	for _, at := range found.Indexes {
		out = append(out, starts[at])
	}
	return out
}
