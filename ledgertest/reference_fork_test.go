package ledgertest

// The reference ledger's threads through time, in the plainest way: a checkpoint is a
// copy of the thread, an export is JSON with a checksum. Faults as in
// reference_test.go.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"docket"
)

// refMark is a moment of a thread.
type refMark struct {
	Checkpoint docket.Checkpoint
	Records    int
	Decisions  docket.Decisions
	Before     int // checkpoints that were there
}

func (l *reference) there(id docket.ThreadID) (*refThread, error) {
	t := l.threads[id]
	if t == nil || len(t.records) == 0 && len(t.marks) == 0 {
		return nil, docket.ErrNoThread
	}
	return t, nil
}

func (t *refThread) mark(id docket.CheckpointID) (refMark, error) {
	if id == "" {
		return refMark{Records: len(t.records), Decisions: t.decisions, Before: len(t.marks)}, nil
	}
	for _, m := range t.marks {
		if m.Checkpoint.ID == id {
			m.Before++
			return m, nil
		}
	}
	return refMark{}, docket.ErrNoCheckpoint
}

func (l *reference) Checkpoint(_ context.Context, id docket.ThreadID, name docket.CheckpointID) (docket.Checkpoint, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.thread(id)
	if name == "" {
		name = docket.CheckpointID(fmt.Sprint("made ", len(t.marks)))
	}
	if len(name) > docket.MaxCheckpointID && !l.has("any checkpoint id") {
		return docket.Checkpoint{}, docket.ErrCheckpointID
	}
	if m, err := t.mark(name); err == nil {
		if (m.Records != len(t.records) || m.Checkpoint.Epochs != len(t.decisions.Messages)) && !l.has("checkpoint moves") {
			return docket.Checkpoint{}, docket.ErrCheckpointExists
		}
		return m.Checkpoint, nil
	}
	c := docket.Checkpoint{ID: name, Thread: id, Seq: docket.Seq(len(t.records)), Epochs: len(t.decisions.Messages)}
	t.marks = append(t.marks, refMark{c, len(t.records), t.decisions.Clone(), len(t.marks)})
	return c, nil
}

func (l *reference) Checkpoints(_ context.Context, id docket.ThreadID) iter.Seq2[docket.Checkpoint, error] {
	return func(yield func(docket.Checkpoint, error) bool) {
		l.mu.Lock()
		marks := slices.Clone(l.thread(id).marks)
		l.mu.Unlock()
		for _, m := range marks {
			m.Checkpoint.Thread = id
			if !yield(m.Checkpoint, nil) {
				return
			}
		}
	}
}

func (l *reference) Fork(_ context.Context, from docket.ThreadID, at docket.CheckpointID, to docket.ThreadID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if to == "" {
		return docket.ErrThreadID
	}
	t, err := l.there(from)
	if err != nil {
		return err
	}
	m, err := t.mark(at)
	if err != nil {
		return err
	}
	if _, err := l.there(to); err == nil && !l.has("fork replaces") {
		return docket.ErrThreadExists
	}
	if l.has("fork has the present") {
		m, _ = t.mark("")
	}
	if l.has("fork without decisions") {
		m.Decisions = docket.Decisions{}
	}
	fork := &refThread{key: t.key, records: slices.Clone(t.records[:m.Records]), decisions: m.Decisions.Clone(), marks: slices.Clone(t.marks[:m.Before])}
	if l.has("fork of a new key") {
		fork.key = docket.LineageKey{1}
	}
	if l.has("fork shares its log") {
		fork.decisions = t.decisions
	}
	if l.has("fork and thread are one") {
		fork = t
	}
	l.threads[to] = fork
	return nil
}

func (l *reference) Rewind(_ context.Context, id docket.ThreadID, at docket.CheckpointID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, err := l.there(id)
	if err != nil {
		return err
	}
	m, err := t.mark(at)
	if err != nil {
		return err
	}
	if l.has("rewind drops records") {
		t.records = t.records[:m.Records]
	}
	messages := t.decisions.Messages
	if t.decisions = m.Decisions.Clone(); l.has("rewind keeps requests") {
		t.decisions.Messages = messages
	}
	return nil
}

// refExport is what an export holds.
type refExport struct {
	Key         docket.LineageKey
	Thread      docket.ThreadID
	Handles     []docket.Handle
	Payloads    [][]byte
	Args        []json.RawMessage // null: nil
	Attachments [][]docket.Attachment
	Decisions   docket.Decisions
	Marks       []refMark
	History     int // how often the thread went on: what is later is later
}

func (l *reference) Export(_ context.Context, id docket.ThreadID, w io.Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, err := l.there(id)
	if err != nil {
		if l.has("exports nothing") {
			return nil
		}
		return err
	}
	x := refExport{Key: t.key, Thread: id, Decisions: t.decisions, Marks: t.marks}
	for _, r := range t.records {
		h := r.handle
		h.CallID = docket.CallID(fmt.Sprintf("%x", string(h.CallID))) // JSON would lose bytes
		h.Tool = fmt.Sprintf("%x", h.Tool)
		args, _ := json.Marshal(r.args)
		x.Handles, x.Payloads = append(x.Handles, h), append(x.Payloads, r.payload)
		x.Args, x.Attachments = append(x.Args, args), append(x.Attachments, r.attachments)
	}
	body, err := json.Marshal(x)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	_, err = w.Write(append(sum[:], body...))
	return err
}

func (l *reference) Import(_ context.Context, r io.Reader, opts *docket.ImportOptions) (docket.ImportReport, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return docket.ImportReport{}, err
	}
	var x refExport
	sum := sha256.Sum256(b[min(32, len(b)):])
	if !bytes.HasPrefix(b, sum[:]) && !l.has("import checks nothing") {
		return docket.ImportReport{}, &docket.CorruptError{Place: "export", Expected: "its checksum", Found: "another"}
	}
	if err := json.Unmarshal(b[min(32, len(b)):], &x); err != nil {
		return docket.ImportReport{}, &docket.CorruptError{Place: "export", Expected: "JSON", Found: "other"}
	}
	if opts != nil && opts.As != "" {
		x.Thread = opts.As
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(x)
}

func (l *reference) take(x refExport) (docket.ImportReport, error) {
	report := docket.ImportReport{Thread: x.Thread, Records: int64(len(x.Handles)), Epochs: int64(len(x.Decisions.Messages)), Checkpoints: int64(len(x.Marks))}
	t := &refThread{key: x.Key, decisions: x.Decisions, marks: x.Marks}
	for i, h := range x.Handles {
		var args []byte
		_ = json.Unmarshal(x.Args[i], &args)
		var call, tool []byte
		_, _ = fmt.Sscanf(string(h.CallID), "%x", &call)
		_, _ = fmt.Sscanf(h.Tool, "%x", &tool)
		h.CallID, h.Tool, h.Thread = docket.CallID(call), string(tool), x.Thread
		rec := &refRecord{ledger: l, key: x.Key, handle: h, payload: append([]byte{}, x.Payloads[i]...), args: args, attachments: x.Attachments[i]}
		rec.folded = func() []byte { return folded(rec.payload) }
		if l.has("import forgets args") {
			rec.args = nil
		}
		if !l.lineageHas(x.Key, h.MemID) {
			report.Added++
		}
		t.records = append(t.records, rec)
	}
	old, err := l.there(x.Thread)
	switch {
	case err != nil || l.has("import replaces"):
	case old.key != t.key:
		return docket.ImportReport{}, docket.ErrThreadExists
	case old.has(t) && !l.has("import goes back"):
		return report, nil
	case !t.has(old) && !old.has(t) && !l.has("import joins what diverged"):
		return docket.ImportReport{}, docket.ErrDiverged
	}
	report.Changed = true
	l.threads[x.Thread] = t
	return report, nil
}

// lineageHas tells whether a thread of the lineage has a record.
func (l *reference) lineageHas(key docket.LineageKey, id docket.MemID) bool {
	for _, t := range l.threads {
		if t.key == key && slices.ContainsFunc(t.records, func(r *refRecord) bool { return r.handle.MemID == id }) {
			return true
		}
	}
	return false
}

// has tells whether t has all that o has.
func (t *refThread) has(o *refThread) bool {
	for _, r := range o.records {
		if !slices.ContainsFunc(t.records, func(mine *refRecord) bool { return mine.handle.MemID == r.handle.MemID }) {
			return false
		}
	}
	return len(t.records) > len(o.records) || maps.Equal(t.decisions.Epochs, o.decisions.Epochs)
}
