package engine

// The ledger in memory, for tests and short runs. Records are built as for the
// file, so frames and index sections are the same; they lie in maps instead.

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/google/uuid"

	"docket"
	"docket/codec"
	"docket/index"
)

// Memory is a [docket.Ledger] that lives as long as the process. It is safe for
// concurrent use.
type Memory struct {
	opts Options
	enc  *codec.Encoder
	dec  *codec.Decoder

	mu      sync.RWMutex // guards threads and all in them
	threads map[docket.ThreadID]*memThread
}

var (
	_ docket.Ledger   = (*Memory)(nil)
	_ docket.Narrower = (*Memory)(nil)
)

// memLineage is what a thread and its forks share.
type memLineage struct {
	id   lineageID
	key  docket.LineageKey
	last docket.Seq // the last position that is taken
	mems map[docket.MemID]*memRecord
}

// memThread is a thread. Its records are ascending by seq.
type memThread struct {
	*memLineage
	id      docket.ThreadID
	created time.Time
	records []memSight
	seen    map[docket.MemID]bool
	calls   map[docket.CallID][]*memRecord

	log         epochLog
	decisions   docket.Decisions // of the log
	checkpoints []checkpoint     // ascending by id
}

// memSight is a record that a thread sees, since moment.
type memSight struct {
	*memRecord
	moment docket.Seq
}

// memRecord is a record. Its draft is nil when it is expired or erased; a draft is
// replaced, never changed, so that a view reads on without the lock. The handle names
// no thread: threads share it.
type memRecord struct {
	handle docket.Handle
	state  state
	since  time.Time
	draft  *draft
}

// NewMemory returns an empty ledger. nil options are the defaults; those about the
// file have no effect.
func NewMemory(opts *Options) *Memory {
	o := opts.filled()
	return &Memory{opts: o, enc: codec.NewEncoder(o.FrameSize, o.Level), dec: codec.NewDecoder(), threads: map[docket.ThreadID]*memThread{}}
}

// Record keeps results in thread; see [docket.Ledger].
func (m *Memory) Record(ctx context.Context, thread docket.ThreadID, results ...docket.Result) ([]docket.Handle, error) {
	if err := checkResults(ctx, thread, results, m.opts.MaxPayload); err != nil {
		return nil, err
	}
	drafts := make([]*draft, len(results))
	for i := range results {
		d := &draft{handle: docket.Handle{CallID: results[i].ID, Digest: docket.DigestOf(results[i].Payload)}}
		if !m.has(thread, d) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			d = build(m.enc, &results[i], d.handle.Digest)
		}
		drafts[i] = d
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.threads[thread]
	for i, d := range drafts {
		if r := t.find(d); d.parts == nil && r.state == expired { // since has said that it is live
			drafts[i] = build(m.enc, &results[i], d.handle.Digest)
		}
	}
	if handles, err := t.refuse(drafts, m.opts.StrictIDs); err != nil {
		return handles, err
	}
	if t == nil && len(drafts) > 0 {
		t = m.newThread(thread)
	}
	handles := make([]docket.Handle, len(drafts))
	for i, d := range drafts {
		handles[i] = t.put(d, m.opts.Now())
	}
	return handles, nil
}

// has tells whether thread has the result of d live: it need not be built again.
func (m *Memory) has(thread docket.ThreadID, d *draft) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r := m.threads[thread].find(d)
	return r != nil && r.state == live
}

// find returns the record that the lineage of t (which may be nil) has of d, nil if it
// has none.
func (t *memThread) find(d *draft) *memRecord {
	if t == nil {
		return nil
	}
	return t.mems[docket.DeriveMemID(t.key, d.handle.CallID, d.handle.Digest)]
}

// named returns the handle of r with the name of t.
func (t *memThread) named(r *memRecord) docket.Handle {
	h := r.handle
	h.Thread = t.id
	return h
}

// refuse tells why a call that records drafts in t cannot be taken, together with
// the original handles where that is a conflict.
func (t *memThread) refuse(drafts []*draft, strict bool) ([]docket.Handle, error) {
	var conflict error
	handles := make([]docket.Handle, len(drafts))
	seen := map[docket.CallID]docket.Digest{}
	for i, d := range drafts {
		call, digest := d.handle.CallID, d.handle.Digest
		r := t.find(d)
		if r != nil && r.state == erased {
			return nil, docket.ErrErased
		}
		if r != nil && r.state == live {
			handles[i] = t.named(r)
		}
		if !strict || call == "" {
			continue
		}
		original := t.original(call)
		if before, ok := seen[call]; (ok && before != digest) || (original != nil && original.handle.Digest != digest) {
			if original != nil {
				handles[i] = t.named(original)
			}
			conflict = fmt.Errorf("%w: call id %q", docket.ErrConflict, call)
		}
		seen[call] = digest
	}
	return handles, conflict
}

// original returns the first record of a call id that is not erased.
func (t *memThread) original(call docket.CallID) *memRecord {
	if t != nil {
		for _, r := range t.calls[call] {
			if r.state != erased {
				return r
			}
		}
	}
	return nil
}

func (m *Memory) newThread(id docket.ThreadID) *memThread {
	lineage := &memLineage{id: lineageID(uuid.New()), mems: map[docket.MemID]*memRecord{}}
	rand.Read(lineage.key[:])
	return m.join(id, lineage, m.opts.Now())
}

// join makes an empty thread of a lineage.
func (m *Memory) join(id docket.ThreadID, lineage *memLineage, now time.Time) *memThread {
	t := &memThread{
		memLineage: lineage,
		id:         id,
		created:    now.UTC().Round(0),
		seen:       map[docket.MemID]bool{},
		calls:      map[docket.CallID][]*memRecord{},
		decisions:  docket.Decisions{Epochs: map[docket.MemID]uint64{}},
	}
	m.threads[id] = t
	return t
}

// put records d, if it is absent, and returns its handle.
func (t *memThread) put(d *draft, now time.Time) docket.Handle {
	r := t.find(d)
	if r == nil {
		t.last++
		h := d.handle
		h.MemID = docket.DeriveMemID(t.key, h.CallID, h.Digest)
		h.Seq, h.Created = t.last, now.UTC().Round(0)
		r = &memRecord{handle: h, draft: d}
		t.mems[h.MemID] = r
		t.show(r, h.Seq)
	}
	if !t.seen[r.handle.MemID] { // of a fork: a position of its own says since when
		t.last++
		t.show(r, t.last)
	}
	if r.state == expired && d.parts != nil {
		r.state, r.draft = live, d
	}
	return t.named(r)
}

// show makes r visible, since moment.
func (t *memThread) show(r *memRecord, moment docket.Seq) {
	i := t.after(r.handle.Seq)
	t.records = slices.Insert(t.records, i, memSight{r, moment})
	t.seen[r.handle.MemID] = true
	if r.state != erased {
		same := t.calls[r.handle.CallID]
		at, _ := slices.BinarySearchFunc(same, r.handle.Seq, func(r *memRecord, seq docket.Seq) int { return cmp.Compare(r.handle.Seq, seq) })
		t.calls[r.handle.CallID] = slices.Insert(same, at, r)
	}
}

// after returns the number of the first record after a position.
func (t *memThread) after(seq docket.Seq) int {
	return sort.Search(len(t.records), func(i int) bool { return t.records[i].handle.Seq > seq })
}

// View calls fn with a record; see [docket.Ledger].
func (m *Memory) View(ctx context.Context, thread docket.ThreadID, id docket.MemID, fn func(docket.Record) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	rec, err := m.record(thread, id)
	if err != nil {
		return err
	}
	return fn(rec)
}

func (m *Memory) record(thread docket.ThreadID, id docket.MemID) (*record, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.recordLocked(thread, id)
}

func (m *Memory) recordLocked(thread docket.ThreadID, id docket.MemID) (*record, error) {
	t := m.threads[thread]
	if t == nil || !t.seen[id] {
		return nil, docket.ErrNotFound
	}
	r := t.mems[id]
	switch r.state {
	case erased:
		return nil, docket.ErrErased
	case expired:
		return nil, &docket.ExpiredError{Handle: t.named(r), Expired: r.since}
	}
	rec := &record{handle: t.named(r), key: t.key, dec: m.dec, grams: r.draft.grams}
	var err error
	if rec.segment, err = codec.Open(r.draft); err != nil {
		return nil, rec.damaged("segment head", err)
	}
	return rec, nil
}

// List yields the handles of thread after a position; see [docket.Ledger].
func (m *Memory) List(ctx context.Context, thread docket.ThreadID, after docket.Seq) iter.Seq2[docket.Handle, error] {
	return func(yield func(docket.Handle, error) bool) {
		for {
			if err := ctx.Err(); err != nil {
				yield(docket.Handle{}, err)
				return
			}
			h, ok := m.handleAfter(thread, after)
			if !ok || !yield(h, nil) {
				return
			}
			after = h.Seq
		}
	}
}

// handleAfter returns the first handle after a position that is not erased.
func (m *Memory) handleAfter(thread docket.ThreadID, after docket.Seq) (docket.Handle, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	t := m.threads[thread]
	if t == nil {
		return docket.Handle{}, false
	}
	for _, r := range t.records[t.after(after):] {
		if r.state != erased {
			return t.named(r.memRecord), true
		}
	}
	return docket.Handle{}, false
}

// Narrow yields the records of thread that may contain query; see
// [docket.Narrower].
func (m *Memory) Narrow(ctx context.Context, thread docket.ThreadID, query []byte, fold bool) iter.Seq2[docket.MemID, error] {
	return func(yield func(docket.MemID, error) bool) {
		q := index.NewQuery(query, fold)
		for h, err := range m.List(ctx, thread, 0) {
			if err != nil {
				yield("", err)
				return
			}
			rec, err := m.record(thread, h.MemID)
			if err != nil {
				continue // it was retired since
			}
			if section := rec.Section(docket.SectionGrams); section != nil && !q.MayContain(section) {
				continue
			}
			if !yield(h.MemID, nil) {
				return
			}
		}
	}
}

// Decided returns the decisions of thread; see [Ledger.Decided].
func (m *Memory) Decided(ctx context.Context, thread docket.ThreadID) (docket.Decisions, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	d := docket.Decisions{Epochs: map[docket.MemID]uint64{}}
	if t := m.threads[thread]; t != nil {
		d = t.decisions.Clone()
	}
	return d, ctx.Err()
}

// Append adds an epoch to the log of thread; see [Ledger.Append].
func (m *Memory) Append(ctx context.Context, thread docket.ThreadID, epoch docket.Epoch) (docket.Decisions, error) {
	if err := checkEpoch(ctx, thread, epoch); err != nil {
		return docket.Decisions{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.threads[thread]
	if t == nil {
		t = m.newThread(thread)
	}
	if epoch.Mems = t.decisions.Undecided(epoch.Mems); len(epoch.Mems) > 0 {
		if epoch.Created.IsZero() {
			epoch.Created = m.opts.Now()
		}
		epoch.Created = epoch.Created.UTC().Round(0)
		t.decisions.Add(&epoch)
		t.log.epochs = append(t.log.epochs, epoch)
	}
	return t.decisions.Clone(), nil
}

// Expire drops a record's payload; see [Ledger.Expire].
func (m *Memory) Expire(ctx context.Context, thread docket.ThreadID, id docket.MemID) error {
	return m.retire(ctx, thread, id, expired)
}

// Erase drops all of a record but its mem id; see [Ledger.Erase].
func (m *Memory) Erase(ctx context.Context, thread docket.ThreadID, id docket.MemID) error {
	return m.retire(ctx, thread, id, erased)
}

func (m *Memory) retire(ctx context.Context, thread docket.ThreadID, id docket.MemID, to state) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.threads[thread]
	if t == nil || !t.seen[id] {
		return docket.ErrNotFound
	}
	r := t.mems[id]
	if r.state == erased && to == expired {
		return docket.ErrErased
	}
	if r.state != to {
		m.drop(t.memLineage, r, to, m.opts.Now().UTC().Round(0))
	}
	return nil
}

// drop takes the payload of r away, and with erased the handle, in every thread of its
// lineage.
func (m *Memory) drop(lineage *memLineage, r *memRecord, to state, since time.Time) {
	r.state, r.since, r.draft = to, since, nil
	if to != erased {
		return
	}
	for _, t := range m.threads {
		if call := r.handle.CallID; t.memLineage == lineage {
			t.calls[call] = slices.DeleteFunc(t.calls[call], func(o *memRecord) bool { return o == r })
		}
	}
	r.handle = docket.Handle{MemID: r.handle.MemID, Seq: r.handle.Seq}
}

// Part makes a draft the source of its own segment.
func (d *draft) Part(id codec.PartID, group uint32) []byte {
	for _, p := range d.parts {
		if p.ID == id && p.Group == group {
			return p.Body
		}
	}
	return nil
}
