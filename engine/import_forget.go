package engine

// Taking back what an import that failed has put into the lineage.

import (
	"context"
	"errors"
	"fmt"

	"docket"
)

// forget takes back what an import that failed has added, as far as no thread has come
// to see it meanwhile.
func (x *importing) forget() error {
	for len(x.added) > 0 {
		n := min(len(x.added), importRecords)
		batch := x.added[:n]
		err := x.l.commit(context.WithoutCancel(x.ctx), &op{apply: func(tx txn, writes func()) error {
			t, err := openLineage(tx, x.l.path, x.thread)
			if err != nil || t == nil {
				return err
			}
			if err := tx.auditLineage(t.info.lineage); err != nil {
				return err
			}
			writes()
			return t.forget(batch)
		}})
		if err != nil {
			return fmt.Errorf("engine: take back an import: %w", err)
		}
		x.added = x.added[n:]
	}
	return nil
}

// forget deletes the records at seqs that no thread sees, and the lineage if nothing is
// left of it.
func (t *thread) forget(seqs []docket.Seq) error {
	for _, seq := range seqs {
		seen, err := t.seenByAny(seq)
		if err != nil {
			return err
		}
		if seen {
			continue
		}
		if err := t.deleteRecord(seq); err != nil {
			return err
		}
	}
	handles, err := t.bucket(bucketHandles)
	if err != nil {
		return err
	}
	members, err := t.bucket(bucketMembers)
	if err != nil {
		return err
	}
	if k, _ := handles.Cursor().First(); k != nil {
		return nil
	}
	if k, _ := members.Cursor().First(); k != nil {
		return nil
	}
	return t.tx.Bucket(bucketLineages).DeleteBucket(t.info.lineage[:])
}

// seenByAny tells whether a thread of the lineage sees the record at seq.
func (t *thread) seenByAny(seq docket.Seq) (seen bool, err error) {
	members, err := t.bucket(bucketMembers)
	if err != nil {
		return false, err
	}
	c := members.Cursor()
	for id, _ := c.First(); id != nil && !seen; id, _ = c.Next() {
		other, err := openThread(t.tx, t.file, docket.ThreadID(id))
		if err != nil {
			return false, err
		}
		if other == nil {
			continue
		}
		if seen, err = other.sees(seq); err != nil {
			return false, err
		}
	}
	return seen, nil
}

// deleteRecord deletes all of a record, so that it never was.
func (t *thread) deleteRecord(seq docket.Seq) error {
	r, err := t.row(seq)
	if err != nil {
		return err
	}
	sights := []sight{{seq: seq, mem: r.handle.MemID}}
	if r.state == erased {
		if err := t.nameSights(sights); err != nil {
			return err
		}
	}
	if err := t.drop(seq); err != nil {
		return err
	}
	handles, err := t.bucket(bucketHandles)
	if err != nil {
		return err
	}
	mems, err := t.bucket(bucketMems)
	if err != nil {
		return err
	}
	return errors.Join(handles.Delete(seqKey(seq)), mems.Delete([]byte(sights[0].mem)))
}
