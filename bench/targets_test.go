package bench

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"docket"
)

func TestTargetsAreWhatTheyClaim(t *testing.T) {
	for _, kind := range generated {
		payload := Generate(kind, 256<<10, 5)
		p := newPicker(payload, kind, 9)
		for _, q := range p.identifiers(50) {
			if n := bytes.Count(payload, []byte(q.query)); n != 1 || !isIdentifier([]byte(q.query)) {
				t.Errorf("%s: identifier %q occurs %d times", kind, q.query, n)
			}
		}
		for _, q := range p.substrings(50) {
			if n := bytes.Count(payload, []byte(q.query)); n != 1 || utf8.RuneCountInString(q.query) != 12 {
				t.Errorf("%s: substring %q occurs %d times", kind, q.query, n)
			}
		}
		for _, q := range p.common(50) {
			if n := bytes.Count(payload, []byte(q.query)); n < maxMatches {
				t.Errorf("%s: common %q occurs %d times", kind, q.query, n)
			}
		}
		for _, q := range p.absent(50) {
			if bytes.Contains(payload, []byte(q.query)) {
				t.Errorf("%s: absent %q occurs", kind, q.query)
			}
		}
		for _, f := range pickers {
			if got := len(f.pick(p, 30)); got < 20 && (f.workload != "path" || kind != docket.KindText) {
				t.Errorf("%s: %d targets of %s", kind, got, f.workload)
			}
		}
	}
}

func TestPathsLeadToScalars(t *testing.T) {
	for _, kind := range []docket.Kind{docket.KindJSON, docket.KindNDJSON} {
		payload := Generate(kind, 128<<10, 5)
		seen := map[string]bool{}
		for _, p := range newPicker(payload, kind, 9).paths(200) {
			value := cutPath(payload, p.gjson)
			if !json.Valid(value) || strings.ContainsAny(string(value[:1]), "[{") {
				t.Errorf("%s at %s is %s", kind, p.path, value)
			}
			seen[p.path] = true
		}
		if len(seen) < 100 {
			t.Errorf("%s: %d different paths", kind, len(seen))
		}
	}
}

// Keys that a dotted path or gjson cannot hold as they are get a JSON Pointer, or
// are left out where the two readings differ.
func TestPathsOfOddKeys(t *testing.T) {
	payload := []byte(`{"a.b":{"c/d":1},"":2,"k":3,"k":4,"x*":[5,{"#":6}]}`)
	got := map[string]string{}
	for _, p := range newPicker(payload, docket.KindJSON, 1).paths(200) {
		got[p.path] = string(cutPath(payload, p.gjson))
	}
	for path, want := range map[string]string{"/a.b/c~1d": "1", "/x*/0": "5", "/x*/1/#": "6", "k": "3", "/": "2"} {
		if got[path] != want {
			t.Errorf("%s: %q, want %q", path, got[path], want)
		}
	}
}

func TestTargetsOfLittle(t *testing.T) {
	for _, payload := range []string{"", "x", "{}", "[", "\xff\xfe", `"one"`} {
		p := newPicker([]byte(payload), kindOf([]byte(payload)), 1)
		for _, f := range pickers {
			for _, target := range f.pick(p, 10) {
				truth([]byte(payload), target)
			}
		}
	}
}
