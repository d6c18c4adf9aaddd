package engine

// A bucket as a tree of pages, read without bbolt (page.go says why): looking up,
// walking, and entering the buckets inside of it.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
)

// tree is a bucket.
type tree struct {
	pager *pager
	place string // for findings: the bucket's path
	root  uint64 // 0: inline
	in    page   // the inline page
	seq   uint64
}

// root returns the bucket that holds all others.
func (p *pager) root() tree { return tree{pager: p, place: "root", root: p.meta.root} }

// sub reads the bucket that is the value of e.
func (t tree) sub(e *element) (tree, error) {
	s := tree{pager: t.pager, place: t.place + " / " + keyName(e.key)}
	if !e.bucket || e.len < bucketHeader {
		return s, t.pager.fault(s.place, "a bucket", fmt.Sprintf("a value of %d bytes", e.len))
	}
	v, err := e.value()
	if err != nil {
		return s, err
	}
	order := binary.NativeEndian
	s.root, s.seq = order.Uint64(v), order.Uint64(v[8:])
	if s.root == 0 {
		s.in, err = t.pager.inlinePage(s.place, v[bucketHeader:])
	}
	return s, err
}

// keyName names a key in a finding: as text where it is some.
func keyName(key []byte) string {
	if len(key) == 8 && key[0] == 0 {
		return fmt.Sprint(binary.BigEndian.Uint64(key))
	}
	for _, c := range key {
		if c < ' ' || c > '~' {
			return fmt.Sprintf("%.32x", key)
		}
	}
	return fmt.Sprintf("%.64s", key)
}

// top returns the root page.
func (t tree) top() (page, error) {
	if t.root == 0 {
		return t.in, nil
	}
	return t.pager.page(t.root)
}

// get returns the element with the given key; false if there is none.
func (t tree) get(key []byte) (element, bool, error) {
	g, err := t.top()
	if err != nil {
		return element{}, false, err
	}
	for range maxDepth {
		i, exact, err := g.search(key)
		if err != nil || g.flags == leafFlag && !exact {
			return element{}, false, err
		}
		if g.flags == branchFlag && !exact && i > 0 {
			i-- // the child that begins at or before key
		}
		if i >= g.count {
			return element{}, false, nil
		}
		e, err := g.element(i)
		if err != nil || g.flags == leafFlag {
			return e, err == nil && bytes.Equal(e.key, key), err
		}
		if g, err = t.pager.page(e.child); err != nil {
			return element{}, false, err
		}
	}
	return element{}, false, t.tooDeep()
}

func (t tree) tooDeep() error {
	return t.pager.fault(t.place, "a tree", fmt.Sprintf("more than %d levels", maxDepth))
}

// search returns the number of the first element whose key is not below key.
func (g *page) search(key []byte) (i int, exact bool, err error) {
	lo, hi := 0, g.count
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		e, err := g.element(mid)
		if err != nil {
			return 0, false, err
		}
		c := bytes.Compare(e.key, key)
		exact = exact || c == 0
		if c < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, exact, nil
}

// bucket returns the bucket called name inside of t.
func (t tree) bucket(name []byte) (tree, error) {
	e, ok, err := t.get(name)
	if err != nil {
		return tree{}, err
	}
	if !ok {
		return tree{}, t.pager.fault(t.place, "a bucket "+keyName(name), "none")
	}
	return t.sub(&e)
}

// level is a place in a page that a walk has come to.
type level struct {
	page  page
	next  int
	above []byte // keys are below this; nil: any
}

// elements yields the elements of t's leaves in order. An error is yielded in the
// place of what it makes unreadable, and the walk goes on after it. It comes to no
// page twice.
func (t tree) elements() iter.Seq2[*element, error] { return t.walk(nil) }

// walk is elements with a set of the pages that others have come to, which it
// extends.
func (t tree) walk(visited pageSet) iter.Seq2[*element, error] {
	return func(yield func(*element, error) bool) {
		w := walk{tree: t, visited: visited}
		for w.enter(t.root, nil, yield); len(w.stack) > 0 && !w.stopped; {
			w.step(yield)
		}
	}
}

// walk is a walk through a tree, depth first.
type walk struct {
	tree    tree
	visited pageSet // nil: none needed so far
	stack   []level
	last    []byte // the key yielded last
	stopped bool
}

// enter goes down into page id.
func (w *walk) enter(id uint64, above []byte, yield func(*element, error) bool) {
	g := w.tree.in
	var err error
	if w.tree.root != 0 {
		g, err = w.load(id)
	}
	if err != nil {
		w.stopped = !yield(nil, err)
		return
	}
	w.stack = append(w.stack, level{page: g, above: above})
}

// load reads page id and refuses what would make the walk endless.
func (w *walk) load(id uint64) (page, error) {
	p := w.tree.pager
	g, err := p.page(id)
	switch {
	case err != nil:
		return g, err
	case len(w.stack) >= maxDepth:
		return g, w.tree.tooDeep()
	case g.flags == branchFlag && g.count == 0:
		return g, p.fault(pagePlace(id), "a branch with children", "none")
	case w.visited == nil && g.flags == branchFlag:
		w.visited = newPageSet(p.meta.highest)
	}
	if w.visited != nil && !w.visited.add(id, uint64(g.span)/uint64(p.meta.pageSize)) {
		return g, p.fault(pagePlace(id), "to be reached once", fmt.Sprintf("a second way to it, from %s", w.tree.place))
	}
	return g, nil
}

// step yields the next element of the page on top, or goes down into it, or leaves
// the page.
func (w *walk) step(yield func(*element, error) bool) {
	top := &w.stack[len(w.stack)-1]
	if top.next == top.page.count {
		w.stack = w.stack[:len(w.stack)-1]
		return
	}
	e, err := top.page.element(top.next)
	top.next++
	if err == nil {
		err = w.ordered(top, e.key)
	}
	switch {
	case err != nil:
		w.stopped = !yield(nil, err)
	case top.page.flags == branchFlag:
		above := top.above
		if top.next < top.page.count {
			if next, err := top.page.element(top.next); err == nil {
				above = next.key
			}
		}
		w.enter(e.child, above, yield)
	default:
		w.last = e.key
		w.stopped = !yield(&e, nil)
	}
}

// ordered checks that key may follow. A branch's key may equal the one that its
// child begins with, so only leaves move last on.
func (w *walk) ordered(top *level, key []byte) error {
	if w.last != nil && bytes.Compare(key, w.last) <= 0 || top.above != nil && bytes.Compare(key, top.above) >= 0 {
		return w.tree.pager.fault(pagePlace(top.page.id), "keys in ascending order", "the key "+keyName(key)+" out of it")
	}
	return nil
}
