package compact

// The cost policy: of what the static policy would stub, when and from where on. The
// planner weighs sizes; here they are made from the messages and the decision log
// alone, so that every process comes to the same plan.

import (
	"docket"
	"docket/compact/planner"
)

// weigh keeps the new stubs that do not pay yet.
func (r *run) weigh() {
	if r.policy.Cost == nil {
		return
	}
	if r.openedBefore() {
		r.postpone(len(r.messages)) // a retry sends what the first try did
		return
	}
	items, epochs := r.weights()
	receipt, pays := planner.Plan(items, epochs, r.options())
	if !pays {
		r.postpone(len(r.messages))
		return
	}
	r.postpone(receipt.Cut)
	r.receipt = &receipt
}

// options are the policy's for this request.
func (r *run) options() planner.Options {
	o := *r.policy.Cost
	if r.request.Intact != nil {
		o.Intact = r.request.Intact
	}
	if r.request.Rule != nil {
		o.Rule = *r.request.Rule
	}
	o.Beside = float64(r.request.Beside)
	return o
}

// marks returns where cache marks belong; see [Plan].
func (r *run) marks() []int {
	if r.policy.Cost == nil || !r.openedBefore() {
		return nil
	}
	items, epochs := r.weights()
	n := len(epochs) - 1
	return []int{planner.Entry(items, epochs[:n], epochs[n].Cut, r.options()), epochs[n].Last + 1}
}

// openedBefore tells whether the last epoch was opened in a request as long as this one:
// in an earlier try of it or, once this one has opened one, in itself.
func (r *run) openedBefore() bool {
	n := len(r.decided.Messages)
	return n > 0 && r.decided.Messages[n-1] == len(r.messages)
}

// weights returns what the planner weighs: the messages, and the epochs so far.
func (r *run) weights() ([]planner.Item, []planner.Epoch) {
	items := make([]planner.Item, len(r.messages))
	for i, m := range r.messages {
		size := float64(m.size())
		items[i] = planner.Item{Size: size, Whole: size, Answer: m.Role == RoleAssistant}
	}
	epochs := make([]planner.Epoch, len(r.decided.Messages))
	for i, n := range r.decided.Messages {
		epochs[i] = planner.Epoch{Items: n, Cut: len(r.messages), Saved: map[int]float64{}}
	}
	form := r.form()
	for i := range r.list {
		o := &r.list[i]
		if o.key == "" || o.Disposition != Stub {
			continue
		}
		saves := float64(o.saves(form))
		n := r.decided.Epochs[o.key]
		switch {
		case o.opens(r):
			items[o.Message].Saves += saves
		case n > 0 && int(n) <= len(epochs):
			items[o.Message].Size -= saves
			e := &epochs[n-1]
			e.Cut, e.Last = min(e.Cut, o.Message), max(e.Last, o.Message)
			e.Saved[o.Message] += saves
		}
	}
	return items, epochs
}

// saves returns how many bytes o takes less in its message as a stub: spelled in JSON if the
// payload is.
func (o *occurrence) saves(form docket.Form) int64 {
	stub := o.stub(form)
	if o.size == 0 {
		return int64(len(o.result.Payload) - len(stub))
	}
	spelled := int64(len(stub) + 2)
	for _, c := range stub {
		switch {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
			spelled++
		case c < 0x20:
			spelled += 5
		}
	}
	return o.size - spelled
}

// size returns how much of a request m is, in bytes.
func (m Message) size() int64 {
	if m.Size > 0 {
		return m.Size
	}
	var n int
	for _, c := range m.Calls {
		n += len(c.ID) + len(c.Tool) + len(c.Args)
	}
	for _, res := range m.Results {
		n += len(res.Payload)
	}
	return int64(n)
}
