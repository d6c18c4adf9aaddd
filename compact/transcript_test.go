package compact_test

// A message type of the tests' own, its adapter, and ledgers that fail.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"docket"
	"docket/compact"
	"docket/engine"
)

const thread = docket.ThreadID("a thread")

// msg is a message of the tests.
type msg struct {
	role    string // user, assistant, system, tool
	text    string
	calls   []docket.Call
	results []res
}

type res struct {
	id, tool, text string
	failed, image  bool
}

// adapter is compact.Transcript[msg].
type adapter struct{}

func (adapter) Read(m msg) compact.Message {
	out := compact.Message{Calls: m.calls}
	switch m.role {
	case "user":
		out.Role = compact.RoleUser
	case "assistant":
		out.Role = compact.RoleAssistant
	case "system":
		out.Role = compact.RoleSystem
	}
	out.Speaks = m.text != "" && !strings.HasPrefix(m.text, "<system-reminder>")
	for _, r := range m.results {
		result := compact.Result{Result: docket.Result{Call: docket.Call{ID: docket.CallID(r.id), Tool: r.tool}, Payload: []byte(r.text), IsError: r.failed}}
		if r.image {
			result.Attachments = []docket.Attachment{{Kind: "image"}}
			if r.text == "" {
				result.Hold = compact.ReasonViewable
			}
		}
		out.Results = append(out.Results, result)
	}
	return out
}

func (adapter) Replace(m msg, with []compact.Replacement) msg {
	m.results = slices.Clone(m.results)
	for _, w := range with {
		m.results[w.Result].text = w.Text
	}
	return m
}

func user(text string) msg { return msg{role: "user", text: text} }

// model is an assistant message that calls the tool "read" with ids.
func model(ids ...string) msg {
	m := msg{role: "assistant", text: "I look."}
	for _, id := range ids {
		m.calls = append(m.calls, docket.Call{ID: docket.CallID(id), Tool: "read", Args: []byte(`{"of":"` + id + `"}`)})
	}
	return m
}

// results is a message that answers ids, each with the payload of its id.
func results(ids ...string) msg {
	m := msg{role: "user"}
	for _, id := range ids {
		m.results = append(m.results, res{id: id, text: payload(id, 5000)})
	}
	return m
}

// given is a message with one result.
func given(r res) msg { return msg{role: "user", results: []res{r}} }

// payload is a text of n characters that no other id has.
func payload(id string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%s line %d: the quick brown fox jumps over the lazy dog\n", id, i)
	}
	return b.String()[:n]
}

// turns is a conversation of n rounds, each one call, and a last user message.
func turns(n int) []msg {
	list := []msg{user("go")}
	for i := range n {
		id := fmt.Sprintf("t%d", i+1)
		list = append(list, model(id), results(id))
	}
	return append(list, model(), user("and now?"))
}

// view runs one view on messages with ledger l under p.
func view(t *testing.T, l ledger, p compact.Policy, messages []msg) ([]msg, compact.Report) {
	t.Helper()
	v := compact.Viewer[msg]{Service: &compact.Service{Ledger: l, Log: l, Policy: p}, Transcript: adapter{}}
	return v.View(t.Context(), thread, messages)
}

// whole is view for what must go well.
func whole(t *testing.T, l ledger, p compact.Policy, messages []msg) ([]msg, compact.Report) {
	t.Helper()
	out, report := view(t, l, p, messages)
	if report.Err != nil {
		t.Fatal(report.Err)
	}
	return out, report
}

// reasons lists "reason" of what is kept and "reason!" of what is stubbed.
func reasons(r compact.Report) string {
	var list []string
	for _, d := range r.Decisions {
		s := string(d.Reason)
		if d.Applied {
			s += "!"
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

type ledger interface {
	docket.Ledger
	compact.Log
}

func memory(*testing.T) ledger { return engine.NewMemory(nil) }

// broken refuses what its functions say.
type broken struct {
	ledger
	record  func(docket.Result) error
	decided error
	append  error
}

var errBroken = errors.New("the disk is full")

func (b *broken) Record(ctx context.Context, th docket.ThreadID, results ...docket.Result) ([]docket.Handle, error) {
	for _, r := range results {
		if b.record != nil {
			if err := b.record(r); err != nil {
				return nil, err
			}
		}
	}
	return b.ledger.Record(ctx, th, results...)
}

func (b *broken) Decided(ctx context.Context, th docket.ThreadID) (docket.Decisions, error) {
	if b.decided != nil {
		return docket.Decisions{}, b.decided
	}
	return b.ledger.Decided(ctx, th)
}

func (b *broken) Append(ctx context.Context, th docket.ThreadID, e docket.Epoch) (docket.Decisions, error) {
	if b.append != nil {
		return docket.Decisions{}, b.append
	}
	return b.ledger.Append(ctx, th, e)
}

// fetch returns the payload of a record.
func fetch(t *testing.T, l docket.Ledger, id docket.MemID) string {
	t.Helper()
	var out []byte
	err := l.View(t.Context(), thread, id, func(r docket.Record) (err error) {
		for n := range r.Frames() {
			if out, err = r.AppendFrame(out, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("view %s: %v", id, err)
	}
	return string(out)
}
