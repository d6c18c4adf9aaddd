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
	// Cold: the provider's cache holds nothing of this conversation any more.
	Cold bool
	// Cuts, unless nil, says where epochs open, and nothing is weighed: for a number of
	// items that a request has, the first item that may change. For replays.
	Cuts map[int]int
}

// Defaults, chosen on a third of the recorded conversations; DESIGN.md has the table.
const (
	DefaultHorizon   = 0.5
	DefaultInsurance = 1.04
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
	if o.Cold {
		sent, found = 0, nil
	}
	from, forced := 0, false
	if o.Cuts != nil {
		if from, forced = o.Cuts[len(items)]; !forced {
			return Receipt{}, false
		}
	}
	horizon := o.Horizon * float64(max(len(c.requests), 1))
	best, pays := Receipt{}, false
	var saves float64
	for i := len(items) - 1; i >= from; i-- {
		if items[i].Saves <= 0 {
			continue
		}
		saves += items[i].Saves
		r := c.receipt(i, saves, readable(found, i, sent, o.Rule), sent, o)
		r.Expected = horizon*r.Later - r.Now
		if forced || r.Expected > best.Expected && r.Now <= room {
			best, pays = r, true
		}
	}
	return best, pays
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
	if o.Horizon == 0 {
		o.Horizon = DefaultHorizon
	}
	if o.Insurance == 0 {
		o.Insurance = DefaultInsurance
	}
	return o
}
