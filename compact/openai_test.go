package compact_test

// OpenAI Chat Completions by an adapter of the tests' own: the generic trim and the
// service on a format in which every result is a message.

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docket"
	"docket/compact"
	"docket/engine"
)

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"tool_call_id"`
	Name    string          `json:"name"`
	Calls   []struct {
		ID       string `json:"id"`
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

type chat struct{}

func (chat) Read(m chatMessage) compact.Message {
	out := compact.Message{Speaks: m.Role != "tool"}
	switch m.Role {
	case "user":
		out.Role = compact.RoleUser
	case "assistant":
		out.Role = compact.RoleAssistant
	case "system", "developer":
		out.Role = compact.RoleSystem
	case "tool":
		r := compact.Result{Result: docket.Result{Call: docket.Call{ID: docket.CallID(m.CallID), Tool: m.Name}, Payload: []byte(m.text())}}
		out.Results = []compact.Result{r}
	}
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, docket.Call{ID: docket.CallID(c.ID), Tool: c.Function.Name, Args: []byte(c.Function.Arguments)})
	}
	return out
}

// text is the string, or the text parts joined by a newline.
func (m chatMessage) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	json.Unmarshal(m.Content, &parts)
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n")
}

func (chat) Replace(m chatMessage, with []compact.Replacement) chatMessage {
	m.Content, _ = json.Marshal(with[0].Text)
	return m
}

// chats calls fn with every OpenAI transcript of the corpus.
func chats(t *testing.T, fn func(name string, messages []chatMessage)) {
	root := os.Getenv("DOCKET_CORPUS")
	if root == "" {
		t.Log("DOCKET_CORPUS is not set: the recorded conversations are NOT tested")
		t.Skip("DOCKET_CORPUS is not set: point it at the folder that holds transcripts/openai-chat")
	}
	paths, _ := filepath.Glob(filepath.Join(root, "transcripts", "openai-chat", "*.json"))
	if len(paths) == 0 {
		t.Fatalf("no transcripts in %q", root)
	}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var body struct{ Messages []chatMessage }
		if err := json.Unmarshal(src, &body); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		fn(filepath.Base(path), body.Messages)
	}
}

func readChat(messages []chatMessage) []compact.Message {
	out := make([]compact.Message, len(messages))
	for i, m := range messages {
		out[i] = chat{}.Read(m)
	}
	return out
}

// A1, A2, A3, A5, A7: every transcript, every cap.
func TestH1A1CorpusTrim(t *testing.T) {
	trims := 0
	chats(t, func(name string, messages []chatMessage) {
		all := readChat(messages)
		had := len(compact.Faults(all))
		for n := range len(all) + 2 {
			read := compact.Trim(all, func(m compact.Message) compact.Message { return m }, n, nil)
			if f := compact.Faults(read); len(f) > had {
				t.Fatalf("%s, cap %d: new faults %v", name, n, f)
			}
			if n >= 2 && all[0].Role == compact.RoleSystem && (read[0].Role != compact.RoleSystem || len(read) < 2 || read[1].Role != compact.RoleUser) {
				t.Fatalf("%s, cap %d: begins with %+v", name, n, read[0])
			}
			if len(read) > n && rounds(read) > 1 {
				t.Fatalf("%s, cap %d: %d kept, and more than a round", name, n, len(read))
			}
			trims++
		}
	})
	t.Logf("%d trims", trims)
}

// D1 on real ids: some of these conversations give one id to different results.
func TestL3D1Corpus(t *testing.T) {
	reused := 0
	chats(t, func(name string, messages []chatMessage) {
		l := engine.NewMemory(nil)
		v := compact.Viewer[chatMessage]{Service: &compact.Service{Ledger: l, Log: l, Policy: compact.Policy{Threshold: -1}}, Transcript: chat{}}
		out, report := v.View(t.Context(), thread, messages)
		if report.Err != nil {
			t.Fatal(report.Err)
		}
		payloads := map[docket.CallID]string{}
		for _, d := range report.Decisions {
			was := messages[d.Message].text()
			if other, ok := payloads[d.CallID]; ok && other != was {
				reused++
			}
			payloads[d.CallID] = was
			if d.MemID == "" {
				continue
			}
			if got := fetch(t, l, d.MemID); got != was {
				t.Fatalf("%s: message %d comes back as another", name, d.Message)
			}
			if stub := out[d.Message].text(); d.Applied && !strings.Contains(stub, "mem="+string(d.MemID)) {
				t.Fatalf("%s: message %d has the stub of another: %s", name, d.Message, stub)
			}
		}
	})
	t.Logf("%d results have the id of an earlier one with another payload", reused)
	if reused == 0 {
		t.Error("no id was reused: the test shows nothing")
	}
}
