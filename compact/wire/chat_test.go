package wire

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"docket"
	"docket/compact"
	"docket/engine"
)

const chatTools = `"tools":[{"type":"function","function":{"name":"read","parameters":{}}},{"type":"function","function":{"name":"recall_tool_result"}}]`

// chatBodyOf is a body with one result of the given content, asked for and answered.
func chatBodyOf(content string) []byte {
	return []byte(`{"model":"gpt","messages":[{"role":"system","content":"s"},{"role":"user","content":"go"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"a\": 1}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":` + content + `},{"role":"assistant","content":"done"}],` + chatTools + `}`)
}

func chatDialect(l ledger, p compact.Policy) Chat {
	return Chat{Service: &compact.Service{Ledger: l, Log: l, Policy: p}}
}

func TestChatReads(t *testing.T) {
	p, err := readChat(chatBodyOf(`[{"type":"text","text":"a"},{"type":"text","text":"b","prompt_cache_breakpoint":{}},{"type":"image_url","image_url":{}}]`))
	if err != nil {
		t.Fatal(err)
	}
	call, res := p.messages[2].Calls[0], p.messages[3].Results[0]
	if call.ID != "c1" || call.Tool != "read" || string(call.Args) != `{"a": 1}` {
		t.Errorf("call %+v", call)
	}
	if res.ID != "c1" || string(res.Payload) != "a\nb" || len(res.Attachments) != 1 || res.Hold != "" || p.messages[3].Speaks {
		t.Errorf("result %+v", res)
	}
	roles := []compact.Role{compact.RoleSystem, compact.RoleUser, compact.RoleAssistant, compact.RoleOther, compact.RoleAssistant}
	for i, want := range roles {
		if p.messages[i].Role != want {
			t.Errorf("message %d has role %d, want %d", i, p.messages[i].Role, want)
		}
	}
	if fmt.Sprint(p.tools) != "[read recall_tool_result]" {
		t.Errorf("tools %q", p.tools)
	}
}

// What is not sure to be a text of ours is held.
func TestChatHolds(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	for content, want := range map[string]compact.Reason{
		`"` + long + `"`:                                compact.ReasonStale,
		`"` + long + `\ud800"`:                          compact.ReasonLossy,
		`{"a":"` + long + `"}`:                          compact.ReasonAmbiguous,
		`"` + long + `","content":"x"`:                  compact.ReasonAmbiguous,
		`[{"type":"image_url","image_url":{}}]`:         compact.ReasonViewable,
		`null`:                                          compact.ReasonEmpty,
		`"` + long + `","tool_call_id":"again"`:         compact.ReasonAmbiguous,
		`[{"type":"input_text","text":"` + long + `"}]`: compact.ReasonStale,
	} {
		body := chatBodyOf(content)
		view, r := chatDialect(engine.NewMemory(nil), compact.Policy{}).View(t.Context(), "t", body)
		if len(r.Decisions) != 1 || r.Decisions[0].Reason != want || r.Decisions[0].Applied != (want == compact.ReasonStale) {
			t.Errorf("%.40s: %+v (%v), want %s", content, r.Decisions, r.Err, want)
		}
		if changed := !bytes.Equal(view, body); changed != (want == compact.ReasonStale) {
			t.Errorf("%.40s: changed %t", content, changed)
		}
	}
}

// A cache mark of a part survives, once, wherever it stood.
func TestChatKeepsMarks(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	for _, mark := range []string{`"cache_control":{"type":"ephemeral"}`, `"prompt_cache_breakpoint":{"a":1}`} {
		for _, content := range []string{
			`[{"type":"text","text":"` + long + `",` + mark + `}]`,
			`[{"type":"text","text":"` + long + `"},{"type":"text","text":"b",` + mark + `}]`,
			`[{"type":"text","text":"` + long + `"},{"type":"image_url","image_url":{},` + mark + `},{"type":"text","text":"b"}]`,
		} {
			view, _ := chatDialect(engine.NewMemory(nil), compact.Policy{}).View(t.Context(), "t", chatBodyOf(content))
			if n := bytes.Count(view, []byte(mark)); n != 1 || !gjson.ValidBytes(view) || bytes.Contains(view, []byte(long)) {
				t.Errorf("%s: %d marks in %s", content[len(content)-60:], n, view)
			}
		}
	}
}

func TestChatLeavesAlone(t *testing.T) {
	d := chatDialect(engine.NewMemory(nil), compact.Policy{Threshold: -1})
	for _, body := range []string{
		``, `[]`, `{`, `{"messages":{}}`, `{"messages":[1]}`, `{"messages":[]}x`, strings.Repeat(`[`, 20_000),
		`{"messages":[{"role":"function","name":"f","content":"an old one"}]}`,
		`{"messages":[{"role":"user","content":"a"}],"messages":[]}`,
	} {
		if view, _ := d.View(t.Context(), "t", []byte(body)); string(view) != body {
			t.Errorf("%.40q became %.40q", body, view)
		}
	}
}

func TestDetect(t *testing.T) {
	for body, want := range map[string]string{
		`{"messages":[{"role":"user","content":"x"}],"max_tokens":1,"system":"s"}`:                   "anthropic",
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`:        "anthropic",
		`{"messages":[{"role":"user","content":"x"}]}`:                                               "chat",
		`{"messages":[{"role":"user","content":"x"},{"role":"tool","content":"y"}],"max_tokens":10}`: "chat",
		`{"messages":[{"role":"developer","content":"x"}],"max_tokens":10}`:                          "chat",
		string(chatBodyOf(`"x"`)): "chat",
		`{"contents":[]}`:         "gemini",
		`{"input":[]}`:            "responses",
		`{"messages":[{"role":"user","content":[{"toolResult":{"toolUseId":"a"}}]}]}`:  "converse",
		`{"messages":[{"role":"user","content":[{"text":"a"}]}],"inferenceConfig":{}}`: "converse",
		`{"prompt":"x"}`: "",
		`[]`:             "",
	} {
		if got, err := Detect([]byte(body)); got != want || (err == nil) != (want != "") {
			t.Errorf("%.60s: %q (%v), want %q", body, got, err, want)
		}
	}
	if _, err := New("morse", Options{}); err == nil || !strings.Contains(err.Error(), "anthropic, chat, responses") {
		t.Errorf("an unknown name: %v", err)
	}
}

// chatTranscripts returns the paths of the corpus' Chat Completions bodies.
func chatTranscripts(t *testing.T) []string {
	transcripts(t) // says so where there is no corpus
	paths, err := filepath.Glob(filepath.Join(os.Getenv("DOCKET_CORPUS"), "transcripts", "openai-chat", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts (error %v)", err)
	}
	return paths
}

// The static policy over every transcript, request by request, on a file that is
// reopened at the end: nothing but contents of results changes, a stub is the same for
// ever, ids and pairing stay, every stubbed result comes back.
func TestChatCorpusStaticPolicy(t *testing.T) {
	stubs, requests := 0, 0
	for _, path := range chatTranscripts(t) {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		c, err := Parse("chat", body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		file := filepath.Join(t.TempDir(), "ledger")
		l := openLedger(t, file)
		options := Options{Service: &compact.Service{Ledger: l, Log: l, Policy: compact.Default()}, RecallTool: docket.DefaultRecallTool}
		sent := map[int]string{}
		mems := map[int]docket.MemID{}
		var in, out []byte
		for _, n := range append(c.Requests(), len(c.Messages)) {
			in = c.Request(n)
			var r compact.Report
			out, r = Chat(options).View(t.Context(), "th", in)
			if r.Err != nil {
				t.Fatalf("%s: %v", name, r.Err)
			}
			checkChatView(t, name, in, out, r, sent, mems)
			requests++
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = openLedger(t, file)
		options.Service.Ledger, options.Service.Log = l, l
		if again, _ := Chat(options).View(t.Context(), "th", in); !bytes.Equal(again, out) {
			t.Errorf("%s: another view after reopening", name)
		}
		for i := range sent {
			if got, want := fetch(t, l, "th", mems[i]), plain(gjson.GetBytes(in, fmt.Sprintf("messages.%d.content", i))); got != want {
				t.Errorf("%s: the result in message %d comes back otherwise", name, i)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		stubs += len(sent)
	}
	t.Logf("%d requests, %d results became stubs", requests, stubs)
	if stubs < 100 {
		t.Errorf("only %d stubs: the test shows nothing", stubs)
	}
}

// checkChatView compares a view with its request, by another library than the
// dialect's reader.
func checkChatView(t *testing.T, name string, in, out []byte, r compact.Report, sent map[int]string, mems map[int]docket.MemID) {
	t.Helper()
	had, err1 := Chat{}.Faults(in)
	has, err2 := Chat{}.Faults(out)
	if err1 != nil || err2 != nil || fmt.Sprint(had) != fmt.Sprint(has) {
		t.Fatalf("%s: faults %v became %v", name, had, has)
	}
	applied := map[int]bool{}
	for _, d := range r.Decisions {
		if d.Applied {
			applied[d.Message], mems[d.Message] = true, d.MemID
		}
	}
	from, to := 0, 0
	before, after := gjson.GetBytes(in, "messages").Array(), gjson.GetBytes(out, "messages").Array()
	for i := range before {
		was, is := before[i].Get("content"), after[i].Get("content")
		if !applied[i] {
			if sent[i] != "" || before[i].Raw != after[i].Raw {
				t.Fatalf("%s: message %d changed, or its stub is gone", name, i)
			}
			continue
		}
		if !bytes.Equal(in[from:was.Index], out[to:is.Index]) || sent[i] != "" && sent[i] != is.Raw {
			t.Fatalf("%s: something before or in the stub of message %d changed", name, i)
		}
		sent[i] = is.Raw
		from, to = was.Index+len(was.Raw), is.Index+len(is.Raw)
	}
	if !bytes.Equal(in[from:], out[to:]) {
		t.Fatalf("%s: something after the last stub changed", name)
	}
}

// Trim over every transcript: no fault that the input did not have.
func TestChatCorpusTrim(t *testing.T) {
	trims := 0
	for _, path := range chatTranscripts(t) {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := int(gjson.GetBytes(body, "messages.#").Int())
		had, err := Chat{}.Faults(body)
		if err != nil {
			t.Fatal(err)
		}
		for limit := 0; limit <= n; limit += 1 + n/60 {
			out, dropped, err := Chat{}.Trim(body, limit)
			if err != nil || int(gjson.GetBytes(out, "messages.#").Int()) != n-dropped {
				t.Fatalf("%s, cap %d: %d dropped, error %v", path, limit, dropped, err)
			}
			if has, err := (Chat{}).Faults(out); err != nil || len(had) == 0 && len(has) > 0 {
				t.Errorf("%s, cap %d: faults %v, error %v", path, limit, has, err)
			}
			trims++
		}
	}
	t.Logf("%d trims", trims)
}

func FuzzChat(f *testing.F) {
	f.Add(chatBodyOf(`"` + strings.Repeat("word ", 500) + `"`))
	f.Add(chatBodyOf(`[{"type":"text","text":"` + strings.Repeat("word ", 500) + `"},{"type":"text","text":"b"}]`))
	f.Add([]byte(`{"messages":[{"role":"tool"},{"role":"tool","content":[]}]}`))
	l := engine.NewMemory(nil) // one for all: making an encoder takes longer than a view
	f.Fuzz(func(t *testing.T, body []byte) {
		kept := bytes.Clone(body)
		thread := docket.ThreadID(docket.DigestOf(body).String())
		view, _ := chatDialect(l, compact.Policy{Threshold: -1}).View(t.Context(), thread, body)
		if !bytes.Equal(kept, body) {
			t.Fatal("the body changed")
		}
		again, _ := chatDialect(l, compact.Policy{Threshold: -1}).View(t.Context(), thread, body)
		if !bytes.Equal(again, view) {
			t.Fatal("another view of the same body")
		}
		if gjson.ValidBytes(body) && !gjson.ValidBytes(view) {
			t.Fatal("valid became invalid")
		}
		if out, _, err := (Chat{}).Trim(body, 2); err == nil && gjson.ValidBytes(body) && !gjson.ValidBytes(out) {
			t.Fatal("trimmed to something invalid")
		}
		_, _ = Detect(body)
	})
}

// A conversation in Chat Completions: the stale result goes out as its stub.
func ExampleChat_View() {
	l := engine.NewMemory(nil)
	d := Chat{Service: &compact.Service{Ledger: l, Log: l}}
	view, report := d.View(context.Background(), "t", chatBodyOf(`"`+strings.Repeat("word ", 1000)+`"`))
	fmt.Println(report.Decisions[0].Reason, len(view) < 1500)
	// Output: stale true
}
