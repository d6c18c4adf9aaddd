package engine

// Import into the file. The stream is verified to its end before anything is written.
// Then its records go into the lineage, some megabytes a commit, where no thread sees
// them yet; the last commit makes the thread. A process that dies on the way leaves the
// thread as it was, and records that the next import of it finds.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"docket"
)

const (
	importBatch   = 16 << 20 // bytes of records in one commit
	importRecords = 1 << 10  // and how many
	importSuffix  = ".import"
)

// importing is an import under way.
type importing struct {
	l      *Ledger
	ctx    context.Context
	as     docket.ThreadID
	thread exportThread
	image  image // of the export, at its positions
	report docket.ImportReport
	again  io.Reader // the export from its start, verified
	done   func()    // ends the use of again

	batch  []imported
	bytes  int64 // in batch
	placed []docket.Seq
	moved  bool // a record could not have its position: later ones follow it
	added  []docket.Seq
}

// imported is a record of the batch. Its draft is nil where nothing but a row is to be
// written.
type imported struct {
	exportRecord
	draft *draft
}

// Import reads a thread that was exported; see [docket.Forker]. A reader that cannot
// seek is copied to a file beside the ledger first, for the owner only. It keeps one
// payload in memory, and up to 16 MiB of compressed ones. Ids are taken as they are
// (Options.StrictIDs has no effect), and a payload that had expired here comes back.
// Positions are those of the export where the lineage has them free. Errors besides
// the interface's: as of [Ledger.Record].
func (l *Ledger) Import(ctx context.Context, r io.Reader, opts *docket.ImportOptions) (docket.ImportReport, error) {
	if err := l.writable(); err != nil {
		return docket.ImportReport{}, err
	}
	if err := ctx.Err(); err != nil {
		return docket.ImportReport{}, err
	}
	l.imports.Lock()
	defer l.imports.Unlock()
	x, err := l.verified(r, opts)
	if err != nil {
		return docket.ImportReport{}, err
	}
	defer x.done()
	x.ctx = ctx
	if err := x.possible(); err != nil {
		return x.report, err
	}
	err = x.run()
	if err != nil {
		err = errors.Join(err, x.forget())
	}
	return x.report, full(err)
}

// verified reads an export to its end, so that it can be read again.
func (l *Ledger) verified(r io.Reader, opts *docket.ImportOptions) (*importing, error) {
	x := &importing{l: l, done: func() {}}
	seeker, seeks := r.(io.ReadSeeker)
	start := int64(0)
	if seeks {
		var err error
		start, err = seeker.Seek(0, io.SeekCurrent)
		seeks = err == nil
	}
	if !seeks {
		f, err := os.CreateTemp(filepath.Dir(l.path), filepath.Base(l.path)+".*"+importSuffix)
		if err != nil {
			return nil, full(err)
		}
		_ = os.Remove(f.Name()) // where that can be done it leaves nothing behind, however the process ends
		x.done = func() { _ = f.Close(); _ = os.Remove(f.Name()) }
		r, seeker = io.TeeReader(r, f), f
	}
	read, err := readExport(r, l.dec, l.opts.MaxPayload, nil)
	if err == nil {
		_, err = seeker.Seek(start, io.SeekStart)
	}
	if err == nil {
		x.thread, x.image, x.again = read.thread, read.image, seeker
		x.as, x.report, err = importAs(read, opts)
	}
	if err != nil {
		x.done()
		return nil, full(err)
	}
	return x, nil
}

// importAs returns the thread to import as, and what the report says of the export.
func importAs(read *reading, opts *docket.ImportOptions) (docket.ThreadID, docket.ImportReport, error) {
	as := read.thread.id
	if opts != nil && opts.As != "" {
		as = opts.As
	}
	n := read.image.counts()
	report := docket.ImportReport{Thread: as, Records: int64(n.records), Epochs: int64(len(read.image.log.epochs)), Checkpoints: int64(n.checkpoints)}
	if len(as) > docket.MaxThreadID {
		return as, report, docket.ErrThreadID
	}
	return as, report, nil
}

// destination is what the ledger has of what is imported.
type destination struct {
	lineage *thread // without a thread; nil: the lineage is not there
	thread  *thread // nil: it is not there
	keep    bool    // the thread is in the exported state or a later one
}

// destination finds it; it reads every handle of a thread that is there. Errors:
// [docket.ErrThreadExists], [docket.ErrDiverged].
func (x *importing) destination(tx txn) (d destination, err error) {
	if d.lineage, err = openLineage(tx, x.l.path, x.thread); err != nil {
		return d, err
	}
	if d.thread, err = openThread(tx, x.l.path, x.as); err != nil || d.thread == nil {
		return d, err
	}
	if d.thread.info.lineage != x.thread.info.lineage {
		return d, fmt.Errorf("%w: %q is of another lineage than the exported thread", docket.ErrThreadExists, x.as)
	}
	m, err := d.thread.image(true)
	if err != nil {
		return d, err
	}
	d.keep, err = relate(&m, &x.image, x.as)
	return d, err
}

// relate tells whether there is nothing that an import of image of onto a thread with
// image m would add.
func relate(m, of *image, as docket.ThreadID) (keep bool, err error) {
	if of.begins(m) {
		return true, nil
	}
	if !m.begins(of) {
		return false, fmt.Errorf("%w: %q", docket.ErrDiverged, as)
	}
	return false, nil
}

// openLineage returns the lineage of an exported thread, nil if it is not there.
func openLineage(tx txn, file string, of exportThread) (*thread, error) {
	lineages, err := tx.top(bucketLineages)
	if err != nil || lineages == nil {
		return nil, err
	}
	b, err := tx.bucket(lineages, of.info.lineage[:])
	if err != nil || b == nil {
		return nil, err
	}
	t := &thread{tx: tx, file: file, info: of.info}
	if err := t.openLineage(); err != nil {
		return nil, err
	}
	if t.key != of.key {
		return nil, &docket.CorruptError{Place: "export, thread", Expected: "the key that the ledger has of this lineage", Found: "another"}
	}
	return t, nil
}

// possible tells why the import cannot be made, before anything is written.
func (x *importing) possible() error {
	return x.l.view("thread", func(tx txn) error {
		_, err := x.destination(tx)
		return err
	})
}

// run reads the export for the second time and writes.
func (x *importing) run() error {
	if _, err := readExport(x.again, x.l.dec, x.l.opts.MaxPayload, x.arrive); err != nil {
		return err
	}
	return x.flush(true)
}

// arrive adds a record to the batch.
func (x *importing) arrive(a arrival) error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	due, err := x.due(a.exportRecord)
	if err != nil {
		return err
	}
	in := imported{exportRecord: a.exportRecord}
	if due && a.state == live {
		in.draft = draftOf(x.l, &a)
		x.bytes += in.draft.stored
	}
	if x.batch = append(x.batch, in); x.bytes < importBatch && len(x.batch) < importRecords {
		return nil
	}
	return x.flush(false)
}

// draftOf builds the draft of a live record, with the handle that it had.
func draftOf(l *Ledger, a *arrival) *draft {
	d := build(l.enc, &a.result, a.handle.Digest)
	d.handle = a.handle
	return d
}

// due tells whether the lineage lacks the payload of r.
func (x *importing) due(r exportRecord) (due bool, err error) {
	err = x.l.view("mem id index", func(tx txn) error {
		t, err := openLineage(tx, x.l.path, x.thread)
		if err != nil || t == nil {
			due = true
			return err
		}
		seq, err := t.seqOf(r.mem)
		if err != nil || seq == 0 {
			due = true
			return err
		}
		there, err := t.rowOf(r.mem, seq)
		due = there.state == expired
		return err
	})
	return due, err
}

// flush commits the batch, and with last the thread. What is there already, to the last
// byte, is not written again.
func (x *importing) flush(last bool) error {
	var p placing
	err := x.l.commit(x.ctx, &op{bytes: x.bytes, apply: func(tx txn, writes func()) error {
		p = placing{importing: x, moved: x.moved, changed: writes}
		return p.apply(tx, last)
	}})
	if err != nil {
		return err
	}
	x.moved, x.placed, x.added = p.moved, append(x.placed, p.placed...), append(x.added, p.added...)
	x.report.Added += int64(len(p.added))
	x.report.Changed = x.report.Changed || p.wrote
	x.batch, x.bytes = nil, 0
	return nil
}

// placing is one commit of an import.
type placing struct {
	*importing
	changed func()
	wrote   bool
	moved   bool
	placed  []docket.Seq // of the batch
	added   []docket.Seq // of those, which are new
}

func (p *placing) writes() {
	p.changed()
	p.wrote = true
}

func (p *placing) apply(tx txn, last bool) error {
	var d destination
	var err error
	if last {
		d, err = p.destination(tx)
	} else {
		d.lineage, err = openLineage(tx, p.l.path, p.thread)
	}
	if err != nil {
		return err
	}
	if d.lineage == nil {
		p.writes()
		d.lineage = &thread{tx: tx, file: p.l.path, info: p.thread.info, key: p.thread.key}
		if err := d.lineage.makeLineage(); err != nil {
			return err
		}
	}
	for i := range p.batch {
		seq, err := p.place(d.lineage, &p.batch[i])
		if err != nil {
			return fmt.Errorf("engine: import: %w", err)
		}
		p.placed = append(p.placed, seq)
	}
	if !last || d.keep {
		return nil
	}
	return p.finish(d)
}

// finish makes the thread what the export says.
func (p *placing) finish(d destination) error {
	p.writes()
	if err := p.reach(d.lineage); err != nil {
		return err
	}
	t := d.thread
	if t == nil {
		t = d.lineage
		t.id = p.as
		if err := t.join(); err != nil {
			return err
		}
	}
	m := p.image
	m.sights = slices.Clone(m.sights)
	for i, seq := range append(slices.Clone(p.importing.placed), p.placed...) {
		m.sights[i].seq = seq
	}
	return t.fill(m)
}

// reach makes the lineage's last position at least that of the export, so that what is
// recorded from now on comes after its checkpoints.
func (p *placing) reach(t *thread) error {
	data, err := t.bucket(bucketData)
	if err != nil || data.Sequence() >= uint64(p.thread.last) {
		return err
	}
	return data.SetSequence(uint64(p.thread.last))
}

// place puts a record into the lineage, if it lacks something of it, and returns its
// position there.
func (p *placing) place(t *thread, in *imported) (docket.Seq, error) {
	seq, err := t.seqOf(in.mem)
	if err != nil {
		return 0, err
	}
	if seq == 0 {
		return p.add(t, in)
	}
	there, err := t.rowOf(in.mem, seq)
	switch {
	case err != nil, there.state == erased:
	case in.state == erased:
		p.writes()
		err = t.bury(seq, there, in.exportRecord)
	case there.state == expired && in.draft != nil:
		p.writes()
		err = errors.Join(t.putDraft(seq, in.draft), t.putRow(seq, row{stored: in.draft.stored, handle: there.handle}))
	}
	return seq, err
}

// add puts a record that is new to the lineage at its position, or behind all others.
func (p *placing) add(t *thread, in *imported) (docket.Seq, error) {
	p.writes()
	if err := p.reach(t); err != nil {
		return 0, err
	}
	seq, err := p.free(t, in.seq)
	if err != nil {
		return 0, err
	}
	mems, err := t.bucket(bucketMems)
	if err != nil {
		return 0, err
	}
	p.added = append(p.added, seq)
	r := row{state: in.state, since: in.since, handle: in.handle}
	if in.state == live && in.draft == nil { // it was there when the batch was made
		return 0, errMoved
	}
	if in.draft != nil {
		r.stored = in.draft.stored
		err = t.putDraft(seq, in.draft)
	}
	return seq, errors.Join(err, t.putRow(seq, r), t.tx.put(mems, []byte(in.mem), seqKey(seq)))
}

// free returns want, if no record is there and the order stays that of the export.
func (p *placing) free(t *thread, want docket.Seq) (docket.Seq, error) {
	handles, err := t.bucket(bucketHandles)
	if err != nil {
		return 0, err
	}
	v, err := t.tx.get(handles, seqKey(want))
	if err != nil {
		return 0, err
	}
	if p.moved = p.moved || v != nil; !p.moved {
		return want, nil
	}
	data, err := t.bucket(bucketData)
	if err != nil {
		return 0, err
	}
	n, err := data.NextSequence()
	return docket.Seq(n), err
}

// bury erases the record at seq, because an export has its tombstone.
func (t *thread) bury(seq docket.Seq, there row, r exportRecord) error {
	if err := t.tx.auditLineage(t.info.lineage); err != nil { // deleting merges pages beside those on the way
		return err
	}
	if err := t.drop(seq); err != nil {
		return err
	}
	if err := t.forgetCall(t.tx, seq, there.handle.CallID); err != nil {
		return err
	}
	return t.putRow(seq, row{state: erased, since: r.since})
}
