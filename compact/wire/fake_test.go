package wire

// A ledger and a log in memory, until the engine's can be used here.

import (
	"context"
	"iter"
	"maps"
	"sync"

	"docket"
)

type fakeLedger struct {
	mu      sync.Mutex
	key     docket.LineageKey
	records map[docket.MemID]fakeRecord
	order   []docket.MemID
	log     docket.Decisions
	refuse  func(docket.Result) error
}

type fakeRecord struct {
	docket.Result
	handle docket.Handle
	key    docket.LineageKey
}

func newFake() *fakeLedger {
	return &fakeLedger{records: map[docket.MemID]fakeRecord{}, key: docket.LineageKey{1}}
}

func (f *fakeLedger) Record(_ context.Context, thread docket.ThreadID, results ...docket.Result) ([]docket.Handle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var handles []docket.Handle
	for _, r := range results {
		if f.refuse != nil {
			if err := f.refuse(r); err != nil {
				return nil, err
			}
		}
		d := docket.DigestOf(r.Payload)
		id := docket.DeriveMemID(f.key, r.ID, d)
		if _, ok := f.records[id]; !ok {
			r.Payload = append([]byte(nil), r.Payload...)
			h := docket.Handle{MemID: id, Thread: thread, CallID: r.ID, Tool: r.Tool, Chars: int64(len([]rune(string(r.Payload)))), Digest: d, IsError: r.IsError, Summary: "a payload"}
			f.records[id] = fakeRecord{r, h, f.key}
			f.order = append(f.order, id)
		}
		handles = append(handles, f.records[id].handle)
	}
	return handles, nil
}

func (f *fakeLedger) View(_ context.Context, _ docket.ThreadID, id docket.MemID, fn func(docket.Record) error) error {
	f.mu.Lock()
	r, ok := f.records[id]
	f.mu.Unlock()
	if !ok {
		return docket.ErrNotFound
	}
	return fn(r)
}

func (f *fakeLedger) List(_ context.Context, _ docket.ThreadID, _ docket.Seq) iter.Seq2[docket.Handle, error] {
	return func(yield func(docket.Handle, error) bool) {
		for _, id := range f.order {
			if !yield(f.records[id].handle, nil) {
				return
			}
		}
	}
}

func (f *fakeLedger) Decided(context.Context, docket.ThreadID) (docket.Decisions, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return docket.Decisions{Form: f.log.Form, Epochs: maps.Clone(f.log.Epochs)}, nil
}

func (f *fakeLedger) Append(_ context.Context, _ docket.ThreadID, e docket.Epoch) (docket.Decisions, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.log.Epochs == nil {
		f.log.Epochs, f.log.Form = map[docket.MemID]uint64{}, e.Form
	}
	for _, m := range e.Mems {
		if _, ok := f.log.Epochs[m]; !ok {
			f.log.Epochs[m] = 1
		}
	}
	return docket.Decisions{Form: f.log.Form, Epochs: maps.Clone(f.log.Epochs)}, nil
}

func (r fakeRecord) Handle() docket.Handle                     { return r.handle }
func (r fakeRecord) Args() []byte                              { return r.Result.Args }
func (r fakeRecord) Attachments() ([]docket.Attachment, error) { return r.Result.Attachments, nil }
func (r fakeRecord) Section(docket.SectionID) []byte           { return nil }
func (r fakeRecord) Frames() int                               { return min(1, len(r.Payload)) }
func (r fakeRecord) AppendFrame(dst []byte, _ int) ([]byte, error) {
	return append(dst, r.Payload...), nil
}
func (r fakeRecord) Tag(text []byte) string { return docket.DeriveTag(r.key, text) }
