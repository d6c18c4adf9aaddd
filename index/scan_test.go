package index

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"docket"
)

func TestScanKind(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		text string
		kind docket.Kind
		bad  int64 // where it stops being JSON, for text
	}{
		{`{}`, docket.KindJSON, 0},
		{" [1, 2]\n", docket.KindJSON, 0},
		{`null`, docket.KindJSON, 0},
		{`"a"`, docket.KindJSON, 0},
		{`-0.5e+10`, docket.KindJSON, 0},
		{"\xEF\xBB\xBF{}", docket.KindJSON, 0},
		{"[\"\xff\"]", docket.KindJSON, 0},
		{`["\ud888\u1234"]`, docket.KindJSON, 0},
		{deep(MaxDepth), docket.KindJSON, 0},
		{deep(MaxDepth + 1), docket.KindText, MaxDepth},
		{"{}\n{}\n", docket.KindNDJSON, 0},
		{"{\n}\n[\n]", docket.KindNDJSON, 0},
		{`{}{}`, docket.KindNDJSON, 0},
		{"\xEF\xBB\xBF{}[]", docket.KindNDJSON, 0},
		{"", docket.KindText, 0},
		{" \n", docket.KindText, 2},
		{"\xEF\xBB\xBF", docket.KindText, 3},
		{`1 2`, docket.KindText, 2},
		{`{} 1`, docket.KindText, 3},
		{`1 {}`, docket.KindText, 2},
		{`{"a": true} "x"`, docket.KindText, 12},
		{"2026-01-01 error", docket.KindText, 4},
		{`{},{}`, docket.KindText, 2},
		{`[1,]`, docket.KindText, 3},
		{`[,1]`, docket.KindText, 1},
		{`{"a":1,}`, docket.KindText, 7},
		{`{"a"}`, docket.KindText, 4},
		{`{a:1}`, docket.KindText, 1},
		{`{'a':1}`, docket.KindText, 1},
		{`[1 2]`, docket.KindText, 3},
		{`[1}`, docket.KindText, 2},
		{`]`, docket.KindText, 0},
		{`[1`, docket.KindText, 2},
		{`{"a":`, docket.KindText, 5},
		{`"a`, docket.KindText, 2},
		{`["` + "\n" + `"]`, docket.KindText, 2},
		{`["\x"]`, docket.KindText, 2},
		{`["\u12g4"]`, docket.KindText, 2},
		{`["\`, docket.KindText, 2},
		{`[01]`, docket.KindText, 2},
		{`[-]`, docket.KindText, 2},
		{`[1.]`, docket.KindText, 3},
		{`[1e]`, docket.KindText, 3},
		{`[1e+]`, docket.KindText, 4},
		{`[.5]`, docket.KindText, 1},
		{`[+1]`, docket.KindText, 1},
		{`[nul]`, docket.KindText, 4},
		{`[NaN]`, docket.KindText, 1},
		{"[1]\x00", docket.KindText, 3},
		{"\x00", docket.KindText, 0},
		{"{}\n{", docket.KindText, 4},
		{"{}\n\xEF\xBB\xBF{}", docket.KindText, 3},
	} {
		kind, err := scanKind([]byte(c.text))
		var bad *SyntaxError
		if kind != c.kind || (err != nil) != (c.kind == docket.KindText) || errors.As(err, &bad) && bad.Offset != c.bad {
			t.Errorf("%.40q: %v (%v), want %v, bad at byte %d", c.text, kind, err, c.kind, c.bad)
		}
	}
}

// oneValue tells whether the scanner finds exactly one value in text.
func oneValue(text []byte) bool {
	kind, _ := scanKind(text)
	return kind == docket.KindJSON
}

// validByJSONText asks jsontext the same, up to the depth at which docket gives up.
func validByJSONText(text []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for n := 0; ; n++ {
		for {
			if _, err := d.ReadToken(); err != nil {
				return err == io.EOF && n == 1
			}
			if d.StackDepth() > MaxDepth {
				return false
			}
			if d.StackDepth() == 0 {
				break
			}
		}
	}
}

func seedJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `{"a":[1,-2.5e3,true,false,null,"x\u00e9\n\ud83d\ude00"],"":{"b":{}}}`, "{}\n[1]\n", `{}{}`, `[[[[[[]]]]]]`,
		`{"a":1,"a":2}`, "\xEF\xBB\xBF[1]", "[\"\xff\x80\"]", `["\ud800"]`, `{"a":"{\"b\":[1,2]}"}`, `[1,`, `{"a"`, `tru`, `"abc`, `00`, `[1e5,2E-7,0.0]`,
		`{"long key with more than sixteen bytes":"and a long value with an escape \\ in the middle of it"}`,
	} {
		f.Add([]byte(s))
	}
}

// Validity against jsontext and, where the text is shallow, gjson; where a value
// ends and how many members it has against the checking scanner.
func FuzzScan(f *testing.F) {
	seedJSON(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		valid := oneValue(text)
		if want := validByJSONText(text); valid != want {
			t.Fatalf("%.200q: valid %v, jsontext says %v", text, valid, want)
		}
		bare := text[markLen(text):]
		if len(text) < 10000 && gjson.ValidBytes(bare) != valid && utf8Marked(bare) {
			t.Fatalf("%.200q: valid %v, gjson says otherwise", text, valid)
		}
		start := skipSpace(text, markLen(text))
		end := skipValue(text, start)
		if start > end || end > len(text) {
			t.Fatalf("%.200q: value at %d to %d of %d", text, start, end, len(text))
		}
		walk, m := inside(text[start:end]), member{}
		for walk.next(&m) {
			keyIs(text[start:end][m.key:m.keyEnd], "a")
		}
		if valid && (len(bytes.TrimRight(text[end:], " \r\n\t")) > 0 || !oneValue(text[start:end])) {
			t.Fatalf("%.200q: value ends at %d", text, end)
		}
	})
}

// utf8Marked tells whether gjson and docket mean the same by white space: always,
// but for a second byte order mark.
func utf8Marked(text []byte) bool { return markLen(text) == 0 }

// What a string spells against jsontext; bytes that are not UTF-8 stay.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`"a"`, `"\u00e9\n\t\"\\\/"`, `"\ud83d\ude00"`, `"\ud800x"`, `"\ud800\u0041"`, `"\ud800\ud800\udc00"`, "\"\xff\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, quoted []byte) {
		appendUnquote(nil, quoted)
		if s := scan(quoted); len(quoted) < 2 || quoted[0] != '"' || s.next() != tokenString || s.end != len(quoted) {
			return
		}
		got, whole := appendUnquote(nil, quoted)
		if want := spelled(quoted); string(got) != want {
			t.Errorf("%.200q spells %.200q, want %.200q", quoted, got, want)
		}
		if !keyIs(quoted, string(got)) || keyIs(quoted, string(got)+"x") {
			t.Errorf("%.200q is not the key %.200q", quoted, got)
		}
		if _, err := jsontext.AppendUnquote(nil, quoted); err == nil && !whole {
			t.Errorf("%.200q: reported as lossy", quoted)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	for name, text := range corpusJSON(b) {
		if len(text) < 1<<20 {
			continue
		}
		b.Run("check/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s := scan(text)
				for t := s.next(); t > tokenBad; t = s.next() {
				}
			}
		})
		b.Run("skip/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				skipValue(text, 0)
			}
		})
	}
}
