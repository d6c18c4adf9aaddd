package compact

// Pairing: every call has its result, every result its call, where providers want
// them. A result answers a call of the run of assistant messages right before it;
// between them may only stand other results (and instructions). Ids alone decide
// nothing: many servers hand out the same id again and again.

import (
	"cmp"
	"slices"

	"docket"
)

// FaultKind is what is wrong with a call or a result.
type FaultKind string

// The faults for which a provider answers 400.
const (
	Unanswered FaultKind = "unanswered" // a call without its result
	Orphan     FaultKind = "orphan"     // a result without its call, or one too many
)

// Fault is a call or a result that stands alone.
type Fault struct {
	Message int           `json:"message"` // index of the message that holds it
	ID      docket.CallID `json:"call_id"`
	Kind    FaultKind     `json:"kind"`
}

// Faults returns the faults of messages in both directions, in their order. A
// last message whose calls await their results counts as unanswered.
func Faults(messages []Message) []Fault {
	return pair(messages).faults
}

// pairing is what Faults and Trim know of each message.
type pairing struct {
	faults []Fault
	// first is, of a message with results, the earliest message whose calls they
	// answer; its own index where they answer none.
	first []int
}

// pair walks messages once, holding the calls of the current run open.
func pair(messages []Message) pairing {
	p := pairing{first: make([]int, len(messages))}
	open := openCalls{}
	calling := false
	for i, m := range messages {
		p.first[i] = i
		speaks := m.Role == RoleAssistant
		if speaks && !calling || !speaks && m.Role != RoleSystem && len(m.Results) == 0 {
			p.faults = open.end(p.faults)
		}
		calling = speaks || m.Role == RoleSystem && calling
		for _, res := range m.Results {
			if k, ok := open.take(res.ID); ok {
				p.first[i] = min(p.first[i], k)
			} else {
				p.faults = append(p.faults, Fault{i, res.ID, Orphan})
			}
		}
		for _, c := range m.Calls {
			open[c.ID] = append(open[c.ID], i)
		}
	}
	p.faults = open.end(p.faults)
	slices.SortFunc(p.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return p
}

// openCalls are the messages of the calls that no result has answered yet, by id:
// several calls of a run may have one.
type openCalls map[docket.CallID][]int

// take closes the first open call with id and returns its message.
func (o openCalls) take(id docket.CallID) (message int, ok bool) {
	list := o[id]
	if len(list) == 0 {
		return 0, false
	}
	o[id] = list[1:]
	return list[0], true
}

// end gives up on all that is open.
func (o openCalls) end(faults []Fault) []Fault {
	for id, list := range o {
		for _, message := range list {
			faults = append(faults, Fault{message, id, Unanswered})
		}
	}
	clear(o)
	return faults
}
