package wire

// What a view may change, by another library than the splicer's: both bodies are taken
// apart side by side, down to the values that differ, and each of those must be one that
// the dialect says a stub may stand in. All that lies between values must be the same,
// byte for byte.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"docket/compact"
)

// member is a value in a container, with the bytes before it, its name included.
type member struct {
	name   string
	before []byte
	value  []byte
}

// members takes a container apart; end is what stands behind the last value.
func members(raw []byte) (list []member, end []byte, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, err := dec.Token()
	if err != nil || open != json.Delim('{') && open != json.Delim('[') {
		return nil, nil, false
	}
	at := 0
	for n := 0; dec.More(); n++ {
		m := member{name: fmt.Sprint(n)}
		if open == json.Delim('{') {
			name, err := dec.Token()
			if err != nil {
				return nil, nil, false
			}
			m.name = name.(string)
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, nil, false
		}
		to := int(dec.InputOffset())
		m.before, m.value = raw[at:to-len(v)], raw[to-len(v):to]
		list, at = append(list, m), to
	}
	return list, raw[at:], true
}

// changes lists the smallest values of in that are others in out, by their paths.
func changes(in, out []byte, path string, found []string) []string {
	if bytes.Equal(in, out) {
		return found
	}
	was, endWas, ok1 := members(in)
	is, endIs, ok2 := members(out)
	alike := ok1 && ok2 && len(was) == len(is) && bytes.Equal(endWas, endIs)
	for i := 0; alike && i < len(was); i++ {
		alike = bytes.Equal(was[i].before, is[i].before)
	}
	if !alike {
		return append(found, path)
	}
	for i := range was {
		found = changes(was[i].value, is[i].value, path+"."+was[i].name, found)
	}
	return found
}

// stubPlaces are where a stub may stand, in each dialect.
var stubPlaces = map[string]*regexp.Regexp{
	"anthropic": regexp.MustCompile(`^\.messages\.\d+\.content\.\d+\.content(\.\d+(\.text)?)?$`),
	"chat":      regexp.MustCompile(`^\.messages\.\d+\.content(\.\d+(\.text)?)?$`),
	"responses": regexp.MustCompile(`^\.input\.\d+\.output(\.\d+(\.text)?)?$`),
	"gemini":    regexp.MustCompile(`^\.contents\.\d+\.parts\.\d+\.(functionResponse|function_response)\.response(\.(output|result))?$`),
	"converse":  regexp.MustCompile(`^\.messages\.\d+\.content\.\d+\.toolResult\.content(\.\d+(\.text)?)?$`),
}

// checkEdits demands that a view, made without cache marks, differs from its body where
// stubs may stand and nowhere else, at most once for each that was applied.
func checkEdits(t *testing.T, dialect string, in, out []byte, r compact.Report) {
	t.Helper()
	found := changes(in, out, "", nil)
	for _, path := range found {
		if !stubPlaces[dialect].MatchString(path) {
			t.Fatalf("%s: %s changed\nfrom %.2000s\nto   %.2000s", dialect, path, in, out)
		}
	}
	if n := applied(r); (n == 0) != (len(found) == 0) {
		t.Fatalf("%s: %d stubs, %d changes: %v", dialect, n, len(found), found)
	}
}

// The oracle finds what it is there to find.
func TestOracle(t *testing.T) {
	for _, c := range []struct{ in, out, want string }{
		{`{"a":[1,{"b":2}]}`, `{"a":[1,{"b":3}]}`, `[".a.1.b"]`},
		{`{"a":[1,{"b":2}]}`, `{"a":[1, {"b":2}]}`, `[".a"]`},
		{`{"a":1,"a":2}`, `{"a":1,"a":3}`, `[".a"]`},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, `[""]`},
		{`{"a":1.0}`, `{"a":1}`, `[".a"]`},
		{`{"a":{"x":1}} `, `{"a":{"x":1}}`, `[""]`},
		{`{"a":1}`, `{"a":1}`, `[]`},
		{`[1,2]`, `[2,2,3]`, `[""]`},
	} {
		got := changes([]byte(c.in), []byte(c.out), "", nil)
		if fmt.Sprintf("%q", got) != c.want {
			t.Errorf("%s to %s: %q, want %s", c.in, c.out, got, c.want)
		}
	}
}
