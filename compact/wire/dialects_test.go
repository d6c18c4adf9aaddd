package wire

// The dialects beside Anthropic's and Chat: what they read and write, each by an
// example, and their recorded conversations.

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"docket"
	"docket/compact"
	"docket/engine"
)

var lorem = strings.Repeat("word ", 1000)

// example is a body of a dialect whose one result is stubbed, with what the view has in
// the payload's place.
type example struct {
	dialect string
	body    string
	stub    string // where the stub is in the view
	payload string
}

var examples = []example{
	{"responses", `{"input":[{"role":"user","content":"go"},{"type":"reasoning","id":"r"},{"type":"function_call","call_id":"c","name":"read","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c","output":"` + lorem + `"},{"role":"assistant","content":[]}],"tools":[{"type":"function","name":"recall_tool_result"}]}`,
		"input.3.output", lorem},
	{"responses", `{"input":[{"type":"custom_tool_call","call_id":"c","name":"read","input":"x"},` +
		`{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_image"},{"type":"input_text","text":"` + lorem + `"}]},{"type":"reasoning"}],"tools":[{"type":"custom","name":"recall_tool_result"}]}`,
		"input.1.output.1.text", lorem},
	{"gemini", `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"read","args":{"a":1}},"thoughtSignature":"sig"}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"` + lorem + `"}}}]},{"role":"model","parts":[{"text":"done"}]}],"tools":[{"functionDeclarations":[{"name":"read"},{"name":"recall_tool_result"}]}]}`,
		"contents.2.parts.0.functionResponse.response.output", lorem},
	{"gemini", `{"contents":[{"role":"model","parts":[{"function_call":{"id":"x","name":"read","args":{}}}]},` +
		`{"role":"user","parts":[{"function_response":{"id":"x","name":"read","response":{"rows": [1],"text":"` + lorem + `"}}}]},{"role":"model","parts":[]}],"tools":[{"function_declarations":[{"name":"recall_tool_result"}]}]}`,
		"contents.1.parts.0.function_response.response.output", `{"rows": [1],"text":"` + lorem + `"}`},
	{"converse", `{"messages":[{"role":"user","content":[{"text":"go"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"read","input":{}}}]},` +
		`{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"text":"` + lorem + `"},{"text":"b"}],"status":"error"}},{"cachePoint":{"type":"default"}}]},{"role":"assistant","content":[]}],"toolConfig":{"tools":[{"toolSpec":{"name":"recall_tool_result"}}]}}`,
		"messages.2.content.0.toolResult.content.0.text", lorem + "\nb"},
	{"converse", `{"messages":[{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"read","input":{}}}]},` +
		`{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"json":{"a": "` + lorem + `"}}]}}]},{"role":"assistant","content":[]}],"toolConfig":{"tools":[{"toolSpec":{"name":"recall_tool_result"}}]}}`,
		"messages.1.content.0.toolResult.content.0.text", `{"a": "` + lorem + `"}`},
}

func (e example) make(t *testing.T, l ledger) Dialect {
	t.Helper()
	d, err := New(e.dialect, Options{Service: &compact.Service{Ledger: l, Log: l}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDialectsStub(t *testing.T) {
	for _, e := range examples {
		if got, err := Detect([]byte(e.body)); got != e.dialect {
			t.Errorf("%.60s is detected as %q (%v)", e.body, got, err)
		}
		l := engine.NewMemory(nil)
		d := e.make(t, l)
		view, r := d.View(t.Context(), "t", []byte(e.body))
		if len(r.Decisions) != 1 || !r.Decisions[0].Applied || r.Err != nil {
			t.Errorf("%s: %+v (%v)", e.dialect, r.Decisions, r.Err)
			continue
		}
		stub := gjson.GetBytes(view, e.stub).Str
		if !gjson.ValidBytes(view) || !strings.HasPrefix(stub, "[docket.tool_memory v1]\ntool=read ") || bytes.Contains(view, []byte(lorem)) {
			t.Errorf("%s: %s", e.dialect, view)
		}
		if got := fetch(t, l, "t", r.Decisions[0].MemID); got != e.payload {
			t.Errorf("%s: %.60q comes back, want %.60q", e.dialect, got, e.payload)
		}
		checkEdits(t, e.dialect, []byte(e.body), view, r)
		if again, _ := d.View(t.Context(), "t", []byte(e.body)); !bytes.Equal(again, view) {
			t.Errorf("%s: another view of the same body", e.dialect)
		}
		if faults, err := d.Faults(view); err != nil || len(faults) != 0 {
			t.Errorf("%s: faults %v (%v)", e.dialect, faults, err)
		}
		at := strings.Index(e.body, lorem)
		if !bytes.HasPrefix(view, []byte(e.body[:at-60])) || !bytes.HasSuffix(view, []byte(e.body[len(e.body)-60:])) {
			t.Errorf("%s: something else changed: %s", e.dialect, view)
		}
	}
}

// C4, no tool, no stub; a history of the provider's is recorded only; what is no text
// of a function stays.
func TestDialectsHold(t *testing.T) {
	for _, c := range []struct {
		dialect, body string
		want          compact.Reason
	}{
		{"responses", strings.Replace(examples[0].body, "recall_tool_result", "other", 1), compact.ReasonNoRecallTool},
		{"responses", `{"previous_response_id":"r",` + examples[0].body[1:], compact.ReasonRecordOnly},
		{"responses", `{"conversation":{"id":"c"},` + examples[0].body[1:], compact.ReasonRecordOnly},
		{"responses", strings.ReplaceAll(examples[0].body, "function_call", "shell_call"), compact.ReasonViewable},
		{"gemini", strings.Replace(examples[2].body, `"response":{`, `"response":[],"response":{`, 1), compact.ReasonAmbiguous},
		{"gemini", strings.Replace(examples[2].body, "recall_tool_result", "other", 1), compact.ReasonNoRecallTool},
		{"gemini", `{"cachedContent":"cachedContents/1",` + examples[2].body[1:], compact.ReasonRecordOnly},
		{"gemini", strings.Replace(examples[2].body, `{"functionCall":`, `{"function_call":{},"functionCall":`, 1), compact.ReasonAmbiguous},
		{"converse", strings.Replace(examples[5].body, `{"json":`, `{"text":"kept","json":`, 1), compact.ReasonAmbiguous},
		{"converse", strings.Replace(examples[5].body, `"}}]`, `"},"image":{}}]`, 1), compact.ReasonAmbiguous},
		{"converse", strings.Replace(examples[4].body, `{"toolResult":`, `{"toolUse":{},"toolResult":`, 1), compact.ReasonAmbiguous},
		{"converse", strings.Replace(examples[4].body, `"text":"word`, `"text":"\ud800word`, 1), compact.ReasonLossy},
		{"converse", strings.Replace(examples[4].body, "recall_tool_result", "other", 1), compact.ReasonNoRecallTool},
	} {
		view, r := example{dialect: c.dialect}.make(t, engine.NewMemory(nil)).View(t.Context(), "t", []byte(c.body))
		if len(r.Decisions) != 1 || r.Decisions[0].Reason != c.want || r.Decisions[0].Applied || string(view) != c.body {
			t.Errorf("%s, want %s: %+v (%v)", c.dialect, c.want, r.Decisions, r.Err)
		}
	}
}

func TestDialectsLeaveAlone(t *testing.T) {
	for _, name := range Names() {
		d := example{dialect: name}.make(t, engine.NewMemory(nil))
		for _, body := range []string{``, `[]`, `{`, `{"messages":{},"contents":7,"input":{}}`, `{"messages":[1],"contents":[1],"input":[1]}`, `{"messages":[],"contents":[],"input":[]}x`,
			`{"messages":[{"content":[{"toolResult":{"content":[{"text":"a"`, `{"input":[{"output":[{"type":`, `{"contents":[{"parts":[{"functionResponse":{"response":{`, strings.Repeat(`[`, 20_000)} {
			if view, _ := d.View(t.Context(), "t", []byte(body)); string(view) != body {
				t.Errorf("%s: %.40q became %.40q", name, body, view)
			}
			if out, _, err := d.Trim([]byte(body), 1); err == nil || string(out) != body {
				t.Errorf("%s: %.40q trimmed to %.40q (%v)", name, body, out, err)
			}
		}
	}
}

// Blocks of json beside a text are attachments, however many.
func TestConverseJSONBlocks(t *testing.T) {
	body := strings.Replace(examples[4].body, `{"text":"b"}`, `{"json":{"a":1}},{"json":{"b":2}}`, 1)
	view, r := examples[4].make(t, engine.NewMemory(nil)).View(t.Context(), "t", []byte(body))
	if len(r.Decisions) != 1 || !r.Decisions[0].Applied || !bytes.Contains(view, []byte(`,{"json":{"a":1}},{"json":{"b":2}}]`)) {
		t.Errorf("%+v (%v): %s", r.Decisions, r.Err, view)
	}
}

// Ids are optional on either side, and a run of model contents is answered as one: a
// trim at any cap parts no call from its response.
func TestGeminiPairs(t *testing.T) {
	const user, call, response = `{"role":"user","parts":[{"text":"go"}]}`, `{"functionCall":{"name":"read"}}`, `{"functionResponse":{"name":"read","response":{}}}`
	withID := func(part string) string { return strings.Replace(part, `{"name"`, `{"id":"x","name"`, 1) }
	for _, c := range [][2]string{{call, response}, {call, withID(response)}, {withID(call), response}, {withID(call), withID(response)},
		{call + `]},{"role":"model","parts":[{"text":"hm"}`, response}, {call + `]},{"role":"model","parts":[` + withID(call), response + `,` + withID(response)}} {
		body := `{"contents":[` + user + `,{"role":"model","parts":[` + c[0] + `]},{"role":"user","parts":[` + c[1] + `]},{"role":"model","parts":[{"text":"ok"}]},` + user + `]}`
		for limit := range 8 {
			out, _, err := Gemini{}.Trim([]byte(body), limit)
			faults, err2 := Gemini{}.Faults(out)
			calls, responses := bytes.Count(out, []byte("functionCall")), bytes.Count(out, []byte("functionResponse"))
			if err != nil || err2 != nil || len(faults) != 0 || calls != responses {
				t.Errorf("cap %d: %v, %v, %v: %s", limit, err, err2, faults, out)
			}
		}
	}
}

// H1, H3: a trim of a recorded conversation at any cap makes no fault.
func TestDialectsCorpusTrim(t *testing.T) {
	transcripts(t) // says so where there is no corpus
	trims := 0
	for name, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(os.Getenv("DOCKET_CORPUS"), "transcripts", folder, "*.json"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no transcripts in %s (error %v)", folder, err)
		}
		for _, path := range paths {
			trims += trimAtEveryCap(t, name, path)
		}
	}
	t.Logf("%d trims", trims)
}

func trimAtEveryCap(t *testing.T, name, path string) (trims int) {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	had, err := d.Faults(body)
	c, err2 := Parse(name, body)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for limit := range len(c.Messages) + 1 {
		out, _, err := d.Trim(body, limit)
		has, err2 := d.Faults(out)
		if err != nil || err2 != nil || len(has) > len(had) || !gjson.ValidBytes(out) {
			t.Fatalf("%s, cap %d: faults %v became %v (%v, %v)", path, limit, had, has, err, err2)
		}
		trims++
	}
	return trims
}

// A reasoning item is never parted from the call behind it, nor that from its output.
func TestResponsesTrimKeepsRuns(t *testing.T) {
	body := []byte(examples[0].body)
	for limit := range 5 {
		out, _, err := Responses{}.Trim(body, limit)
		if err != nil || !gjson.ValidBytes(out) {
			t.Fatalf("cap %d: %v", limit, err)
		}
		kept := gjson.GetBytes(out, "input.#.type").Raw
		if strings.Contains(kept, "function_call") && !strings.Contains(kept, `"reasoning","function_call","function_call_output"`) {
			t.Errorf("cap %d keeps %s", limit, kept)
		}
	}
}

// folders are where the corpus has transcripts of the dialects.
var folders = map[string]string{"responses": "openai-responses", "gemini": "gemini", "converse": "bedrock"}

// The static policy over every recorded conversation, request by request: only messages
// with stubs change, once, and everything comes back after reopening.
func TestDialectsCorpus(t *testing.T) {
	transcripts(t) // says so where there is no corpus
	stubs := map[string]int{}
	for name, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(os.Getenv("DOCKET_CORPUS"), "transcripts", folder, "*.json"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no transcripts in %s (error %v)", folder, err)
		}
		for _, path := range paths {
			stubs[name] += replayDialect(t, name, path)
		}
	}
	t.Logf("stubs: %v", stubs)
	if stubs["responses"] < 20 || stubs["gemini"] < 2 || stubs["converse"] < 2 {
		t.Errorf("few stubs: the test shows little: %v", stubs)
	}
}

func replayDialect(t *testing.T, name, path string) (stubs int) {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := Detect(body); found != name {
		t.Errorf("%s is detected as %q (%v)", path, found, err)
	}
	c, err := Parse(name, body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	file := filepath.Join(t.TempDir(), "ledger")
	l := openLedger(t, file)
	policy := compact.Policy{Threshold: 800, KeepLast: 2}
	make := func() Dialect {
		d, err := New(name, Options{Service: &compact.Service{Ledger: l, Log: l, Policy: policy}, RecallTool: docket.DefaultRecallTool})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := make()
	var in, out []byte
	sent := map[int]string{} // message → its bytes once it has a stub
	mems := map[[2]int]docket.MemID{}
	for _, n := range append(c.Requests(), len(c.Messages)) {
		in = c.Request(n)
		var r compact.Report
		if out, r = d.View(t.Context(), "th", in); r.Err != nil {
			t.Fatalf("%s: %v", path, r.Err)
		}
		checkDialectView(t, name, in, out, r, sent, mems)
		checkEdits(t, name, in, out, r)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = openLedger(t, file)
	if again, _ := make().View(t.Context(), "th", in); !bytes.Equal(again, out) {
		t.Errorf("%s: another view after reopening", path)
	}
	p, err := dialects[slices.Index(Names(), name)].read(in)
	if err != nil {
		t.Fatal(err)
	}
	for at, id := range mems {
		if got, want := fetch(t, l, "th", id), string(p.messages[at[0]].Results[at[1]].Payload); got != want {
			t.Errorf("%s: result %v comes back otherwise", path, at)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return len(mems)
}

// checkDialectView compares the messages of a view with its request's.
func checkDialectView(t *testing.T, name string, in, out []byte, r compact.Report, sent map[int]string, mems map[[2]int]docket.MemID) {
	t.Helper()
	d, err := New(name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	had, _ := d.Faults(in)
	if has, err := d.Faults(out); err != nil || fmt.Sprint(had) != fmt.Sprint(has) || !gjson.ValidBytes(out) {
		t.Fatalf("%s: faults %v became %v (%v)", name, had, has, err)
	}
	before, err1 := Parse(name, in)
	after, err2 := Parse(name, out)
	if err1 != nil || err2 != nil || len(before.Messages) != len(after.Messages) {
		t.Fatalf("%s: %v, %v", name, err1, err2)
	}
	fresh := map[int]bool{}
	at, results := -1, 0
	for _, dec := range r.Decisions {
		if dec.Message != at {
			at, results = dec.Message, 0
		}
		if dec.Applied {
			fresh[at] = fresh[at] || dec.New() || sent[at] == ""
			mems[[2]int{at, results}] = dec.MemID
		}
		results++
	}
	for i := range before.Messages {
		was, is := string(before.Messages[i].Bytes), string(after.Messages[i].Bytes)
		switch {
		case fresh[i]:
			sent[i] = is
		case sent[i] != "" && sent[i] != is, sent[i] == "" && was != is:
			t.Fatalf("%s: message %d changed, and no decision says so", name, i)
		}
	}
}

func FuzzDialects(f *testing.F) {
	for _, e := range examples {
		f.Add([]byte(strings.ReplaceAll(e.body, lorem, lorem[:1000]))) // a small one is made smaller sooner
	}
	l := engine.NewMemory(nil) // one for all: making an encoder takes longer than a view
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, name := range Names() {
			thread := docket.ThreadID(name + docket.DigestOf(body).String())
			d, err := New(name, Options{Service: &compact.Service{Ledger: l, Log: l, Policy: compact.Policy{Threshold: -1}}, RecallTool: docket.DefaultRecallTool})
			if err != nil {
				t.Fatal(err)
			}
			kept := bytes.Clone(body)
			view, report := d.View(t.Context(), thread, body)
			again, _ := d.View(t.Context(), thread, body)
			if !bytes.Equal(kept, body) || !bytes.Equal(view, again) {
				t.Fatalf("%s: the body or its view changed", name)
			}
			if gjson.ValidBytes(body) && !gjson.ValidBytes(view) {
				t.Fatalf("%s: valid became invalid: %q", name, view)
			}
			if gjson.ValidBytes(body) {
				checkEdits(t, name, body, view, report)
			}
			if out, _, err := d.Trim(body, 2); err == nil && gjson.ValidBytes(body) && !gjson.ValidBytes(out) {
				t.Fatalf("%s: trimmed to something invalid: %q", name, out)
			}
		}
		_, _ = Detect(body)
	})
}
