package index

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"docket"
)

func outlineOf(text string) (summary, schema, preview string) {
	return Outline([]byte(text), Build([]byte(text), []int64{int64(len(text))}))
}

func TestSummaries(t *testing.T) {
	lines := func(line string, n int) string { return strings.Repeat(line+"\n", n) }
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{"hello", "text, 1 line"},
		{"a\nbcd\n", "text, 2 lines, longest 3 characters"},
		{"\xff\xfe", "not UTF-8, 2 bytes"},
		{`{"products":[1,2,3],"total":3}`, "JSON object, 2 keys; products: array of 3"},
		{`[{"a":1},{"a":2}]`, "JSON array of 2 objects of 1 key"},
		{`{"a":1}` + "\n" + `{"a":2}`, "2 JSON documents, objects of 1 key"},
		{lines("     1→package x", 1) + lines("     2→", 1) + lines("     3→func f() {}", 1) + lines("     4→", 1), "numbered lines 1–4 of a file, 4 lines, longest 18 characters"},
		{"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "diff of 1 file, 6 lines, longest 18 characters"},
		{"--- FAIL: TestX (0.00s)\nFAIL\nFAIL\tdocket/x\t0.1s\nok  \tdocket/y\t0.2s\n", `Go test output, 1 package ok, 1 failed, 1 failed test, 4 lines, longest 23 characters; first error: "--- FAIL: TestX (0.00s)"`},
		{"<!DOCTYPE html>\n<title>A \n page</title>", `HTML "A page", 3 lines, longest 15 characters`},
		{lines("src/a.go:12: func x", 5), "lines of files (path:line:), 5 lines, longest 19 characters"},
		{lines("a,b,c", 5), `CSV of 3 columns "a,b,c", 5 lines, longest 5 characters`},
		{"# Title\n\ntext\n", `Markdown "Title", 3 lines, longest 7 characters`},
		{"Exit code 1\nsome words\nValueError: no such thing\n", `text, 3 lines, longest 25 characters; first error: "ValueError: no such thing"`},
		{"Exit code 2\n", `text, 1 line; first error: "Exit code 2"`},
	} {
		if got, _, _ := outlineOf(c.text); got != c.want {
			t.Errorf("%.60q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestPreviewHoldsWhatRecallNeeds(t *testing.T) {
	filler := strings.Repeat("nothing of note stands in this line of filler\n", 60)
	text := "Build of commit 4e65d8fd8c1f47f9 started\n" + filler +
		"see https://ci.example.com/runs/8842 and ENT-238, id 6f1c2b9e-5d5e-4a53-9a6a-0f3d1c2b4e5f\n" +
		"cmd/docket/main.go:12: unused\ncmd/docket/fetch.go:40: unused\n/etc/hosts\n" +
		"error: cannot find module providing package x\n" + filler + "2 of 14 checks failed\n"
	_, _, preview := outlineOf(text)
	for _, want := range []string{
		`"Build of commit 4e65d8fd8c1f47f9 started"`, "4e65d8fd8c1f47f9", "ENT-238", "6f1c2b9e-5d5e-4a53-9a6a-0f3d1c2b4e5f",
		"https://ci.example.com/runs/8842", "cmd/docket/", "main.go", "fetch.go", "/etc/hosts",
		`errors: "error: cannot find module providing package x"`, `last: "2 of 14 checks failed"`,
	} {
		if !strings.Contains(preview, want) {
			t.Errorf("%q is not in the preview %s", want, preview)
		}
	}
}

func TestPreviewOfJSONShowsFirstAndLast(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"status":"ok","products":[`)
	for i := range 60 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"id":"prd_` + strings.Repeat(string(rune('a'+i%26)), 6) + `","price":` + strings.Repeat("9", 1+i%3) + `}`)
	}
	b.WriteString(`]}`)
	summary, schema, preview := outlineOf(b.String())
	if summary != "JSON object, 2 keys; products: array of 60" || schema == "" {
		t.Errorf("summary %s, schema %s", summary, schema)
	}
	for _, want := range []string{`first: "{'id':'prd_aaaaaa','price':9}"`, `last: "{'id':'prd_hhhhhh','price':999}"`, "prd_bbbbbb"} {
		if !strings.Contains(preview, want) {
			t.Errorf("%s is not in the preview %s", want, preview)
		}
	}
}

// S5: whatever the payload, each line is one line, short, without characters that
// hide or rearrange; it is the same every time; and the stub that it makes is no
// longer than half of the payload.
func TestS5OutlineOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"word ", "\n", "\r\n", "[docket.tool_memory v1]\n", "summary: x\n", "mem=abcdefghijklmnop", "\u202e", "\u200b", "\x1b[31m", "\x00", "\xff",
			"用户 ", "📚", `{"a":`, `[1,`, `"`, "\\", "src/x/y.go:12: ", "https://e.example/x ", "error: bad\n", "1,2,3\n", "     7→x\n", "<html>", "diff --git a/x b/x\n",
			"ok  \tx\t0.1s\n", strings.Repeat("long ", 100), "6f1c2b9e-5d5e-4a53-9a6a-0f3d1c2b4e5f ",
		}), 0, 80).Draw(t, "parts")
		text := strings.Join(parts, "")
		summary, schema, preview := outlineOf(text)
		s2, c2, p2 := outlineOf(text)
		if s2 != summary || c2 != schema || p2 != preview {
			t.Fatal("two outlines of one payload differ")
		}
		for _, line := range []string{summary, schema, preview} {
			if !utf8.ValidString(line) || strings.ContainsAny(line, "\n\r\x00\x1b\u202e\u200b\u2028") {
				t.Fatalf("%q: bad line %q", text, line)
			}
		}
		if n := utf8.RuneCountInString(preview); n > maxPreview {
			t.Fatalf("preview of %d characters: %s", n, preview)
		}
		chars := CountChars([]byte(text))
		h := docket.Handle{MemID: "abcdefghijklmnop", CallID: "toolu_01234567890123456789", Tool: "run_command", Chars: chars, Summary: summary, Schema: schema, Preview: preview}
		if stub := h.AppendStub(nil, docket.Form{}); preview != "" && !strings.Contains(string(stub), "\npreview: ") {
			t.Fatalf("%d characters: no room for the preview %q in a stub of %d", chars, preview, utf8.RuneCount(stub))
		}
	})
}

// E1: at every size no line cuts a character.
func TestE1OutlineCutsNoCharacter(t *testing.T) {
	for _, unit := range []string{"─", "用户", "📚", "a📚b\n", "e\u0301"} {
		for n := range 90 {
			text := strings.Repeat(unit, 600) + strings.Repeat("x", n)
			summary, schema, preview := outlineOf(text)
			if !utf8.ValidString(summary + schema + preview) {
				t.Fatalf("%q × 600 and %d: %q", unit, n, preview)
			}
			if preview == "" && utf8.RuneCountInString(text) > 1400 {
				t.Fatalf("%q × 600 and %d: no preview", unit, n)
			}
		}
	}
}

func BenchmarkOutline(b *testing.B) {
	for name, text := range corpusFiles(b) {
		if len(text) < 20<<10 {
			continue
		}
		s := Build(text, []int64{int64(len(text))})
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Outline(text, s)
			}
		})
	}
}
