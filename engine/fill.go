package engine

// The image of a thread read from the file, and a thread made of one. What is not of
// the present line of the decision log lies in buckets that a thread has only once it
// needs them.

import (
	"bytes"
	"cmp"
	"slices"

	"go.etcd.io/bbolt"

	"docket"
)

// optional returns one of the thread's buckets that it may lack: nil then.
func (t *thread) optional(name []byte) (*bbolt.Bucket, error) {
	if err := t.tx.audit(t.id); err != nil {
		return nil, err
	}
	return t.tx.bucket(t.own, name)
}

// made is optional for writing: the bucket is made if need be.
func (t *thread) made(name []byte) (*bbolt.Bucket, error) {
	b, err := t.optional(name)
	if b != nil || err != nil {
		return b, err
	}
	return t.own.CreateBucket(name)
}

// image reads the thread, with the mem ids of its records where withMems is set, which
// costs reading every handle.
func (t *thread) image(withMems bool) (m image, err error) {
	m.created = t.info.created
	if m.log, err = t.log(); err != nil {
		return m, err
	}
	if m.checkpoints, err = t.checkpoints(); err != nil {
		return m, err
	}
	if m.sights, err = t.sights(); err != nil || !withMems {
		return m, err
	}
	return m, t.nameSights(m.sights)
}

// sights reads what the thread sees, without mem ids.
func (t *thread) sights() (all []sight, err error) {
	order, err := t.walkable(bucketOrder)
	if err != nil {
		return nil, err
	}
	c := order.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		seq, ok := parseSeq(k)
		moment, ok2 := parseMoment(seq, v)
		if !ok || !ok2 {
			return nil, t.damaged("thread order", "a position")
		}
		all = append(all, sight{seq: seq, moment: moment})
	}
	return all, nil
}

// nameSights sets the mem ids of sights. That of an erased record is in the mem id
// index alone, which is then read whole.
func (t *thread) nameSights(all []sight) error {
	erasedAt := map[docket.Seq]*sight{}
	for i := range all {
		r, err := t.row(all[i].seq)
		if err != nil {
			return err
		}
		if all[i].mem = r.handle.MemID; r.state == erased {
			erasedAt[all[i].seq] = &all[i]
		}
	}
	if len(erasedAt) == 0 {
		return nil
	}
	mems, err := t.walkable(bucketMems)
	if err != nil {
		return err
	}
	c := mems.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if seq, ok := parseSeq(v); ok && erasedAt[seq] != nil {
			erasedAt[seq].mem = docket.MemID(k)
			delete(erasedAt, seq)
		}
	}
	if len(erasedAt) > 0 {
		return t.damaged("mem id index", "a mem id of each erased record")
	}
	return nil
}

// log reads the decision log with what rewinds dropped.
func (t *thread) log() (g epochLog, err error) {
	epochs, err := t.walkable(bucketEpochs)
	if err != nil {
		return g, err
	}
	c := epochs.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		e, ok := parseEpoch(v)
		number, ok2 := parseSeq(k)
		if e.Number = uint64(number); !ok || !ok2 || e.Number != uint64(len(g.epochs))+1 {
			return g, t.damaged("decision log", "checked epochs, numbered from 1")
		}
		g.epochs = append(g.epochs, e)
	}
	b, err := t.optional(bucketDropped)
	if b == nil || err != nil {
		return g, err
	}
	g.rewinds = b.Sequence()
	c = b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		d, ok := parseDropped(k, v)
		if !ok {
			return g, t.damaged("dropped epochs", "checked epochs")
		}
		g.dropped = append(g.dropped, d)
	}
	return g, nil
}

// parseDropped reads an epoch that a rewind dropped.
func parseDropped(k, v []byte) (d dropped, ok bool) {
	if len(k) != 16 {
		return d, false
	}
	rewind, _ := parseSeq(k[:8])
	number, _ := parseSeq(k[8:])
	d.rewind = uint64(rewind)
	d.epoch, ok = parseEpoch(v)
	d.epoch.Number = uint64(number)
	return d, ok && rewind != 0 && number != 0
}

// checkpoints reads the checkpoints, ascending by id.
func (t *thread) checkpoints() (all []checkpoint, err error) {
	b, err := t.optional(bucketCheckpoints)
	if b == nil || err != nil {
		return nil, err
	}
	cursor := b.Cursor()
	for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
		c, ok := parseCheckpoint(v)
		if !ok {
			return nil, t.damaged("checkpoints", "a checked checkpoint")
		}
		c.ID, c.Thread = docket.CheckpointID(k), t.id
		all = append(all, c)
	}
	return all, nil
}

// fill makes the thread what m says: it has no order yet, or another one.
func (t *thread) fill(m image) error {
	if err := t.empty(bucketOrder, bucketCalls, bucketCheckpoints, bucketDropped); err != nil {
		return err
	}
	slices.SortFunc(m.sights, func(a, b sight) int { return cmp.Compare(a.seq, b.seq) })
	if err := t.putSights(m.sights); err != nil {
		return err
	}
	if err := t.putLog(&m.log); err != nil || len(m.checkpoints) == 0 {
		return err
	}
	b, err := t.made(bucketCheckpoints)
	if err != nil {
		return err
	}
	for _, c := range m.checkpoints {
		if err := t.tx.put(b, []byte(c.ID), appendCheckpoint(nil, c)); err != nil {
			return err
		}
	}
	return nil
}

// putSights makes records visible, by the handles that the lineage has of them.
func (t *thread) putSights(all []sight) error {
	order, err := t.bucket(bucketOrder)
	if err != nil {
		return err
	}
	for _, s := range all {
		r, err := t.row(s.seq)
		if err != nil {
			return err
		}
		if r.state != erased {
			err = t.show(s.seq, s.moment, r.handle.CallID)
		} else {
			order.FillPercent = appendFill
			err = t.tx.put(order, seqKey(s.seq), momentValue(s.seq, s.moment))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// putLog makes g the thread's log.
func (t *thread) putLog(g *epochLog) error {
	if err := t.empty(bucketEpochs, bucketDecided, bucketDropped); err != nil {
		return err
	}
	for _, e := range g.epochs {
		if err := t.putEpoch(e); err != nil {
			return err
		}
	}
	if g.rewinds == 0 {
		return nil
	}
	b, err := t.made(bucketDropped)
	if err != nil {
		return err
	}
	if err := b.SetSequence(g.rewinds); err != nil {
		return err
	}
	for _, d := range g.dropped {
		if err := t.tx.put(b, droppedKey(d.rewind, d.epoch.Number), appendEpoch(nil, d.epoch)); err != nil {
			return err
		}
	}
	return nil
}

// empty empties buckets of the thread: those that it may lack are gone then.
func (t *thread) empty(names ...[]byte) error {
	if err := t.tx.audit(t.id); err != nil { // deleting merges pages beside those on the way
		return err
	}
	for _, name := range names {
		b, err := t.tx.bucket(t.own, name)
		if err != nil {
			return err
		}
		if b != nil {
			if err := t.own.DeleteBucket(name); err != nil {
				return err
			}
		}
		if bytes.Equal(name, bucketCheckpoints) || bytes.Equal(name, bucketDropped) {
			continue
		}
		if _, err := t.own.CreateBucket(name); err != nil {
			return err
		}
	}
	return nil
}
