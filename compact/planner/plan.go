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

// Options are what a plan weighs. The zero value of Horizon and Insurance means their
// defaults.
type Options struct {
	Rates
	Rule Rule
	// Horizon is how many requests are expected to come for each that was, 0:
	// [DefaultHorizon]. A conversation's end is not known; with more, epochs open that
	// would better have waited for more to stub.
	Horizon float64
	// Insurance is what the whole conversation may cost at most, were it to end with
	// this request, as a share of what it would have cost without any stub. 0:
	// [DefaultInsurance]; negative: no bound.
	Insurance float64
	// Intact is how many of the first items the provider can still have in its cache: 0 if
	// it went cold. nil: all that were sent.
	Intact *int
	// Limit is the size of a request above which an epoch is opened whether or not it
	// pays, and whatever the insurance says: a window, or the price of a larger one. 0:
	// none.
	Limit float64
	// Target is the size that such an epoch brings the request down to, if all that may
	// become stubs is enough for that. 0: [DefaultTarget] of Limit, so that the next one
	// is not due at once.
	Target float64
}

// Defaults, chosen on a third of the recorded conversations; DESIGN.md has the table.
const (
	DefaultHorizon   = 0.5
	DefaultInsurance = 1.04
	DefaultTarget    = 0.7
)

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
	Forced    bool    `json:"forced"`        // the request was larger than its limit
}

// Plan returns the best cut, and false when nothing is worth one. items are those of
// this request; epochs, ascending, are the cuts that were made before.
func Plan(items []Item, epochs []Epoch, o Options) (Receipt, bool) {
	o = o.filled()
	c := newCourse(items)
	whole, spent, found := c.account(epochs, o)
	room := math.Inf(1)
	if o.Insurance >= 0 {
		room = max(o.Insurance*whole-spent, 0)
	}
	sent := c.sent()
	if o.Intact != nil {
		sent, found = min(sent, *o.Intact), found.cut(*o.Intact)
	}
	horizon := o.Horizon * float64(max(len(c.requests), 1))
	need := o.need(c.size[len(items)])
	best, pays := Receipt{}, false
	var saves float64
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Saves <= 0 {
			continue
		}
		saves += items[i].Saves
		r := Receipt{Cut: i, Entry: readable(found, i, sent, o.Rule), Saved: saves, Later: o.Read * saves}
		// Of what the provider has, all behind the entry is written again.
		cached := max(c.size[sent]-c.size[min(r.Entry, sent)], 0)
		r.Now = (o.Write-o.Read)*cached - o.Write*saves
		r.Rewritten = max(cached-saves, 0)
		r.Expected = horizon*r.Later - r.Now
		if r.Now > 0 {
			r.BreakEven = r.Now / r.Later
		}
		if o.prefers(r, best, pays, need, room) {
			best, pays = r, true
		}
	}
	best.Forced = pays && need > 0
	return best, pays
}

// prefers tells whether r is a better plan than best, which there is if any says so. need is
// how much has to go, room what may be spent.
func (o Options) prefers(r, best Receipt, any bool, need, room float64) bool {
	switch {
	case need > 0 && (!any || best.Saved < need):
		return true // the next cut saves more
	case need > 0:
		return r.Expected > best.Expected
	}
	return r.Expected > best.Expected && r.Now <= room
}

// need returns how much has to go of a request of some size.
func (o Options) need(size float64) float64 {
	if o.Limit <= 0 || size <= o.Limit {
		return 0
	}
	if o.Target <= 0 {
		return size - DefaultTarget*o.Limit
	}
	return max(size-o.Target, 1)
}

// Entry returns how many items of this request the provider can read when the item
// cut changes, after the given epochs.
func Entry(items []Item, epochs []Epoch, cut int, o Options) int {
	c := newCourse(items)
	_, _, found := c.account(epochs, o.filled())
	return readable(found, cut, c.sent(), o.Rule)
}

func (o Options) filled() Options {
	if o.Horizon == 0 {
		o.Horizon = DefaultHorizon
	}
	if o.Insurance == 0 {
		o.Insurance = DefaultInsurance
	}
	return o
}
