package recall

import (
	"strings"
	"testing"
	"unicode/utf8"

	"docket"
)

// Whatever a model sends, the answer is a bounded text of valid UTF-8, the same
// each time, and either the answer of a record, which verifies, or a miss.
func FuzzCall(f *testing.F) {
	payload := []byte(`{"a":[1,2,{"b":"x\ny \u00e9 é"}],"c":"` + strings.Repeat("\xff text ", 300) + `"}`)
	rec := newFakeRecord(payload, 64, true)
	id := string(rec.handle.MemID)
	for _, args := range []string{
		`{}`, `{"mem_id":"ID"}`, `{"mem_id":"ID","format":"full"}`, `{"mem_id":"ID","query":"é","ignore_case":1,"window":-3}`,
		`{"mem_id":"ID","offset":-1}`, `{"mem_id":"ID","offset":"1e9","max_chars":"NaN"}`, `{"mem_id":"ID","json_path":"a[*].b","query":"\n"}`,
		`{"mem_id":"ID","query":"text","max_matches":1e99,"window":1e99}`, `[[["ID"]]]`, `"{\"mem_id\":\"ID\"}"`, `{"mem_id":"ID","json_path":"c","max_chars":1}`,
	} {
		f.Add([]byte(strings.ReplaceAll(args, "ID", id)))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		l := newFake(rec)
		answer := Call(t.Context(), l, "t", args)
		if n := utf8.RuneCountInString(answer); n == 0 || n > DefaultMaxChars+headBound || !utf8.ValidString(answer) {
			t.Fatalf("%d characters, valid %v: %.200q", n, utf8.ValidString(answer), answer)
		}
		if again := Call(t.Context(), l, "t", args); again != answer {
			t.Fatalf("another answer the second time: %.200q, %.200q", answer, again)
		}
		_, sealed := docket.VerifyAnswer(t.Context(), l, "t", []byte(answer))
		if !sealed && !strings.HasPrefix(answer, "[tool_memory ") {
			t.Fatalf("neither an answer nor a miss: %.200q", answer)
		}
		if found := searchCall(t.Context(), l, "t", args); utf8.RuneCountInString(found) > DefaultMaxChars+headBound || !utf8.ValidString(found) {
			t.Fatalf("search: %.200q", found)
		}
	})
}
