package engine

// Traces of a record: byte strings by which anybody can see, without docket's own
// reading, whether the file still holds it. They are taken before the record is erased and
// looked for in the raw file afterwards.

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"go.etcd.io/bbolt"

	"docket"
)

const (
	traceSize = 32  // bytes of one
	maxTraces = 256 // of a record, evenly spread
	// A trace has so many different bytes: a run of zeros is in every file.
	traceVariety = 16
)

// Traces are byte strings that a file with a record holds: pieces of its frames, indexes,
// arguments and attachments as they are stored, and the digest in its handle.
type Traces struct {
	pieces map[uint64][][]byte // by their first eight bytes
	count  int
}

// Len returns how many there are.
func (t *Traces) Len() int { return t.count }

// Add takes in those of other.
func (t *Traces) Add(other *Traces) {
	for _, list := range other.pieces {
		for _, piece := range list {
			t.add(piece)
		}
	}
}

// add takes in a piece that is large and varied enough, once.
func (t *Traces) add(piece []byte) bool {
	if len(piece) < traceSize || variety(piece[:traceSize]) < traceVariety {
		return false
	}
	if t.pieces == nil {
		t.pieces = map[uint64][][]byte{}
	}
	piece = append([]byte(nil), piece[:traceSize]...)
	key := binary.LittleEndian.Uint64(piece)
	for _, known := range t.pieces[key] {
		if string(known) == string(piece) {
			return false
		}
	}
	t.pieces[key] = append(t.pieces[key], piece)
	t.count++
	return true
}

func variety(b []byte) (n int) {
	var seen [256]bool
	for _, c := range b {
		if !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n
}

// Traces returns the traces of a record. Errors: as of [Ledger.View].
func (l *Ledger) Traces(ctx context.Context, thread docket.ThreadID, id docket.MemID) (*Traces, error) {
	traces := &Traces{}
	if err := ctx.Err(); err != nil {
		return traces, err
	}
	err := l.view("record "+string(id), func(tx txn) error {
		t, err := openThread(tx, l.path, thread)
		if err != nil {
			return err
		}
		r, err := t.find(id)
		switch {
		case err != nil:
			return err
		case r.state == erased:
			return docket.ErrErased
		}
		traces.add(r.handle.Digest[:])
		if r.state != live {
			return nil
		}
		return t.traces(r.handle.Seq, traces)
	})
	return traces, err
}

// traces adds pieces of all values that the record at seq has.
func (t *thread) traces(seq docket.Seq, to *Traces) error {
	data, err := t.bucket(bucketData)
	if err != nil {
		return err
	}
	var values [][]byte
	own, err := t.tx.bucket(data, seqKey(seq))
	if err != nil {
		return err
	}
	if own == nil {
		v, err := t.tx.get(data, seqKey(seq))
		if err != nil {
			return err
		}
		values = append(values, v)
	} else if values, err = t.valuesOf(own); err != nil {
		return err
	}
	size := 0
	for _, v := range values {
		size += len(v)
	}
	step := max(traceSize, size/maxTraces)
	for _, v := range values {
		for at := 0; at+traceSize <= len(v); {
			if to.add(v[at:]) {
				at += step
			} else {
				at += traceSize / 2
			}
		}
	}
	return nil
}

// valuesOf returns the values of a bucket.
func (t *thread) valuesOf(b *bbolt.Bucket) (values [][]byte, err error) {
	if err := t.tx.auditValues(b); err != nil {
		return nil, err
	}
	err = b.ForEach(func(_, v []byte) error {
		values = append(values, v)
		return nil
	})
	return values, err
}

// In reads a file to its end and returns how many of the traces are in it.
func (t *Traces) In(r io.Reader) (found int, err error) {
	if t.count == 0 {
		return 0, nil
	}
	left := map[string]bool{}
	buf := make([]byte, 0, 1<<20)
	for {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		for i := 0; i+traceSize <= len(buf); i++ {
			for _, piece := range t.pieces[binary.LittleEndian.Uint64(buf[i:])] {
				if string(buf[i:i+traceSize]) == string(piece) {
					left[string(piece)] = true
				}
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return len(left), nil
		case err != nil:
			return len(left), fmt.Errorf("engine: look for traces: %w", err)
		}
		keep := min(len(buf), traceSize-1)
		copy(buf[:keep], buf[len(buf)-keep:])
		buf = buf[:keep]
	}
}
