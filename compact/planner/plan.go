package planner

// The best cut. Of all positions from which on everything eligible could become a
// stub, one pass of suffix sums finds the one that gains most, over the requests that
// are expected to come.

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
	// shortly behind it (Anthropic). The dialect adds a mark before a cut.
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
	// [DefaultHorizon]. A conversation's end is not known; that it is half over is
	// the guess that does best.
	Horizon float64
	// Insurance is what the whole conversation may cost at most, were it to end with
	// this request, as a share of what it would have cost without any stub. 0:
	// [DefaultInsurance]; negative: no bound.
	Insurance float64
	// Cold: the provider's cache holds nothing of this conversation any more.
	Cold bool
}

// Defaults, chosen on half of the recorded conversations; DESIGN.md has the table.
const (
	DefaultHorizon   = 1
	DefaultInsurance = 1.01
)

// Receipt says what a cut costs and saves.
type Receipt struct {
	Cut       int     `json:"cut"`           // the first item that changes
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
	sent := c.sent()
	entries := c.entries(o.Rule, sent)
	if o.Cold {
		sent, entries = 0, make([]int, len(items)+1)
	}
	horizon := o.Horizon * float64(max(len(c.requests), 1))
	best, found := Receipt{}, false
	var saves float64
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Saves <= 0 {
			continue
		}
		saves += items[i].Saves
		// Of what the provider has, all behind the entry is written again.
		cached := max(c.size[sent]-c.size[min(entries[i], sent)], 0)
		r := Receipt{Cut: i, Saved: saves, Later: o.Read * saves}
		r.Now = (o.Write-o.Read)*cached - o.Write*saves
		r.Rewritten = max(cached-saves, 0)
		r.Expected = horizon*r.Later - r.Now
		if r.Now > 0 {
			r.BreakEven = r.Now / r.Later
		}
		if r.Expected > best.Expected {
			best, found = r, true
		}
	}
	return best, found && c.insured(epochs, best, o)
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

// insured tells whether the conversation would have cost little more than without any
// stub if it ended with the cut.
func (c *course) insured(epochs []Epoch, cut Receipt, o Options) bool {
	if o.Insurance < 0 || cut.Now <= 0 {
		return true
	}
	whole, spent := c.account(epochs, o)
	return spent+cut.Now <= o.Insurance*whole
}
