package engine

// A thread and its lineage inside of a transaction.

import (
	"bytes"
	"crypto/rand"
	"iter"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"docket"
)

// thread is a thread in a transaction: what it sees, and the lineage that keeps
// it.
type thread struct {
	tx      txn
	file    string
	id      docket.ThreadID
	info    threadInfo
	key     docket.LineageKey
	own     *bbolt.Bucket // threads / thread id
	lineage *bbolt.Bucket // lineages / lineage id
}

// openThread returns the thread called id, nil if there is none.
func openThread(tx txn, file string, id docket.ThreadID) (*thread, error) {
	threads, err := tx.top(bucketThreads)
	if err != nil || threads == nil || id == "" {
		return nil, err
	}
	own, err := tx.bucket(threads, []byte(id))
	if err != nil || own == nil {
		return nil, err
	}
	t := &thread{tx: tx, file: file, id: id, own: own}
	info, err := tx.get(own, keyInfo)
	if err != nil {
		return nil, err
	}
	var ok bool
	if t.info, ok = parseInfo(info); !ok {
		return nil, t.damaged("thread info", "a checked info value")
	}
	return t, t.openLineage()
}

// openLineage finds the lineage that info names, and its key.
func (t *thread) openLineage() error {
	lineages, err := t.tx.top(bucketLineages)
	if err != nil {
		return err
	}
	if lineages != nil {
		if t.lineage, err = t.tx.bucket(lineages, t.info.lineage[:]); err != nil {
			return err
		}
	}
	if t.lineage == nil {
		return t.damaged("thread info", "the lineage that it names")
	}
	key, err := t.tx.get(t.lineage, keyKey)
	if err == nil && copy(t.key[:], key) != len(t.key) {
		err = t.damaged("lineage key", "32 bytes")
	}
	return err
}

// makeThread makes a thread with a lineage of its own.
func makeThread(tx txn, file string, id docket.ThreadID, now time.Time) (*thread, error) {
	t := &thread{tx: tx, file: file, id: id, info: threadInfo{lineage: lineageID(uuid.New()), created: now}}
	rand.Read(t.key[:])
	if err := t.makeLineage(); err != nil {
		return nil, err
	}
	return t, t.join()
}

// makeLineage makes the lineage that t names, with its key.
func (t *thread) makeLineage() error {
	lineages, err := t.tx.CreateBucketIfNotExists(bucketLineages)
	if err != nil {
		return err
	}
	if _, err := t.tx.CreateBucketIfNotExists(bucketThreads); err != nil {
		return err
	}
	if err = t.tx.check(lineages, t.info.lineage[:]); err != nil {
		return err
	}
	if t.lineage, err = makeBucket(lineages, t.info.lineage[:], bucketMems, bucketHandles, bucketGrams, bucketData, bucketMembers); err != nil {
		return err
	}
	return t.lineage.Put(keyKey, t.key[:])
}

// join makes t, which is not there yet, a member of its lineage.
func (t *thread) join() error {
	members, err := t.bucket(bucketMembers)
	if err != nil {
		return err
	}
	if err := t.tx.put(members, []byte(t.id), present); err != nil {
		return err
	}
	threads, err := t.tx.top(bucketThreads)
	if err != nil {
		return err
	}
	if err = t.tx.check(threads, []byte(t.id)); err != nil {
		return err
	}
	if t.own, err = makeBucket(threads, []byte(t.id), bucketOrder, bucketCalls, bucketEpochs, bucketDecided); err != nil {
		return err
	}
	return t.own.Put(keyInfo, appendInfo(nil, t.info))
}

// makeBucket makes a bucket with empty sub-buckets.
func makeBucket(in *bbolt.Bucket, name []byte, subs ...[]byte) (*bbolt.Bucket, error) {
	b, err := in.CreateBucket(name)
	if err != nil {
		return nil, err
	}
	for _, sub := range subs {
		if _, err := b.CreateBucket(sub); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (t *thread) damaged(place, expected string) error {
	return &docket.CorruptError{File: t.file, Place: place, Expected: expected, Found: "none"}
}

// bucket returns one of the buckets that every thread and lineage has.
func (t *thread) bucket(name []byte) (*bbolt.Bucket, error) {
	in := t.lineage
	switch {
	case bytes.Equal(name, bucketOrder), bytes.Equal(name, bucketCalls),
		bytes.Equal(name, bucketEpochs), bytes.Equal(name, bucketDecided),
		bytes.Equal(name, bucketCheckpoints), bytes.Equal(name, bucketDropped):
		in = t.own
	}
	if b, err := t.tx.bucket(in, name); b != nil || err != nil {
		return b, err
	}
	return nil, t.damaged("bucket "+string(name), "a bucket")
}

// walkable is bucket for one that is walked through, not looked up in.
func (t *thread) walkable(name []byte) (*bbolt.Bucket, error) {
	if err := t.tx.audit(t.id); err != nil {
		return nil, err
	}
	return t.bucket(name)
}

// seqOf returns the position of the record called id in the lineage, whether or
// not the thread sees it; 0 if there is none.
func (t *thread) seqOf(id docket.MemID) (docket.Seq, error) {
	mems, err := t.bucket(bucketMems)
	if err != nil {
		return 0, err
	}
	v, err := t.tx.get(mems, []byte(id))
	if v == nil || err != nil {
		return 0, err
	}
	seq, ok := parseSeq(v)
	if !ok || seq == 0 {
		return 0, t.damaged("mem id index", "a position")
	}
	return seq, nil
}

// sees tells whether the record at seq is visible in the thread.
func (t *thread) sees(seq docket.Seq) (bool, error) {
	order, err := t.bucket(bucketOrder)
	if err != nil {
		return false, err
	}
	v, err := t.tx.get(order, seqKey(seq))
	return v != nil, err
}

// row returns what handles has at seq.
func (t *thread) row(seq docket.Seq) (row, error) {
	handles, err := t.bucket(bucketHandles)
	if err != nil {
		return row{}, err
	}
	v, err := t.tx.get(handles, seqKey(seq))
	if err != nil {
		return row{}, err
	}
	r, ok := parseRow(v)
	if !ok {
		return row{}, t.damaged(place(seq, "handle"), "a checked handle")
	}
	r.handle.Seq = seq
	return r, nil
}

// rowOf returns what handles has at seq, which the mem id index gives for id. A
// flipped bit in the index must not show one record in the place of another.
func (t *thread) rowOf(id docket.MemID, seq docket.Seq) (row, error) {
	r, err := t.row(seq)
	if err == nil && r.state != erased && r.handle.MemID != id {
		err = &docket.CorruptError{File: t.file, Place: "mem id index", Rule: ruleMems, Expected: "the position of " + string(id), Found: "that of " + string(r.handle.MemID)}
	}
	return r, err
}

// find returns the row of the record that t, which may be nil, sees under id; its
// handle has the position in any state. Errors: [docket.ErrNotFound].
func (t *thread) find(id docket.MemID) (row, error) {
	if t == nil {
		return row{}, docket.ErrNotFound
	}
	seq, err := t.seqOf(id)
	if err != nil {
		return row{}, err
	}
	visible := false
	if seq != 0 {
		if visible, err = t.sees(seq); err != nil {
			return row{}, err
		}
	}
	if !visible {
		return row{}, docket.ErrNotFound
	}
	return t.rowOf(id, seq)
}

// callSeqs yields the positions of the thread's records whose call id has the
// digest of id, ascending.
func (t *thread) callSeqs(id docket.CallID) iter.Seq2[docket.Seq, error] {
	return func(yield func(docket.Seq, error) bool) {
		calls, err := t.walkable(bucketCalls)
		if err != nil {
			yield(0, err)
			return
		}
		prefix := callPrefix(id)
		c := calls.Cursor()
		for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
			seq, ok := parseSeq(k[len(prefix):])
			if !ok {
				yield(0, t.damaged("call index", "a position"))
				return
			}
			if !yield(seq, nil) {
				return
			}
		}
	}
}
