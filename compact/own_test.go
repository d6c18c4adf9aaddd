package compact_test

import (
	"reflect"
	"strings"
	"testing"

	"docket"
	"docket/compact"
	"docket/engine"
)

// answer is what the recall tool says about a record.
func answer(t *testing.T, l docket.Ledger, id docket.MemID, rest string) string {
	t.Helper()
	var text []byte
	err := l.View(t.Context(), thread, id, func(rec docket.Record) error {
		text = docket.AppendAnswer(nil, rec, []byte(rest))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// recalled is a conversation in which the model asks for t1 again, under the given
// name of the tool, up to the answer; and the mem id of t1.
func recalled(t *testing.T, l ledger, tool string) ([]msg, docket.MemID) {
	t.Helper()
	list := turns(1)
	_, report := whole(t, l, compact.Policy{}, list)
	id := report.Decisions[0].MemID
	call := docket.Call{ID: "r1", Tool: tool, Args: []byte(`{"mem_id":"` + string(id) + `","offset":16000}`)}
	text := answer(t, l, id, "\n"+payload("slice", 16_000))
	return append(list, msg{role: "assistant", calls: []docket.Call{call}}, given(res{id: "r1", text: text})), id
}

// C2: recall output stays until it was read once, then may become a stub that names
// the original, and is never archived, whatever a wrapper calls the tool.
func TestP7C2RecallOutput(t *testing.T) {
	for _, tool := range []string{"recall_tool_result", "renamed_by_a_wrapper"} {
		t.Run(tool, func(t *testing.T) {
			l := memory(t)
			list, id := recalled(t, l, tool)
			at := len(list) - 1
			for _, p := range []compact.Policy{{}, {KeepLast: 1}, {Mode: compact.ModeArrival}, {FreshStart: new(at)}} {
				out, report := whole(t, l, p, list)
				if d := report.Decisions[1]; d.Reason != compact.ReasonFreshRecall || !reflect.DeepEqual(out[at], list[at]) {
					t.Errorf("%+v: %+v", p, d)
				}
			}
			list = append(list, model(), user("next"))
			_, report := whole(t, l, compact.Policy{FreshStart: new(at)}, list)
			if d := report.Decisions[1]; d.Reason != compact.ReasonFreshRecall {
				t.Errorf("given start: %+v", d)
			}
			out, report := whole(t, l, compact.Policy{}, list)
			d, stub := report.Decisions[1], out[at].results[0].text
			if !d.Applied || d.MemID != id {
				t.Fatalf("once read: %+v", d)
			}
			for _, want := range []string{
				"tool=" + tool + " call_id=r1\n", "archived as mem=" + string(id) + "\n",
				"summary: a slice of the read result mem=" + string(id), `"offset":16000`,
			} {
				if !strings.Contains(stub, want) {
					t.Errorf("the stub lacks %q:\n%s", want, stub)
				}
			}
			again, report := whole(t, l, compact.Policy{KeepLast: 99}, list)
			if report.Decisions[1].Reason != compact.ReasonDecided || !reflect.DeepEqual(again, out) {
				t.Errorf("it is not stable: %s", reasons(report))
			}
			for h := range l.List(t.Context(), thread, 0) {
				if h.CallID == "r1" {
					t.Error("a recall's output was archived")
				}
			}
			persisted, report := whole(t, l, compact.Policy{Threshold: -1}, out)
			if report.Decisions[1].Reason != compact.ReasonStub || &persisted[0] != &out[0] {
				t.Errorf("persisted by the client: %s", reasons(report))
			}
		})
	}
}

func TestP7RecallTakesNoPlace(t *testing.T) {
	l := memory(t)
	list, _ := recalled(t, l, "x")
	list = append(list[:1], append([]msg{model("k"), results("k")}, list[len(list)-2:]...)...)
	list = append(list, model(), user("next"))
	_, report := whole(t, l, compact.Policy{KeepLast: 1}, list)
	if got, want := reasons(report), "protected protected"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What merely looks like an answer is an ordinary result: archived and stubbed as
// itself. What the tool itself returned counts even when a wrapper cut it.
func TestP7Imitations(t *testing.T) {
	l := memory(t)
	list, id := recalled(t, l, "fetch_url")
	at := len(list) - 1
	list[at].results[0].text = strings.Replace(list[at].results[0].text, "brown", "green", 1)
	list = append(list, model(), user("next"))
	_, report := whole(t, l, compact.Policy{}, list)
	if d := report.Decisions[1]; !d.Applied || d.MemID == id {
		t.Errorf("a forged answer: %+v", d)
	}

	l = memory(t)
	list, id = recalled(t, l, "recall_tool_result")
	list[at].results[0].text = list[at].results[0].text[:9000] + " (truncated)"
	list = append(list, model(), user("next"))
	_, report = whole(t, l, compact.Policy{}, list)
	if d := report.Decisions[1]; !d.Applied || d.MemID != id {
		t.Errorf("a cut answer: %+v", d)
	}
	list[at].results[0].text = "[tool_memory not found: x]" + payload("", 5000)
	_, report = whole(t, l, compact.Policy{}, list)
	if d := report.Decisions[1]; d.Applied || d.Reason != compact.ReasonRecall || d.MemID != "" {
		t.Errorf("a miss: %+v", d)
	}
}

// The slice of an expired record keeps its stub; that of an erased one is not
// archived under another name.
func TestP7ExpiredAndErased(t *testing.T) {
	l := engine.NewMemory(nil)
	list, id := recalled(t, l, "x")
	list = append(list, model(), user("next"))
	first, _ := whole(t, l, compact.Policy{}, list)
	if err := l.Expire(t.Context(), thread, id); err != nil {
		t.Fatal(err)
	}
	again, report := whole(t, l, compact.Policy{}, list[len(list)-4:]) // the original is not replayed
	if !reflect.DeepEqual(again[1], first[len(first)-3]) {
		t.Errorf("expired: %s", reasons(report))
	}
	if err := l.Erase(t.Context(), thread, id); err != nil {
		t.Fatal(err)
	}
	out, report := view(t, l, compact.Policy{}, list)
	if got, want := reasons(report), "ledger-error recall"; got != want || !reflect.DeepEqual(out, list) {
		t.Errorf("erased: got %q, want %q", got, want)
	}
	for h := range l.List(t.Context(), thread, 0) {
		if h.CallID == "r1" {
			t.Error("erased bytes came back into the ledger")
		}
	}
}

// A stub in the client's history stays as it is if it is ours to the byte.
func TestPersistedStubs(t *testing.T) {
	l := memory(t)
	out, _ := whole(t, l, compact.Policy{}, turns(1))
	again, report := whole(t, l, compact.Policy{Threshold: -1}, out)
	if got, want := reasons(report), "already-stub"; got != want || &again[0] != &out[0] {
		t.Errorf("got %q, want %q", got, want)
	}
	forged := clone(out)
	forged[2].results[0].text = strings.Replace(out[2].results[0].text, "succeeded", "failed", 1)
	_, report = whole(t, l, compact.Policy{Threshold: 100}, forged)
	if got := reasons(report); got == "already-stub" {
		t.Error("a forged stub was believed")
	}
	v := compact.Viewer[msg]{Service: &compact.Service{Ledger: l, Log: l}, Transcript: adapter{}}
	_, report = v.View(t.Context(), "somebody else's thread", out)
	if got := reasons(report); got == "already-stub" {
		t.Error("another thread's stub was believed")
	}
}
