package sdk

// A scripted provider, and the loop that every client is put through: the model reads six
// pages, asks for the first one back, whose stub it was sent, and ends. The first try of
// every request fails, so that each is sent twice.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"docket"
	"docket/compact"
	"docket/compact/wire"
	"docket/engine"
	"docket/recall"
)

const (
	pages    = 6
	thread   = docket.ThreadID("sdk")
	pageTool = "read_page"
)

// recallTool is what a program puts into its list of tools.
var recallTool = recall.Tool{}.RecallSpec()

// page is the text of a page.
func page(n int) string {
	return fmt.Sprintf("page %d: ", n) + strings.Repeat(fmt.Sprintf("line %d <of> & \"text\". ", n), 250)
}

// turn is what the scripted model says: a call, or a text.
type turn struct {
	id, tool, args string
	text           string
}

// script is a provider that says one turn after another.
type script struct {
	*httptest.Server
	t      *testing.T
	answer func(w http.ResponseWriter, t turn)
	retry  bool // the first try of each request fails

	mu     sync.Mutex
	bodies []string // that were answered
	failed string   // the body that was refused, to come again
}

// serve starts a provider whose dialect's answers are written by answer. Each body that a
// path gets is one turn.
func serve(t *testing.T, retry bool, answer func(w http.ResponseWriter, t turn)) *script {
	s := &script{t: t, answer: answer, retry: retry}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(s.Close)
	return s
}

var memID = regexp.MustCompile(`archived as mem=([a-z2-7]{16})`)

func (s *script) handle(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil || int64(len(raw)) != r.ContentLength {
		s.t.Errorf("a body of %d bytes, announced as %d: %v", len(raw), r.ContentLength, err)
	}
	body := string(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retry && s.failed == "" {
		s.failed = body
		w.Header().Set("Retry-After-Ms", "1")
		http.Error(w, `{"error":{"type":"overloaded_error","message":"try again"}}`, http.StatusInternalServerError)
		return
	}
	if s.retry && s.failed != body {
		s.t.Error("the second try of a request has other bytes")
	}
	s.failed = ""
	s.bodies = append(s.bodies, body)
	n := len(s.bodies)
	switch {
	case n <= pages:
		s.answer(w, turn{id: fmt.Sprintf("call_%d", n), tool: pageTool, args: fmt.Sprintf(`{"page":%d}`, n)})
	case n == pages+1:
		mem := memID.FindStringSubmatch(body)
		if mem == nil {
			s.t.Error("the model was sent no stub")
			mem = []string{"", "aaaaaaaaaaaaaaaa"}
		}
		s.answer(w, turn{id: "call_recall", tool: recallTool.Name, args: `{"mem_id":"` + mem[1] + `","format":"full"}`})
	default:
		s.answer(w, turn{text: "done"})
	}
}

// agent is the program that runs the tools.
type agent struct {
	t       *testing.T
	ledger  docket.Ledger
	options wire.HTTPOptions
	results []string // what the tools returned, in order
}

func newAgent(t *testing.T) *agent {
	l := engine.NewMemory(nil)
	return &agent{t: t, ledger: l, options: wire.HTTPOptions{
		Options: wire.Options{Service: &compact.Service{Ledger: l, Log: l, Policy: compact.Default()}},
		Thread:  func(*http.Request, []byte) docket.ThreadID { return thread },
		Report: func(x wire.Exchange) {
			if x.Err != nil || x.Report.Err != nil {
				t.Errorf("%v, %v", x.Err, x.Report.Err)
			}
		},
	}}
}

// call runs a tool.
func (a *agent) call(ctx context.Context, tool, args string) string {
	out := "no such tool: " + tool
	switch tool {
	case pageTool:
		var in struct{ Page int }
		if err := json.Unmarshal([]byte(args), &in); err != nil {
			a.t.Errorf("arguments %q: %v", args, err)
		}
		out = page(in.Page)
	case recallTool.Name:
		out = recall.Call(ctx, a.ledger, thread, []byte(args))
	}
	a.results = append(a.results, out)
	return out
}

// check looks at what the provider got and what the client has: history is the client's
// own, as JSON.
func (a *agent) check(s *script, history any) {
	t := a.t
	t.Helper()
	if len(s.bodies) != pages+2 || len(a.results) != pages+1 {
		t.Fatalf("%d requests, %d results", len(s.bodies), len(a.results))
	}
	plain := func(s string) string { // as either side may spell it
		b, _ := json.Marshal(s)
		return string(b[1 : len(b)-1])
	}
	unescape := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
	mine, err := json.Marshal(history)
	if err != nil {
		t.Fatal(err)
	}
	last := unescape.Replace(s.bodies[pages+1])
	for n := 1; n <= pages; n++ {
		text := unescape.Replace(plain(page(n)))
		if !strings.Contains(unescape.Replace(string(mine)), text) {
			t.Errorf("the client's history has lost page %d", n)
		}
		// The newest three of the six stay; what the recall returned takes no place.
		if sent := strings.Contains(last, `"`+text+`"`); sent != (n > pages-3) {
			t.Errorf("page %d goes out whole: %t", n, sent)
		}
	}
	if got := strings.Count(last, "[docket.tool_memory v1]"); got < 3 {
		t.Errorf("%d stubs in the last request", got)
	}
	_, recalled, _ := strings.Cut(a.results[pages], "\n")
	if !strings.Contains(recalled, page(1)) {
		t.Errorf("the recall returned %.300q", a.results[pages])
	}
	for i := 1; i < len(s.bodies); i++ {
		if len(s.bodies[i]) > 50_000 {
			t.Errorf("request %d has %d bytes", i, len(s.bodies[i]))
		}
	}
}

// sse writes an event of a stream.
func sse(w http.ResponseWriter, event, data string) {
	w.Header().Set("Content-Type", "text/event-stream")
	if event != "" {
		fmt.Fprintf(w, "event: %s\n", event)
	}
	fmt.Fprintf(w, "data: %s\n\n", data)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// schema is a JSON schema as a map.
func schema(text string) map[string]any {
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		panic(err)
	}
	return m
}

const pageSchema = `{"type":"object","properties":{"page":{"type":"integer"}},"required":["page"]}`

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// anthropicAnswer streams a turn as the Messages API does.
func anthropicAnswer(w http.ResponseWriter, t turn) {
	block, delta, stop := `{"type":"text","text":""}`, `{"type":"text_delta","text":`+quoted(t.text)+`}`, "end_turn"
	if t.tool != "" {
		block = `{"type":"tool_use","id":"` + t.id + `","name":"` + t.tool + `","input":{}}`
		delta, stop = `{"type":"input_json_delta","partial_json":`+quoted(t.args)+`}`, "tool_use"
	}
	sse(w, "message_start", `{"type":"message_start","message":{"id":"msg","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`)
	sse(w, "content_block_start", `{"type":"content_block_start","index":0,"content_block":`+block+`}`)
	sse(w, "content_block_delta", `{"type":"content_block_delta","index":0,"delta":`+delta+`}`)
	sse(w, "content_block_stop", `{"type":"content_block_stop","index":0}`)
	sse(w, "message_delta", `{"type":"message_delta","delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":5}}`)
	sse(w, "message_stop", `{"type":"message_stop"}`)
}

// chatAnswer streams a turn as Chat Completions does.
func chatAnswer(w http.ResponseWriter, t turn) {
	delta, stop := `{"role":"assistant","content":`+quoted(t.text)+`}`, "stop"
	if t.tool != "" {
		delta = `{"role":"assistant","tool_calls":[{"index":0,"id":"` + t.id + `","type":"function","function":{"name":"` + t.tool + `","arguments":` + quoted(t.args) + `}}]}`
		stop = "tool_calls"
	}
	chunk := func(delta, stop string) {
		sse(w, "", `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":`+delta+`,"finish_reason":`+stop+`}]}`)
	}
	chunk(delta, "null")
	chunk("{}", quoted(stop))
	sse(w, "", "[DONE]")
}

// responsesAnswer streams a turn as the Responses API does.
func responsesAnswer(w http.ResponseWriter, t turn) {
	item := `{"type":"message","id":"msg","role":"assistant","status":"completed","content":[{"type":"output_text","text":` + quoted(t.text) + `,"annotations":[]}]}`
	if t.tool != "" {
		item = `{"type":"function_call","id":"fc_` + t.id + `","call_id":"` + t.id + `","name":"` + t.tool + `","arguments":` + quoted(t.args) + `,"status":"completed"}`
	}
	sse(w, "response.completed", `{"type":"response.completed","sequence_number":0,"response":{"id":"resp","object":"response","created_at":1,"status":"completed","model":"m","output":[`+item+`],"parallel_tool_calls":true,"tool_choice":"auto","tools":[]}}`)
}

// geminiAnswer streams a turn as generateContent does.
func geminiAnswer(w http.ResponseWriter, t turn) {
	part := `{"text":` + quoted(t.text) + `}`
	if t.tool != "" {
		part = `{"functionCall":{"name":"` + t.tool + `","args":` + t.args + `}}`
	}
	sse(w, "", `{"candidates":[{"content":{"role":"model","parts":[`+part+`]},"finishReason":"STOP","index":0}]}`)
}
