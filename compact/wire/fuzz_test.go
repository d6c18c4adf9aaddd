package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"docket"
	"docket/compact"
	"docket/engine"
)

// blank returns body with every string, and every list, that a tool_result has as
// its content cut out: what no view may change.
func blank(body []byte) string {
	var out []byte
	at := 0
	for _, s := range contents(body) {
		out = append(append(out, body[at:s.start]...), '?')
		at = s.end
	}
	return string(append(out, body[at:]...))
}

func FuzzView(f *testing.F) {
	f.Add(request(tools, `,"content":`+long(1200)))
	f.Add(request(tools, `,"content":[`+textBlock(1200, `,"cache_control":{"type":"ephemeral"}`)+` , {"type":"image"},`+textBlock(9, "")+`]`))
	f.Add(request(tools, `,"content":"\ud83d","content":null`))
	f.Add(request(`"tools":[],"context_management":{"edits":[{"type":"clear_tool_uses_1"}]}`, ``))
	f.Add(history("U A[1,2] T[1] X[2] S A V"))
	f.Add([]byte(strings.Repeat(`{"messages":[`, 9)))
	l := engine.NewMemory(nil) // one for all: making an encoder takes longer than a view
	f.Fuzz(func(t *testing.T, in []byte) {
		a := dialect(l, compact.Policy{Threshold: -1})
		a.RecallTool = "recall_tool_result"
		before := bytes.Clone(in)
		out, report := a.View(t.Context(), docket.ThreadID(docket.DigestOf(in).String()), in)
		if !bytes.Equal(in, before) {
			t.Fatal("the input changed")
		}
		applied := 0
		for _, d := range report.Decisions {
			if d.Applied {
				applied++
			}
		}
		if applied == 0 {
			if len(out) != len(in) || len(in) > 0 && &out[0] != &in[0] {
				t.Fatal("no stub, but another slice")
			}
			return
		}
		if !jsontext.Value(out).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			t.Fatalf("not JSON: %q", out)
		}
		// gjson takes the first of two names and does not check, the splicer refuses
		// to guess: what both read must agree outside of the contents.
		if was, is := blank(in), blank(out); was != is && gjson.ValidBytes(in) {
			t.Fatalf("bytes outside changed:\n%q\n%q", was, is)
		}
		if was, is := bytes.Count(in, []byte(`"cache_control"`)), bytes.Count(out, []byte(`"cache_control"`)); is > was {
			t.Fatalf("%d marks became %d: %q", was, is, out)
		}
		again, _ := a.View(t.Context(), docket.ThreadID(docket.DigestOf(in).String()), in)
		if !bytes.Equal(again, out) {
			t.Fatalf("the second view differs: %q, %q", out, again)
		}
	})
}

func FuzzTrimAndMend(f *testing.F) {
	for _, s := range []string{"U A[1] T[1] U A", "U A[1,2] X[2] A", "T[1] A[2]", "S U V A[1] S E T[1,9]"} {
		f.Add(history(s), 2)
	}
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		had, err := (Anthropic{}).Faults(in)
		out, _, terr := (Anthropic{}).Trim(in, n)
		if err != nil || terr != nil {
			if !bytes.Equal(out, in) {
				t.Fatal("an error, but another body")
			}
			return
		}
		checkNoNewFault(t, had, out)
		mended, _, err := (Anthropic{}).Mend(in)
		if err != nil {
			t.Fatal(err)
		}
		left, err := (Anthropic{}).Faults(mended)
		if err != nil {
			t.Fatalf("mended, but %v: %q", err, mended)
		}
		for _, fault := range left {
			if fault.ID != "" { // without an id nothing can be answered
				t.Fatalf("still %+v: %q", fault, mended)
			}
		}
	})
}
