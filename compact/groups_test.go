package compact_test

// Formats whose unit of history is not one message: Gemini, where responses answer
// by position and count, and OpenAI Responses, where a reasoning item belongs to
// the call after it. An adapter of the tests' own shows that the generic trim
// keeps their groups whole; their dialects come later.

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"docket"
	"docket/compact"
)

// bodies calls fn with every transcript of a folder of the corpus.
func bodies(t *testing.T, folder string, fn func(name string, body []byte)) {
	root := os.Getenv("DOCKET_CORPUS")
	if root == "" {
		t.Log("DOCKET_CORPUS is not set: the recorded conversations are NOT tested")
		t.Skip("DOCKET_CORPUS is not set: point it at the folder that holds transcripts/" + folder)
	}
	paths, _ := filepath.Glob(filepath.Join(root, "transcripts", folder, "*.json"))
	if len(paths) == 0 {
		t.Fatalf("no transcripts in %q", root)
	}
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fn(filepath.Base(path), body)
	}
}

type geminiContent struct {
	Role  string
	Parts []struct {
		Text     *string
		Call     *struct{ Name string } `json:"functionCall"`
		Response *struct{ Name string } `json:"functionResponse"`
	}
}

// readGemini matches calls and responses by position: ids are optional there.
func readGemini(contents []geminiContent) []compact.Message {
	out, round := make([]compact.Message, len(contents)), 0
	for i, c := range contents {
		m := &out[i]
		m.Role = compact.RoleUser
		if c.Role == "model" {
			m.Role, round = compact.RoleAssistant, i
		}
		for _, p := range c.Parts {
			id := func(n int) docket.CallID { return docket.CallID(fmt.Sprintf("%d.%d", round, n)) }
			switch {
			case p.Call != nil:
				m.Calls = append(m.Calls, docket.Call{ID: id(len(m.Calls)), Tool: p.Call.Name})
			case p.Response != nil:
				r := compact.Result{}
				r.Call = docket.Call{ID: id(len(m.Results)), Tool: p.Response.Name}
				m.Results = append(m.Results, r)
			case p.Text != nil:
				m.Speaks = true
			}
		}
	}
	return out
}

// A9: as many functionResponse parts as functionCall parts, and no history that
// opens with a functionCall turn, at every cap.
func TestA9GeminiCounts(t *testing.T) {
	two := []geminiContent{}
	err := json.Unmarshal([]byte(`[{"role":"user","parts":[{"text":"go"}]},
		{"role":"model","parts":[{"functionCall":{"name":"a"}},{"functionCall":{"name":"a"}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"a"}},{"functionResponse":{"name":"a"}}]},
		{"role":"model","parts":[{"text":"done"}]}]`), &two)
	if err != nil {
		t.Fatal(err)
	}
	checkGemini(t, "two calls in one turn", two)
	bodies(t, "gemini", func(name string, body []byte) {
		var all struct{ Contents []geminiContent }
		if err := json.Unmarshal(body, &all); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkGemini(t, name, all.Contents)
	})
}

func checkGemini(t *testing.T, name string, contents []geminiContent) {
	read := readGemini(contents)
	if f := compact.Faults(read); len(f) > 0 {
		t.Fatalf("%s: the input has faults: %v", name, f)
	}
	for limit := 1; limit <= len(read)+1; limit++ {
		kept := compact.Kept(read, limit)
		var out []compact.Message
		for _, k := range kept {
			out = append(out, read[k])
		}
		if f := compact.Faults(out); len(f) > 0 {
			t.Fatalf("%s, cap %d: %v", name, limit, f)
		}
		for i, m := range out {
			if len(m.Calls) > 0 && (i == 0 || i+1 < len(out) && len(out[i+1].Results) != len(m.Calls)) {
				t.Fatalf("%s, cap %d: message %d has %d calls, first %v", name, limit, i, len(m.Calls), i == 0)
			}
		}
	}
}

type responsesItem struct {
	Type   string
	Role   string
	CallID string `json:"call_id"`
}

// group is what stands or falls together: reasoning with the calls after it, or
// one other item.
type group struct{ items []responsesItem }

func groups(items []responsesItem) (out []group) {
	open := false // the last group takes more reasoning or calls
	for _, it := range items {
		call := it.Type == "reasoning" || it.Type == "function_call"
		if !call || !open {
			out = append(out, group{})
		}
		open = call
		g := &out[len(out)-1]
		g.items = append(g.items, it)
	}
	return out
}

func readGroup(g group) (m compact.Message) {
	for _, it := range g.items {
		switch it.Type {
		case "function_call", "reasoning":
			m.Role = compact.RoleAssistant
			if it.Type == "function_call" {
				m.Calls = append(m.Calls, docket.Call{ID: docket.CallID(it.CallID)})
			}
		case "function_call_output":
			r := compact.Result{}
			r.ID = docket.CallID(it.CallID)
			m.Results = append(m.Results, r)
		default:
			m.Speaks = true
			m.Role = map[string]compact.Role{"user": compact.RoleUser, "assistant": compact.RoleAssistant, "system": compact.RoleSystem, "developer": compact.RoleSystem}[it.Role]
		}
	}
	return m
}

// A10: reasoning, call and output are kept together or dropped together.
func TestA10ReasoningStaysWithItsCall(t *testing.T) {
	items := []responsesItem{
		{Type: "message", Role: "user"},
		{Type: "reasoning"}, {Type: "function_call", CallID: "c1"}, {Type: "function_call_output", CallID: "c1"},
		{Type: "reasoning"}, {Type: "function_call", CallID: "c2"}, {Type: "function_call_output", CallID: "c2"},
		{Type: "message", Role: "assistant"},
	}
	checkResponses(t, "written", items)
	open := append(slices.Clone(items), responsesItem{Type: "reasoning"}, responsesItem{Type: "function_call", CallID: "c3"})
	checkResponses(t, "an unanswered call at the end", open)
	bodies(t, "openai-responses", func(name string, body []byte) {
		var all struct{ Input []responsesItem }
		if err := json.Unmarshal(body, &all); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkResponses(t, name, all.Input)
	})
}

func checkResponses(t *testing.T, name string, items []responsesItem) {
	all := groups(items)
	read := make([]compact.Message, len(all))
	for i, g := range all {
		read[i] = readGroup(g)
	}
	had := len(compact.Faults(read))
	for limit := 1; limit <= len(all)+1; limit++ {
		kept := compact.Trim(all, readGroup, limit, nil)
		var out []compact.Message
		reasoning := false
		for _, g := range kept {
			out = append(out, readGroup(g))
			for _, it := range g.items {
				if reasoning && it.Type == "function_call_output" {
					t.Fatalf("%s, cap %d: reasoning without its call", name, limit)
				}
				reasoning = it.Type == "reasoning"
			}
		}
		if f := compact.Faults(out); len(f) > had {
			t.Fatalf("%s, cap %d: new faults %v", name, limit, f)
		}
	}
}
