package engine

// Taking payloads away again: expire keeps the handle, erase keeps a tombstone.
// The bytes stay in free pages of the file until vacuum rewrites it.

import (
	"context"

	"docket"
)

// Expire drops payload, arguments, attachments and indexes of a record and keeps
// its handle: a view is [*docket.ExpiredError] from then on, in every thread that
// shares the record, until the same result is recorded again. Expiring an expired
// record does nothing. Errors: [docket.ErrNotFound], [docket.ErrErased], those of
// a commit.
func (l *Ledger) Expire(ctx context.Context, thread docket.ThreadID, id docket.MemID) error {
	return l.retire(ctx, thread, id, expired)
}

// Erase drops all of a record but its mem id, in every thread that shares it, for
// ever: a view is [docket.ErrErased] from then on, and so is recording the same
// result. Erasing an erased record does nothing. Errors: [docket.ErrNotFound],
// those of a commit.
func (l *Ledger) Erase(ctx context.Context, thread docket.ThreadID, id docket.MemID) error {
	return l.retire(ctx, thread, id, erased)
}

func (l *Ledger) retire(ctx context.Context, id docket.ThreadID, mem docket.MemID, to state) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return l.commit(ctx, &op{apply: func(tx txn, writes func()) error {
		_, err := l.retireIn(tx, id, mem, to, writes)
		return err
	}})
}

// retireIn retires one record in tx and returns how many bytes it stored.
func (l *Ledger) retireIn(tx txn, id docket.ThreadID, mem docket.MemID, to state, writes func()) (stored int64, err error) {
	t, err := openThread(tx, l.path, id)
	if err != nil {
		return 0, err
	}
	r, err := t.find(mem)
	switch {
	case err != nil:
		return 0, err
	case r.state == to:
		return 0, nil
	case r.state == erased:
		return 0, docket.ErrErased
	}
	if err := tx.audit(id); err != nil { // deleting merges pages beside those on the way
		return 0, err
	}
	writes()
	seq := r.handle.Seq
	if err := t.drop(seq); err != nil {
		return 0, err
	}
	if to == erased {
		if err := t.forgetCall(tx, seq, r.handle.CallID); err != nil {
			return 0, err
		}
	}
	stored = r.stored
	r.state, r.since, r.stored = to, l.opts.Now(), 0
	return stored, t.putRow(seq, r)
}

// drop deletes what handles does not hold of the record at seq.
func (t *thread) drop(seq docket.Seq) error {
	data, err := t.bucket(bucketData)
	if err != nil {
		return err
	}
	grams, err := t.bucket(bucketGrams)
	if err != nil {
		return err
	}
	key := seqKey(seq)
	if own := data.Bucket(key); own != nil {
		if err := t.tx.auditValues(own); err != nil {
			return err
		}
		err = data.DeleteBucket(key)
	} else {
		err = data.Delete(key)
	}
	if err != nil {
		return err
	}
	return grams.Delete(key)
}

// forgetCall deletes the record at seq from the call index of every thread of the
// lineage.
func (t *thread) forgetCall(tx txn, seq docket.Seq, call docket.CallID) error {
	members, err := t.bucket(bucketMembers)
	if err != nil {
		return err
	}
	key := callKey(call, seq)
	return members.ForEach(func(id, _ []byte) error {
		other, err := openThread(tx, t.file, docket.ThreadID(id))
		if err != nil || other == nil {
			return err
		}
		if err := tx.audit(other.id); err != nil {
			return err
		}
		calls, err := other.bucket(bucketCalls)
		if err != nil {
			return err
		}
		return calls.Delete(key)
	})
}
