package engine

// Checkpoints, forks and rewinds in the file. Each is one commit. Rules about what a
// moment holds are in past.go.

import (
	"context"
	"fmt"
	"iter"

	"github.com/google/uuid"

	"docket"
)

func newCheckpointID() (docket.CheckpointID, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("engine: make a checkpoint id: %w", err)
	}
	return docket.CheckpointID(id.String()), nil
}

// Checkpoint keeps the present moment of thread; see [docket.Forker]. Errors besides
// the interface's: as of [Ledger.Record].
func (l *Ledger) Checkpoint(ctx context.Context, thread docket.ThreadID, id docket.CheckpointID) (docket.Checkpoint, error) {
	if err := checkResults(ctx, thread, nil, 0); err != nil {
		return docket.Checkpoint{}, err
	}
	id, err := checkCheckpoint(id)
	if err != nil {
		return docket.Checkpoint{}, err
	}
	var c docket.Checkpoint
	err = l.commit(ctx, &op{apply: func(tx txn, writes func()) error {
		t, err := openThread(tx, l.path, thread)
		if err != nil {
			return err
		}
		if t != nil {
			if there, err := t.checkpointAgain(id); err != nil || there != nil {
				if there != nil {
					c = there.Checkpoint
				}
				return err
			}
		}
		writes()
		if t == nil {
			if t, err = makeThread(tx, l.path, thread, l.opts.Now()); err != nil {
				return err
			}
		}
		made, err := t.putCheckpoint(docket.Checkpoint{ID: id, Thread: thread, Created: l.opts.Now().UTC().Round(0)})
		c = made.Checkpoint
		return err
	}})
	return c, err
}

// checkpointAgain returns the checkpoint called id, nil if there is none. One of
// another moment than now is [docket.ErrCheckpointExists].
func (t *thread) checkpointAgain(id docket.CheckpointID) (*checkpoint, error) {
	b, err := t.optional(bucketCheckpoints)
	if b == nil || err != nil {
		return nil, err
	}
	v, err := t.tx.get(b, []byte(id))
	if v == nil || err != nil {
		return nil, err
	}
	m, err := t.image(false)
	if err != nil {
		return nil, err
	}
	c, ok := m.checkpoint(id)
	if !ok {
		return nil, t.damaged("checkpoints", "a checked checkpoint")
	}
	if !m.is(c) {
		return nil, fmt.Errorf("%w: %q", docket.ErrCheckpointExists, id)
	}
	return &c, nil
}

// putCheckpoint fills in the moment and writes the checkpoint.
func (t *thread) putCheckpoint(made docket.Checkpoint) (checkpoint, error) {
	c := checkpoint{Checkpoint: made}
	data, err := t.bucket(bucketData)
	if err != nil {
		return c, err
	}
	c.Seq = docket.Seq(data.Sequence())
	epochs, err := t.walkable(bucketEpochs)
	if err != nil {
		return c, err
	}
	if k, _ := epochs.Cursor().Last(); k != nil {
		n, _ := parseSeq(k)
		c.Epochs = int(n)
	}
	if b, err := t.optional(bucketDropped); err != nil {
		return c, err
	} else if b != nil {
		c.rewinds = b.Sequence()
	}
	b, err := t.made(bucketCheckpoints)
	if err != nil {
		return c, err
	}
	return c, t.tx.put(b, []byte(c.ID), appendCheckpoint(nil, c))
}

// Checkpoints yields the checkpoints of thread; see [docket.Forker].
func (l *Ledger) Checkpoints(ctx context.Context, thread docket.ThreadID) iter.Seq2[docket.Checkpoint, error] {
	return func(yield func(docket.Checkpoint, error) bool) {
		var all []checkpoint
		err := ctx.Err()
		if err == nil {
			err = l.view("checkpoints", func(tx txn) error {
				t, err := openThread(tx, l.path, thread)
				if err != nil || t == nil {
					return err
				}
				all, err = t.checkpoints()
				return err
			})
		}
		if err != nil {
			yield(docket.Checkpoint{}, err)
			return
		}
		yieldCheckpoints(all, yield)
	}
}

func yieldCheckpoints(all []checkpoint, yield func(docket.Checkpoint, error) bool) {
	byTime(all)
	for _, c := range all {
		if !yield(c.Checkpoint, nil) {
			return
		}
	}
}

// Fork makes a thread of the past of another; see [docket.Forker]. It costs reading
// the handle of every record that the fork sees, and no payload. Errors besides the
// interface's: as of [Ledger.Record].
func (l *Ledger) Fork(ctx context.Context, from docket.ThreadID, at docket.CheckpointID, to docket.ThreadID) error {
	if err := checkResults(ctx, to, nil, 0); err != nil {
		return err
	}
	return l.commit(ctx, &op{apply: func(tx txn, writes func()) error {
		source, p, err := l.moment(tx, from, at)
		if err != nil {
			return err
		}
		if there, err := openThread(tx, l.path, to); err != nil {
			return err
		} else if there != nil {
			return fmt.Errorf("%w: %q", docket.ErrThreadExists, to)
		}
		writes()
		now := l.opts.Now()
		fork := &thread{tx: tx, file: l.path, id: to, info: threadInfo{lineage: source.info.lineage, created: now}, key: source.key, lineage: source.lineage}
		if err := fork.join(); err != nil {
			return err
		}
		return fork.fill(p.at(p.moment, now))
	}})
}

// moment opens a thread and finds one of its checkpoints; the present for an empty id.
func (l *Ledger) moment(tx txn, id docket.ThreadID, at docket.CheckpointID) (t *thread, p past, err error) {
	t, err = openThread(tx, l.path, id)
	if err == nil && t == nil {
		err = fmt.Errorf("%w: %q", docket.ErrNoThread, id)
	}
	if err != nil {
		return nil, p, err
	}
	if p.image, err = t.image(false); err == nil {
		p.moment, err = p.find(at)
	}
	return t, p, err
}

// find returns the checkpoint called at; the present for an empty id.
func (m *image) find(at docket.CheckpointID) (checkpoint, error) {
	if at == "" {
		return m.now(), nil
	}
	c, ok := m.checkpoint(at)
	if !ok {
		return c, fmt.Errorf("%w: %q", docket.ErrNoCheckpoint, at)
	}
	return c, nil
}

// Rewind gives thread the decisions of a checkpoint; see [docket.Forker]. Views of the
// thread that are being made meanwhile may decide by the old log: nobody should make
// any. Errors besides the interface's: as of [Ledger.Record].
func (l *Ledger) Rewind(ctx context.Context, thread docket.ThreadID, at docket.CheckpointID) error {
	if err := checkResults(ctx, thread, nil, 0); err != nil {
		return err
	}
	if at == "" {
		return fmt.Errorf("%w: %q", docket.ErrNoCheckpoint, at)
	}
	return l.commit(ctx, &op{apply: func(tx txn, writes func()) error {
		t, p, err := l.moment(tx, thread, at)
		if err != nil {
			return err
		}
		if !p.log.set(p.epochsAt(p.moment)) {
			return nil
		}
		if err := tx.audit(thread); err != nil {
			return err
		}
		writes()
		return t.putLog(&p.log)
	}})
}
