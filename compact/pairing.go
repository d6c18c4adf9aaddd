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

// waiting is a call that no result has answered yet.
type waiting struct {
	message int
	id      docket.CallID
}

// pair walks messages once, holding the calls of the current run open.
func pair(messages []Message) pairing {
	p := pairing{first: make([]int, len(messages))}
	var open []waiting
	speaking := false
	for i, m := range messages {
		p.first[i] = i
		if ends := m.Role == RoleAssistant && !speaking || m.Role != RoleAssistant && m.Role != RoleSystem && len(m.Results) == 0; ends {
			p.unanswered(open)
			open = nil
		}
		speaking = m.Role == RoleAssistant || m.Role == RoleSystem && speaking
		for _, c := range m.Calls {
			open = append(open, waiting{i, c.ID})
		}
		for _, res := range m.Results {
			k := slices.IndexFunc(open, func(w waiting) bool { return w.id == res.ID && w.message < i })
			if k < 0 {
				p.faults = append(p.faults, Fault{i, res.ID, Orphan})
				continue
			}
			p.first[i] = min(p.first[i], open[k].message)
			open = slices.Delete(open, k, k+1)
		}
	}
	p.unanswered(open)
	slices.SortStableFunc(p.faults, func(a, b Fault) int { return cmp.Compare(a.Message, b.Message) })
	return p
}

func (p *pairing) unanswered(open []waiting) {
	for _, w := range open {
		p.faults = append(p.faults, Fault{w.message, w.id, Unanswered})
	}
}
