package engine

// Ruling out records of a thread by their signatures alone. The signatures lie
// side by side in a bucket of their own, so that a search over many records reads
// nothing else.

import (
	"context"
	"iter"

	"go.etcd.io/bbolt"

	"docket"
	"docket/codec"
	"docket/index"
)

// narrowPage is the number of signatures tested in one transaction.
const narrowPage = 2048

var _ docket.Narrower = (*Ledger)(nil)

// Narrow yields the records of thread that may contain query; see
// [docket.Narrower]. Records that are expired or erased contain nothing. No
// transaction is held while the caller's loop runs.
func (l *Ledger) Narrow(ctx context.Context, thread docket.ThreadID, query []byte, fold bool) iter.Seq2[docket.MemID, error] {
	return func(yield func(docket.MemID, error) bool) {
		q := index.NewQuery(query, fold)
		for after := docket.Seq(0); ; {
			if err := ctx.Err(); err != nil {
				yield("", err)
				return
			}
			ids, last, err := l.narrowPage(thread, after, q)
			for _, id := range ids {
				if !yield(id, nil) {
					return
				}
			}
			if err != nil {
				yield("", err)
				return
			}
			if last == after {
				return
			}
			after = last
		}
	}
}

// narrowPage tests the next records after a position and returns the position that
// it came to: after itself at the end.
func (l *Ledger) narrowPage(thread docket.ThreadID, after docket.Seq, q *index.Query) (ids []docket.MemID, last docket.Seq, err error) {
	last = after
	err = l.view("grams", func(tx txn) error {
		t, err := openThread(tx, l.path, thread)
		if err != nil || t == nil {
			return err
		}
		walk, err := t.gramWalk()
		if err != nil {
			return err
		}
		n := 0
		for seq, err := range t.visible(after) {
			if err != nil {
				return err
			}
			last = seq
			if section := walk.at(seq); section == nil || q.MayContain(section) {
				row, err := t.row(seq)
				if err != nil {
					return err
				}
				if row.state == live {
					ids = append(ids, row.handle.MemID)
				}
			}
			if n++; n == narrowPage {
				return nil
			}
		}
		return nil
	})
	return ids, last, err
}

// gramWalk reads signatures at ascending positions: mostly the next one.
type gramWalk struct {
	tx   txn
	c    *bbolt.Cursor
	data *bbolt.Bucket
	seq  docket.Seq // where the cursor is; 0: nowhere yet
	sec  []byte
	end  bool
}

func (t *thread) gramWalk() (*gramWalk, error) {
	grams, err := t.walkable(bucketGrams)
	if err != nil {
		return nil, err
	}
	data, err := t.bucket(bucketData)
	if err != nil {
		return nil, err
	}
	return &gramWalk{tx: t.tx, c: grams.Cursor(), data: data}, nil
}

// at returns the section at seq, nil if there is none.
func (w *gramWalk) at(seq docket.Seq) []byte {
	if w.seq != 0 && w.seq < seq && !w.end {
		w.move(w.c.Next())
	}
	if (w.seq == 0 || w.seq < seq) && !w.end {
		w.move(w.c.Seek(seqKey(seq)))
	}
	if w.seq != seq || w.end {
		return nil
	}
	if len(w.sec) == 0 {
		return w.part(seq)
	}
	return w.sec
}

// part returns the section that is a part of the segment at seq.
func (w *gramWalk) part(seq docket.Seq) []byte {
	own := w.data.Bucket(seqKey(seq))
	if own == nil {
		return nil
	}
	others, err := w.tx.get(own, keyOthers)
	if err != nil {
		return nil
	}
	packed, err := codec.ParsePacked(others)
	if err != nil {
		return nil
	}
	return packed.Part(codec.PartGrams, 0)
}

func (w *gramWalk) move(k, v []byte) {
	seq, ok := parseSeq(k)
	w.seq, w.sec, w.end = seq, v, !ok
}
