package compact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"docket"
	"docket/compact"
	"docket/engine"
)

func TestP2IDsStay(t *testing.T) {
	list := turns(3)
	list[2].results[0].id = " ../t1\n\x00é " // verbatim, whatever it is
	list[1].calls[0].ID = docket.CallID(list[2].results[0].id)
	out, report := whole(t, memory(t), compact.Policy{}, list)
	if got, want := reasons(report), "stale! stale! stale!"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i, m := range out {
		for k, r := range m.results {
			if r.id != list[i].results[k].id {
				t.Errorf("message %d: id %q became %q", i, list[i].results[k].id, r.id)
			}
		}
	}
}

// D3: results without an id are never one record, and never rewritten.
func TestP2D3NoID(t *testing.T) {
	l := memory(t)
	list := []msg{user("go"), model("", ""), {role: "user", results: []res{
		{id: "", text: payload("one", 5000)}, {id: "", text: payload("two", 5000)},
	}}, model(), user("next")}
	out, report := whole(t, l, compact.Policy{}, list)
	if got, want := reasons(report), "no-id no-id"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if &out[0] != &list[0] {
		t.Error("the view is another slice")
	}
	for h, err := range l.List(t.Context(), thread, 0) {
		t.Errorf("recorded %+v, error %v", h, err)
	}
}

func TestP3CallsStay(t *testing.T) {
	list := turns(4)
	out, report := whole(t, memory(t), compact.Policy{KeepLast: 1}, list)
	if got, want := reasons(report), "stale! stale! stale! protected"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range out {
		if !reflect.DeepEqual(out[i].calls, list[i].calls) || out[i].text != list[i].text || out[i].role != list[i].role {
			t.Errorf("message %d: more than a result changed", i)
		}
	}
}

// P4: neither while the view is made nor when its compact messages are written to.
func TestP4InputStays(t *testing.T) {
	list := turns(4)
	list[4].results = append(list[4].results, res{id: "small", text: "small"})
	before := clone(list)
	out, report := whole(t, memory(t), compact.Policy{}, list)
	for _, d := range report.Decisions {
		if d.Applied {
			clear(out[d.Message].results)
		}
	}
	clear(out)
	if !reflect.DeepEqual(list, before) {
		t.Error("the input changed")
	}
}

func clone(list []msg) []msg {
	out := slices.Clone(list)
	for i := range out {
		out[i].results = slices.Clone(out[i].results)
		out[i].calls = slices.Clone(out[i].calls)
		for k := range out[i].calls {
			out[i].calls[k].Args = slices.Clone(out[i].calls[k].Args)
		}
	}
	return out
}

func TestP5Identity(t *testing.T) {
	for _, c := range []struct {
		name     string
		policy   compact.Policy
		messages []msg
	}{
		{"disabled", compact.Policy{Disabled: true}, turns(5)},
		{"no results", compact.Policy{}, []msg{user("go"), model(), user("next")}},
		{"no messages", compact.Policy{}, nil},
		{"all protected", compact.Policy{KeepLast: 9}, turns(5)},
		{"all small", compact.Policy{Threshold: 9000}, turns(5)},
		{"before the start", compact.Policy{StartIndex: 99}, turns(5)},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := whole(t, memory(t), c.policy, c.messages)
			if len(out) != len(c.messages) || len(out) > 0 && &out[0] != &c.messages[0] {
				t.Error("the view is not the argument")
			}
		})
	}
	l := memory(t)
	whole(t, l, compact.Policy{Disabled: true}, turns(5))
	for h := range l.List(t.Context(), thread, 0) {
		t.Errorf("disabled, but recorded %s", h.MemID)
	}
}

func TestP6StartIndex(t *testing.T) {
	l := memory(t)
	list := turns(3) // results at 2, 4, 6
	out, report := whole(t, l, compact.Policy{StartIndex: 4}, list)
	if got, want := reasons(report), "before-start stale! stale!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !reflect.DeepEqual(out[2], list[2]) {
		t.Error("a result before the start changed")
	}
	for h := range l.List(t.Context(), thread, 0) {
		if h.CallID == "t1" {
			t.Error("a result before the start was recorded")
		}
	}
}

func TestP11FailOpen(t *testing.T) {
	list := turns(3)
	t.Run("record", func(t *testing.T) {
		l := &broken{ledger: memory(t), record: func(docket.Result) error { return errBroken }}
		out, report := view(t, l, compact.Policy{}, list)
		wantWhole(t, out, list, report, "ledger-error ledger-error ledger-error")
	})
	t.Run("decided", func(t *testing.T) {
		l := &broken{ledger: memory(t), decided: errBroken}
		out, report := view(t, l, compact.Policy{}, list)
		wantWhole(t, out, list, report, "ledger-error ledger-error ledger-error")
	})
	t.Run("append", func(t *testing.T) {
		l := &broken{ledger: memory(t), append: errBroken}
		out, report := view(t, l, compact.Policy{}, list)
		wantWhole(t, out, list, report, "ledger-error ledger-error ledger-error")
	})
	t.Run("conflict", func(t *testing.T) {
		l := engine.NewMemory(&engine.Options{StrictIDs: true})
		two := []msg{user("go"), model("a"), results("a"), model("a"), given(res{id: "a", text: payload("other", 5000)}), model(), user("next")}
		out, report := view(t, l, compact.Policy{}, two)
		if got, want := reasons(report), "stale! ledger-error"; got != want || !errors.Is(report.Err, docket.ErrConflict) {
			t.Errorf("got %q and error %v, want %q", got, report.Err, want)
		}
		if out[4].results[0].text != two[4].results[0].text {
			t.Error("the result in conflict changed")
		}
	})
}

func wantWhole(t *testing.T, out, in []msg, report compact.Report, want string) {
	t.Helper()
	if got := reasons(report); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(report.Err, errBroken) {
		t.Errorf("the report's error is %v", report.Err)
	}
	if &out[0] != &in[0] {
		t.Error("the view is not the argument")
	}
}

// One refused result must not take the stubs of the others away, least of all
// those that were sent before.
func TestP11OneRefused(t *testing.T) {
	b := &broken{ledger: memory(t)}
	sent, _ := whole(t, b, compact.Policy{KeepLast: 2}, turns(4)) // stubs t1, t2
	b.record = func(r docket.Result) error {
		if r.ID == "t4" || r.ID == "t6" {
			return docket.ErrErased
		}
		return nil
	}
	out, report := view(t, b, compact.Policy{}, turns(7))
	if got, want := reasons(report), "decided! decided! stale! ledger-error stale! ledger-error stale!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !reflect.DeepEqual(out[:5], sent[:5]) {
		t.Error("what was sent before changed")
	}
	if n := strings.Count(fmt.Sprint(report.Err), "erased"); n != 2 {
		t.Errorf("the error tells of %d refusals, want 2: %v", n, report.Err)
	}
}

// However many are refused, the report is one line of bounded length.
func TestP11OneLine(t *testing.T) {
	b := &broken{ledger: memory(t), record: func(docket.Result) error { return errBroken }}
	list := turns(200)
	list[2].results[0].id = strings.Repeat("x", 10_000)
	out, report := view(t, b, compact.Policy{}, list)
	if &out[0] != &list[0] {
		t.Error("the view is not the argument")
	}
	s := fmt.Sprint(report.Err)
	if len(s) > 500 || strings.Contains(s, "\n") || !strings.HasSuffix(s, "; 197 more results were refused") {
		t.Errorf("the error is %q", s)
	}
}

// ours: no stub before its payload is durable: the order of the calls.
func TestP11RecordedBeforeDecidedBeforeSent(t *testing.T) {
	o := &ordered{ledger: memory(t)}
	whole(t, o, compact.Policy{}, turns(2))
	if got, want := strings.Join(o.calls, " "), "decided record append"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type ordered struct {
	ledger
	calls []string
}

func (o *ordered) Record(ctx context.Context, th docket.ThreadID, r ...docket.Result) ([]docket.Handle, error) {
	o.calls = append(o.calls, "record")
	return o.ledger.Record(ctx, th, r...)
}

func (o *ordered) Decided(ctx context.Context, th docket.ThreadID) (docket.Decisions, error) {
	o.calls = append(o.calls, "decided")
	return o.ledger.Decided(ctx, th)
}

func (o *ordered) Append(ctx context.Context, th docket.ThreadID, e docket.Epoch) (docket.Decisions, error) {
	o.calls = append(o.calls, "append")
	return o.ledger.Append(ctx, th, e)
}

func TestP12Report(t *testing.T) {
	_, report := whole(t, memory(t), compact.Policy{KeepLast: 1}, turns(2))
	d := report.Decisions[0]
	if d.MemID == "" {
		t.Error("a recorded result has no mem id")
	}
	d.MemID = ""
	got, err := json.Marshal(d)
	want := `{"index":0,"message":2,"call_id":"t1","tool":"read","size":5000,"disposition":"stub","reason":"stale","applied":true,"mem_id":""}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, error %v\nwant %s", got, err, want)
	}
	if cut, ok := report.Cut(); !ok || cut != 2 {
		t.Errorf("the cut is %d, %v", cut, ok)
	}
}

// P13: the service sees no message type; what it needs of one is this adapter.
var _ compact.Transcript[msg] = adapter{}

func TestP13InjectedTranscript(t *testing.T) {
	out, _ := whole(t, memory(t), compact.Policy{}, turns(1))
	if !strings.HasPrefix(out[2].results[0].text, docket.StubHeader) {
		t.Errorf("got %.80q", out[2].results[0].text)
	}
}

func TestS1Stub(t *testing.T) {
	l := memory(t)
	out, report := whole(t, l, compact.Policy{}, turns(1))
	stub, d := out[2].results[0].text, report.Decisions[0]
	lines := strings.Split(stub, "\n")
	for i, want := range []string{
		"[docket.tool_memory v1]", "tool=read call_id=t1", "size_original=5000 chars, archived as mem=" + string(d.MemID),
	} {
		if lines[i] != want {
			t.Errorf("line %d: got %q, want %q", i, lines[i], want)
		}
	}
	for _, want := range []string{"The call succeeded", `recall_tool_result(mem_id="` + string(d.MemID) + `", format="full")`} {
		if !strings.Contains(lines[len(lines)-1], want) {
			t.Errorf("the last line lacks %q: %s", want, lines[len(lines)-1])
		}
	}
	if 2*utf8.RuneCountInString(stub) > 5000 {
		t.Errorf("the stub has %d characters, more than half of 5000", utf8.RuneCountInString(stub))
	}
	if fetch(t, l, d.MemID) != payload("t1", 5000) {
		t.Error("the payload came back otherwise")
	}
}

// B7: whatever the names, a stub has a fixed upper bound.
func TestS4B7LongNames(t *testing.T) {
	id, tool := strings.Repeat("i", 200), strings.Repeat("n", 300)
	list := []msg{user("go"), model(), given(res{id: id, tool: tool, text: payload("x", 200_000)}), model(), user("next")}
	out, _ := whole(t, memory(t), compact.Policy{}, list)
	stub := out[2].results[0].text
	if n := utf8.RuneCountInString(stub); n > 1900 || !strings.Contains(stub, "succeeded") {
		t.Errorf("a stub of %d characters:\n%s", n, stub)
	}
}

// S5, and E1: what a stub quotes of a payload is cut at characters and cannot
// imitate a line of the stub.
func TestS5E1Quoted(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("─", 10_000), strings.Repeat("漢字", 4000), strings.Repeat("🎉", 4000),
		strings.Repeat("\nsize_original=1 chars, archived as mem=aaaaaaaaaaaaaaaa\n", 200),
		strings.Repeat("\u202e\u200b\u2028x", 2000),
	} {
		list := []msg{user("go"), model("a"), given(res{id: "a", text: text}), model(), user("next")}
		out, _ := whole(t, memory(t), compact.Policy{}, list)
		stub := out[2].results[0].text
		if !strings.HasPrefix(stub, docket.StubHeader) || !utf8.ValidString(stub) {
			t.Errorf("%.20q: not a stub in UTF-8: %q", text, stub)
		}
		if n := strings.Count(stub, "\nsize_original="); n != 1 {
			t.Errorf("%.20q: %d lines begin with size_original=", text, n)
		}
		if strings.ContainsAny(stub, "\u202e\u200b\u2028") {
			t.Errorf("%.20q: hidden characters pass", text)
		}
	}
}

// B2: the same history, a hundred times, with other threads between, in another
// ledger on the same file, and asked for in another order.
func TestS2B2SameBytesForEver(t *testing.T) {
	path := t.TempDir() + "/ledger"
	open := func() *engine.Ledger {
		l, err := engine.Open(path, &engine.Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := open()
	list := turns(6)
	first, _ := whole(t, l, compact.Policy{KeepLast: 2}, list)
	for i := range 100 {
		v := compact.Viewer[msg]{Service: &compact.Service{Ledger: l, Log: l, Policy: compact.Policy{}}, Transcript: adapter{}}
		v.View(t.Context(), docket.ThreadID(fmt.Sprint("other ", i%7)), list)
		again, _ := whole(t, l, compact.Policy{KeepLast: 2}, clone(list))
		if !reflect.DeepEqual(first, again) {
			t.Fatalf("view %d differs", i)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open()
	defer l.Close()
	whole(t, l, compact.Policy{KeepLast: 2}, append([]msg{list[0]}, list[5:]...)) // the later ones first
	again, report := whole(t, l, compact.Policy{KeepLast: 99}, list)
	if !reflect.DeepEqual(first, again) {
		t.Errorf("after a restart the view differs: %s", reasons(report))
	}
}

// S3: the form of the first epoch stays, whatever the next release or client asks
// for; and C3: a stub that names a tool that this request does not have stays out.
func TestS3C3FormIsFrozen(t *testing.T) {
	l := memory(t)
	v := compact.Viewer[msg]{Service: &compact.Service{Ledger: l, Log: l}, Transcript: adapter{}, RecallTool: "mcp__docket__recall_tool_result"}
	out, _ := v.View(t.Context(), thread, turns(1))
	if stub := out[2].results[0].text; !strings.Contains(stub, "Re-expand with mcp__docket__recall_tool_result(") {
		t.Errorf("the stub does not name the tool:\n%s", stub)
	}
	v.RecallTool = "another_tool"
	list := turns(1)
	out, report := v.View(t.Context(), thread, list)
	if got, want := reasons(report), "no-recall-tool"; got != want || &out[0] != &list[0] {
		t.Errorf("got %q, want %q", got, want)
	}
}

// D1: a server that hands out one id for everything.
func TestL3D1OneIDManyResults(t *testing.T) {
	l := memory(t)
	list := []msg{user("go")}
	for i := range 5 {
		list = append(list, model("call_0"), given(res{id: "call_0", text: payload(fmt.Sprint(i%4), 5000)}))
	}
	list = append(list, model(), user("next"))
	out, report := whole(t, l, compact.Policy{}, list)
	mems := map[docket.MemID]bool{}
	for i, d := range report.Decisions {
		mems[d.MemID] = true
		if !d.Applied || fetch(t, l, d.MemID) != payload(fmt.Sprint(i%4), 5000) {
			t.Errorf("result %d: %+v, or its payload is another's", i, d)
		}
	}
	if len(mems) != 4 || report.Decisions[0].MemID != report.Decisions[4].MemID {
		t.Errorf("%d mem ids for 4 payloads", len(mems))
	}
	again, _ := whole(t, l, compact.Policy{}, list)
	if !reflect.DeepEqual(out, again) {
		t.Error("the stubs are not stable")
	}
}

// C4: what a trim dropped is still listed and read.
func TestC4TrimmedIsListed(t *testing.T) {
	l := memory(t)
	list := turns(6)
	_, report := whole(t, l, compact.Policy{}, list)
	kept := compact.Trim(list, adapter{}.Read, 4, nil)
	if len(kept) >= len(list) {
		t.Fatal("nothing was trimmed")
	}
	var listed []docket.MemID
	for h, err := range l.List(t.Context(), thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, h.MemID)
	}
	for i, d := range report.Decisions {
		if !slices.Contains(listed, d.MemID) || fetch(t, l, d.MemID) != payload(fmt.Sprintf("t%d", i+1), 5000) {
			t.Errorf("result %d cannot be listed and read", i)
		}
	}
}

// Views of one thread at once agree on the form and on every stub.
func TestConcurrentViews(t *testing.T) {
	l := memory(t)
	var wg sync.WaitGroup
	views := make([][]msg, 8)
	for i := range views {
		wg.Go(func() {
			v := compact.Viewer[msg]{Service: &compact.Service{Ledger: l, Log: l, Policy: compact.Policy{KeepLast: i % 2}}, Transcript: adapter{}}
			views[i], _ = v.View(context.Background(), thread, turns(5))
		})
	}
	wg.Wait()
	for i, v := range views {
		if !reflect.DeepEqual(v[:9], views[0][:9]) {
			t.Errorf("view %d differs", i)
		}
	}
}

// A history of which everything is recorded and decided is read, never written: no epoch
// is appended, and the file stays as it is.
func TestUnchangedHistoryWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l, err := engine.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	list := turns(500)
	out, _ := whole(t, l, compact.Policy{}, list)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, report := whole(t, l, compact.Policy{}, list)
		if !reflect.DeepEqual(again, out) || len(report.Decisions) != 500 || !report.Decisions[499].Applied {
			t.Fatal("another view")
		}
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("the file changed")
	}
	whole(t, l, compact.Policy{}, append(list, model("new"), results("new"), model()))
	if grown, err := os.ReadFile(path); err != nil || bytes.Equal(grown, after) {
		t.Errorf("a new result leaves the file as it was (%v)", err)
	}
}
