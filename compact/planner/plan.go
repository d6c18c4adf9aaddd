package planner

// The best cut. Of all positions from which on everything eligible could become a
// stub, one pass of suffix sums finds the one that gains most, over the requests that
// are expected to come.

import "math"

// Rates are prices relative to that of uncached input.
type Rates struct {
	Write float64 // of input that the provider puts into its cache: 1.25, 2
	Read  float64 // of input that it reads from there: 0.1, 0.05, 0.025
}

// Rule is how a provider finds what it can read of its cache.
type Rule uint8

// The rules.
const (
	// RulePrefix: the longest prefix that a request has in common with an earlier
	// one, whatever ends there (OpenAI, Gemini).
	RulePrefix Rule = iota
	// RuleMarks: the end of an earlier request, if a cache mark stands there or
	// shortly behind it (Anthropic). When an epoch opens the dialect adds a mark at
	// the entry before the cut, and one behind the last item that changes.
	RuleMarks
)

// Item is one message.
type Item struct {
	Size  float64 // as it would go out now: with the stubs that are decided
	Whole float64 // as it would without any stub
	Saves float64 // what becoming stubs would take from Size: of all its results that may
	// Answer: the model said it. A request ended before the first of a run of them.
	Answer bool
}

// Options are what a plan weighs. The zero value of a field means its default; where it
// says so a negative one means none.
//
// A conversation's end is not known. Horizon and Doubt say how many requests are expected
// to come: after k requests Horizon·k, give or take Doubt. An epoch is worth it if the
// more of them pay for it. If what it costs is not there from earlier savings, the fewer
// have to; see Insurance.
type Options struct {
	Rates
	Rule Rule
	// Horizon is how many requests are expected to come for each that was. Default
	// [DefaultHorizon].
	Horizon float64
	// Doubt is by how many requests that may be wrong. Default [DefaultDoubt]; negative:
	// not at all.
	Doubt float64
	// Insurance is what the whole conversation may cost at most, as a share of what it
	// would have cost without any stub, after the fewest requests that are expected, and
	// at least two. Default [DefaultInsurance]; negative: no bound, nor the next one.
	Insurance float64
	// Limit is the same for a conversation that ends with this request. Default
	// [DefaultLimit]; negative: no bound.
	Limit float64
	// Patience is how many requests an epoch waits when much of what it would write again
	// is large and will probably become stubs soon. Default [DefaultPatience]; negative:
	// none.
	Patience float64
	// Intact is how many of the first items the provider can still have in its cache: 0 if
	// it went cold. nil: all that were sent.
	Intact *int
	// Beside is the size of what a request has beside its items. It counts for Window only:
	// no plan changes it.
	Beside float64
	// Window is the size of a request above which an epoch is opened whether or not it
	// pays, and whatever the bounds say: what the model takes, or the price of more. 0:
	// none.
	Window float64
	// Target is the size that such an epoch brings the request down to, if all that may
	// become stubs is enough for that. 0: [DefaultTarget] of Window, so that the next one
	// is not due at once.
	Target float64
	// Cuts, unless nil, says where epochs open, and nothing is weighed: for a number of
	// items that a request has, the first item that may change. For replays.
	Cuts map[int]int
}

// Defaults, chosen on half of the recorded conversations; DESIGN.md has the tables.
const (
	DefaultHorizon   = 0.5
	DefaultDoubt     = 18
	DefaultInsurance = 1.02
	DefaultLimit     = 1.10
	DefaultPatience  = 7
	DefaultTarget    = 0.7
)

// leastTrust is how many requests are always taken to come when an epoch is insured: a
// conversation that calls tools seldom ends with the next one.
const leastTrust = 2

// Receipt says what a cut costs and saves.
type Receipt struct {
	Cut       int     `json:"cut"`           // the first item that changes
	Entry     int     `json:"entry"`         // how many items the provider can read: a mark belongs at their end
	Saved     float64 `json:"saved"`         // size that goes out less in this request and in every later one
	Rewritten float64 `json:"rewritten"`     // size that is written although the provider had it
	Now       float64 `json:"cost_now"`      // what this request costs more, in units of uncached input; negative: less
	Later     float64 `json:"saves_later"`   // what every later request costs less
	BreakEven float64 `json:"break_even"`    // how many later requests pay for it; 0: it pays at once
	Expected  float64 `json:"expected_gain"` // over the expected requests
	Forced    bool    `json:"forced"`        // the request was larger than its window
}

// Plan returns the best cut, and false when nothing is worth one. items are those of
// this request; epochs, ascending, are the cuts that were made before.
func Plan(items []Item, epochs []Epoch, o Options) (Receipt, bool) {
	o = o.filled()
	c := newCourse(items)
	whole, spent, found := c.account(epochs, o)
	sent := c.sent()
	if o.Intact != nil {
		sent, found = min(sent, *o.Intact), found.cut(*o.Intact)
	}
	from, forced := 0, false
	if o.Cuts != nil {
		if from, forced = o.Cuts[len(items)]; !forced {
			return Receipt{}, false
		}
	}
	b := newBounds(float64(max(len(c.requests), 1)), whole, spent, o)
	b.soon = c.soon(sent)
	need := o.need(c.size[len(items)] + o.Beside)
	best, pays := Receipt{}, false
	var saves float64
	for i := len(items) - 1; i >= from; i-- {
		if items[i].Saves <= 0 {
			continue
		}
		saves += items[i].Saves
		r := c.receipt(i, saves, readable(found, i, sent, o.Rule), sent, o)
		r.Expected = b.horizon*r.Later - r.Now
		if forced || prefers(r, best, pays, need) && (need > 0 || b.allow(r, o)) {
			best, pays = r, true
		}
	}
	best.Forced = pays && need > 0
	return best, pays
}

// prefers tells whether r is a better plan than best, which there is if any says so. need is
// how much has to go.
func prefers(r, best Receipt, any bool, need float64) bool {
	if need > 0 && (!any || best.Saved < need) {
		return true // the next cut saves more
	}
	return r.Expected > best.Expected
}

// need returns how much has to go of a request of some size.
func (o Options) need(size float64) float64 {
	if o.Window <= 0 || size <= o.Window {
		return 0
	}
	if o.Target <= 0 {
		return size - DefaultTarget*o.Window
	}
	return max(size-o.Target, 1)
}

// bounds are what an epoch has to keep to.
type bounds struct {
	horizon float64 // requests that are expected
	trust   float64 // requests that are counted on where savings do not pay
	room    float64 // what an epoch may cost then
	limit   float64 // what it may cost if none comes
	soon    float64 // size that will be saved soon, of what the provider has
}

// newBounds returns the bounds after requests that cost spent, and would have cost whole
// without any stub.
func newBounds(requests, whole, spent float64, o Options) bounds {
	expected := o.Horizon * requests
	b := bounds{
		horizon: expected + max(o.Doubt, 0),
		trust:   max(expected-max(o.Doubt, 0), leastTrust),
		room:    math.Inf(1),
		limit:   math.Inf(1),
	}
	if o.Insurance >= 0 {
		b.room = o.Insurance*whole - spent
		if o.Limit >= 0 {
			b.limit = max(o.Limit*whole-spent, 0)
		}
	}
	return b
}

// allow tells whether an epoch keeps to b.
func (b bounds) allow(r Receipt, o Options) bool {
	again := (o.Write - o.Read) * min(b.soon, r.Rewritten)
	waits := o.Patience > 0 && again > o.Patience*r.Later
	return !waits && r.Now <= max(b.room+b.trust*r.Later, 0) && r.Now <= b.limit
}

// soon estimates how much of the first sent items will probably be saved when a little
// more was said: of those behind everything that may become a stub now, and as large as
// the smallest of these, what such a one saves.
func (c *course) soon(sent int) (sum float64) {
	last, smallest, rest := len(c.items), math.Inf(1), math.Inf(1)
	for i, it := range c.items {
		if it.Saves > 0 {
			last, smallest, rest = i, min(smallest, it.Size), min(rest, it.Size-it.Saves)
		}
	}
	for i := last + 1; i < sent; i++ {
		if it := c.items[i]; !it.Answer && it.Size >= smallest {
			sum += it.Size - rest
		}
	}
	return sum
}

// receipt says what a cut at item i costs and saves, when the provider has read the
// first sent items and can still read those before entry.
func (c *course) receipt(i int, saves float64, entry, sent int, o Options) Receipt {
	r := Receipt{Cut: i, Entry: entry, Saved: saves, Later: o.Read * saves}
	cached := max(c.size[sent]-c.size[min(entry, sent)], 0)
	r.Now = (o.Write-o.Read)*cached - o.Write*saves
	r.Rewritten = max(cached-saves, 0)
	if r.Now > 0 {
		r.BreakEven = r.Now / r.Later
	}
	return r
}

// Entry returns how many items of this request the provider can read when the item
// cut changes, after the given epochs.
func Entry(items []Item, epochs []Epoch, cut int, o Options) int {
	c := newCourse(items)
	_, _, found := c.account(epochs, o.filled())
	return readable(found, cut, c.sent(), o.Rule)
}

func (o Options) filled() Options {
	for _, f := range []struct {
		at      *float64
		without float64
	}{
		{&o.Horizon, DefaultHorizon}, {&o.Doubt, DefaultDoubt}, {&o.Insurance, DefaultInsurance},
		{&o.Limit, DefaultLimit}, {&o.Patience, DefaultPatience},
	} {
		if *f.at == 0 {
			*f.at = f.without
		}
	}
	return o
}
