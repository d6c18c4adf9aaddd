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

// Report is what a view says about itself.
type Report struct {
	Decisions []Decision
	// Receipt is what the epoch that this view opened costs and saves, under a cost
	// policy; nil: it opened none.
	Receipt *planner.Receipt
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
