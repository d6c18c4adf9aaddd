package wire

// Views through what happens between requests: another process for each, two
// conversations on one ledger, and clients that write their own old messages anew. All
// over the recorded conversations, under the cost policy of their dialect.

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"docket"
	"docket/compact"
	"docket/compact/planner"
	"docket/engine"
)

// recorded is a transcript of the corpus with its dialect.
type recorded struct {
	name, dialect string
	conv          *Conversation
}

// nth says how many of the transcripts are replayed: all of them take minutes.
var nth = flag.Int("nth", 9, "replay each n-th transcript of the corpus")

// every yields each n-th transcript of the corpus in a dialect of ours.
func every(t *testing.T, fn func(r recorded)) {
	transcripts(t) // says so where there is no corpus
	n := 0
	for _, folder := range []string{"anthropic", "openai-chat", "openai-responses", "gemini", "bedrock"} {
		paths, err := filepath.Glob(filepath.Join(os.Getenv("DOCKET_CORPUS"), "transcripts", folder, "*.json"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no transcripts in %s (error %v)", folder, err)
		}
		for i, path := range paths {
			if i%*nth != 0 {
				continue
			}
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dialect, err := Detect(body)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			conv, err := Parse(dialect, body)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			n++
			fn(recorded{filepath.Base(path), dialect, conv})
		}
	}
	t.Logf("%d transcripts", n)
}

// policy is the cost policy of a dialect, with a threshold at which all transcripts have
// something to stub.
func (r recorded) policy() compact.Policy {
	o := planner.Options{Rates: planner.Rates{Write: 1.25, Read: 0.1}}
	if r.dialect == "anthropic" {
		o.Rule = planner.RuleMarks
	}
	p := compact.CostAware(o)
	p.Threshold = 1000
	return p
}

// on is the transcript's dialect on l.
func (r recorded) on(t *testing.T, l ledger) Dialect {
	d, err := New(r.dialect, Options{Service: &compact.Service{Ledger: l, Log: l, Policy: r.policy()}, RecallTool: docket.DefaultRecallTool})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// view is a view that must go well.
func view(t *testing.T, d Dialect, thread docket.ThreadID, body []byte) ([]byte, compact.Report) {
	t.Helper()
	out, report := d.View(t.Context(), thread, body)
	if report.Err != nil {
		t.Fatal(report.Err)
	}
	return out, report
}

// A restart between any two requests: the same views as from one process. Two
// conversations on one ledger, request by request: the same views as alone.
func TestRestartsAndInterleavedThreads(t *testing.T) {
	stubs := 0
	every(t, func(r recorded) {
		alone := r.on(t, engine.NewMemory(nil))
		file := filepath.Join(t.TempDir(), "ledger")
		both := engine.NewMemory(nil)
		requests := r.conv.Requests()
		for i, n := range requests {
			body := r.conv.Request(n)
			want, report := view(t, alone, "th", body)
			want = withoutIDs(want)
			l := openLedger(t, file)
			got, _ := view(t, r.on(t, l), "th", body)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(withoutIDs(got), want) {
				t.Fatalf("%s, request %d: another view after a restart", r.name, i)
			}
			got, _ = view(t, r.on(t, both), "a", body)
			view(t, r.on(t, both), "b", r.conv.Request(requests[len(requests)-1-i])) // backwards
			if !bytes.Equal(withoutIDs(got), want) {
				t.Fatalf("%s, request %d: another view beside another thread", r.name, i)
			}
			if i == len(requests)-1 {
				stubs += applied(report)
			}
		}
	})
	t.Logf("%d results are stubs in the last requests", stubs)
	if stubs < 50 {
		t.Errorf("only %d stubs: the test shows nothing", stubs)
	}
}

func applied(r compact.Report) (n int) {
	for _, d := range r.Decisions {
		if d.Applied {
			n++
		}
	}
	return n
}

// A client that, from request to request, moves its cache marks, strips its reminders,
// turns strings into blocks, and encodes its body anew: what was stubbed once is a stub in
// every later view, with the same bytes, and no payload of it comes back.
func TestClientsThatRewrite(t *testing.T) {
	stubs, checked := 0, 0
	every(t, func(r recorded) {
		if r.dialect != "anthropic" {
			return
		}
		d := r.on(t, engine.NewMemory(nil))
		sent := map[int]string{} // by number of the result
		for i, n := range r.conv.Requests() {
			out, report := view(t, d, "th", rewritten(t, r.conv.Request(n), i))
			contents := gjson.GetBytes(out, `messages.#.content.#(type="tool_result")#.content`).Array()
			var texts []string
			for _, list := range contents {
				for _, c := range list.Array() {
					texts = append(texts, plain(c))
				}
			}
			for _, dec := range report.Decisions {
				was, stubbed := sent[dec.Index]
				if stubbed && !dec.Applied {
					t.Fatalf("%s, request %d: result %d is whole again: %s", r.name, i, dec.Index, dec.Reason)
				}
				if !dec.Applied {
					continue
				}
				text := texts[dec.Index]
				if stubbed && text != was || !strings.HasPrefix(text, "[docket.tool_memory") {
					t.Fatalf("%s, request %d: result %d was sent as %.80q, now it is %.80q", r.name, i, dec.Index, was, text)
				}
				sent[dec.Index] = text
				checked++
			}
		}
		stubs += len(sent)
	})
	t.Logf("%d stubs, seen %d times", stubs, checked)
	if stubs < 50 || checked < 10*stubs/2 {
		t.Errorf("%d stubs, seen %d times: the test shows nothing", stubs, checked)
	}
}

// rewritten is body as such a client sends it in its n-th request. Results without
// content get an empty one, so that there is one for each.
func rewritten(t *testing.T, body []byte, n int) []byte {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var request map[string]any
	if err := dec.Decode(&request); err != nil {
		t.Fatal(err)
	}
	messages := request["messages"].([]any)
	for i, m := range messages {
		m := m.(map[string]any)
		if text, ok := m["content"].(string); ok && (i+n)%2 == 0 {
			m["content"] = []any{map[string]any{"type": "text", "text": text}}
		}
		blocks, ok := m["content"].([]any)
		if !ok {
			continue
		}
		var kept []any
		for k, b := range blocks {
			b := b.(map[string]any)
			delete(b, "cache_control")
			if i%5 == n%5 && k == len(blocks)-1 && b["type"] != "thinking" {
				b["cache_control"] = map[string]any{"type": "ephemeral"}
			}
			if b["type"] == "tool_result" && b["content"] == nil {
				b["content"] = ""
			}
			text, _ := b["text"].(string)
			if n%3 == 1 && len(blocks) > 1 && strings.HasPrefix(text, "<system-reminder>") {
				continue
			}
			kept = append(kept, b)
		}
		m["content"] = kept
	}
	out, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
