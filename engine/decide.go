package engine

// The decision log: which results of a thread have become stubs, and since which
// epoch. It only grows, and it is durable before the first view that shows a
// decision goes out.

import (
	"context"
	"encoding/binary"
	"time"

	"docket"
	"docket/internal/seal"
)

// Decided returns the decisions of thread: a copy. A thread without epochs has
// none.
func (l *Ledger) Decided(ctx context.Context, thread docket.ThreadID) (docket.Decisions, error) {
	d := docket.Decisions{Epochs: map[docket.MemID]uint64{}}
	if err := ctx.Err(); err != nil {
		return d, err
	}
	err := l.view("decision log", func(tx txn) error {
		t, err := openThread(tx, l.path, thread)
		if err != nil || t == nil {
			return err
		}
		d, err = t.decisions()
		return err
	})
	return d, err
}

// Append adds an epoch to the log of thread and returns the decisions after it,
// durable. Mem ids that are decided already are left out; when none is left
// nothing is written. The log assigns the number, and the time where
// epoch.Created is zero; the form of the thread's first epoch stays. The thread is
// made if need be. Errors: as of [Ledger.Record].
func (l *Ledger) Append(ctx context.Context, thread docket.ThreadID, epoch docket.Epoch) (docket.Decisions, error) {
	var d docket.Decisions
	if err := checkEpoch(ctx, thread, epoch); err != nil {
		return d, err
	}
	if epoch.Created.IsZero() {
		epoch.Created = l.opts.Now()
	}
	now, err := l.Decided(ctx, thread)
	if err != nil || len(now.Undecided(epoch.Mems)) == 0 {
		return now, err
	}
	err = l.commit(ctx, &op{apply: func(tx txn, writes func()) (err error) {
		d, err = l.appendEpoch(tx, thread, epoch, writes)
		return err
	}})
	return d, err
}

// checkEpoch refuses what no log takes.
func checkEpoch(ctx context.Context, thread docket.ThreadID, e docket.Epoch) error {
	if err := checkResults(ctx, thread, nil, 0); err != nil {
		return err
	}
	for _, id := range e.Mems {
		if _, err := docket.ParseMemID(string(id)); err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) appendEpoch(tx txn, id docket.ThreadID, e docket.Epoch, writes func()) (docket.Decisions, error) {
	d := docket.Decisions{Epochs: map[docket.MemID]uint64{}}
	t, err := openThread(tx, l.path, id)
	if err != nil {
		return d, err
	}
	if t != nil {
		if d, err = t.decisions(); err != nil {
			return d, err
		}
	}
	if e.Mems = d.Undecided(e.Mems); len(e.Mems) == 0 {
		return d, nil
	}
	writes()
	if t == nil {
		if t, err = makeThread(tx, l.path, id, l.opts.Now()); err != nil {
			return d, err
		}
	}
	d.Add(&e)
	return d, t.putEpoch(e)
}

// putEpoch writes a numbered epoch.
func (t *thread) putEpoch(e docket.Epoch) error {
	epochs, err := t.bucket(bucketEpochs)
	if err != nil {
		return err
	}
	decided, err := t.bucket(bucketDecided)
	if err != nil {
		return err
	}
	number := binary.BigEndian.AppendUint64(nil, e.Number)
	if err := t.tx.put(epochs, number, appendEpoch(nil, e)); err != nil {
		return err
	}
	for _, id := range e.Mems {
		if err := t.tx.put(decided, []byte(id), number); err != nil {
			return err
		}
	}
	return nil
}

// decisions reads the log of a thread.
func (t *thread) decisions() (docket.Decisions, error) {
	d := docket.Decisions{Epochs: map[docket.MemID]uint64{}}
	epochs, err := t.walkable(bucketEpochs)
	if err != nil {
		return d, err
	}
	decided, err := t.walkable(bucketDecided)
	if err != nil {
		return d, err
	}
	c := epochs.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		e, ok := parseEpoch(v) // of a later one nothing is needed but an estimate
		if len(d.Messages) == 0 {
			if !ok {
				return d, t.damaged("epoch 1", "a checked epoch")
			}
			d.Form = e.Form
		}
		d.Messages = append(d.Messages, e.Messages)
	}
	c = decided.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		number, ok := parseSeq(v)
		if !ok || number == 0 || int(number) > len(d.Messages) {
			return d, t.damaged("decided", "an epoch number")
		}
		d.Epochs[docket.MemID(k)] = uint64(number)
	}
	return d, nil
}

const epochVersion = 1

// appendEpoch appends the encoding of e without its number, which is its key. The
// form must be filled.
func appendEpoch(dst []byte, e docket.Epoch) []byte {
	start := len(dst)
	dst = append(dst, epochVersion)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.Created.UnixNano()))
	dst = binary.AppendUvarint(dst, uint64(e.Form.Version))
	dst = binary.AppendUvarint(dst, uint64(len(e.Form.RecallTool)))
	dst = append(dst, e.Form.RecallTool...)
	dst = binary.AppendUvarint(dst, uint64(max(e.Messages, 0)))
	for _, id := range e.Mems {
		dst = append(dst, id...)
	}
	return binary.LittleEndian.AppendUint32(dst, seal.Sum(dst[start:]))
}

// parseEpoch is the inverse of [appendEpoch]. The result is a copy.
func parseEpoch(b []byte) (e docket.Epoch, ok bool) {
	if len(b) < 1+8+4 || seal.Sum(b[:len(b)-4]) != binary.LittleEndian.Uint32(b[len(b)-4:]) || b[0] != epochVersion {
		return e, false
	}
	e.Created = time.Unix(0, int64(binary.LittleEndian.Uint64(b[1:]))).UTC()
	rest := b[9 : len(b)-4]
	version, rest, ok1 := cutUvarint(rest)
	length, rest, ok2 := cutUvarint(rest)
	if !ok1 || !ok2 || version == 0 || version > 1<<31-1 || length == 0 || length > uint64(len(rest)) {
		return e, false
	}
	e.Form = docket.Form{Version: int(version), RecallTool: string(rest[:length])}
	messages, rest, ok := cutUvarint(rest[length:])
	if !ok || messages > 1<<31-1 {
		return e, false
	}
	e.Messages = int(messages)
	for ; len(rest) >= docket.MemIDLen; rest = rest[docket.MemIDLen:] {
		id, err := docket.ParseMemID(string(rest[:docket.MemIDLen]))
		if err != nil {
			return e, false
		}
		e.Mems = append(e.Mems, id)
	}
	return e, len(rest) == 0 && len(e.Mems) > 0
}

// cutUvarint reads an uvarint in its shortest spelling off b.
func cutUvarint(b []byte) (v uint64, rest []byte, ok bool) {
	v, n := binary.Uvarint(b)
	if n <= 0 || (n > 1 && b[n-1] == 0) {
		return 0, nil, false
	}
	return v, b[n:], true
}
