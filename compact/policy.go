package compact

// Which results become stubs: the static policies, as one pure decision (P9).
// What a decision needs to know of the transcript (keep places, exposure) is
// worked out in keep.go; what forbids it for reasons outside the policy (no
// recall tool, a failing ledger) in plan.go. The reasons are in reason.go.

import "docket/compact/planner"

// DefaultThreshold is the size in characters above which a result may become a
// stub: at 2,000 the results above it are 27 % of those of recorded coding
// conversations and 87 % of their characters.
const DefaultThreshold = 2000

// Mode is when a result above the threshold becomes a stub.
type Mode uint8

// The modes.
const (
	// ModeSliding stubs results that are older than the last KeepLast.
	ModeSliding Mode = iota
	// ModeOffload stubs results before the turn boundary, whatever KeepLast says.
	ModeOffload
	// ModeArrival stubs every result at once, before the model has seen it. It is
	// the only mode in which a model may be asked to work from a stub that it never
	// saw the payload of.
	ModeArrival
)

// KeepUnit is what KeepLast counts.
type KeepUnit uint8

// The units.
const (
	KeepResults KeepUnit = iota // single results
	KeepRounds                  // all results that answer one assistant message count one
)

// Policy is the static policy. The zero value stubs every result above
// [DefaultThreshold] that the model has been sent once; [Default] keeps the last
// three. Indexes are positions of messages, from 0.
type Policy struct {
	// Threshold in characters: a result is stubbed only if it is larger. 0:
	// [DefaultThreshold]; negative: no threshold. A result of less than about 800
	// characters gains nothing from a stub and stays whole anyway.
	Threshold int64
	// KeepLast is how many of the newest results (or rounds) stay whole in
	// ModeSliding. Values ≤ 0 protect none. Each one more is re-sent whole for
	// longer.
	KeepLast int
	// KeepUnit is what KeepLast counts; default results.
	KeepUnit KeepUnit
	// Mode; default ModeSliding.
	Mode Mode
	// MinSaving in characters: an epoch opens only when its stubs together save at
	// least so much. Default 0: at once, as the contract has it. Each epoch makes
	// the provider read again all that follows it, so a value of some 20,000 trades
	// a few large changes for many small ones.
	MinSaving int64
	// Cost, if set, is when and from where on stubbing pays: what the policy would
	// stub waits until then, and an epoch takes only what is at or behind the best
	// cut. nil: at once.
	Cost *planner.Options
	// Tools are settings of single tools, by the name that the model calls them with; a
	// name that ends in a star is that of all tools that begin so. See [Policy.ForTool].
	Tools map[string]ToolPolicy
	// Disabled: nothing is recorded and every view is its argument.
	Disabled bool
	// StartIndex is the first message that counts: results before it are replayed
	// history, stay whole, and are not recorded.
	StartIndex int
	// FreshStart is the first message whose recall output is fresh, hence whole.
	// nil: the position after the last assistant message.
	FreshStart *int
	// TurnBoundary is the message at which the current turn begins, for
	// ModeOffload. nil: the last user message with a block that is neither a tool
	// result nor a system reminder.
	TurnBoundary *int

	when When // of the tool that it is for
}

// CostAware returns the policy that stubs when it pays at the given rates: threshold
// 2,000 characters, the last three results whole.
func CostAware(o planner.Options) Policy {
	p := Default()
	p.Cost = &o
	return p
}

// Default returns the policy to begin with: threshold 2,000 characters, the last
// three results whole.
func Default() Policy { return Policy{Threshold: DefaultThreshold, KeepLast: 3} }

// Disposition is what is to be done with a result.
type Disposition string

// The dispositions.
const (
	Keep Disposition = "keep" // it goes out whole
	Stub Disposition = "stub" // its payload is replaced by its stub
)

// Decide is the policy's opinion of one result: a pure function of the index of
// its message, its size in characters, whether a keep place protects it, and
// whether it is something that a model looks at. Where single tools have settings it is
// asked of what [Policy.ForTool] returns. A TurnBoundary of nil counts as
// 0: [Policy.At] fills it in.
func (p Policy) Decide(index int, size int64, protected, viewable bool) (Disposition, Reason) {
	switch {
	case p.Disabled:
		return Keep, ReasonDisabled
	case index < p.StartIndex:
		return Keep, ReasonBeforeStart
	case viewable:
		return Keep, ReasonViewable
	case size == 0:
		return Keep, ReasonEmpty
	case p.when == WhenNever:
		return Keep, ReasonNever
	case size <= p.threshold():
		return Keep, ReasonBelowThreshold
	}
	return p.byMode(index, protected)
}

// byMode decides about a result that is large enough.
func (p Policy) byMode(index int, protected bool) (Disposition, Reason) {
	switch {
	case p.onArrival():
		return Stub, ReasonArrival
	case p.when == WhenAlways:
		return Stub, ReasonAlways
	case p.Mode == ModeOffload:
		if p.TurnBoundary == nil || index >= *p.TurnBoundary {
			return Keep, ReasonCurrentTurn
		}
		return Stub, ReasonOffload
	}
	if protected {
		return Keep, ReasonProtected
	}
	return Stub, ReasonStale
}

// onArrival tells whether a result becomes a stub before the model has seen it.
func (p Policy) onArrival() bool { return p.Mode == ModeArrival || p.when == WhenArrival }

func (p Policy) threshold() int64 {
	switch {
	case p.Threshold == 0:
		return DefaultThreshold
	case p.Threshold < 0:
		return 0
	}
	return p.Threshold
}

// At returns p with FreshStart and TurnBoundary filled in for messages, where
// they are nil.
func (p Policy) At(messages []Message) Policy {
	if p.FreshStart == nil {
		p.FreshStart = new(answered(messages))
	}
	if p.TurnBoundary == nil {
		p.TurnBoundary = new(turnBoundary(messages))
	}
	return p
}
