package ledgertest

// Moving threads (docket.Forker, Export and Import).

import (
	"bytes"
	"errors"
	"slices"

	"docket"
)

// moves is a thread with a past, exported, and another ledger.
type moves struct {
	*forks
	there  *forks
	export []byte
	now    state
}

func newMoves(p *probe) (*moves, error) {
	f, err := newForks(p)
	if err != nil {
		return nil, err
	}
	for i, id := range []docket.CheckpointID{"a", "b"} {
		if _, err := f.mark(id); err != nil {
			return nil, err
		}
		if err := f.step(thread, i); err != nil {
			return nil, err
		}
	}
	if err := f.forker.Rewind(f.ctx, thread, "a"); err != nil {
		return nil, failf("Rewind: %w", err)
	}
	if err := f.step(thread, 2); err != nil {
		return nil, err
	}
	other := p.other()
	there := &forks{&decisions{probe: newProbe(p.ctx, other, p.opts), log: other.(decisionLog)}, other.(docket.Forker)}
	m := &moves{forks: f, there: there}
	if m.now, err = f.state(thread); err != nil {
		return nil, err
	}
	m.export, err = m.exported(f, thread)
	return m, err
}

func (m *moves) exported(f *forks, id docket.ThreadID) ([]byte, error) {
	var b bytes.Buffer
	if err := f.forker.Export(f.ctx, id, &b); err != nil {
		return nil, failf("Export of %q: %w", id, err)
	}
	return b.Bytes(), nil
}

// onlyReader hides all but Read, as a pipe does.
type onlyReader struct{ r *bytes.Reader }

func (o onlyReader) Read(b []byte) (int, error) { return o.r.Read(b) }

func (f *forks) imported(export []byte, as docket.ThreadID) (docket.ImportReport, error) {
	report, err := f.forker.Import(f.ctx, onlyReader{bytes.NewReader(export)}, &docket.ImportOptions{As: as})
	if err != nil {
		err = failf("Import of %d bytes: %w", len(export), err)
	}
	return report, err
}

// checkMove: to another ledger, twice.
func checkMove(p *probe) error {
	m, err := newMoves(p)
	if err != nil {
		return err
	}
	for _, r := range varied() {
		if _, err := m.record1(thread, r); err != nil {
			return err
		}
	}
	if m.now, err = m.state(thread); err != nil {
		return err
	}
	if m.export, err = m.exported(m.forks, thread); err != nil {
		return err
	}
	report, err := m.there.imported(m.export, "")
	if err != nil {
		return err
	}
	n := int64(len(m.now.handles))
	if report.Thread != thread || !report.Changed || report.Records != n || report.Added != n || report.Epochs != 1 || report.Checkpoints != 2 {
		return failf("Import reports %+v of %d records", report, n)
	}
	if err := m.arrived(); err != nil {
		return err
	}
	report, err = m.there.imported(m.export, "")
	if err != nil || report.Changed || report.Added != 0 {
		return failf("a second Import reports %+v, error %v", report, err)
	}
	if err := m.arrived(); err != nil {
		return failf("after a second Import: %w", err)
	}
	back, err := m.exported(m.there, thread)
	if err != nil {
		return err
	}
	if report, err = m.imported(back, ""); err != nil || report.Changed {
		return failf("Import where it came from reports %+v, error %v", report, err)
	}
	return nil
}

// arrived demands that all is there: payloads, arguments, attachments, tags, decisions,
// checkpoints with their moments.
func (m *moves) arrived() error {
	if err := m.there.is(thread, m.now); err != nil {
		return err
	}
	for _, h := range m.now.handles {
		var r docket.Result
		var tag string
		err := m.ledger.View(m.ctx, thread, h.MemID, func(rec docket.Record) (err error) {
			r.Payload, err = payloadOf(rec)
			as, err2 := rec.Attachments()
			r.Args, r.Attachments, tag = bytes.Clone(rec.Args()), as, rec.Tag([]byte("text"))
			if rec.Args() != nil && r.Args == nil {
				r.Args = []byte{}
			}
			return errors.Join(err, err2)
		})
		if err != nil {
			return err
		}
		if err := m.there.holds(thread, h, r); err != nil {
			return failf("after an Import: %w", err)
		}
		if err := m.there.ledger.View(m.ctx, thread, h.MemID, func(rec docket.Record) error {
			if rec.Tag([]byte("text")) != tag {
				return failf("another tag")
			}
			return nil
		}); err != nil {
			return failf("after an Import: %w", err)
		}
	}
	ids, err := m.there.listed(thread)
	if err != nil || !slices.Equal(ids, []docket.CheckpointID{"a", "b"}) {
		return failf("checkpoints %q are imported, error %v", ids, err)
	}
	return nil
}

// checkMoveForward: a later state brings the thread forward, an earlier one changes
// nothing, and what went another way is refused.
func checkMoveForward(p *probe) error {
	m, err := newMoves(p)
	if err != nil {
		return err
	}
	if _, err := m.there.imported(m.export, ""); err != nil {
		return err
	}
	if err := m.step(thread, 5); err != nil {
		return err
	}
	if err := m.forker.Rewind(m.ctx, thread, "b"); err != nil {
		return failf("Rewind: %w", err)
	}
	later, err := m.exported(m.forks, thread)
	if err != nil {
		return err
	}
	if m.now, err = m.state(thread); err != nil {
		return err
	}
	if _, err := m.there.imported(later, ""); err != nil {
		return err
	}
	if err := m.arrived(); err != nil {
		return failf("a later state: %w", err)
	}
	report, err := m.there.imported(m.export, "")
	if err != nil || report.Changed {
		return failf("an earlier state: Import reports %+v, error %v", report, err)
	}
	if err := errors.Join(m.arrived(), m.step(thread, 6), m.there.step(thread, 7)); err != nil {
		return err
	}
	m.now, err = m.there.state(thread)
	later, err2 := m.exported(m.forks, thread)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	_, err = m.there.imported(later, "")
	if err := demand("Import of what went another way", err, docket.ErrDiverged); err != nil {
		return err
	}
	return m.there.is(thread, m.now)
}

// checkMoveJoins: into the ledger that has the lineage, and onto a thread of another.
func checkMoveJoins(p *probe) error {
	m, err := newMoves(p)
	if err != nil {
		return err
	}
	report, err := m.imported(m.export, "copy")
	if err != nil {
		return err
	}
	if report.Thread != "copy" || report.Added != 0 || !report.Changed {
		return failf("Import beside the original reports %+v", report)
	}
	if err := errors.Join(m.is("copy", m.now), m.is(thread, m.now)); err != nil {
		return err
	}
	if err := m.step("copy", 8); err != nil {
		return err
	}
	if err := m.is(thread, m.now); err != nil {
		return failf("after its copy went on: %w", err)
	}
	hs, err := m.there.record(thread, results(3)...)
	if err != nil {
		return err
	}
	_, err = m.there.imported(m.export, "")
	if err := demand("Import onto a thread of another lineage", err, docket.ErrThreadExists); err != nil {
		return err
	}
	return m.there.is(thread, state{handles: hs})
}

// checkMoveDamaged: what is cut or flipped is refused with its place, and leaves
// nothing.
func checkMoveDamaged(p *probe) error {
	m, err := newMoves(p)
	if err != nil {
		return err
	}
	refused := func(what string, b []byte) error {
		report, err := m.there.forker.Import(m.ctx, bytes.NewReader(b), nil)
		if err == nil {
			return failf("Import of %s reports %+v", what, report)
		}
		var damage *docket.CorruptError
		if errors.As(err, &damage) && damage.Place == "" {
			return failf("Import of %s: %v names no place", what, err)
		}
		return m.there.is(thread, state{})
	}
	for i := range 60 {
		at := i * len(m.export) / 60
		flipped := bytes.Clone(m.export)
		flipped[at] ^= 1 << (i % 8)
		if err := errors.Join(refused("a cut export", m.export[:at]), refused("a flipped export", flipped)); err != nil {
			return failf("at byte %d of %d: %w", at, len(m.export), err)
		}
	}
	if err := refused("an export without its last byte", m.export[:len(m.export)-1]); err != nil {
		return err
	}
	return refused("an export with a byte more", append(bytes.Clone(m.export), 0))
}

func checkMoveErrors(p *probe) error {
	m, err := newMoves(p)
	if err != nil {
		return err
	}
	err = m.forker.Export(m.ctx, "a thread that never was", &bytes.Buffer{})
	return demand("Export of nothing", err, docket.ErrNoThread)
}
