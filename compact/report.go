package compact

// What a view says about itself (P12): one decision a result, in the order of the
// transcript. A view keeps no state: the report is the caller's.

import (
	"docket"
	"docket/compact/planner"
)

// Decision is what was decided about one result.
type Decision struct {
	Index       int           `json:"index"`       // running number of the result in the transcript, from 0
	Message     int           `json:"message"`     // index of its message
	CallID      docket.CallID `json:"call_id"`     // verbatim
	Tool        string        `json:"tool"`        // its name, or <unknown_tool>
	Size        int64         `json:"size"`        // of its payload, in characters
	Disposition Disposition   `json:"disposition"` // what the policy wants
	Reason      Reason        `json:"reason"`      // why; or why it was not applied
	Applied     bool          `json:"applied"`     // the view has the stub in its place
	MemID       docket.MemID  `json:"mem_id"`      // of its record; empty: not recorded
}

// New tells whether this view is the first that has the stub: the message changes
// although the provider may have read it before.
func (d Decision) New() bool { return d.Applied && d.Reason != ReasonDecided }

// Cause is why a view does not extend the one before it.
type Cause string

// The causes.
const (
	CauseEpoch  Cause = "epoch"  // an epoch was opened: the receipt says what for
	CauseClient Cause = "client" // the client changed a message that it had sent
	CauseHeld   Cause = "held"   // stubs that had gone out could not, or go out again
)

// Change is the first message in which a view differs from the one before it.
type Change struct {
	Message int   `json:"message"`
	Cause   Cause `json:"cause"`
}

// Report is what a view says about itself.
type Report struct {
	Decisions []Decision
	// Receipt is what the epoch that this view opened costs and saves, under a cost
	// policy; nil: it opened none.
	Receipt *planner.Receipt
	// Change is where this view differs from the one before it, nil if it extends that one,
	// or nobody remembers it.
	Change *Change
	// Err joins what the ledger and the log refused, in one line; the results that it
	// concerns are whole. It never holds payload.
	Err error
}

// Cut returns the earliest message that this view changes for the first time, and
// false if it changes none: every view before it had a prefix of this one.
func (r Report) Cut() (message int, ok bool) {
	for _, d := range r.Decisions {
		if d.New() {
			return d.Message, true
		}
	}
	return 0, false
}
