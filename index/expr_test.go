package index

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func key(k string) Segment    { return Segment{Key: k} }
func num(word string) Segment { return bare(word) }

func TestParsePath(t *testing.T) {
	for _, c := range []struct {
		text, canonical string
		want            Path
	}{
		{"", "$", nil},
		{"$", "$", nil},
		{".", "$", nil},
		{"a", "a", Path{key("a")}},
		{".a", "a", Path{key("a")}},
		{"$.a", "a", Path{key("a")}},
		{"$[0]", "[0]", Path{num("0")}},
		{"0", "[0]", Path{num("0")}},
		{"-1", "[-1]", Path{num("-1")}},
		{"$ref", `["$ref"]`, Path{key("$ref")}},
		{"a.$ref", `a["$ref"]`, Path{key("a"), key("$ref")}},
		{"a.b.0.c", "a.b[0].c", Path{key("a"), key("b"), num("0"), key("c")}},
		{`a.b[0]["x.y"]`, `a.b[0]["x.y"]`, Path{key("a"), key("b"), num("0"), key("x.y")}},
		{`a['x"y']['it\'s']`, `a["x\"y"]["it's"]`, Path{key("a"), key(`x"y`), key("it's")}},
		{`["0"]`, `["0"]`, Path{key("0")}},
		{`[""]`, `[""]`, Path{key("")}},
		{`a\.b`, `["a.b"]`, Path{key("a.b")}},
		{`a\\b\[c\]`, `["a\\b[c]"]`, Path{key(`a\b[c]`)}},
		{`\#`, `["#"]`, Path{key("#")}},
		{"a.[0]", "a[0]", Path{key("a"), num("0")}},
		{"a[ -1 ]", "a[-1]", Path{key("a"), num("-1")}},
		{"007", "007", Path{key("007")}},
		{"+1", "+1", Path{key("+1")}},
		{"99999999999999999999", "99999999999999999999", Path{key("99999999999999999999")}},
		{"a[20:40]", "a[20:40]", Path{key("a"), {Kind: SegmentSlice, From: 20, To: 40}}},
		{"a[:40]", "a[0:40]", Path{key("a"), {Kind: SegmentSlice, To: 40}}},
		{"a[-5:]", "a[-5:]", Path{key("a"), {Kind: SegmentSlice, From: -5, To: openEnd}}},
		{"a[ : ]", "a[0:]", Path{key("a"), {Kind: SegmentSlice, To: openEnd}}},
		{"a[*].b", "a[*].b", Path{key("a"), {Kind: SegmentAll}, key("b")}},
		{"a.#.b", "a[*].b", Path{key("a"), {Kind: SegmentAll}, key("b")}},
		{"a.#", "a[*]", Path{key("a"), {Kind: SegmentAll}}},
		{"*", "*", Path{key("*")}},
		{"a.*?|@x.b", "a.*?|@x.b", Path{key("a"), key("*?|@x"), key("b")}},
		{"Größe.日本", "Größe.日本", Path{key("Größe"), key("日本")}},
		{"a b.c", "a b.c", Path{key("a b"), key("c")}},
		{" a", `[" a"]`, Path{key(" a")}},
		{`["a\u0000\n\ud83d\ude00"]`, `["a\u0000\u000a😀"]`, Path{key("a\x00\n😀")}},
		{"a\xff", "a\xff", Path{key("a\xff")}},
		{"/", `[""]`, Path{key("")}},
		{"/a/b/0", "a.b[0]", Path{key("a"), key("b"), num("0")}},
		{"/a~1b/m~0n/-", `a/b.m~n.-`, Path{key("a/b"), key("m~n"), key("-")}},
		{"/a.b/~01", `["a.b"].~1`, Path{key("a.b"), key("~1")}},
		{"a.#(price>10).b", "a.#(price>10).b", Path{key("a"), {Kind: SegmentQuery, Key: "price>10"}, key("b")}},
		{`#( name = 'x"y' )#`, `#(name=="x\"y")#`, Path{{Kind: SegmentFilter, Key: `name=="x\"y"`}}},
		{`#(mail=="a@b|c)")[0]`, `#(mail=="a@b|c)")[0]`, Path{{Kind: SegmentQuery, Key: `mail=="a@b|c)"`}, num("0")}},
		{"#(a.b)", "#(a.b)", Path{{Kind: SegmentQuery, Key: "a.b"}}},
		{"#(>5)#", "#(>5)#", Path{{Kind: SegmentFilter, Key: ">5"}}},
	} {
		got, err := ParsePath(c.text)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v (%v), want %v", c.text, got, err, c.want)
			continue
		}
		if s := got.String(); s != c.canonical {
			t.Errorf("%q: canonical %q, want %q", c.text, s, c.canonical)
		}
	}
}

func TestParsePathErrors(t *testing.T) {
	for _, c := range []struct {
		text    string
		offset  int
		problem string
	}{
		{"a..b", 2, "two dots"},
		{"..a", 1, "two dots"},
		{"a.", 2, "ends in a dot"},
		{"$.", 2, "ends in a dot"},
		{"a[0", 2, "'[' without ']'"},
		{"a.0]", 3, "']' without '['"},
		{"a[b]", 2, "not an index"},
		{"a[]", 2, "not an index"},
		{"a[01]", 2, "not an index"},
		{"a[1:2:3]", 2, "not an index"},
		{"a[?(@.b>1)]", 2, "not an index"},
		{`a["b]`, 2, "not a JSON string"},
		{`a["b"`, 5, "']' is missing"},
		{`a["\x"]`, 2, "not a JSON string"},
		{`a\`, 2, "backslash"},
		{`a\n`, 2, "backslash"},
		{"/a~b", 2, "'~'"},
		{"/a~", 2, "'~'"},
		{"#(a", 2, "without ')'"},
		{"#(a==@dig)", 2, "value is not"},
		{"#(@dig:x==1)", 2, "key is not"},
		{"#(a|b==1)", 2, "key is not"},
		{"#(a==1 && b==2)", 2, "value is not"},
		{"#(a.#(b==1))", 2, "key is not"},
		{`#("a"==1)`, 2, "key is not"},
		{"#(a==)", 2, "value is missing"},
		{"#()", 2, "key is not"},
		{"#(a*==1)", 2, "key is not"},
		{"#({a,b}==1)", 2, "key is not"},
		{`#(a=="x"y)`, 2, "not one JSON string"},
		{"#(a==1)b", 7, "dot is missing"},
		{strings.Repeat("a.", 100), 129, "more than 64"},
		{strings.Repeat("a.", 10000), 129, "more than 64"},
	} {
		_, err := ParsePath(c.text)
		var e *PathError
		if !errors.As(err, &e) || e.Offset != c.offset || !strings.Contains(e.Problem, c.problem) {
			t.Errorf("%.40q: error %v, want %q at byte %d", c.text, err, c.problem, c.offset)
		}
		if e != nil && len(e.Error()) > 400 {
			t.Errorf("%.40q: the error has %d bytes", c.text, len(e.Error()))
		}
	}
}

// Of a path without error: its canonical text gives the same path, and itself.
func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"", "$", "a.b.0.c", `a.b[0]["x.y"]`, "/a~1b/0", "a[20:40].#.x", `a\.b`, `#(a=='x')#.b`, "a['\xff\"']", `["\ud800"]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err != nil {
			if p != nil {
				t.Errorf("%.200q: a path beside the error", text)
			}
			return
		}
		again, err := ParsePath(p.String())
		if err != nil || !slices.Equal(p, again) || p.String() != again.String() {
			t.Errorf("%.200q: canonical %.200q gives %.200q (%v)", text, p.String(), again.String(), err)
		}
	})
}
