package engine

// Viewing one record.

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"docket"
	"docket/codec"
)

func isConflict(err error) bool { return errors.Is(err, docket.ErrConflict) }

// View calls fn with the record that id names in thread; see [docket.Ledger]. fn
// runs inside of a read transaction: while it runs, pages that writers free are
// not used again, so it should not wait for a network. It may call the ledger,
// except Close.
func (l *Ledger) View(ctx context.Context, thread docket.ThreadID, id docket.MemID, fn func(docket.Record) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.view("record "+string(id), func(tx txn) error {
		t, err := openThread(tx, l.path, thread)
		if err != nil {
			return err
		}
		row, err := t.find(id)
		if err != nil {
			return err
		}
		row.handle.Thread = thread
		switch row.state {
		case erased:
			return docket.ErrErased
		case expired:
			return &docket.ExpiredError{Handle: row.handle, Expired: row.since}
		}
		rec, err := t.record(row.handle, l.dec)
		if err != nil {
			return err
		}
		return callUser(func() error { return fn(rec) })
	})
}

// record opens the segment of the record with handle h.
func (t *thread) record(h docket.Handle, dec *codec.Decoder) (*record, error) {
	seq := h.Seq
	data, err := t.bucket(bucketData)
	if err != nil {
		return nil, err
	}
	grams, err := t.bucket(bucketGrams)
	if err != nil {
		return nil, err
	}
	r := &record{file: t.file, handle: h, key: t.key, dec: dec}
	if r.grams, err = t.tx.get(grams, seqKey(seq)); err != nil {
		return nil, err
	}
	var parts codec.Parts
	if own, err := t.tx.bucket(data, seqKey(seq)); err != nil {
		return nil, err
	} else if own != nil {
		others, err := t.tx.get(own, keyOthers)
		if err != nil {
			return nil, err
		}
		packed, err := codec.ParsePacked(others)
		if err != nil {
			return nil, r.damaged("segment", err)
		}
		parts = bucketParts{t.tx, own, packed}
	} else if parts, err = codec.ParsePacked(data.Get(seqKey(seq))); err != nil {
		return nil, r.damaged("segment", err)
	}
	if r.segment, err = codec.Open(parts); err != nil {
		return nil, r.damaged("segment head", err)
	}
	if int64(r.segment.Raw) != h.Bytes {
		return nil, r.damaged("segment head", fmt.Errorf("%d bytes where the handle has %d", r.segment.Raw, h.Bytes))
	}
	if r.segment.Payload != codec.PayloadOf(h.Digest) {
		return nil, r.damaged("segment head", errors.New("another payload than the handle's"))
	}
	return r, nil
}

// record is a [docket.Record] on either ledger.
type record struct {
	file    string
	handle  docket.Handle
	key     docket.LineageKey
	segment codec.Segment
	grams   []byte
	dec     *codec.Decoder

	aside    codec.Aside
	asideErr error
	decoded  bool // aside and asideErr are set
}

var _ docket.Record = (*record)(nil)

func (r *record) damaged(what string, err error) error {
	return &docket.CorruptError{File: r.file, Place: place(r.handle.Seq, what), Expected: "bytes as they were written", Found: err.Error()}
}

func (r *record) Handle() docket.Handle { return r.handle }

func (r *record) Frames() int { return int(r.segment.Frames) }

func (r *record) Tag(text []byte) string { return docket.DeriveTag(r.key, text) }

// Section returns nil for a section that cannot be read as well: it only narrows.
func (r *record) Section(id docket.SectionID) (section []byte) {
	_ = guard(r.file, "", func() error {
		switch id {
		case docket.SectionChars:
			section = r.segment.Part(codec.PartChars)
		case docket.SectionPaths:
			section = r.segment.Part(codec.PartPaths)
		case docket.SectionGrams:
			if section = r.grams; section != nil && len(section) == 0 {
				section = r.segment.Part(codec.PartGrams)
			}
		}
		return nil
	})
	return section
}

func (r *record) AppendFrame(dst []byte, n int) ([]byte, error) {
	out := dst
	err := guard(r.file, "", func() (err error) {
		out, err = r.segment.AppendFrame(dst, n, r.dec)
		return err
	})
	if err == nil {
		return out, nil
	}
	what := fmt.Sprintf("frame %d", n)
	var corrupt *docket.CorruptError
	switch {
	case errors.As(err, &corrupt):
		corrupt.Place = place(r.handle.Seq, what)
	case errors.Is(err, codec.ErrDamaged):
		err = r.damaged(what, err)
	}
	return dst, err
}

// Args returns nil for arguments that cannot be read as well; Attachments then
// says what is damaged.
func (r *record) Args() []byte {
	r.decodeAside()
	return r.aside.Args
}

func (r *record) Attachments() ([]docket.Attachment, error) {
	r.decodeAside()
	if r.asideErr != nil {
		return nil, r.asideErr
	}
	var out []docket.Attachment
	for _, a := range r.aside.Attachments {
		out = append(out, docket.Attachment{Kind: a.Kind, Data: bytes.Clone(a.Data)})
	}
	return out, nil
}

func (r *record) decodeAside() {
	if r.decoded {
		return
	}
	r.decoded = true
	r.asideErr = guard(r.file, place(r.handle.Seq, "aside"), func() (err error) {
		if r.aside, err = r.segment.Aside(r.dec); err != nil {
			err = r.damaged("aside", err)
		}
		return err
	})
}
