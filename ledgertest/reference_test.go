package ledgertest

// The smallest ledger that conforms, with a fault to be switched on: what the
// suite's own tests run it on. Each fault is a mistake that a store can make.

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"docket"
	"docket/index"
)

// reference is a conforming ledger unless it has a fault.
type reference struct {
	opts    Options
	fault   string
	secret  string         // what the keys are made from
	barrier sync.WaitGroup // of the faults that need two goroutines at one place
	tickets atomic.Int32
	loops   atomic.Int32 // that run and keep others out

	mu      sync.Mutex
	threads map[docket.ThreadID]*refThread
}

type refThread struct {
	key       docket.LineageKey
	records   []*refRecord
	decisions docket.Decisions
	marks     []refMark
}

func newReference(o Options, fault string) *reference {
	l := &reference{opts: o, fault: fault, secret: rand.Text(), threads: map[docket.ThreadID]*refThread{}}
	l.barrier.Add(2)
	l.tickets.Store(2)
	return l
}

// meet lets the first two who come go on together.
func (l *reference) meet() {
	if l.tickets.Add(-1) >= 0 {
		l.barrier.Done()
		l.barrier.Wait()
	}
}

func (l *reference) has(fault string) bool { return l.fault == fault }

func (l *reference) thread(id docket.ThreadID) *refThread {
	if l.has("threads share one lineage") {
		if l.threads[id] == nil {
			l.threads[id] = &refThread{}
		}
		return l.threads[id]
	}
	if l.has("thread id is a path") {
		id = docket.ThreadID(strings.TrimLeft(string(id), "./"))
	}
	if l.has("one thread for all") {
		id = thread
	}
	t := l.threads[id]
	if t == nil {
		t = &refThread{key: sha256.Sum256([]byte(l.secret + string(id)))}
		l.threads[id] = t
	}
	return t
}

func (l *reference) Record(ctx context.Context, id docket.ThreadID, results ...docket.Result) ([]docket.Handle, error) {
	if err := ctx.Err(); err != nil && !l.has("context ignored") {
		return nil, err
	}
	if (id == "" || len(id) > docket.MaxThreadID) && !l.has("any thread id") {
		return nil, docket.ErrThreadID
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.thread(id)
	kept := len(t.records)
	var hs []docket.Handle
	for _, r := range results {
		h, err := l.put(t, id, r)
		if err != nil {
			if !l.has("half a batch stays") {
				t.records = t.records[:kept]
			}
			return []docket.Handle{h}, err
		}
		hs = append(hs, h)
	}
	if l.has("handles reversed") && len(hs) > 1 {
		hs[0], hs[len(hs)-1] = hs[len(hs)-1], hs[0]
	}
	return hs, nil
}

// put stores r unless it is there.
func (l *reference) put(t *refThread, id docket.ThreadID, r docket.Result) (docket.Handle, error) {
	if l.opts.MaxPayload > 0 && len(r.Payload) > l.opts.MaxPayload && !l.has("no limit") {
		return docket.Handle{}, docket.ErrTooLarge
	}
	if l.has("call id ends at NUL") {
		before, _, _ := strings.Cut(string(r.ID), "\x00")
		r.ID = docket.CallID(before)
	}
	if l.has("call id cut") && len(r.ID) > 255 {
		r.ID = r.ID[:255]
	}
	for _, rec := range t.records {
		if rec.handle.CallID != r.ID {
			continue
		}
		same := rec.handle.Digest == docket.DigestOf(r.Payload)
		switch {
		case same && l.has("second record"):
		case same && l.has("second tool name wins"):
			rec.handle.Tool = r.Tool
			return rec.handle, nil
		case same, l.has("call id is all"):
			return rec.handle, nil
		case l.has("last payload wins"):
			rec.payload = bytes.Clone(r.Payload)
			return rec.handle, nil
		case l.has("conflict tells the new handle"):
			return newRefRecord(l, t, id, r).handle, docket.ErrConflict
		case l.opts.StrictIDs && !l.has("strict ids ignored"):
			return rec.handle, docket.ErrConflict
		}
	}
	if l.has("check then act") {
		l.mu.Unlock()
		l.meet()
		l.mu.Lock()
	}
	rec := newRefRecord(l, t, id, r)
	t.records = append(t.records, rec)
	return rec.handle, nil
}

func (l *reference) View(ctx context.Context, id docket.ThreadID, mem docket.MemID, fn func(docket.Record) error) error {
	if err := ctx.Err(); err != nil && !l.has("context ignored by View") {
		return err
	}
	if l.loops.Load() > 0 {
		return errors.New("the ledger is busy")
	}
	rec, err := l.find(id, mem)
	if err != nil {
		return err
	}
	if err := fn(rec); err != nil && !l.has("View drops errors") {
		if l.has("View wraps errors") {
			return fmt.Errorf("view: %w", err)
		}
		return err
	}
	return nil
}

func (l *reference) find(id docket.ThreadID, mem docket.MemID) (*refRecord, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, rec := range l.thread(id).records {
		if rec.handle.MemID == mem || l.has("prefixes match") && len(mem) > 9 && strings.HasPrefix(string(rec.handle.MemID), string(mem)) {
			return rec, nil
		}
	}
	for _, t := range l.threads {
		for _, rec := range t.records {
			if rec.handle.MemID == mem && l.has("View of any thread") {
				return rec, nil
			}
			if rec.handle.MemID == mem && l.has("foreign ids answer otherwise") {
				return nil, fmt.Errorf("%w: it belongs to another", docket.ErrNotFound)
			}
		}
	}
	return nil, docket.ErrNotFound
}

func (l *reference) List(ctx context.Context, id docket.ThreadID, after docket.Seq) iter.Seq2[docket.Handle, error] {
	return func(yield func(docket.Handle, error) bool) {
		if err := ctx.Err(); err != nil && !l.has("context ignored by List") {
			yield(docket.Handle{}, err)
			return
		}
		defer l.keepOut("List keeps others out")()
		for _, h := range l.handles(id, after) {
			if !yield(h, nil) && !l.has("List goes on") {
				return
			}
		}
	}
}

// keepOut makes View fail until it is ended, where the ledger has the fault.
func (l *reference) keepOut(fault string) (end func()) {
	if !l.has(fault) {
		return func() {}
	}
	l.loops.Add(1)
	return func() { l.loops.Add(-1) }
}

func (l *reference) handles(id docket.ThreadID, after docket.Seq) []docket.Handle {
	l.mu.Lock()
	defer l.mu.Unlock()
	var hs []docket.Handle
	for _, rec := range l.thread(id).records {
		if rec.handle.Seq > after || l.has("after is included") && rec.handle.Seq == after {
			h := rec.handle
			h.Thread = id
			hs = append(hs, h)
		}
	}
	if l.has("List forgets the last") && len(hs) > 0 {
		hs = hs[:len(hs)-1]
	}
	return hs
}

func (l *reference) Narrow(ctx context.Context, id docket.ThreadID, query []byte, fold bool) iter.Seq2[docket.MemID, error] {
	return func(yield func(docket.MemID, error) bool) {
		defer l.keepOut("Narrow keeps others out")()
		for h, err := range l.List(ctx, id, 0) {
			rec, _ := l.find(id, h.MemID)
			if err == nil && !l.mayContain(rec, query, fold) {
				continue
			}
			if !yield(h.MemID, err) {
				return
			}
		}
	}
}

func (l *reference) mayContain(rec *refRecord, query []byte, fold bool) bool {
	switch {
	case l.has("Narrow by frame"):
		return bytes.Contains(rec.payload[:min(len(rec.payload), 4096)], query)
	case fold && !l.has("Narrow knows no folding"):
		return bytes.Contains(rec.folded(), folded(query))
	}
	return bytes.Contains(rec.payload, query)
}

// folded replaces each character by the smallest of its folding orbit.
func folded(s []byte) []byte {
	var out []byte
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		if r == utf8.RuneError && size == 1 {
			out = append(out, s[0])
		} else {
			least := r
			for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
				least = min(least, next)
			}
			out = utf8.AppendRune(out, least)
		}
		s = s[size:]
	}
	return out
}

func (l *reference) Decided(_ context.Context, id docket.ThreadID) (docket.Decisions, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.has("one log for all") {
		id = thread
	}
	ds := l.thread(id).decisions
	if !l.has("log hands out its map") {
		ds = ds.Clone()
	}
	return ds, nil
}

func (l *reference) Append(ctx context.Context, id docket.ThreadID, epoch docket.Epoch) (docket.Decisions, error) {
	now, err := l.Decided(ctx, id)
	if err != nil {
		return now, err
	}
	if l.has("lost update") {
		l.meet()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.thread(id)
	if l.has("lost update") {
		t.decisions = now
	}
	t.decide(epoch, l.has("log decides again"), l.has("last form wins"))
	if l.has("log forgets the requests") {
		clear(t.decisions.Messages)
	}
	ds := t.decisions
	ds.Epochs = maps.Clone(ds.Epochs)
	ds.Messages = slices.Clone(ds.Messages)
	return ds, nil
}

func (t *refThread) decide(epoch docket.Epoch, again, lastForm bool) {
	number := uint64(1)
	for _, n := range t.decisions.Epochs {
		number = max(number, n+1)
	}
	opened := false
	for _, id := range epoch.Mems {
		if len(t.decisions.Epochs) == 0 || lastForm {
			t.decisions.Form = epoch.Form
		}
		if t.decisions.Epochs == nil {
			t.decisions.Epochs = map[docket.MemID]uint64{}
		}
		if _, decided := t.decisions.Epochs[id]; !decided || again {
			t.decisions.Epochs[id] = number
			opened = true
		}
	}
	if opened {
		t.decisions.Messages = append(t.decisions.Messages, epoch.Messages)
	}
}

// refRecord is a record, also during a view.
type refRecord struct {
	ledger      *reference
	key         docket.LineageKey
	handle      docket.Handle
	payload     []byte
	folded      func() []byte
	args        []byte
	attachments []docket.Attachment
}

func newRefRecord(l *reference, t *refThread, id docket.ThreadID, r docket.Result) *refRecord {
	payload := r.Payload
	if !l.has("payload is the caller's") {
		r = clone(r)
	}
	if l.has("payload as valid UTF-8") {
		payload = bytes.ToValidUTF8(payload, []byte("?"))
	}
	if l.has("payload ends at NUL") {
		payload, _, _ = bytes.Cut(payload, []byte{0})
	}
	if l.has("payload is the caller's") {
		r.Payload = payload
	} else {
		r.Payload = bytes.Clone(payload)
	}
	rec := &refRecord{ledger: l, key: t.key, payload: r.Payload, args: r.Args, attachments: r.Attachments}
	rec.folded = sync.OnceValue(func() []byte { return folded(rec.payload) })
	if l.has("args never nil") && rec.args == nil {
		rec.args = []byte{}
	}
	if l.has("attachments dropped") {
		rec.attachments = nil
	}
	rec.handle = docket.Handle{
		MemID: docket.DeriveMemID(t.key, r.ID, docket.DigestOf(r.Payload)), Thread: id, CallID: r.ID, Tool: r.Tool,
		Chars: charCount(r.Payload), Bytes: int64(len(r.Payload)), Digest: docket.DigestOf(r.Payload),
		Seq: docket.Seq(len(t.records) + 1), Kind: refKind(r.Tool), IsError: r.IsError, Summary: "something", Created: time.Now(),
	}
	if l.has("mem id without call id") {
		rec.handle.MemID = docket.DeriveMemID(t.key, "", rec.handle.Digest)
	}
	if l.has("chars are bytes") {
		rec.handle.Chars = rec.handle.Bytes
	}
	if l.has("summary quotes lines") {
		rec.handle.Summary = string(r.Payload)
	}
	if l.has("no kind") {
		rec.handle.Kind = docket.KindText
	}
	return rec
}

func refKind(name string) docket.Kind { return kinds()[name] }

func (r *refRecord) Handle() docket.Handle { return r.handle }
func (r *refRecord) Args() []byte          { return r.args }

func (r *refRecord) Attachments() ([]docket.Attachment, error) {
	if r.ledger.has("attachments alias") {
		return r.attachments, nil
	}
	return clone(docket.Result{Attachments: r.attachments}).Attachments, nil
}

func (r *refRecord) Section(id docket.SectionID) []byte {
	var cuts []int64
	for _, end := range r.cuts() {
		cuts = append(cuts, int64(end))
	}
	switch {
	case r.ledger.has("section of nothing"):
		return []byte("x")
	case id == docket.SectionChars && r.ledger.has("chars of another"):
		return index.AppendChars(nil, bytes.Repeat([]byte{'a'}, len(r.payload)), cuts)
	case id == docket.SectionChars:
		return index.AppendChars(nil, r.payload, cuts)
	case id == docket.SectionGrams && r.ledger.has("grams of another"):
		return index.AppendGrams(nil, bytes.Repeat([]byte{'a'}, len(r.payload)), cuts, len(r.payload)/20)
	case id == docket.SectionGrams:
		return index.AppendGrams(nil, r.payload, cuts, len(r.payload)/20)
	}
	return nil
}

// cuts are the frame ends.
func (r *refRecord) cuts() []int {
	var ends []int
	for at := 0; at < len(r.payload); {
		end := min(at+32<<10, len(r.payload))
		if r.ledger.has("one frame") {
			end = len(r.payload)
		}
		for back := 0; back < 4 && end < len(r.payload) && !r.ledger.has("frames cut characters"); back++ {
			if utf8.RuneStart(r.payload[end-back]) {
				end -= back
				break
			}
		}
		ends = append(ends, end)
		at = end
	}
	if r.ledger.has("frame of nothing") && len(ends) == 0 {
		ends = []int{0}
	}
	return ends
}

func (r *refRecord) Frames() int { return len(r.cuts()) }

func (r *refRecord) AppendFrame(dst []byte, n int) ([]byte, error) {
	ends, start := r.cuts(), 0
	if n < 0 || n >= len(ends) {
		return dst, errors.New("no such frame")
	}
	if n > 0 {
		start = ends[n-1]
	}
	if r.ledger.has("frame replaces dst") {
		dst = dst[:0]
	}
	if r.ledger.has("frame aliases") && len(dst) == 0 {
		return r.payload[start:ends[n]], nil
	}
	return append(dst, r.payload[start:ends[n]]...), nil
}

func (r *refRecord) Tag(text []byte) string {
	if r.ledger.has("tag without key") {
		return docket.DeriveTag(docket.LineageKey{}, text)
	}
	return docket.DeriveTag(r.key, text)
}
