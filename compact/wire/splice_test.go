package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"docket"
	"docket/compact"
	"docket/engine"
)

// shapes draws the content of a result in any layout.
func drawContent(t *rapid.T) string {
	space := rapid.SampledFrom([]string{"", " ", "\n\t"})
	word := rapid.SampledFrom([]string{"x", `é`, `\n`, `\"`, `\u0041`, `\ud83c\udf89`, "<&>", "\u2028", `\/`, "漢", `\\`})
	text := func() string {
		w := rapid.SliceOfN(word, 1, 4).Draw(t, "words")
		return `"` + strings.Repeat(strings.Join(w, ""), rapid.SampledFrom([]int{0, 1, 400, 2000}).Draw(t, "times")) + `"`
	}
	if rapid.Bool().Draw(t, "string") {
		return text()
	}
	var parts []string
	for range rapid.IntRange(0, 5).Draw(t, "parts") {
		members := []string{`"type":"image"`, `"source":{"a":1.0}`}
		if rapid.IntRange(0, 2).Draw(t, "kind") > 0 {
			members = []string{`"type"` + space.Draw(t, "s") + `:"text"`, `"text":` + space.Draw(t, "s") + text()}
		}
		if rapid.IntRange(0, 3).Draw(t, "marked") == 0 {
			members = append(members, `"cache_control":{"type":"ephemeral"}`)
		}
		members = rapid.Permutation(members).Draw(t, "order")
		parts = append(parts, "{"+space.Draw(t, "s")+strings.Join(members, space.Draw(t, "s")+",")+space.Draw(t, "s")+"}")
	}
	return "[" + space.Draw(t, "s") + strings.Join(parts, space.Draw(t, "s")+","+space.Draw(t, "s")) + space.Draw(t, "s") + "]"
}

// Whatever the layout: outside of contents no byte changes, inside the first text
// is the stub, other parts and the number of marks stay.
func TestSpliceProperties(t *testing.T) {
	l := engine.NewMemory(nil)
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString(`{` + tools + `,"messages":[{"role":"user","content":"go"}`)
		for i := range rapid.IntRange(1, 4).Draw(t, "rounds") {
			fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read","input":{}}]},{"content":[{"tool_use_id":"t%d","content":%s,"type":"tool_result"}],"role":"user"}`, i, i, drawContent(t))
		}
		b.WriteString(`,{"role":"assistant","content":"ok"}]}`)
		in := []byte(b.String())
		thread := docket.ThreadID(docket.DigestOf(in).String())
		out, report := dialect(l, compact.Policy{Threshold: -1}).View(t.Context(), thread, in)
		if report.Err != nil || !json.Valid(out) {
			t.Fatalf("error %v: %s", report.Err, out)
		}
		if blank(in) != blank(out) {
			t.Fatalf("bytes outside of contents changed:\n%s\n%s", in, out)
		}
		was, is := contents(in), contents(out)
		for i, d := range report.Decisions {
			checkContent(t, d, string(was[i].of(in)), string(is[i].of(out)))
		}
	})
}

func checkContent(t *rapid.T, d compact.Decision, was, is string) {
	if !d.Applied {
		if was != is {
			t.Fatalf("%+v: the content changed", d)
		}
		return
	}
	if text := gjson.Parse(is); text.Type == gjson.String {
		if !strings.HasPrefix(text.Str, docket.StubHeader) || was[0] != '"' {
			t.Fatalf("%+v: got %s", d, is)
		}
		return
	}
	others := func(s string) string { return gjson.Get(s, `#(type!="text")#`).Raw }
	texts := gjson.Get(is, `#(type="text")#.text`).Array()
	if others(was) != others(is) || !strings.HasPrefix(texts[0].Str, docket.StubHeader) {
		t.Fatalf("%+v: other parts changed, or no stub: %s", d, is)
	}
	for _, more := range texts[1:] {
		if more.Str != continued {
			t.Fatalf("%+v: a text stays: %s", d, is)
		}
	}
	if strings.Count(was, "cache_control") != strings.Count(is, "cache_control") {
		t.Fatalf("%+v: marks came or went: %s", d, is)
	}
}
