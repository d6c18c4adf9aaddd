package ledgertest

// The decision log (compact.Log), for ledgers that keep one.

import (
	"context"
	"maps"
	"slices"

	"docket"
)

// decisionLog is compact.Log, which this package may not import.
type decisionLog interface {
	Decided(ctx context.Context, thread docket.ThreadID) (docket.Decisions, error)
	Append(ctx context.Context, thread docket.ThreadID, epoch docket.Epoch) (docket.Decisions, error)
}

// decisions is a log and mem ids of the thread to decide about.
type decisions struct {
	*probe
	log  decisionLog
	mems []docket.MemID
	// opened is what Decisions.Messages has to be, where it is looked at: epoch n is
	// opened with 3 n messages.
	opened []int
}

func newDecisions(p *probe) (*decisions, error) {
	log, ok := p.ledger.(decisionLog)
	if !ok {
		return nil, errSkipped
	}
	hs, err := p.record(thread, results(24)...)
	if err != nil {
		return nil, err
	}
	d := &decisions{probe: p, log: log}
	for _, h := range hs {
		d.mems = append(d.mems, h.MemID)
	}
	return d, nil
}

// append appends an epoch of a copy of mems, which it then overwrites: the log
// keeps what it keeps.
func (d *decisions) append(tool string, mems ...docket.MemID) (docket.Decisions, error) {
	mems = append([]docket.MemID(nil), mems...)
	got, err := d.log.Append(d.ctx, thread, docket.Epoch{Form: docket.Form{RecallTool: tool}, Mems: mems, Messages: 3 * (len(d.opened) + 1)})
	if err != nil {
		return got, failf("Append of %d mem ids: %w", len(mems), err)
	}
	clear(mems)
	return got, nil
}

// decided demands the state of the log, from Decided and from got.
func (d *decisions) decided(got docket.Decisions, want map[docket.MemID]uint64) error {
	now, err := d.log.Decided(d.ctx, thread)
	if err != nil {
		return failf("Decided: %w", err)
	}
	for what, ds := range map[string]docket.Decisions{"Append returns": got, "Decided returns": now} {
		if !maps.Equal(ds.Epochs, want) {
			return failf("%s %d decisions %v, want %v", what, len(ds.Epochs), ds.Epochs, want)
		}
		if d.opened != nil && !slices.Equal(ds.Messages, d.opened) {
			return failf("%s epochs opened with %v messages, want %v", what, ds.Messages, d.opened)
		}
		if len(want) > 0 && ds.Form.Filled() != (docket.Form{RecallTool: "first"}).Filled() {
			return failf("%s the form %+v, want that of the first epoch", what, ds.Form)
		}
	}
	return nil
}

func checkLog(p *probe) error {
	d, err := newDecisions(p)
	if err != nil {
		return err
	}
	none, err := d.log.Decided(d.ctx, thread)
	if err != nil || len(none.Epochs) != 0 {
		return failf("Decided of a thread without epochs: %d decisions, error %v", len(none.Epochs), err)
	}
	m := d.mems
	want := map[docket.MemID]uint64{}
	steps := []struct {
		tool string
		mems []docket.MemID
		adds []docket.MemID
	}{
		{"first", m[:3], m[:3]},
		{"first", m[:3], nil},
		{"second", m[2:5], m[3:5]},
		{"first", nil, nil},
		{"third", []docket.MemID{m[9], m[9], m[0]}, m[9:10]},
	}
	number := uint64(0)
	for i, s := range steps {
		got, err := d.append(s.tool, s.mems...)
		if err != nil {
			return err
		}
		if len(s.adds) > 0 {
			number++
			d.opened = append(d.opened, 3*int(number))
		}
		for _, id := range s.adds {
			want[id] = number
		}
		if err := d.decided(got, want); err != nil {
			return failf("step %d: %w", i, err)
		}
		if err := d.keepsItsOwn(got, want); err != nil {
			return failf("step %d: %w", i, err)
		}
	}
	return nil
}

// keepsItsOwn demands that the maps that the log handed out are the caller's.
func (d *decisions) keepsItsOwn(got docket.Decisions, want map[docket.MemID]uint64) error {
	form := got.Form
	clear(got.Epochs)
	got, err := d.log.Decided(d.ctx, thread)
	if err != nil {
		return failf("Decided: %w", err)
	}
	clear(got.Epochs)
	if err := d.decided(docket.Decisions{Form: form, Epochs: want, Messages: d.opened}, want); err != nil {
		return failf("after the caller cleared its decisions: %w", err)
	}
	return nil
}

func checkLogIsolated(p *probe) error {
	d, err := newDecisions(p)
	if err != nil {
		return err
	}
	if _, err := d.append("first", d.mems...); err != nil {
		return err
	}
	if _, err := p.record("somebody else", results(24)...); err != nil {
		return err
	}
	for _, th := range []docket.ThreadID{"somebody else", "a thread that never was"} {
		ds, err := d.log.Decided(d.ctx, th)
		if err != nil || len(ds.Epochs) != 0 {
			return failf("Decided of thread %q: %d decisions of another thread, error %v", th, len(ds.Epochs), err)
		}
	}
	return nil
}

func checkLogReopened(p *probe) error {
	d, err := newDecisions(p)
	if err != nil {
		return err
	}
	if _, err := d.append("first", d.mems[:5]...); err != nil {
		return err
	}
	before, err := d.append("second", d.mems[5:]...)
	if err != nil {
		return err
	}
	p.reopen()
	d.log = p.ledger.(decisionLog)
	return d.decided(before, before.Epochs)
}
