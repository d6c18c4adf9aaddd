package planner

// What a conversation has cost so far: follows from its items and the epochs that were
// opened, so that a process that was restarted knows it as well as one that was not.

import "sort"

// Epoch is a cut that was made.
type Epoch struct {
	Items int // how many items the request had that it was made in
	Cut   int // the first item that it changed
	Last  int // the last one
	// Saved is what it took from each item: by number of the item.
	Saved map[int]float64
}

// course is a conversation in prefix sums: element i is of all items before i.
type course struct {
	items       []Item
	size, whole []float64
	requests    []int // how many items each request before this one had
}

func newCourse(items []Item) *course {
	c := &course{items: items, size: make([]float64, len(items)+1), whole: make([]float64, len(items)+1)}
	for i, it := range items {
		c.size[i+1] = c.size[i] + it.Size
		c.whole[i+1] = c.whole[i] + it.Whole
		if it.Answer && i > 0 && !items[i-1].Answer {
			c.requests = append(c.requests, i)
		}
	}
	return c
}

// sent is how many items the request before this one had.
func (c *course) sent() int {
	if n := len(c.requests); n > 0 {
		return c.requests[n-1]
	}
	return 0
}

// entries are the positions that the provider can read its cache up to, ascending:
// the ends of earlier requests, and of what an epoch changed, where the dialect sets a
// mark: the next epoch's cut is behind it. What changed behind one of them is another view, and
// what was read of the old one is of no use.
type entries []int

// cut drops the entries behind a change of item at.
func (e entries) cut(at int) entries {
	n := sort.SearchInts(e, at+1)
	return e[:n:n]
}

// before returns the last entry that a change of item at leaves, 0 if there is none.
func (e entries) before(at int) int {
	if n := sort.SearchInts(e, at+1); n > 0 {
		return e[n-1]
	}
	return 0
}

// readable returns how many items the provider can read when item at changes, after
// a request of sent items.
func readable(e entries, at, sent int, rule Rule) int {
	if rule == RulePrefix {
		return min(at, sent)
	}
	return e.before(at)
}

// account goes through the requests so far, this one included. It returns what they
// cost without any stub, and with the epochs as they were opened; and the entries that
// this request finds.
func (c *course) account(epochs []Epoch, o Options) (whole, spent float64, found entries) {
	view := append([]float64(nil), c.whole...) // prefix sums of the view that goes out
	before := 0
	for _, n := range append(append([]int(nil), c.requests...), len(c.items)) {
		whole += o.Read*c.whole[before] + o.Write*(c.whole[n]-c.whole[before])
		read := before
		for len(epochs) > 0 && epochs[0].Items <= n {
			read = min(read, readable(found, epochs[0].Cut, before, o.Rule))
			if found = found.cut(epochs[0].Cut); epochs[0].Last+1 < n {
				found = append(found, epochs[0].Last+1)
			}
			c.take(view, epochs[0])
			epochs = epochs[1:]
		}
		spent += o.Read*view[read] + o.Write*(view[n]-view[read])
		if n < len(c.items) {
			found = append(found, n)
		}
		before = n
	}
	return whole, spent, found
}

// take takes from the prefix sums of a view what an epoch saved.
func (c *course) take(view []float64, e Epoch) {
	taken := 0.0
	for i := range c.items {
		taken += e.Saved[i]
		view[i+1] -= taken
	}
}
