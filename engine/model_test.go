package engine

// Random sequences of operations on both ledgers beside a model that is a map.
//
//	go test -run TestModel -rapid.checks 5000 ./engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"docket"
)

// kept is what the model knows of a record.
type kept struct {
	payload string
	handle  docket.Handle // as the first recording returned it
	state   state
}

// modelThread is a thread of the model: records in order, and decisions.
type modelThread struct {
	records []*kept
	epochs  map[docket.MemID]uint64
	form    docket.Form
}

// subject is a ledger under test.
type subject interface {
	docket.Ledger
	docket.Narrower
	Decided(context.Context, docket.ThreadID) (docket.Decisions, error)
	Append(context.Context, docket.ThreadID, docket.Epoch) (docket.Decisions, error)
	Expire(context.Context, docket.ThreadID, docket.MemID) error
	Erase(context.Context, docket.ThreadID, docket.MemID) error
}

// model drives one subject.
type model struct {
	ctx     context.Context
	l       subject
	strict  bool
	threads map[docket.ThreadID]*modelThread
}

var modelPayloads = []string{
	"", "x", "payload", `{"a":1}`, strings.Repeat("payload ", 3000), string(sampleJSON(2<<10, 1)), string(sampleJSON(70<<10, 2)), strings.Repeat("\xff─", 10_000),
}

func (m *model) thread(t *rapid.T) (docket.ThreadID, *modelThread) {
	id := docket.ThreadID(rapid.SampledFrom([]string{"a", "b", "c\x00"}).Draw(t, "thread"))
	if m.threads[id] == nil {
		m.threads[id] = &modelThread{epochs: map[docket.MemID]uint64{}}
	}
	return id, m.threads[id]
}

// find returns the model's record of a result.
func (th *modelThread) find(r docket.Result) *kept {
	for _, k := range th.records {
		if k.handle.CallID == r.ID && k.payload == string(r.Payload) {
			return k
		}
	}
	return nil
}

// expect tells which error a batch must end in.
func (m *model) expect(th *modelThread, rs []docket.Result) error {
	var conflict error
	seen := map[docket.CallID]string{}
	for _, r := range rs {
		if k := th.find(r); k != nil && k.state == erased {
			return docket.ErrErased
		}
		if !m.strict || r.ID == "" {
			continue
		}
		first := slices.IndexFunc(th.records, func(k *kept) bool { return k.state != erased && k.handle.CallID == r.ID })
		if before, ok := seen[r.ID]; ok && before != string(r.Payload) || first >= 0 && th.records[first].payload != string(r.Payload) {
			conflict = docket.ErrConflict
		}
		seen[r.ID] = string(r.Payload)
	}
	return conflict
}

func (m *model) Record(t *rapid.T) {
	id, th := m.thread(t)
	var rs []docket.Result
	for range rapid.IntRange(1, 4).Draw(t, "results") {
		call := rapid.SampledFrom([]string{"", "call_1", "call_2", "../x"}).Draw(t, "call")
		rs = append(rs, result(docket.CallID(call), modelPayloads[rapid.IntRange(0, len(modelPayloads)-1).Draw(t, "payload")]))
	}
	hs, err := m.l.Record(m.ctx, id, rs...)
	if want := m.expect(th, rs); want != nil || err != nil {
		if want == nil || !errors.Is(err, want) {
			t.Fatalf("Record: error %v, want %v", err, want)
		}
		return
	}
	for i, r := range rs {
		k := th.find(r)
		if k == nil {
			k = &kept{payload: string(r.Payload), handle: hs[i]}
			if n := len(th.records); n > 0 && hs[i].Seq <= th.records[n-1].handle.Seq {
				t.Fatalf("seq %d after %d", hs[i].Seq, th.records[n-1].handle.Seq)
			}
			th.records = append(th.records, k)
		}
		if k.state = live; hs[i] != k.handle {
			t.Fatalf("Record returns %+v, want %+v", hs[i], k.handle)
		}
	}
}

// some draws one of the thread's records, nil if there is none.
func (th *modelThread) some(t *rapid.T) *kept {
	if len(th.records) == 0 {
		return nil
	}
	return th.records[rapid.IntRange(0, len(th.records)-1).Draw(t, "record")]
}

func (m *model) Expire(t *rapid.T) {
	id, th := m.thread(t)
	k := th.some(t)
	if k == nil {
		return
	}
	err := m.l.Expire(m.ctx, id, k.handle.MemID)
	if k.state == erased != errors.Is(err, docket.ErrErased) || k.state != erased && err != nil {
		t.Fatalf("Expire of a record in state %d: %v", k.state, err)
	}
	if k.state == live {
		k.state = expired
	}
}

func (m *model) Erase(t *rapid.T) {
	id, th := m.thread(t)
	k := th.some(t)
	if k == nil || rapid.IntRange(0, 3).Draw(t, "mercy") > 0 {
		return
	}
	if err := m.l.Erase(m.ctx, id, k.handle.MemID); err != nil {
		t.Fatalf("Erase: %v", err)
	}
	k.state = erased
}

func (m *model) Decide(t *rapid.T) {
	id, th := m.thread(t)
	var mems []docket.MemID
	for range rapid.IntRange(0, 3).Draw(t, "mems") {
		if k := th.some(t); k != nil {
			mems = append(mems, k.handle.MemID)
		}
	}
	form := docket.Form{RecallTool: rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "tool")}
	number := uint64(0)
	for _, n := range th.epochs {
		number = max(number, n)
	}
	if len(th.epochs) == 0 {
		th.form = form.Filled()
	}
	for _, mem := range mems {
		if th.epochs[mem] == 0 {
			th.epochs[mem] = number + 1
		}
	}
	got, err := m.l.Append(m.ctx, id, docket.Epoch{Form: form, Mems: mems})
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	th.checkDecisions(t, got)
}

func (th *modelThread) checkDecisions(t *rapid.T, got docket.Decisions) {
	if !maps.Equal(got.Epochs, th.epochs) || len(th.epochs) > 0 && got.Form != th.form {
		t.Fatalf("decisions %+v, want %+v of form %+v", got, th.epochs, th.form)
	}
}

// Check compares all that can be read; rapid calls it after each step.
func (m *model) Check(t *rapid.T) {
	for id, th := range m.threads {
		var want []docket.Handle
		for _, k := range th.records {
			if k.state != erased {
				want = append(want, k.handle)
			}
		}
		var got []docket.Handle
		for h, err := range m.l.List(m.ctx, id, 0) {
			if err != nil {
				t.Fatalf("List: %v", err)
			}
			got = append(got, h)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("List of %q yields %+v, want %+v", id, got, want)
		}
		decided, err := m.l.Decided(m.ctx, id)
		if err != nil {
			t.Fatalf("Decided: %v", err)
		}
		th.checkDecisions(t, decided)
		if k := th.some(t); k != nil {
			m.checkView(t, id, k)
		}
		m.checkNarrow(t, id, th)
	}
}

func (m *model) checkView(t *rapid.T, id docket.ThreadID, k *kept) {
	var payload []byte
	err := m.l.View(m.ctx, id, k.handle.MemID, func(rec docket.Record) (err error) {
		if rec.Handle() != k.handle {
			return fmt.Errorf("handle %+v, want %+v", rec.Handle(), k.handle)
		}
		payload, err = payloadOf(rec)
		return err
	})
	var gone *docket.ExpiredError
	switch {
	case k.state == live && (err != nil || string(payload) != k.payload),
		k.state == expired && (!errors.As(err, &gone) || gone.Handle != k.handle),
		k.state == erased && !errors.Is(err, docket.ErrErased):
		t.Fatalf("View of a record in state %d: %d bytes, error %v", k.state, len(payload), err)
	}
	for other := range m.threads {
		if other != id {
			if err := m.l.View(m.ctx, other, k.handle.MemID, func(docket.Record) error { return nil }); !errors.Is(err, docket.ErrNotFound) {
				t.Fatalf("another thread's View: %v", err)
			}
		}
	}
}

func (m *model) checkNarrow(t *rapid.T, id docket.ThreadID, th *modelThread) {
	query := rapid.SampledFrom([]string{"payload", `"title"`, "\xff─\xff", "nowhere to be found"}).Draw(t, "query")
	got := map[docket.MemID]bool{}
	for mem, err := range m.l.Narrow(m.ctx, id, []byte(query), false) {
		if err != nil {
			t.Fatalf("Narrow: %v", err)
		}
		got[mem] = true
	}
	for _, k := range th.records {
		if mem := k.handle.MemID; got[mem] && k.state != live || !got[mem] && k.state == live && strings.Contains(k.payload, query) {
			t.Fatalf("Narrow of %q: record in state %d yielded: %t", query, k.state, got[mem])
		}
	}
}

func modelOptions(strict bool) *Options {
	second := int64(0)
	return &Options{NoSync: true, StrictIDs: strict, Now: func() time.Time { second++; return time.Unix(second, 0) }}
}

func TestModelFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := rapidDir(t)
		strict := rapid.Bool().Draw(t, "strict")
		l, err := Open(dir, modelOptions(strict))
		if err != nil {
			t.Fatal(err)
		}
		m := &model{ctx: context.Background(), l: l, strict: strict, threads: map[docket.ThreadID]*modelThread{}}
		defer func() {
			report, err := l.Check(m.ctx, nil)
			if err != nil || len(report.Findings) > 0 {
				t.Errorf("check: %v, error %v", report.Findings, err)
			}
			_ = l.Close()
		}()
		actions := rapid.StateMachineActions(m)
		actions["Reopen"] = func(t *rapid.T) {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if l, err = Open(dir, modelOptions(strict)); err != nil {
				t.Fatal(err)
			}
			m.l = l
		}
		t.Repeat(actions)
	})
}

func TestModelMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		strict := rapid.Bool().Draw(t, "strict")
		m := &model{ctx: context.Background(), l: NewMemory(modelOptions(strict)), strict: strict, threads: map[docket.ThreadID]*modelThread{}}
		t.Repeat(rapid.StateMachineActions(m))
	})
}

// rapidDir returns a path for a ledger; rapid has no TempDir of its own.
func rapidDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "docket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "ledger")
}
