package engine

// Export: a thread as a stream. What it sees, its decisions and checkpoints are those
// of one moment; records follow one by one, each read in a transaction of its own, so
// that a slow reader holds up nobody.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"docket"
	"docket/codec"
)

// carried is a record on its way into an export.
type carried struct {
	exportRecord
	aside  []byte   // stored; nil: none
	frames [][]byte // stored
}

// carriedOf copies what rec stores, and verifies it: an export of damaged bytes would
// be found damaged when the ledger that it came from is gone.
func carriedOf(rec *record) (c carried, err error) {
	c.aside = bytes.Clone(rec.segment.Part(codec.PartAside))
	sum := sha256.New()
	var raw []byte
	for n := range rec.Frames() {
		if raw, err = rec.AppendFrame(raw[:0], n); err != nil {
			return c, err
		}
		sum.Write(raw)
		stored, err := rec.segment.Stored(n)
		if err != nil {
			return c, rec.damaged(fmt.Sprintf("frame %d", n), err)
		}
		c.frames = append(c.frames, bytes.Clone(stored))
	}
	if docket.Digest(sum.Sum(nil)) != rec.handle.Digest {
		return c, &docket.CorruptError{File: rec.file, Place: place(rec.handle.Seq, "payload"), Rule: ruleDigest, Expected: "the handle's digest", Found: "another"}
	}
	_, err = rec.Attachments()
	return c, err
}

// exporting is an export under way.
type exporting struct {
	ctx    context.Context
	thread exportThread
	image  image
	carry  func(sight) (carried, error)
}

// to writes the export.
func (x *exporting) to(w io.Writer) error {
	u, err := newUnitWriter(w)
	if err != nil {
		return err
	}
	if err := u.put(unitThread, appendExportThread(nil, x.thread)); err != nil {
		return err
	}
	for _, s := range x.image.sights {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		c, err := x.carry(s)
		if err != nil {
			return err
		}
		if err := u.putRecord(c); err != nil {
			return err
		}
	}
	if err := u.putLog(&x.image.log); err != nil {
		return err
	}
	for _, c := range x.image.checkpoints {
		if err := u.put(unitCheckpoint, appendExportCheckpoint(nil, c)); err != nil {
			return err
		}
	}
	if err := u.put(unitEnd, appendExportEnd(nil, x.image.counts())); err != nil {
		return err
	}
	return u.w.Flush()
}

func (m *image) counts() exportEnd {
	return exportEnd{uint64(len(m.sights)), uint64(len(m.log.epochs) + len(m.log.dropped)), uint64(len(m.checkpoints))}
}

func (u *unitWriter) putRecord(c carried) error {
	if err := u.put(unitRecord, appendExportRecord(nil, c.exportRecord)); err != nil {
		return err
	}
	if c.aside != nil {
		if err := u.put(unitAside, c.aside); err != nil {
			return err
		}
	}
	for _, f := range c.frames {
		if err := u.put(unitFrame, f); err != nil {
			return err
		}
	}
	return nil
}

func (u *unitWriter) putLog(g *epochLog) error {
	for _, e := range g.epochs {
		if err := u.put(unitEpoch, appendExportEpoch(nil, dropped{epoch: e})); err != nil {
			return err
		}
	}
	for _, d := range g.dropped {
		if err := u.put(unitEpoch, appendExportEpoch(nil, d)); err != nil {
			return err
		}
	}
	return nil
}

// Export writes thread to w; see [docket.Forker]. Recording goes on meanwhile: the
// export is of the moment at which it began, and a record that is expired or erased
// before its turn is exported as such. It keeps one record in memory, compressed, and
// some 50 bytes of each. Every payload is decoded and compared with its digest.
func (l *Ledger) Export(ctx context.Context, thread docket.ThreadID, w io.Writer) error {
	x := &exporting{ctx: ctx}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := l.view("thread", func(tx txn) error {
		t, err := openThread(tx, l.path, thread)
		if err == nil && t == nil {
			err = fmt.Errorf("%w: %q", docket.ErrNoThread, thread)
		}
		if err != nil {
			return err
		}
		data, err := t.bucket(bucketData)
		if err != nil {
			return err
		}
		x.image, err = t.image(true)
		x.thread = exportThread{info: t.info, key: t.key, last: docket.Seq(data.Sequence()), rewinds: x.image.log.rewinds, id: thread}
		return err
	})
	if err != nil {
		return err
	}
	x.carry = func(s sight) (carried, error) { return l.carried(thread, s) }
	return x.to(w)
}

// carried reads one record for an export.
func (l *Ledger) carried(id docket.ThreadID, s sight) (c carried, err error) {
	err = l.view(place(s.seq, "segment"), func(tx txn) error {
		t, err := openThread(tx, l.path, id)
		if err == nil && t == nil {
			err = fmt.Errorf("%w: %q", docket.ErrNoThread, id)
		}
		if err != nil {
			return err
		}
		r, err := t.row(s.seq)
		if err != nil {
			return err
		}
		if r.state == live {
			rec, err := t.record(r.handle, l.dec)
			if err != nil {
				return err
			}
			if c, err = carriedOf(rec); err != nil {
				return err
			}
		}
		c.exportRecord = exportRecord{sight: s, state: r.state, since: r.since, handle: r.handle}
		return nil
	})
	return c, err
}
