package engine

// Check, a thread's past: what rewinds dropped, and checkpoints.

import (
	"bytes"
	"fmt"

	"docket"
)

// past checks the buckets that a thread may lack, against its log and the last position
// of its lineage.
func (c *checker) past(t, epochs tree, last uint64) {
	g := c.presentLine(epochs)
	if sub, ok := c.may(t, bucketDropped); ok {
		g.rewinds = sub.seq
		for key, v := range c.values(sub, ruleDropped) {
			d, ok := parseDropped([]byte(key), v)
			if !ok {
				c.find(ruleDropped, sub.place, "checked epochs", keyName([]byte(key)))
				return
			}
			g.dropped = append(g.dropped, d)
		}
	}
	lengths, fault := g.fault()
	if fault != "" {
		c.find(ruleDropped, t.place, "lines of epochs", fault)
		return
	}
	sub, ok := c.may(t, bucketCheckpoints)
	if !ok {
		return
	}
	for key, v := range c.values(sub, ruleCheckpoints) {
		k, ok := parseCheckpoint(v)
		switch {
		case !ok || len(key) == 0 || len(key) > docket.MaxCheckpointID:
			c.find(ruleCheckpoints, sub.place, "checked checkpoints", keyName([]byte(key)))
		case uint64(k.Seq) > last || k.rewinds > g.rewinds || k.Epochs > lengths[k.rewinds]:
			c.find(ruleCheckpoints, sub.place, "moments of this thread", fmt.Sprintf("position %d, epoch %d, rewind %d in %s", k.Seq, k.Epochs, k.rewinds, keyName([]byte(key))))
		}
	}
}

// presentLine reads the epochs that can be read; what is wrong with the others has been
// reported.
func (c *checker) presentLine(epochs tree) (g epochLog) {
	for e, err := range epochs.elements() {
		if err != nil || e.bucket {
			continue
		}
		v, err := e.value()
		if err != nil {
			continue
		}
		if parsed, ok := parseEpoch(v); ok {
			parsed.Number = uint64(len(g.epochs)) + 1
			g.epochs = append(g.epochs, parsed)
		}
	}
	return g
}

// may returns a bucket that t may lack.
func (c *checker) may(t tree, name []byte) (tree, bool) {
	e, ok, err := t.get(name)
	if err != nil || !ok {
		return tree{}, false
	}
	sub, err := t.sub(&e)
	if err != nil {
		c.find(ruleThread, t.place, "a bucket "+string(name), "a value")
	}
	return sub, err == nil
}

// moment checks the value of a record in a thread's order.
func (c *checker) moment(place string, key, v []byte, last uint64) {
	seq, _ := parseSeq(key)
	if at, ok := parseMoment(seq, v); !ok || uint64(at) > last {
		c.find(ruleOrder, place, fmt.Sprintf("nothing, or another position up to %d", last), fmt.Sprintf("%d bytes at position %s", len(v), keyName(key)))
	}
}

// optionalName tells whether name is that of a bucket that a thread may lack.
func optionalName(name []byte) bool {
	return bytes.Equal(name, bucketCheckpoints) || bytes.Equal(name, bucketDropped)
}
