package engine

// Checkpoints, forks and rewinds in memory, by the rules of past.go.

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"docket"
)

var (
	_ docket.Forker = (*Memory)(nil)
	_ docket.Forker = (*Ledger)(nil)
)

// image returns what past.go works on. It shares nothing that changes.
func (t *memThread) image() image {
	m := image{created: t.created, log: t.log, checkpoints: slices.Clone(t.checkpoints)}
	for _, r := range t.records {
		m.sights = append(m.sights, sight{r.handle.Seq, r.moment, r.handle.MemID})
	}
	m.log.epochs, m.log.dropped = slices.Clone(t.log.epochs), slices.Clone(t.log.dropped)
	return m
}

// fill makes the thread what img says.
func (t *memThread) fill(img image) {
	t.records, t.seen, t.calls = nil, map[docket.MemID]bool{}, map[docket.CallID][]*memRecord{}
	for _, s := range img.sights {
		t.show(t.mems[s.mem], s.moment)
	}
	t.setLog(img.log)
	t.checkpoints = img.checkpoints
	for i := range t.checkpoints {
		t.checkpoints[i].Thread = t.id
	}
}

func (t *memThread) setLog(g epochLog) { t.log, t.decisions = g, g.decisions() }

// Checkpoint keeps the present moment of thread; see [docket.Forker].
func (m *Memory) Checkpoint(ctx context.Context, thread docket.ThreadID, id docket.CheckpointID) (docket.Checkpoint, error) {
	if err := checkResults(ctx, thread, nil, 0); err != nil {
		return docket.Checkpoint{}, err
	}
	id, err := checkCheckpoint(id)
	if err != nil {
		return docket.Checkpoint{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.threads[thread]
	if t == nil {
		t = m.newThread(thread)
	}
	img := t.image()
	if c, there := img.checkpoint(id); there && img.is(c) {
		return c.Checkpoint, nil
	} else if there {
		return docket.Checkpoint{}, fmt.Errorf("%w: %q", docket.ErrCheckpointExists, id)
	}
	c := checkpoint{rewinds: t.log.rewinds, Checkpoint: docket.Checkpoint{
		ID: id, Thread: thread, Created: m.opts.Now().UTC().Round(0), Seq: t.last, Epochs: len(t.log.epochs),
	}}
	at, _ := slices.BinarySearchFunc(t.checkpoints, id, func(c checkpoint, id docket.CheckpointID) int { return cmp.Compare(c.ID, id) })
	t.checkpoints = slices.Insert(t.checkpoints, at, c)
	return c.Checkpoint, nil
}

// Checkpoints yields the checkpoints of thread; see [docket.Forker].
func (m *Memory) Checkpoints(ctx context.Context, thread docket.ThreadID) iter.Seq2[docket.Checkpoint, error] {
	return func(yield func(docket.Checkpoint, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(docket.Checkpoint{}, err)
			return
		}
		m.mu.RLock()
		var all []checkpoint
		if t := m.threads[thread]; t != nil {
			all = slices.Clone(t.checkpoints)
		}
		m.mu.RUnlock()
		yieldCheckpoints(all, yield)
	}
}

// Fork makes a thread of the past of another; see [docket.Forker].
func (m *Memory) Fork(ctx context.Context, from docket.ThreadID, at docket.CheckpointID, to docket.ThreadID) error {
	if err := checkResults(ctx, to, nil, 0); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	source, p, err := m.moment(from, at)
	if err != nil {
		return err
	}
	if m.threads[to] != nil {
		return fmt.Errorf("%w: %q", docket.ErrThreadExists, to)
	}
	now := m.opts.Now()
	m.join(to, source.memLineage, now).fill(p.at(p.moment, now))
	return nil
}

// moment finds a thread and one of its checkpoints; the present for an empty id.
func (m *Memory) moment(id docket.ThreadID, at docket.CheckpointID) (t *memThread, p past, err error) {
	if t = m.threads[id]; t == nil {
		return nil, p, fmt.Errorf("%w: %q", docket.ErrNoThread, id)
	}
	p.image = t.image()
	p.moment, err = p.find(at)
	return t, p, err
}

// Rewind gives thread the decisions of a checkpoint; see [docket.Forker].
func (m *Memory) Rewind(ctx context.Context, thread docket.ThreadID, at docket.CheckpointID) error {
	if err := checkResults(ctx, thread, nil, 0); err != nil {
		return err
	}
	if at == "" {
		return fmt.Errorf("%w: %q", docket.ErrNoCheckpoint, at)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t, p, err := m.moment(thread, at)
	if err == nil && p.log.set(p.epochsAt(p.moment)) {
		t.setLog(p.log)
	}
	return err
}
