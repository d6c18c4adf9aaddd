package engine

// Writing one record into a transaction.

import (
	"errors"
	"time"

	"go.etcd.io/bbolt"

	"docket"
	"docket/codec"
)

// appendFill is how full bbolt leaves the pages of buckets whose keys ascend. Its
// default of a half is for keys that arrive in any order.
const appendFill = 0.95

// present is the value of a key that has none. In the transaction that puts it, nil
// would read like a missing key.
var present = []byte{}

// put records d in the thread's lineage and makes it visible in the thread. The
// record may be in the lineage already: of another thread, or expired; it keeps
// its handle then.
func (t *thread) put(d *draft, now time.Time) (docket.Handle, error) {
	h := d.handle
	h.MemID = docket.DeriveMemID(t.key, h.CallID, h.Digest)
	seq, err := t.seqOf(h.MemID)
	if err != nil {
		return h, err
	}
	if seq == 0 {
		if seq, err = t.claim(h.MemID); err != nil {
			return h, err
		}
		h.Created, h.Seq = now.UTC().Round(0), seq
		return h, errors.Join(t.putRow(seq, row{stored: d.stored, handle: h}), t.putDraft(seq, d), t.show(seq, seq, h.CallID))
	}
	r, err := t.rowOf(h.MemID, seq)
	if err != nil {
		return h, err
	}
	if r.state == expired {
		if err := t.putDraft(seq, d); err != nil {
			return h, err
		}
		if err := t.putRow(seq, row{stored: d.stored, handle: r.handle}); err != nil {
			return h, err
		}
	}
	return r.handle, t.showLate(seq, h.CallID)
}

// claim takes the next position of the lineage for id.
func (t *thread) claim(id docket.MemID) (docket.Seq, error) {
	data, err := t.bucket(bucketData)
	if err != nil {
		return 0, err
	}
	mems, err := t.bucket(bucketMems)
	if err != nil {
		return 0, err
	}
	n, err := data.NextSequence()
	if err != nil {
		return 0, err
	}
	return docket.Seq(n), t.tx.put(mems, []byte(id), seqKey(docket.Seq(n)))
}

// putRow writes a record's state and handle.
func (t *thread) putRow(seq docket.Seq, r row) error {
	handles, err := t.bucket(bucketHandles)
	if err != nil {
		return err
	}
	handles.FillPercent = appendFill
	return t.tx.put(handles, seqKey(seq), appendRow(nil, r))
}

// putDraft writes a record's segment and grams.
func (t *thread) putDraft(seq docket.Seq, d *draft) error {
	data, err := t.bucket(bucketData)
	if err != nil {
		return err
	}
	if err := t.tx.check(data, seqKey(seq)); err != nil {
		return err
	}
	if err := putParts(data, seqKey(seq), d); err != nil {
		return err
	}
	if d.grams == nil {
		return nil
	}
	grams, err := t.bucket(bucketGrams)
	if err != nil {
		return err
	}
	grams.FillPercent = appendFill
	return t.tx.put(grams, seqKey(seq), d.grams)
}

// putParts writes a segment: small ones as one value, large ones as a bucket of
// their own, which bbolt writes once and frees as a whole. It has few values: each
// page that they fill is rounded up, and up to four fill one without a branch.
func putParts(data *bbolt.Bucket, key []byte, d *draft) error {
	data.FillPercent = appendFill
	if d.inline {
		return data.Put(key, codec.AppendPacked(nil, d.parts))
	}
	own, err := data.CreateBucket(key)
	if err != nil {
		return err
	}
	own.FillPercent = 1
	groups, others := codec.Split(d.parts)
	for _, g := range groups {
		if err := own.Put(codec.AppendGroupKey(nil, g.Group), g.Body); err != nil {
			return err
		}
	}
	return own.Put(keyOthers, codec.AppendPacked(nil, others))
}

// showLate makes a record visible that the lineage has already, unless it is: at a
// position of its own, so that checkpoints made before do not have it.
func (t *thread) showLate(seq docket.Seq, call docket.CallID) error {
	if visible, err := t.sees(seq); err != nil || visible {
		return err
	}
	data, err := t.bucket(bucketData)
	if err != nil {
		return err
	}
	moment, err := data.NextSequence()
	if err != nil {
		return err
	}
	return t.show(seq, docket.Seq(moment), call)
}

// show makes the record at seq visible in the thread, since moment.
func (t *thread) show(seq, moment docket.Seq, call docket.CallID) error {
	order, err := t.bucket(bucketOrder)
	if err != nil {
		return err
	}
	calls, err := t.bucket(bucketCalls)
	if err != nil {
		return err
	}
	order.FillPercent = appendFill
	return errors.Join(t.tx.put(order, seqKey(seq), momentValue(seq, moment)), t.tx.put(calls, callKey(call, seq), present))
}
