package index

// Cases of others' bug reports, by name: F1, F3, F4, F6; and what a path may meet.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"docket"
)

// bothWays walks path over text with a table of the smallest grain and without,
// checks that the answers are equal, and returns it.
func bothWays(t *testing.T, text, path string) (string, error) {
	t.Helper()
	p, err := ParsePath(path)
	if err != nil {
		return "", err
	}
	kind, section := table([]byte(text), 1)
	_, keyed := keyTable([]byte(text), 1)
	a, errA := value(source([]byte(text), kind, section), p)
	c, errC := value(source([]byte(text), kind, keyed), p)
	b, errB := value(source([]byte(text), kind, nil), p)
	if !bytes.Equal(a, b) || !reflect.DeepEqual(errA, errB) {
		t.Fatalf("%s: with a table %q (%v), without %q (%v)", path, a, errA, b, errB)
	}
	if !bytes.Equal(a, c) || !reflect.DeepEqual(errA, errC) {
		t.Fatalf("%s: with prints %q (%v), with keys %q (%v)", path, a, errA, c, errC)
	}
	return string(a), errA
}

func TestValues(t *testing.T) {
	for _, c := range []struct{ text, path, want string }{
		{`{"a":{"b":[10,20,{"c":"x"}]}}`, "a.b.2.c", `"x"`},
		{`{"a":{"b":[10,20,{"c":"x"}]}}`, "$.a.b[-1]['c']", `"x"`},
		{`{"a":{"b":[10,20,{"c":"x"}]}}`, "/a/b/1", "20"},
		{`{"a":[1, 2 ,3,4]}`, "a[1:3]", "[2,3]"},
		{`{"a":[1,2,3,4]}`, "a[-2:]", "[3,4]"},
		{`{"a":[1,2,3,4]}`, "a[3:1]", "[]"},
		{`{"a":[1,2,3,4]}`, "a[9:]", "[]"},
		{`{"a":[]}`, "a[*].b", "[]"},
		{`[{"a":1},{"b":2},{"a":{"a":3}}]`, "[*].a", `[1,{"a":3}]`},
		{`[[1,2],[],[3]]`, "#.#", "[1,2,3]"},
		{`{"x":{"n":1},"y":{"n":2}}`, "[*].n", "[1,2]"},
		{`[{"p":5,"n":"a"},{"p":15,"n":"b"},{"p":25,"n":"c"}]`, "#(p>10).n", `"b"`},
		{`[{"p":5,"n":"a"},{"p":15,"n":"b"},{"p":25,"n":"c"}]`, "#(p>10)#.n", `["b","c"]`},
		{`[{"p":5,"n":"a"},{"p":15,"n":"b"}]`, `#(n=='b')`, `{"p":15,"n":"b"}`},
		{`[{"p":5,"n":"a"},{"p":15,"n":"b"}]`, `#(p>99)#`, `[]`},
		{`["apple","pear"]`, `#(%"p*")`, `"pear"`},
		{`{"0":"zero","-1":"minus"}`, "0", `"zero"`},
		{`{"0":"zero","-1":"minus"}`, "[-1]", `"minus"`},
		{`{"1e2":1.0,"b":12345678901234567890}`, "1e2", "1.0"},
		{`{"1e2":1.0,"b":12345678901234567890}`, "b", "12345678901234567890"},
		{`{"a":"x\u0041\n"}`, "a", `"x\u0041\n"`},
		{`{"A\u0062":1}`, "Ab", "1"},
		{`{"a\"b":1}`, `["a\"b"]`, "1"},
		{`{"\ud83d\ude00":1}`, "😀", "1"},
		{"{\"\xff\":1}", "\xff", "1"},
		{`{"Key":1,"key":2}`, "key", "2"},
		// JSON in a string, and in a string in a string.
		{`{"t":"{\"a\":[1,{\"b\":\"c\"}]}"}`, "t.a[1].b", `"c"`},
		{`{"t":"{\"a\":[1,{\"b\":\"c\"}]}"}`, "t", `"{\"a\":[1,{\"b\":\"c\"}]}"`},
		{`["{\"a\":1}","x","[2]"]`, "[*].a", "[1]"},
		{`{"t":"\"{\\\"a\\\":1}\""}`, "t", `"\"{\\\"a\\\":1}\""`},
		{`{"t":"{\"u\":\"[7]\"}"}`, "t.u[0]", "7"},
		{`{"t":"\"{\\\"a\\\":1}\""}`, "t.a", "1"},
		{`{"t":"{\"a\":1}\n{\"a\":2}"}`, "t[1].a", "2"},
		// NDJSON.
		{"{\"a\":1}\n{\"a\":2}\n", "$", "{\"a\":1}\n{\"a\":2}\n"},
		{"{\"a\":1}\n{\"a\":2}\n", "[1].a", "2"},
		{"{\"a\":1}{\"a\":2}", "-1", `{"a":2}`},
		{"{\"a\":1}\n\n{\"a\":2}\n[3]", "[*].a", "[1,2]"},
		{"{\"a\":1}\n{\"a\":2}\n[3]", "[1:]", `[{"a":2},[3]]`},
		{"{\"a\":1}\n{\"a\":2}\n", "#(a==2)", `{"a":2}`},
		{"\xEF\xBB\xBF{\"a\":1}{\"a\":2}", "[1].a", "2"},
		{" \n[1]\n", "$", "[1]"},
	} {
		got, err := bothWays(t, c.text, c.path)
		if err != nil || got != c.want {
			t.Errorf("%s of %s: got %q (%v), want %q", c.path, c.text, got, err, c.want)
		}
	}
}

func TestMisses(t *testing.T) {
	deep := `"[7]"`
	for range maxEntered {
		deep = string(appendQuote(nil, "["+deep+"]"))
	}
	for _, c := range []struct {
		text, path string
		want       MissError // without Path
	}{
		{`{"products":[{"name":1}]}`, "products[0].nam.x", MissError{At: 2, Reason: NoKey, What: "an object", Count: 1, Keys: []string{"name"}}},
		{`{"products":[{"name":1}]}`, "Products", MissError{Reason: NoKey, What: "an object", Count: 1, Keys: []string{"products"}}},
		{`{"aaa":0,"zip":0,"user_name":0,"a.b":0}`, "username", MissError{Reason: NoKey, What: "an object", Count: 4, Keys: []string{"user_name", "aaa", "zip", "a.b"}}},
		{`{"aaa":0,"zip":0,"a.b":0}`, "a.b", MissError{Reason: NoKey, What: "an object", Count: 3, Keys: []string{"a.b", "aaa", "zip"}}},
		{`{}`, "a", MissError{Reason: NoKey, What: "an object", Keys: []string{}}},
		{`[1,2]`, "[2]", MissError{Reason: OutOfRange, What: "an array", Count: 2}},
		{`[1,2]`, "[-3]", MissError{Reason: OutOfRange, What: "an array", Count: 2}},
		{`[1,2]`, "a", MissError{Reason: NeedsIndex, What: "an array", Count: 2}},
		{`[1,2]`, `["0"]`, MissError{Reason: NeedsIndex, What: "an array", Count: 2}},
		{`{"a":{"b":1}}`, "a[0:1]", MissError{At: 1, Reason: NeedsArray, What: "an object", Count: 1, Keys: []string{"b"}}},
		{`{"a":{"b":1}}`, "a.#(b==1)", MissError{At: 1, Reason: NeedsArray, What: "an object", Count: 1, Keys: []string{"b"}}},
		{`{"a":5}`, "a.b", MissError{At: 1, Reason: NotContainer, What: "a number or literal"}},
		{`{"a":"x"}`, "a[0]", MissError{At: 1, Reason: NotContainer, What: "a string"}},
		{`{"a":"x"}`, "a[*]", MissError{At: 1, Reason: NotContainer, What: "a string"}},
		{`[{"a":1},{"a":2}]`, "#(a==3).b", MissError{Reason: NoMatch, What: "an array", Count: 2}},
		{`[{"a":1},{"b":2}]`, "[*].c", MissError{At: 1, Reason: NoKey, What: "an object", Count: 1, Keys: []string{"a"}}},
		{"{}\n{}", "a", MissError{Reason: NeedsIndex, What: "a list of JSON documents", Count: 2}},
		{"{}\n{}", "5", MissError{Reason: OutOfRange, What: "a list of JSON documents", Count: 2}},
		{"[" + deep + "]", strings.Repeat("[0]", maxEntered+3), MissError{At: maxEntered + 1, Reason: TooDeep, What: "a string"}},
	} {
		got, err := bothWays(t, c.text, c.path)
		var miss *MissError
		if !errors.As(err, &miss) {
			t.Errorf("%s of %s: got %q (%v), want a miss", c.path, c.text, got, err)
			continue
		}
		c.want.Path = miss.Path
		if !reflect.DeepEqual(&c.want, miss) {
			t.Errorf("%s of %.80s: %v with keys %q, want %v with keys %q", c.path, c.text, miss, miss.Keys, &c.want, c.want.Keys)
		}
		if s := err.Error(); len(s) > 700 || strings.Contains(s, "user_name") {
			t.Errorf("%s: error %q", c.path, s)
		}
	}
}

// A miss names at most 20 keys, the nearest first, and cuts long ones.
func TestMissIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, `%c"key %d %s":0`, "{,"[min(i, 1)], i, strings.Repeat("x", i/10))
	}
	_, err := bothWays(t, b.String()+"}", "key 150")
	var miss *MissError
	if !errors.As(err, &miss) || miss.Count != 2000 || len(miss.Keys) != missKeys {
		t.Fatalf("miss %v", err)
	}
	if want := "key 150 " + strings.Repeat("x", 15); miss.Keys[0] != want {
		t.Errorf("first key %q, want %q", miss.Keys[0], want)
	}
	for _, k := range miss.Keys {
		if len(k) > missKeyLen+len("…") {
			t.Errorf("key of %d bytes", len(k))
		}
	}
}

func corpusFile(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("DOCKET_CORPUS")
	if dir == "" {
		t.Skip("DOCKET_CORPUS is not set: real payloads are not tested")
	}
	text, err := os.ReadFile(filepath.Join(dir, "payloads", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Keys with dots and slashes, the empty key, and a literal key beside a nested one.
func TestF1KeysThatNeedQuotes(t *testing.T) {
	t.Run("corpus", func(t *testing.T) {
		list := corpusFile(t, "json-k8s-list-min.json")
		for _, path := range []string{`items.1.metadata.labels["kubernetes.io/arch"]`, `items.1.metadata.labels.kubernetes\.io/arch`, "/items/1/metadata/labels/kubernetes.io~1arch"} {
			if got, err := bothWays(t, list, path); err != nil || got != `"amd64"` {
				t.Errorf("%s: got %q (%v)", path, got, err)
			}
		}
		_, err := bothWays(t, list, "items.1.metadata.labels.kubernetes.io/arch")
		var miss *MissError
		if !errors.As(err, &miss) || miss.At != 4 || !slices.Contains(miss.Keys, "kubernetes.io/arch") || miss.Keys[0] != "kubernetes.io/arch" {
			t.Errorf("the dotted spelling: %v, keys %q", err, miss.Keys)
		}
	})
	text := `{"a":{"b":"nested"},"a.b":"literal","":{"":"empty"},"node_modules/@x/y":1,"!=":2,"@dig":3,"*":4}`
	for path, want := range map[string]string{
		"a.b": `"nested"`, `a\.b`: `"literal"`, `["a.b"]`: `"literal"`, "/a.b": `"literal"`, "/a/b": `"nested"`,
		`[""][""]`: `"empty"`, "//": `"empty"`, `["node_modules/@x/y"]`: "1", "node_modules/@x/y": "1", "!=": "2", "@dig": "3", "*": "4",
	} {
		if got, err := bothWays(t, text, path); err != nil || got != want {
			t.Errorf("%s: got %q (%v), want %q", path, got, err, want)
		}
	}
}

// Of duplicate keys the first wins: for a direct path, for all, small and large.
func TestF3DuplicateKeys(t *testing.T) {
	large := strings.Repeat("x", 100)
	for _, c := range []struct{ text, path, want string }{
		{`{"a":"b","a":"c"}`, "a", `"b"`},
		{`{"a":"b","a":"c"}`, "[*]", `["b"]`},
		{`{"a":"b","a":"c"}`, "$", `{"a":"b","a":"c"}`},
		{`{"a":1,"\u0061":2}`, "a", "1"},
		{`{"\u0061":2,"a":1}`, "a", "2"},
		{`{"a":1,"b":"` + large + `","a":"` + large + `"}`, "a", "1"},
		{`{"a":"` + large + `","b":0,"a":1}`, "a", `"` + large + `"`},
		{`{"a":{"x":1},"a":{"y":2}}`, "a.x", "1"},
		{`[{"a":"b","a":"c"}]`, "[*].a", `["b"]`},
	} {
		got, err := bothWays(t, c.text, c.path)
		if err != nil || got != c.want {
			t.Errorf("%s of %.60s: got %.60q (%v), want %.60q", c.path, c.text, got, err, c.want)
		}
		for _, grain := range []int{8, 50} {
			kind, section := keyTable([]byte(c.text), grain)
			p, _ := ParsePath(c.path)
			if got, err := value(source([]byte(c.text), kind, section), p); err != nil || string(got) != c.want {
				t.Errorf("grain %d, %s of %.60s: got %.60q (%v)", grain, c.path, c.text, got, err)
			}
		}
	}
	if got, err := bothWays(t, corpusFile(t, "edge-duplicate-keys.json"), "a"); err != nil || got != `"b"` {
		t.Errorf("edge-duplicate-keys.json: got %q (%v)", got, err)
	}
}

// Bombs: bounded time and memory, the process lives, the payload is text.
func TestF4Bombs(t *testing.T) {
	line, large, small := 64<<20, 16<<20, 4<<20
	if raced {
		line, large, small = line/16, large/16, small/16
	}
	for _, c := range []struct {
		name string
		text []byte
		kind docket.Kind
	}{
		{"open arrays", bytes.Repeat([]byte("["), 100000), docket.KindText},
		{"open objects", bytes.Repeat([]byte(`{"a":`), 100000), docket.KindText},
		{"arrays and objects", bytes.Repeat([]byte(`[{"":`), 50000), docket.KindText},
		{"closed arrays", append(bytes.Repeat([]byte("["), 100000), bytes.Repeat([]byte("]"), 100000)...), docket.KindText},
		{"many brackets", bytes.Repeat([]byte("["), large), docket.KindText},
		{"at the limit, wide", nested(MaxDepth, small), docket.KindJSON},
		{"a line", bytes.Repeat([]byte("x"), line), docket.KindText},
		{"escapes", quoted(large, '\\'), docket.KindJSON},
		{"NUL", make([]byte, large), docket.KindText},
		{"blanks", bytes.Repeat([]byte(" "), large), docket.KindText},
		{"a line as a string", quoted(line, 'x'), docket.KindJSON},
		{"one key, often", manyKeys(small, 1), docket.KindJSON},
		{"keys", manyKeys(small, 1<<30), docket.KindJSON},
		{"tiny documents", bytes.Repeat([]byte("{}"), small/2), docket.KindNDJSON},
		{"strings in strings", stringsInStrings(14), docket.KindJSON},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begin := time.Now()
			kind, section := scanPaths(c.text, nil)
			if kind != c.kind {
				t.Errorf("kind %v, want %v", kind, c.kind)
			}
			if len(section) > pathBudget(len(c.text))*101/100 {
				t.Errorf("a section of %d bytes for %d", len(section), len(c.text))
			}
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > uint64(len(c.text))+64<<20 {
				t.Errorf("%d bytes allocated for %d", grown, len(c.text))
			}
			p := source(c.text, kind, section)
			p.Source.(*frames).size = 32 << 10
			for _, text := range []string{"a.a.a.a", "[0][0][0]", "[*].nope", "*?*?*?*?*?*?*?*?*?*?", `#(%"*?*?*?*?*?*?*?*?*?*?z")#`, `[*].#(%"*a*a*a*a*a*a*z")#`, strings.Repeat("[0]", 64)} {
				path, err := ParsePath(text)
				if err != nil {
					t.Fatal(err)
				}
				p.Select(path)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	for _, name := range []string{"edge-open-100k.json", "edge-open-array-object.json"} {
		if kind, _ := scanPaths([]byte(corpusFile(t, name)), nil); kind != docket.KindText {
			t.Errorf("%s: %v", name, kind)
		}
	}
}

// nested is JSON of a depth in which every level is large.
func nested(depth, size int) []byte {
	filler := append(append([]byte{'"'}, bytes.Repeat([]byte("y"), size/depth)...), `",`...)
	out := bytes.Repeat(append([]byte{'['}, filler...), depth-1)
	return append(append(out, "[]"...), bytes.Repeat([]byte("]"), depth-1)...)
}

// quoted is a string of an even size, all x, or all escaped backslashes.
func quoted(size int, c byte) []byte {
	out := bytes.Repeat([]byte{c}, size)
	out[0], out[size-1] = '"', '"'
	return out
}

// manyKeys is an object of about a size with a number of different keys.
func manyKeys(size, different int) []byte {
	out := []byte{'{'}
	for i := 0; len(out) < size; i++ {
		out = fmt.Appendf(out, `"%x":0,`, i%different)
	}
	return append(out, `"end":0}`...)
}

// stringsInStrings is JSON in a string, so many times.
func stringsInStrings(n int) []byte {
	out := []byte("[0]")
	for range n {
		out = append(append([]byte{'['}, appendQuote(nil, string(out))...), ']')
	}
	return out
}

// Never a wrong value: the edge files, by what is asked of them.
func TestF6EdgePayloads(t *testing.T) {
	for _, c := range []struct{ file, path, want string }{
		{"edge-big-int.json", "[0]", "-237462374673276894279832749832423479823246327846"},
		{"edge-bom.json", "$", "{}"},
		{"edge-double-overflow.json", "[0]", "123123e100000"},
		{"edge-duplicate-keys.json", "a", `"b"`},
		{"edge-duplicate-keys-same.json", "a", `"b"`},
		{"edge-empty-key.json", `[""]`, "0"},
		{"edge-escaped-null-key.json", `["foo\u0000bar"]`, "42"},
		{"edge-huge-exp.json", "[0]", "0.4e00669999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999969999999006"},
		{"edge-invalid-utf8.json", "[0]", "\"\xff\""},
		{"edge-lone-surrogate.json", "[0]", `"\uD888\u1234"`},
		{"edge-long-strings.json", "x[0].id", `"` + strings.Repeat("x", 40) + `"`},
		{"edge-nested-500.json", strings.Repeat("[0]", 64), strings.Repeat("[", 436) + strings.Repeat("]", 436)},
		{"edge-null-bytes-u0000.json", "[0]", `"\u0000"`},
		{"edge-unicode-escaped-quotes.json", "[0]", `"\u0022"`},
		{"edge-utf8-noncharacter.json", "[0]", "\"\U0010FFFF\""},
		{"json-concat-go-list.txt", "[0].Name", `"goarch"`},
		{"json-concat-go-list.txt", "[-1].Standard", "true"},
		{"ndjson-go-test.ndjson", "[1].Test", `"TestBuilder"`},
		{"ndjson-amazon-cellphones.ndjson", "[1][1]", `"Nokia"`},
	} {
		if got, err := bothWays(t, corpusFile(t, c.file), c.path); err != nil || got != c.want {
			t.Errorf("%s, %s: got %.80q (%v), want %.80q", c.file, c.path, got, err, c.want)
		}
	}
	for _, c := range []struct {
		file string
		bad  int64
	}{{"edge-trailing-garbage.json", 12}, {"edge-open-100k.json", MaxDepth}, {"edge-open-array-object.json", 2500}, {"log-dpkg.log", 4}} {
		_, err := bothWays(t, corpusFile(t, c.file), "a")
		var bad *SyntaxError
		if !errors.As(err, &bad) || bad.Offset != c.bad {
			t.Errorf("%s: %v, want not JSON at byte %d", c.file, err, c.bad)
		}
	}
	for text, path := range map[string]string{`{"Name":1}`: "name", `{"name":1}`: "NAME", `{"straße":1}`: "STRASSE", `{"k":1}`: "\u212a"} {
		if got, err := bothWays(t, text, path); err == nil {
			t.Errorf("%s of %s: got %q: keys are case-sensitive", path, text, got)
		}
	}
}
