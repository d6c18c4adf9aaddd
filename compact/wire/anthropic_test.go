package wire

import (
	"strings"
	"testing"

	"docket/compact"
)

const tools = `"tools":[{"name":"recall_tool_result","input_schema":{}}]`

// body makes a request body: U A[t1] T[t1]=payload A U.
func body(content string) string {
	return `{"model":"m", ` + tools + `,
 "messages":[{"role":"user","content":"hi <b>&\u2028"},
  {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{"b":1.0,"a":1e5}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":` + content + `}]},
  {"role":"assistant","content":"ok"}, {"role":"user","content":"more"}]}`
}

func TestView(t *testing.T) {
	fake := newFake()
	a := Anthropic{Service: &compact.Service{Ledger: fake, Log: fake, Policy: compact.Policy{}}}
	long := strings.Repeat("x", 5000)
	in := body(`"` + long + `"`)
	out, report := a.View(t.Context(), "th", []byte(in))
	if report.Err != nil {
		t.Fatal(report.Err)
	}
	before, after, _ := strings.Cut(in, `"`+long+`"`)
	if !strings.HasPrefix(string(out), before) || !strings.HasSuffix(string(out), after) {
		t.Fatalf("bytes outside of the result changed:\n%s", out)
	}
	t.Logf("%s\n%+v", out[len(before):len(out)-len(after)], report.Decisions)
	again, _ := a.View(t.Context(), "th", []byte(in))
	if string(again) != string(out) {
		t.Fatal("the second view differs")
	}
	same, _ := a.View(t.Context(), "th", out)
	if &same[0] != &out[0] {
		t.Fatal("a view of the view is another one")
	}
}
