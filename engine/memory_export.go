package engine

// Export and import in memory: the same stream, verified in the same way.

import (
	"context"
	"fmt"
	"io"

	"docket"
)

// Export writes thread to w; see [docket.Forker] and [Ledger.Export].
func (m *Memory) Export(ctx context.Context, thread docket.ThreadID, w io.Writer) error {
	m.mu.RLock()
	t := m.threads[thread]
	if t == nil {
		m.mu.RUnlock()
		return fmt.Errorf("%w: %q", docket.ErrNoThread, thread)
	}
	x := &exporting{ctx: ctx, image: t.image()}
	x.thread = exportThread{
		info: threadInfo{lineage: t.memLineage.id, created: t.created}, key: t.key,
		last: t.last, rewinds: t.log.rewinds, id: thread,
	}
	m.mu.RUnlock()
	x.carry = func(s sight) (carried, error) { return m.carried(thread, s) }
	if err := ctx.Err(); err != nil {
		return err
	}
	return x.to(w)
}

// carried reads one record for an export.
func (m *Memory) carried(thread docket.ThreadID, s sight) (c carried, err error) {
	m.mu.RLock()
	r := *m.threads[thread].mems[s.mem]
	rec, err := m.recordLocked(thread, s.mem)
	m.mu.RUnlock()
	if r.state == live && err == nil {
		c, err = carriedOf(rec)
	}
	if r.state == live && err != nil {
		return c, err
	}
	c.exportRecord = exportRecord{sight: s, state: r.state, since: r.since, handle: r.handle}
	return c, nil
}

// Import reads a thread that was exported; see [docket.Forker] and [Ledger.Import]. It
// is one step: nobody sees half of it.
func (m *Memory) Import(ctx context.Context, r io.Reader, opts *docket.ImportOptions) (docket.ImportReport, error) {
	var all []imported
	read, err := readExport(r, m.dec, m.opts.MaxPayload, func(a arrival) error {
		in := imported{exportRecord: a.exportRecord}
		if a.state == live {
			in.draft = build(m.enc, &a.result, a.handle.Digest)
			in.draft.handle = a.handle
		}
		all = append(all, in)
		return ctx.Err()
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return docket.ImportReport{}, err
	}
	as, report, err := importAs(read, opts)
	if err != nil {
		return docket.ImportReport{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t, keep, err := m.destination(as, read)
	if err != nil {
		return docket.ImportReport{}, err
	}
	lineage := m.lineage(read.thread)
	lineage.place(m, all, read.thread.last, &report)
	if keep {
		return report, nil
	}
	report.Changed = true
	lineage.last = max(lineage.last, read.thread.last)
	if t == nil {
		t = m.join(as, lineage, read.thread.info.created)
	}
	t.fill(read.image)
	return report, nil
}

// destination finds the thread to import onto, nil if it is not there, and whether it
// is in the exported state or a later one.
func (m *Memory) destination(as docket.ThreadID, read *reading) (t *memThread, keep bool, err error) {
	for _, o := range m.threads {
		if o.memLineage.id == read.thread.info.lineage && o.key != read.thread.key {
			return nil, false, &docket.CorruptError{Place: "export, thread", Expected: "the key that the ledger has of this lineage", Found: "another"}
		}
	}
	if t = m.threads[as]; t == nil {
		return nil, false, nil
	}
	if t.memLineage.id != read.thread.info.lineage {
		return t, false, fmt.Errorf("%w: %q is of another lineage than the exported thread", docket.ErrThreadExists, as)
	}
	img := t.image()
	keep, err = relate(&img, &read.image, as)
	return t, keep, err
}

// lineage finds the lineage of an export, or makes it.
func (m *Memory) lineage(of exportThread) *memLineage {
	for _, t := range m.threads {
		if t.memLineage.id == of.info.lineage {
			return t.memLineage
		}
	}
	return &memLineage{id: of.info.lineage, key: of.key, mems: map[docket.MemID]*memRecord{}}
}

// place puts records into the lineage, as far as it lacks something of them: at their
// positions, and behind all others from the first on whose position is taken.
func (g *memLineage) place(m *Memory, all []imported, last docket.Seq, report *docket.ImportReport) {
	taken, moved := map[docket.Seq]bool{}, false
	for _, r := range g.mems {
		taken[r.handle.Seq] = true
	}
	for _, in := range all {
		r := g.mems[in.mem]
		switch {
		case r == nil:
			g.last = max(g.last, last)
			if moved = moved || taken[in.seq]; moved {
				g.last++
				in.seq = g.last
			}
			in.handle.MemID, in.handle.Seq = in.mem, in.seq
			g.mems[in.mem] = &memRecord{handle: in.handle, state: in.state, since: in.since, draft: in.draft}
			report.Added++
		case r.state != erased && in.state == erased:
			m.drop(g, r, erased, in.since)
		case r.state == expired && in.draft != nil:
			r.state, r.draft = live, in.draft
		default:
			continue
		}
		report.Changed = true
	}
}
