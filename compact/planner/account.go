package planner

// What a conversation has cost so far: follows from its items and the epochs that were
// opened, so that a process that was restarted knows it as well as one that was not.

// Epoch is a cut that was made.
type Epoch struct {
	Items int // how many items the request had that it was made in
	Cut   int // the first item that it changed
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

// entries returns for each item how many items before it the provider can read, if
// that item changes.
func (c *course) entries(rule Rule, sent int) []int {
	entries := make([]int, len(c.items)+1)
	next, last := 0, 0
	for i := range entries {
		for next < len(c.requests) && c.requests[next] <= i {
			last = c.requests[next]
			next++
		}
		if entries[i] = min(i, sent); rule == RuleMarks {
			entries[i] = last
		}
	}
	return entries
}

// account returns what the requests so far, this one included, cost: without any
// stub, and with the epochs as they were opened.
func (c *course) account(epochs []Epoch, o Options) (whole, spent float64) {
	requests := append(append([]int(nil), c.requests...), len(c.items))
	before := 0
	for _, n := range requests {
		whole += o.Read*c.whole[before] + o.Write*(c.whole[n]-c.whole[before])
		before = n
	}
	view := append([]float64(nil), c.whole...) // prefix sums of the view that goes out
	before = 0
	for _, n := range requests {
		read := before
		for len(epochs) > 0 && epochs[0].Items <= n {
			view = c.after(view, epochs[0])
			read = min(read, c.entry(epochs[0].Cut, before, o.Rule))
			epochs = epochs[1:]
		}
		spent += o.Read*view[read] + o.Write*(view[n]-view[read])
		before = n
	}
	return whole, spent
}

// after returns the prefix sums of a view once an epoch has taken its share.
func (c *course) after(view []float64, e Epoch) []float64 {
	out := append([]float64(nil), view...)
	taken := 0.0
	for i := range c.items {
		taken += e.Saved[i]
		out[i+1] = view[i+1] - taken
	}
	return out
}

// entry returns how many items the provider can read when item cut changes, after a
// request of sent items.
func (c *course) entry(cut, sent int, rule Rule) int {
	if rule == RulePrefix {
		return min(cut, sent)
	}
	last := 0
	for _, n := range c.requests {
		if n <= min(cut, sent) {
			last = n
		}
	}
	return last
}
