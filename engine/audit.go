package engine

// What bbolt would not survive. It follows its pages without looking back: a branch
// that leads to itself makes it recurse until the process dies, and a page that
// claims four billion pages of overflow makes it free them one by one, until the
// memory is full. No guard catches either. So bbolt is let at a key only after the
// pages on the way to it were looked at (check), and at a range, or at what deletes
// pages, only after all pages of the thread's buckets were (audit): once after
// opening; from then on they are bbolt's own work. To read, pages may have any
// damage but a way in a circle: the rest ends in a guard. To write, they may have
// none.

import (
	"encoding/binary"
	"sync"

	"go.etcd.io/bbolt"

	"docket"
)

// txn is a transaction of a store.
type txn struct {
	*bbolt.Tx
	s     *store
	pages *pager // of the state that it began with
}

// newTxn wraps a transaction that has just begun.
func newTxn(tx *bbolt.Tx, s *store, file string) txn {
	size := int64(s.db.Info().PageSize)
	m := meta{
		pageSize: uint32(size),
		root:     uint64(tx.Cursor().Bucket().Root()),
		freelist: noFreelist,
		highest:  uint64(tx.Size() / size),
		txid:     uint64(tx.ID()),
	}
	return txn{Tx: tx, s: s, pages: &pager{file: s.file, path: file, meta: m, mapped: s.mapped}}
}

// check looks at the pages on the way to key. Its search takes the same way as
// bbolt's does, in damaged pages too.
func (x txn) check(b *bbolt.Bucket, key []byte) error {
	id, deep := uint64(b.Root()), x.Writable()
	if id == 0 || id >= x.pages.meta.highest {
		return nil // inline, or made in this transaction
	}
	a := audit{pager: x.pages, deep: deep}
	for range maxDepth {
		g, err := x.pages.page(id)
		if err != nil {
			if deep || a.branch(id) {
				return err
			}
			return nil // bbolt refuses it as well, or reads it into a guard
		}
		if deep {
			if err := a.elements(g, func(uint64) {}); err != nil {
				return err
			}
		}
		if g.flags == leafFlag {
			return nil
		}
		i, exact, err := g.search(key)
		if err != nil {
			return err
		}
		if !exact && i > 0 {
			i--
		}
		if i >= g.count {
			return nil
		}
		e, err := g.element(i)
		if err != nil {
			return err
		}
		id = e.child
	}
	return tree{pager: x.pages, place: "bucket"}.tooDeep()
}

// get is b.Get after a check.
func (x txn) get(b *bbolt.Bucket, key []byte) ([]byte, error) {
	if err := x.check(b, key); err != nil {
		return nil, err
	}
	return b.Get(key), nil
}

// put is b.Put after a check.
func (x txn) put(b *bbolt.Bucket, key, value []byte) error {
	if err := x.check(b, key); err != nil {
		return err
	}
	return b.Put(key, value)
}

// bucket is b.Bucket after a check.
func (x txn) bucket(b *bbolt.Bucket, key []byte) (*bbolt.Bucket, error) {
	if err := x.check(b, key); err != nil {
		return nil, err
	}
	return b.Bucket(key), nil
}

// top is the bucket called name in the root, nil if there is none.
func (x txn) top(name []byte) (*bbolt.Bucket, error) {
	return x.bucket(x.Cursor().Bucket(), name)
}

// maxAudited is how many threads an audit is remembered of.
const maxAudited = 1 << 14

// audits remembers what was audited, and whether for writing.
type audits struct {
	mu      sync.Mutex // guards what follows
	top     map[bool]bool
	threads map[docket.ThreadID]bool // true: for writing
}

func (a *audits) has(id docket.ThreadID, deep bool) (top, thread bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	wrote, is := a.threads[id]
	return a.top[deep] || a.top[true], is && (wrote || !deep)
}

func (a *audits) add(id docket.ThreadID, deep bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.top == nil {
		a.top = map[bool]bool{}
	}
	if a.threads == nil || len(a.threads) >= maxAudited {
		a.threads = map[docket.ThreadID]bool{}
	}
	a.top[deep] = true
	a.threads[id] = a.threads[id] || deep
}

// audit looks at the buckets that a thread is kept in. To read, they may have any
// damage but a way in a circle, and the cost is one look at each page; to write,
// they may have none, and the cost is one look at each element. Values are not read.
func (x txn) audit(id docket.ThreadID) error {
	deep := x.Writable()
	top, done := x.s.audited.has(id, deep)
	if done {
		return nil
	}
	a := audit{pager: x.pages, deep: deep}
	if err := a.all(id, top); err != nil {
		return err
	}
	x.s.audited.add(id, deep)
	return nil
}

// auditLineage audits a lineage by its id, whatever threads are in it. Nothing is
// remembered.
func (x txn) auditLineage(id lineageID) error {
	if err := x.audit(""); err != nil {
		return err
	}
	a := audit{pager: x.pages, deep: x.Writable()}
	lineages, _ := a.sub(x.pages.root(), bucketLineages)
	lineage, _ := a.sub(lineages, id[:])
	return a.family(lineage)
}

// auditValues audits one bucket that holds values only.
func (x txn) auditValues(b *bbolt.Bucket) error {
	root := uint64(b.Root())
	if root == 0 || root >= x.pages.meta.highest {
		return nil // inline, or made in this transaction
	}
	a := audit{pager: x.pages, deep: x.Writable(), values: true}
	return a.tree(tree{pager: a.pager, place: "segment", root: root})
}

// audit is an audit under way.
type audit struct {
	pager  *pager
	deep   bool // for writing
	values bool // there may be no buckets in the bucket
}

// all audits the buckets on the way to a thread, unless top says that they were,
// and the thread's own with those of its lineage. What is missing is for others to
// report.
func (a *audit) all(id docket.ThreadID, top bool) error {
	root := a.pager.root()
	threads, ok1 := a.sub(root, bucketThreads)
	lineages, ok2 := a.sub(root, bucketLineages)
	if !top {
		for _, t := range []tree{root, threads, lineages} {
			if err := a.tree(t); err != nil {
				return err
			}
		}
	}
	thread, ok := a.sub(threads, []byte(id))
	if !ok || !ok1 || !ok2 {
		return nil
	}
	v, _ := valueAt(thread, keyInfo)
	info, _ := parseInfo(v)
	lineage, _ := a.sub(lineages, info.lineage[:])
	for _, t := range []tree{thread, lineage} {
		if err := a.family(t); err != nil {
			return err
		}
	}
	return nil
}

// family audits a bucket and those in it.
func (a *audit) family(t tree) error {
	if t.pager == nil {
		return nil
	}
	if err := a.tree(t); err != nil {
		return err
	}
	for e, err := range t.elements() {
		if err != nil || !e.bucket {
			continue // tree has reported it, where it matters
		}
		sub, err := t.sub(e)
		if err != nil && a.deep {
			return err
		}
		if err == nil {
			if err := a.tree(sub); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *audit) sub(t tree, name []byte) (tree, bool) {
	if t.pager == nil {
		return tree{}, false
	}
	sub, err := t.bucket(name)
	if err != nil {
		return tree{}, false
	}
	return sub, true
}

// tree audits one bucket.
func (a *audit) tree(t tree) error {
	if t.pager == nil {
		return nil
	}
	if t.root == 0 {
		return a.elements(t.in, func(uint64) {})
	}
	seen := map[uint64]bool{}
	for todo := []uint64{t.root}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !a.deep && !a.branch(id) {
			continue
		}
		g, err := a.pager.page(id)
		if err != nil && !a.deep {
			continue // bbolt refuses it as well, or reads it into a guard
		}
		if err != nil {
			return err
		}
		if seen[id] {
			return a.pager.fault(pagePlace(id), "to be reached once", "a second way to it, from "+t.place)
		}
		seen[id] = true
		if err := a.elements(g, func(child uint64) { todo = append(todo, child) }); err != nil {
			return err
		}
	}
	return nil
}

// branch tells whether bbolt would go on from page id.
func (a *audit) branch(id uint64) bool {
	if id >= a.pager.meta.highest {
		return false
	}
	b, err := a.pager.read(id, int64(id)*int64(a.pager.meta.pageSize), pageHeader)
	return err == nil && binary.NativeEndian.Uint16(b[8:]) == branchFlag
}

// elements audits the elements of a page, and calls down with the children of a
// branch.
func (a *audit) elements(g page, down func(child uint64)) error {
	for i := range g.count {
		e, err := g.element(i)
		if err != nil && a.deep {
			return err
		}
		switch {
		case g.flags == branchFlag:
			down(e.child)
		case a.values && a.deep && e.bucket:
			return a.pager.fault(pagePlace(g.id), "values only", "a bucket")
		case !a.deep:
			return nil // of a leaf that bbolt only looks things up in
		}
	}
	return nil
}
