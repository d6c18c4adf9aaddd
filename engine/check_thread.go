package engine

// Check, from the root bucket down to what names a record: lineages, threads,
// the indexes and the decision log. Each index is held against what it indexes,
// both ways.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"docket"
)

// root checks the root bucket and the ledger's own keys.
func (c *checker) root() {
	root := c.pager.root()
	for e, err := range root.elements() {
		if err != nil {
			continue // pages has reported it
		}
		sub, err := root.sub(e)
		switch {
		case err != nil:
			c.find(ruleRoot, "root", "buckets only", "a value "+keyName(e.key))
		case bytes.Equal(e.key, bucketDocket):
			c.docket(sub)
		case bytes.Equal(e.key, bucketLineages):
			c.lineages, c.hasLineages = sub, true
		case bytes.Equal(e.key, bucketThreads):
			c.threads, c.hasThreads = sub, true
		default:
			c.find(ruleRoot, "root", "docket, lineages, threads", keyName(e.key))
		}
	}
	if _, ok, err := root.get(bucketDocket); !ok && err == nil {
		c.find(ruleRoot, "root", "a bucket docket", "none")
	}
	if c.hasLineages != c.hasThreads {
		c.find(ruleRoot, "root", "lineages and threads, or neither", "one of them")
	}
}

func (c *checker) docket(t tree) {
	sizes := map[string]int{string(keyFormat): 4, string(keyID): 16, string(keyCreated): 8}
	for name, v := range c.values(t, ruleRoot) {
		size, known := sizes[name]
		switch {
		case !known || len(v) != size:
			c.find(ruleRoot, t.place, "format, id and created", fmt.Sprintf("%.32q of %d bytes", name, len(v)))
		case name == string(keyFormat) && binary.LittleEndian.Uint32(v) != formatVersion:
			c.find(ruleRoot, t.place, fmt.Sprintf("format %d", formatVersion), fmt.Sprint(binary.LittleEndian.Uint32(v)))
		}
		delete(sizes, name)
	}
	for name := range sizes {
		c.find(ruleRoot, t.place, "a key "+name, "none")
	}
}

// values yields the keys and values of t, and reports buckets in it as breaking
// rule.
func (c *checker) values(t tree, rule int) func(yield func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		for e, err := range t.elements() {
			if err != nil || c.stopped() {
				continue
			}
			if e.bucket {
				c.find(rule, t.place, "no bucket", keyName(e.key))
				continue
			}
			v, err := e.value()
			c.fail(err)
			if err == nil && !yield(string(e.key), v) {
				return
			}
		}
	}
}

// eachBucket calls fn with each bucket in t, and reports all else as breaking
// rule.
func (c *checker) eachBucket(t tree, rule int, fn func(name []byte, sub tree)) {
	for e, err := range t.elements() {
		if err != nil || c.stopped() {
			continue
		}
		sub, err := t.sub(e)
		if err != nil {
			c.find(rule, t.place, "buckets only", "a value "+keyName(e.key))
			continue
		}
		fn(e.key, sub)
	}
}

// layout checks that t has the given buckets and one value, and returns both.
func (c *checker) layout(t tree, rule int, value []byte, names ...[]byte) (v []byte, subs []tree, ok bool) {
	for e, err := range t.elements() {
		known := func(name []byte) bool { return bytes.Equal(name, e.key) }
		if err == nil && !known(value) && !slices.ContainsFunc(names, known) && (rule != ruleThread || !optionalName(e.key)) {
			c.find(rule, t.place, "nothing else", keyName(e.key))
		}
	}
	e, ok, err := t.get(value)
	if err != nil || !ok || e.bucket {
		c.find(rule, t.place, "a value "+string(value), "none")
		return nil, nil, false
	}
	if v, err = e.value(); err != nil {
		return nil, nil, false
	}
	for _, name := range names {
		sub, err := t.bucket(name)
		if err != nil {
			c.find(rule, t.place, "a bucket "+string(name), "none")
			return v, nil, false
		}
		subs = append(subs, sub)
	}
	return v, subs, true
}

// lineage checks one lineage: its key, and every record of it.
func (c *checker) lineage(name []byte, t tree) {
	key, subs, ok := c.layout(t, ruleLineage, keyKey, bucketMems, bucketHandles, bucketGrams, bucketData, bucketMembers)
	if !ok {
		return
	}
	l := &lineageCheck{checker: c, mems: subs[0], handles: subs[1], grams: subs[2], data: subs[3]}
	if copy(l.key[:], key) != len(key) || len(key) != len(l.key) || len(name) != len(lineageID{}) {
		c.find(ruleLineage, t.place, "an id of 16 bytes and a key of 32", fmt.Sprintf("%d and %d", len(name), len(key)))
	}
	l.records()
	l.memIndex()
	for member := range c.values(subs[4], ruleLineage) {
		if info, ok := c.info([]byte(member)); !ok || !bytes.Equal(info.lineage[:], name) {
			c.find(ruleLineage, subs[4].place, "threads that name this lineage", keyName([]byte(member)))
		}
	}
}

// info reads a thread's info by the thread's name.
func (c *checker) info(name []byte) (threadInfo, bool) {
	if !c.hasThreads {
		return threadInfo{}, false
	}
	t, err := c.threads.bucket(name)
	if err != nil {
		return threadInfo{}, false
	}
	e, ok, err := t.get(keyInfo)
	if err != nil || !ok {
		return threadInfo{}, false
	}
	v, err := e.value()
	if err != nil {
		return threadInfo{}, false
	}
	return parseInfo(v)
}

// thread checks one thread.
func (c *checker) thread(name []byte, t tree) {
	c.report.Threads++
	v, subs, ok := c.layout(t, ruleThread, keyInfo, bucketOrder, bucketCalls, bucketEpochs, bucketDecided)
	if !ok {
		return
	}
	if len(name) > docket.MaxThreadID {
		c.find(ruleThread, "threads", fmt.Sprintf("ids of at most %d bytes", docket.MaxThreadID), fmt.Sprint(len(name)))
	}
	info, ok := parseInfo(v)
	if !ok {
		c.find(ruleThread, t.place, "a checked info", fmt.Sprintf("%d bytes that are none", len(v)))
		return
	}
	lineage, handles, err := c.lineageOf(info)
	if err != nil {
		c.find(ruleThread, t.place, "the lineage that info names", "none")
		return
	}
	if members, err := lineage.bucket(bucketMembers); err == nil {
		if _, ok, err := members.get(name); !ok && err == nil {
			c.find(ruleThread, t.place, "to be named by its lineage", "it is not")
		}
	}
	c.order(subs[0], subs[1], handles)
	data, _ := lineage.bucket(bucketData) // a lineage without one has been reported
	last := data.seq
	for key, v := range c.values(subs[0], ruleOrder) {
		c.moment(subs[0].place, []byte(key), v, last)
	}
	c.calls(subs[1], subs[0], handles)
	c.epochs(subs[2], subs[3])
	c.decided(subs[3], subs[2])
	c.past(t, subs[2], last)
}

func (c *checker) lineageOf(info threadInfo) (lineage, handles tree, err error) {
	if !c.hasLineages {
		return lineage, handles, c.pager.fault("root", "lineages", "none")
	}
	if lineage, err = c.lineages.bucket(info.lineage[:]); err == nil {
		handles, err = lineage.bucket(bucketHandles)
	}
	return lineage, handles, err
}

// rowAt reads the row at seq; false if there is none that can be read.
func rowAt(handles tree, key []byte) (row, bool) {
	e, ok, err := handles.get(key)
	if err != nil || !ok {
		return row{}, false
	}
	v, err := e.value()
	if err != nil {
		return row{}, false
	}
	return parseRow(v)
}

// order checks that every position names a record, which the call index has.
func (c *checker) order(order, calls, handles tree) {
	for key := range c.values(order, ruleOrder) {
		seq, ok := parseSeq([]byte(key))
		r, exists := rowAt(handles, []byte(key))
		if !ok || !exists {
			c.find(ruleOrder, order.place, "positions of records", keyName([]byte(key)))
			continue
		}
		if r.state == erased {
			continue
		}
		if _, ok, err := calls.get(callKey(r.handle.CallID, seq)); !ok && err == nil {
			c.find(ruleCalls, place(seq, "call index of "+order.place), "its call id", "nothing")
		}
	}
}

// calls checks that every key of the call index is of a record that the thread
// sees.
func (c *checker) calls(calls, order, handles tree) {
	for key, v := range c.values(calls, ruleCalls) {
		if len(key) != 24 || len(v) != 0 {
			c.find(ruleCalls, calls.place, "keys of 24 bytes without values", fmt.Sprintf("%d and %d", len(key), len(v)))
			continue
		}
		prefix, seq := []byte(key[:16]), []byte(key[16:])
		r, exists := rowAt(handles, seq)
		_, visible, err := order.get(seq)
		if err == nil && (!exists || !visible || r.state == erased || !bytes.Equal(prefix, callPrefix(r.handle.CallID))) {
			c.find(ruleCalls, calls.place, "a record of this call id that the thread sees", "position "+keyName(seq))
		}
	}
}

// epochs checks each epoch, and that what it decided is in decided.
func (c *checker) epochs(epochs, decided tree) {
	var form docket.Form
	n := uint64(0)
	for key, v := range c.values(epochs, ruleEpochs) {
		n++
		number, ok := parseSeq([]byte(key))
		e, parsed := parseEpoch(v)
		if !ok || !parsed || uint64(number) != n {
			c.find(ruleEpochs, epochs.place, fmt.Sprintf("the checked epoch %d", n), "epoch "+keyName([]byte(key)))
			continue
		}
		if n == 1 {
			form = e.Form
		} else if e.Form != form {
			c.find(ruleEpochs, epochs.place, "the form of the first epoch", fmt.Sprintf("another one in epoch %d", n))
		}
		for _, id := range e.Mems {
			if d, ok := valueAt(decided, []byte(id)); !ok || !bytes.Equal(d, []byte(key)) {
				c.find(ruleDecided, decided.place, fmt.Sprintf("epoch %d of %s", n, id), "another or none")
			}
		}
	}
}

// decided checks that every decision is in the epoch that it names.
func (c *checker) decided(decided, epochs tree) {
	for key, v := range c.values(decided, ruleDecided) {
		id, err := docket.ParseMemID(key)
		e, _ := valueAt(epochs, v)
		epoch, ok := parseEpoch(e)
		if err != nil || !ok || !slices.Contains(epoch.Mems, id) {
			c.find(ruleDecided, decided.place, "mem ids of the epochs named", keyName([]byte(key)))
		}
	}
}

// valueAt reads the value of a key, false if there is none that can be read.
func valueAt(t tree, key []byte) ([]byte, bool) {
	e, ok, err := t.get(key)
	if err != nil || !ok || e.bucket {
		return nil, false
	}
	v, err := e.value()
	return v, err == nil
}
