package planner

// What a conversation has cost so far: follows from its items and the epochs that were
// opened, so that a process that was restarted knows it as well as one that was not.

import (
	"maps"
	"slices"
	"sort"
)

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
	return e[:sort.SearchInts(e, at+1)]
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
	taken := newTally(len(c.items)) // by the epochs so far
	before := 0
	for k := 0; k <= len(c.requests); k++ {
		n := len(c.items)
		if k < len(c.requests) {
			n = c.requests[k]
		}
		whole += o.Read*c.whole[before] + o.Write*(c.whole[n]-c.whole[before])
		read := before
		for len(epochs) > 0 && epochs[0].Items <= n {
			read = min(read, readable(found, epochs[0].Cut, before, o.Rule))
			if found = found.cut(epochs[0].Cut); epochs[0].Last+1 < n {
				found = append(found, epochs[0].Last+1)
			}
			taken.addAll(epochs[0].Saved)
			epochs = epochs[1:]
		}
		kept := c.whole[read] - taken.before(read)
		spent += o.Read*kept + o.Write*(c.whole[n]-taken.sum-kept)
		if n < len(c.items) {
			found = append(found, n)
		}
		before = n
	}
	return whole, spent, found
}

// tally is a Fenwick tree: sums over the first items while single ones grow.
type tally struct {
	tree []float64
	sum  float64
}

func newTally(n int) *tally { return &tally{tree: make([]float64, n+1)} }

// addAll adds what an epoch saved, in the order of items: sums of fractions depend on it.
func (t *tally) addAll(saved map[int]float64) {
	for _, i := range slices.Sorted(maps.Keys(saved)) {
		t.sum += saved[i]
		for at := i + 1; at < len(t.tree); at += at & -at {
			t.tree[at] += saved[i]
		}
	}
}

// before returns the sum over the first n items.
func (t *tally) before(n int) (sum float64) {
	for ; n > 0; n &= n - 1 {
		sum += t.tree[n]
	}
	return sum
}
