package compact_test

import (
	"context"
	"fmt"
	"strings"

	"docket"
	"docket/compact"
	"docket/engine"
)

// turn is a message type of an agent framework.
type turn struct {
	Role, Text string
	Calls      []docket.Call
	ResultOf   docket.CallID // a turn that is the result of a call
}

// turnTranscript is all that the service needs to know of it.
type turnTranscript struct{}

func (turnTranscript) Read(t turn) compact.Message {
	roles := map[string]compact.Role{"user": compact.RoleUser, "assistant": compact.RoleAssistant}
	m := compact.Message{Role: roles[t.Role], Speaks: t.ResultOf == "", Calls: t.Calls}
	if t.ResultOf != "" {
		r := docket.Result{Call: docket.Call{ID: t.ResultOf}, Payload: []byte(t.Text)}
		m.Results = []compact.Result{{Result: r}}
	}
	return m
}

func (turnTranscript) Replace(t turn, with []compact.Replacement) turn {
	t.Text = with[0].Text // t is a copy
	return t
}

func ExampleViewer_View() {
	ledger := engine.NewMemory(nil) // or engine.Open
	viewer := compact.Viewer[turn]{
		Service:    &compact.Service{Ledger: ledger, Log: ledger, Policy: compact.Policy{Threshold: 2000}},
		Transcript: turnTranscript{},
	}
	messages := []turn{
		{Role: "user", Text: "How many errors are in the log?"},
		{Role: "assistant", Calls: []docket.Call{{ID: "c1", Tool: "read_log", Args: []byte(`{}`)}}},
		{Role: "tool", ResultOf: "c1", Text: strings.Repeat("GET /health 200\n", 5000)},
		{Role: "assistant", Text: "None."},
		{Role: "user", Text: "And in yesterday's?"},
	}
	view, report := viewer.View(context.Background(), "conversation 7", messages)
	fmt.Println(len(messages[2].Text), "characters became", len(view[2].Text) < 1000)
	for _, d := range report.Decisions {
		fmt.Println(d.CallID, d.Tool, d.Size, d.Disposition, d.Reason, d.Applied)
	}
	// Output:
	// 80000 characters became true
	// c1 read_log 80000 stub stale true
}

func ExampleTrim() {
	messages := []turn{
		{Role: "user", Text: "Fix the build."},
		{Role: "assistant", Text: "I look.", Calls: []docket.Call{{ID: "c1"}}},
		{Role: "tool", ResultOf: "c1", Text: "main.go"},
		{Role: "assistant", Text: "I read.", Calls: []docket.Call{{ID: "c2"}}},
		{Role: "tool", ResultOf: "c2", Text: "package main"},
	}
	for _, m := range compact.Trim(messages, turnTranscript{}.Read, 4, nil) {
		fmt.Println(m.Role, m.Text)
	}
	// Output:
	// user Fix the build.
	// assistant I read.
	// tool package main
}
