package index

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"docket"
)

func schemaLine(text []byte, kind docket.Kind, most int) string {
	return shapeOf(text, kind, schemaDepth).line(most)
}

func TestSchemaLine(t *testing.T) {
	products := "[" + strings.Repeat(`{"id":1,"name":"x"},`, 3999) + `{"id":1.5,"name":null}]`
	orders := "{"
	for i := range 30 {
		orders += fmt.Sprintf(`"#W%d":{"status":"sent"},`, i)
	}
	for _, c := range []struct{ text, want string }{
		{`7`, "number"},
		{`"a"`, "string"},
		{`{}`, "{}"},
		{`[]`, "[]"},
		{`{"products":` + products + `,"total":4000}`, `{"products":[4000 × {"id":number,"name":string}],"total":number}`},
		{`[{"a":1},{"a":"x","b":[1]},{"a":null,"b":[]}]`, `[3 × {"a":null|number|string,"b"?:[0–1 × number]}]`},
		{orders + `"#W":{"status":"sent"}}`, `{31 keys as "#W0":{"status":string}}`},
		{`[[1,2],[3,4,5]]`, "[2 × [2–3 × number]]"},
		{"{\"a\":1}\n{\"a\":2}\n", `2 documents × {"a":number}`},
		{`[true,{"a":1},[2]]`, `[3 × boolean|{"a":number}|[1 × number]]`},
		{`[{"type":"text","text":"{\"a\":[1]}"}]`, `[1 × {"type":string,"text":string holding {"a":[1 × number]}}]`},
		{"{\"\u202Ea\xff\":1}", `{"\u{202e}a\xff":number}`},
	} {
		kind, err := scanKind([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := schemaLine([]byte(c.text), kind, 320); got != c.want {
			t.Errorf("%.80s: got %s, want %s", c.text, got, c.want)
		}
	}
}

// A schema keeps to its length, for every length.
func TestSchemaLineIsBounded(t *testing.T) {
	text := []byte(`{"a long key":{"inside":[{"x":1,"y":[{"z":{"deep":[1]}}]}]},"b":[[[[1]]]],"ключ":"значение","k4":0,"k5":0}`)
	last := 0
	for most := range 200 {
		got := schemaLine(text, docket.KindJSON, most)
		if len(got) > most+len("…") || !utf8.ValidString(got) {
			t.Fatalf("most %d: %d bytes: %s", most, len(got), got)
		}
		if len(got) < last && most > 10 {
			t.Errorf("most %d: shorter than with less: %s", most, got)
		}
		last = len(got)
	}
}

func TestShape(t *testing.T) {
	text := `{"products":[` + strings.Repeat(`{"id":1,"name":"Shirt","a.b":true},`, 99) + `{"id":2,"sizes":["XL"]}],"total":100,"mcp":"[{\"x\":1}]","none":null}`
	got, err := Shape([]byte(text), ShapeLimits{})
	want := `object of 4 keys
  products: array of 100
    [*]: object of 3 keys
      id: number, 1
      name: string, "Shirt"
      ["a.b"]: boolean, true
  total: number, 100
  mcp: string, "[{\"x\":1}]"
    holds JSON: array of 1
      [*]: object of 1 keys
        x: number, 1
  none: null
`
	if err != nil || got != want {
		t.Errorf("got (%v)\n%s\nwant\n%s", err, got, want)
	}
	got, _ = Shape([]byte(text), ShapeLimits{Depth: 1, Keys: 2, Lines: 9})
	if want := "object of 4 keys\n  products: array of 100\n  total: number, 100\n  … and 2 keys more\n"; got != want {
		t.Errorf("limited: got\n%s\nwant\n%s", got, want)
	}
	got, _ = Shape([]byte(text), ShapeLimits{Lines: 2})
	if want := "object of 4 keys\n  products: array of 100\n…\n"; got != want {
		t.Errorf("two lines: got\n%s\nwant\n%s", got, want)
	}
	if _, err := Shape([]byte(`{"a":`), ShapeLimits{}); err == nil {
		t.Error("no error for what is not JSON")
	}
}

// An example is cut between characters, and says that it is cut.
func TestShapeExampleIsCutAtACharacter(t *testing.T) {
	for _, char := range []string{"x", "ü", "あ", "📚"} {
		for pad := range utf8.UTFMax {
			value := strings.Repeat("x", pad) + strings.Repeat(char, 80)
			want := `string, "` + string([]rune(value)[:shapeTextLen-1]) + "…\n"
			if got, err := Shape([]byte(`"`+value+`"`), ShapeLimits{}); err != nil || got != want {
				t.Errorf("%s after %d: got %q (%v), want %q", char, pad, got, err, want)
			}
		}
	}
}

// Whatever the value: bounded, visible, the same again.
func TestShapeOfHostileValues(t *testing.T) {
	wide := manyKeys(1<<20, 1<<30)
	for name, text := range map[string][]byte{
		"deep":          []byte(strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)),
		"deep objects":  []byte(strings.Repeat(`{"a":`, MaxDepth-1) + "0" + strings.Repeat("}", MaxDepth-1)),
		"wide":          wide,
		"wide in array": bytes.Join([][]byte{{'['}, bytes.TrimSuffix(bytes.Repeat(append(wide[:len(wide):len(wide)], ','), 3), []byte(",")), {']'}}, nil),
		"long key":      []byte(`{"` + strings.Repeat("k", 1<<20) + `":1}`),
		"long string":   quoted(1<<20, 'x'),
		"held":          stringsInStrings(12),
		"branching":     []byte(branching(8)),
		"invisible":     []byte("{\"a\u200B\u202E\\u0007\x80\":\"\u2028\x9b\"}"),
	} {
		got, err := Shape(text, ShapeLimits{})
		again, _ := Shape(text, ShapeLimits{})
		if err != nil || got != again {
			t.Fatalf("%s: %v, or not the same again", name, err)
		}
		if len(got) > shapeLines*300 || strings.ContainsAny(got, "\u200B\u202E\a\u2028") || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes: %.200q", name, len(got), got)
		}
		if line := schemaLine(text, docket.KindJSON, 320); len(line) > 320 {
			t.Errorf("%s: a schema of %d bytes", name, len(line))
		}
	}
}

// branching is a value with three members at each level.
func branching(depth int) string {
	if depth == 0 {
		return "0"
	}
	b := branching(depth - 1)
	return fmt.Sprintf(`{"a":%s,"b":[%s,%s]}`, b, b, b)
}

func FuzzShape(f *testing.F) {
	seedJSON(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Shape(text, ShapeLimits{})
		if kind, scanErr := scanKind(text); (err == nil) != (kind != docket.KindText) || (scanErr == nil) != (err == nil) {
			t.Errorf("%.100q: %v, kind %v", text, err, kind)
		}
		if err == nil && (got == "" || !utf8.ValidString(got)) {
			t.Errorf("%.100q: shape %q", text, got)
		}
	})
}

func BenchmarkSchemaLine(b *testing.B) {
	for name, text := range corpusJSON(b) {
		kind, err := scanKind(text)
		if err != nil || len(text) < 1<<20 {
			continue
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				schemaLine(text, kind, 320)
			}
		})
	}
}
