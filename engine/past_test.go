package engine

// Threads through time at random, on the file and in memory side by side, beside a
// model in which a checkpoint is a copy of the thread.
//
//	go test -run TestModelPast -rapid.checks 5000 ./engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"docket"
)

// pastThread is a thread of the model: what it sees and has decided, and its moments.
type pastThread struct {
	lineage   int
	seen      []string // call ids
	decisions docket.Decisions
	moments   map[docket.CheckpointID]pastThread
}

func (p pastThread) clone() pastThread {
	p.seen, p.decisions, p.moments = slices.Clone(p.seen), p.decisions.Clone(), maps.Clone(p.moments)
	return p
}

// pastModel drives both ledgers.
type pastModel struct {
	ctx     context.Context
	file    *Ledger
	both    []pastSubject
	threads map[docket.ThreadID]*pastThread
	erased  map[string]bool // by lineage and call id
	marks   int
}

type pastSubject interface {
	subject
	docket.Forker
}

func (m *pastModel) some(t *rapid.T) (docket.ThreadID, *pastThread) {
	ids := slices.Sorted(maps.Keys(m.threads))
	id := rapid.SampledFrom(ids).Draw(t, "thread")
	return id, m.threads[id]
}

func (m *pastModel) each(t *rapid.T, what string, do func(l pastSubject) error) {
	for _, l := range m.both {
		if err := do(l); err != nil {
			t.Fatalf("%s on %T: %v", what, l, err)
		}
	}
}

func (m *pastModel) key(p *pastThread, call string) string { return fmt.Sprint(p.lineage, " ", call) }

func (m *pastModel) Record(t *rapid.T) {
	id, p := m.some(t)
	call := fmt.Sprint("call ", rapid.IntRange(0, 9).Draw(t, "call"))
	for _, l := range m.both {
		_, err := l.Record(m.ctx, id, result(docket.CallID(call), "payload of "+call))
		if m.erased[m.key(p, call)] != errors.Is(err, docket.ErrErased) || !m.erased[m.key(p, call)] && err != nil {
			t.Fatalf("Record on %T: %v", l, err)
		}
	}
	if !m.erased[m.key(p, call)] && !slices.Contains(p.seen, call) {
		p.seen = append(p.seen, call)
	}
}

func (m *pastModel) Decide(t *rapid.T) {
	id, p := m.some(t)
	mem := docket.MemID(rapid.StringMatching("[a-h]{16}").Draw(t, "mem"))
	e := docket.Epoch{Mems: []docket.MemID{mem}, Messages: rapid.IntRange(1, 9).Draw(t, "messages"), Form: docket.Form{RecallTool: rapid.SampledFrom([]string{"one", "two"}).Draw(t, "tool")}}
	m.each(t, "Append", func(l pastSubject) error { _, err := l.Append(m.ctx, id, e); return err })
	if p.decisions.Epochs[mem] == 0 {
		p.decisions.Add(&e)
	}
}

func (m *pastModel) Checkpoint(t *rapid.T) {
	id, p := m.some(t)
	m.marks++
	at := docket.CheckpointID(fmt.Sprintf("%04d", m.marks))
	m.each(t, "Checkpoint", func(l pastSubject) error { _, err := l.Checkpoint(m.ctx, id, at); return err })
	p.moments[at] = p.clone()
}

// moment draws one of the thread's checkpoints, "" if it has none.
func (p *pastThread) moment(t *rapid.T) docket.CheckpointID {
	if len(p.moments) == 0 {
		return ""
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(p.moments))).Draw(t, "checkpoint")
}

func (m *pastModel) Fork(t *rapid.T) {
	id, p := m.some(t)
	at := docket.CheckpointID("")
	if rapid.Bool().Draw(t, "at a checkpoint") {
		at = p.moment(t)
	}
	to := docket.ThreadID(fmt.Sprint("thread ", len(m.threads)))
	m.each(t, "Fork", func(l pastSubject) error { return l.Fork(m.ctx, id, at, to) })
	fork := p.clone()
	if at != "" {
		fork = p.moments[at].clone()
	}
	fork.moments = map[docket.CheckpointID]pastThread{}
	for c, moment := range p.moments {
		if begins(moment, fork) {
			fork.moments[c] = moment
		}
	}
	m.threads[to] = &fork
}

// begins tells whether of has all that was seen at moment, and its decisions begin with
// those of then.
func begins(moment, of pastThread) bool {
	for _, call := range moment.seen {
		if !slices.Contains(of.seen, call) {
			return false
		}
	}
	n := len(moment.decisions.Messages)
	if n > len(of.decisions.Messages) || !slices.Equal(moment.decisions.Messages, of.decisions.Messages[:n]) {
		return false
	}
	for id, number := range of.decisions.Epochs {
		if int(number) <= n != (moment.decisions.Epochs[id] == number) {
			return false
		}
	}
	return n == 0 || moment.decisions.Form == of.decisions.Form
}

func (m *pastModel) Rewind(t *rapid.T) {
	id, p := m.some(t)
	at := p.moment(t)
	if at == "" {
		return
	}
	m.each(t, "Rewind", func(l pastSubject) error { return l.Rewind(m.ctx, id, at) })
	p.decisions = p.moments[at].decisions.Clone()
}

func (m *pastModel) Erase(t *rapid.T) {
	id, p := m.some(t)
	if len(p.seen) == 0 || rapid.IntRange(0, 3).Draw(t, "mercy") > 0 {
		return
	}
	call := rapid.SampledFrom(p.seen).Draw(t, "call")
	m.each(t, "Erase", func(l pastSubject) error {
		for h, err := range l.List(m.ctx, id, 0) {
			if err == nil && h.CallID == docket.CallID(call) {
				err = l.Erase(m.ctx, id, h.MemID)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	m.erased[m.key(p, call)] = true
}

// Move exports a thread and imports it under another name, or again.
func (m *pastModel) Move(t *rapid.T) {
	id, p := m.some(t)
	to := id
	if rapid.Bool().Draw(t, "as another") {
		to = docket.ThreadID(fmt.Sprint("thread ", len(m.threads)))
		moved := p.clone()
		m.threads[to] = &moved
	}
	m.each(t, "Move", func(l pastSubject) error {
		var b, again bytes.Buffer
		if err := l.Export(m.ctx, id, &b); err != nil {
			return err
		}
		report, err := l.Import(m.ctx, bytes.NewReader(b.Bytes()), &docket.ImportOptions{As: to})
		if err == nil && (report.Changed != (to != id) || report.Added != 0) {
			err = fmt.Errorf("the import reports %+v", report)
		}
		if err == nil {
			err = l.Export(m.ctx, id, &again)
		}
		if err == nil && !bytes.Equal(again.Bytes(), b.Bytes()) {
			err = errors.New("exported again, the thread is another")
		}
		return err
	})
}

// Check compares all that can be read; rapid calls it after each step.
func (m *pastModel) Check(t *rapid.T) {
	for id, p := range m.threads {
		var want []string
		for _, call := range p.seen {
			if !m.erased[m.key(p, call)] {
				want = append(want, call)
			}
		}
		slices.Sort(want)
		m.each(t, "Check", func(l pastSubject) error {
			var got []string
			for h, err := range l.List(m.ctx, id, 0) {
				if err != nil {
					return err
				}
				if err := l.View(m.ctx, id, h.MemID, func(docket.Record) error { return nil }); err != nil {
					return err
				}
				got = append(got, string(h.CallID))
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				return fmt.Errorf("thread %q has %q, want %q", id, got, want)
			}
			ds, err := l.Decided(m.ctx, id)
			if err != nil || !maps.Equal(ds.Epochs, p.decisions.Epochs) || !slices.Equal(ds.Messages, p.decisions.Messages) || len(ds.Messages) > 0 && ds.Form != p.decisions.Form {
				return fmt.Errorf("thread %q decided %+v, want %+v (%v)", id, ds, p.decisions, err)
			}
			var marks []docket.CheckpointID
			for c, err := range l.Checkpoints(m.ctx, id) {
				if err != nil {
					return err
				}
				marks = append(marks, c.ID)
			}
			if slices.Sort(marks); !slices.Equal(marks, slices.Sorted(maps.Keys(p.moments))) {
				return fmt.Errorf("thread %q has checkpoints %q, want %q", id, marks, slices.Sorted(maps.Keys(p.moments)))
			}
			return nil
		})
	}
}

func TestModelPast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapidDir(t)
		l, err := Open(path, modelOptions(false))
		if err != nil {
			t.Fatal(err)
		}
		m := &pastModel{ctx: context.Background(), file: l, both: []pastSubject{l, NewMemory(modelOptions(false))}, threads: map[docket.ThreadID]*pastThread{}, erased: map[string]bool{}}
		for i := range 2 {
			id := docket.ThreadID(fmt.Sprint("thread ", i))
			m.threads[id] = &pastThread{lineage: i, decisions: docket.Decisions{Epochs: map[docket.MemID]uint64{}}, moments: map[docket.CheckpointID]pastThread{}}
			m.each(t, "Checkpoint", func(l pastSubject) error { _, err := l.Checkpoint(m.ctx, id, "start"); return err })
			m.threads[id].moments["start"] = m.threads[id].clone()
		}
		defer func() {
			report, err := m.file.Check(m.ctx, &CheckOptions{ReadData: true})
			if err != nil || len(report.Findings) > 0 {
				t.Errorf("check: %v, error %v", report.Findings, err)
			}
			_ = m.file.Close()
		}()
		actions := rapid.StateMachineActions(m)
		actions["Reopen"] = func(t *rapid.T) {
			if err := m.file.Close(); err != nil {
				t.Fatal(err)
			}
			if m.file, err = Open(path, modelOptions(false)); err != nil {
				t.Fatal(err)
			}
			m.both[0] = m.file
		}
		actions["Vacuum"] = func(t *rapid.T) {
			if _, err := m.file.Vacuum(m.ctx, &VacuumOptions{Force: true}); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(actions)
	})
}
