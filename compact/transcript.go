package compact

// What the service reads of a message, and the adapter that an adopter injects
// for a message type of their own (P13). A dialect that edits bytes (package
// wire) gives the same reading and feeds the same plan, without this adapter.

import (
	"context"

	"docket"
)

// Role is who speaks in a message.
type Role uint8

// The roles.
const (
	RoleOther     Role = iota // a message of tool results only, or anything else
	RoleUser                  // in some dialects also the carrier of tool results
	RoleAssistant             // the model: its calls
	RoleSystem                // instructions, wherever they stand
)

// Message is the reading of one message.
type Message struct {
	Role Role
	// Speaks: it has a part that is neither a tool result nor a system reminder.
	Speaks  bool
	Calls   []docket.Call // what the model asked for, in order
	Results []Result      // what came back, in order
	// Size is how much of a request the message is, in bytes, as it stands on the
	// wire. 0: about what its calls and results are. The cost policy weighs it.
	Size int64
}

// Result is a tool result as it stands in a message. Tool and Args may be empty:
// the call with its id has them.
type Result struct {
	docket.Result
	// Size is how many bytes its payload takes in the message, as it is spelled there. 0: as
	// many as it has. The cost policy weighs it.
	Size int64
	// Hold forbids a stub, for a reason that only the dialect knows. A result that
	// is held as [ReasonLossy] is not recorded either.
	Hold Reason
}

// Replacement is a text that takes the place of a result's payload.
type Replacement struct {
	Result int    // position in [Message.Results]
	Text   string // the stub
}

// Transcript reads messages of type M and makes compact copies of them.
type Transcript[M any] interface {
	// Read describes m. What it returns may alias m; the service changes none of
	// it.
	Read(m M) Message
	// Replace returns a copy of m in which the texts of some results are replaced,
	// and everything else (ids, calls, other parts, order) is as it was. It leaves
	// m alone.
	Replace(m M, with []Replacement) M
}

// Viewer makes wire views of messages of type M. It is safe for concurrent use
// if its transcript is.
type Viewer[M any] struct {
	Service    *Service
	Transcript Transcript[M]
	// RecallTool is the recall tool's name as the model sees it. It is the caller's
	// promise that the model can call it. Default [docket.DefaultRecallTool].
	RecallTool string
}

// View returns the wire view of messages and what was decided. When nothing
// changes it returns messages itself; otherwise a new slice that shares the
// messages that stay. It cannot fail: what the ledger cannot keep stays whole and
// [Report.Err] says why.
func (v Viewer[M]) View(ctx context.Context, thread docket.ThreadID, messages []M) ([]M, Report) {
	seen := make([]Message, len(messages))
	for i, m := range messages {
		seen[i] = v.Transcript.Read(m)
	}
	tool := v.RecallTool
	if tool == "" {
		tool = docket.DefaultRecallTool
	}
	plan := v.Service.Plan(ctx, thread, seen, Request{RecallTools: []string{tool}})
	return v.apply(messages, plan.Edits), plan.Report
}

// apply puts edits, which ascend, into a copy of messages.
func (v Viewer[M]) apply(messages []M, edits []Edit) []M {
	if len(edits) == 0 {
		return messages
	}
	view := append([]M(nil), messages...)
	for len(edits) > 0 {
		at, n := edits[0].Message, 0
		var with []Replacement
		for ; n < len(edits) && edits[n].Message == at; n++ {
			with = append(with, edits[n].Replacement)
		}
		view[at] = v.Transcript.Replace(messages[at], with)
		edits = edits[n:]
	}
	return view
}
