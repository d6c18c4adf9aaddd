package compact

// The one core that every transcript and every dialect feeds: results in, the
// texts that replace some of them out. The order of its steps is the guarantee:
// record, decide, log, and only then a stub exists (P11). Whatever fails on the
// way leaves a result whole.

import (
	"context"
	"fmt"
	"slices"

	"docket"
	"docket/compact/planner"
)

// Log is the durable decision log of a thread: grow-only.
type Log interface {
	// Decided returns the decisions of thread: empty if there are none.
	Decided(ctx context.Context, thread docket.ThreadID) (docket.Decisions, error)
	// Append adds an epoch and returns all decisions; when it returns nil they are
	// durable. It is idempotent: mem ids that are decided already are dropped from
	// the epoch, and the form of the thread's first epoch stays.
	Append(ctx context.Context, thread docket.ThreadID, epoch docket.Epoch) (docket.Decisions, error)
}

// Service decides which results become stubs. It keeps no state: everything that
// lasts is in the ledger and the log. It is safe for concurrent use.
type Service struct {
	Ledger docket.Ledger
	Log    Log
	Policy Policy
}

// Request is what is known of a request beside its messages.
type Request struct {
	// RecallTools are the names under which the model can call the recall tool. The
	// first is what a thread's first epoch freezes. None: no stub goes out, since
	// nobody could follow it.
	RecallTools []string
	// Hold is why this request gets no stub at all; results are still recorded.
	Hold Reason
	// Rule is how the provider finds what it can read of its cache. nil: as the policy's
	// Cost says.
	Rule *planner.Rule
	// Beside is how many bytes of the request are none of its messages': instructions,
	// tools. A cost policy with a window counts them in.
	Beside int64
	// Intact is how many of the first messages the provider can still have in its cache
	// as they are, for a cost policy: 0 if it went cold, less than were sent if the client
	// changed one. nil: all that were sent.
	Intact *int
}

// Plan is what a view changes.
type Plan struct {
	Edits  []Edit // ascending by message and result
	Report Report
	// Marks are where a dialect whose cache is read at marks sets some, as numbers of
	// messages before them: only when an epoch was opened in this request, or in an
	// earlier try of it, under a cost policy. The first is what the provider can still
	// read, 0 if nothing; the second is where the next epoch will find an entry.
	Marks []int
}

// Edit is the replacement of one result's payload.
type Edit struct {
	Message int // index of the message
	Replacement
}

// Plan records the results of messages, decides, logs the decisions, and returns
// the edits that make the wire view. It changes nothing of messages. It costs one
// hash over each payload above the threshold and one Record.
func (s *Service) Plan(ctx context.Context, thread docket.ThreadID, messages []Message, req Request) Plan {
	r := &run{service: s, thread: thread, request: req, messages: messages, policy: s.Policy.At(messages), exposed: answered(messages)}
	r.list = flatten(messages)
	if !s.Policy.Disabled && len(r.list) > 0 {
		r.load(ctx)
		r.recognise(ctx)
		r.record(ctx)
		r.match(ctx)
		protect(r.list, r.policy, r.isDecided)
	}
	for i := range r.list {
		o := &r.list[i]
		o.Disposition, o.Reason = r.judge(o)
	}
	r.settle(ctx)
	return r.plan()
}

// run is one Plan on its way.
type run struct {
	service  *Service
	thread   docket.ThreadID
	request  Request
	messages []Message
	receipt  *planner.Receipt
	policy   Policy
	exposed  int // first message that the model has not answered
	list     []occurrence
	decided  docket.Decisions
	logDown  bool
	refused  int // results that the ledger refused
	err      error
}

// maxRefused is how many refused results an error tells of: a full disk refuses
// hundreds, and a report is one line.
const maxRefused = 3

// fail adds err to the report.
func (r *run) fail(err error) {
	if r.err != nil {
		err = fmt.Errorf("%w; %w", r.err, err)
	}
	r.err = err
}

// refuse reports that the ledger refused a result.
func (r *run) refuse(id docket.CallID, err error) {
	if r.refused++; r.refused <= maxRefused {
		r.fail(fmt.Errorf("record call %.64q: %w", id, err))
	}
}

// load reads the decision log.
func (r *run) load(ctx context.Context) {
	var err error
	if r.decided, err = r.service.Log.Decided(ctx, r.thread); err != nil {
		r.logDown = true
		r.fail(fmt.Errorf("read decisions: %w", err))
	}
}

func (r *run) isDecided(o *occurrence) bool {
	_, ok := r.decided.Epochs[o.key]
	return ok && o.key != ""
}

// form returns the form of the thread's stubs: the frozen one, or what the first
// epoch is going to freeze.
func (r *run) form() docket.Form {
	f := docket.Form{Version: docket.StubVersion}
	if len(r.request.RecallTools) > 0 {
		f.RecallTool = r.request.RecallTools[0]
	}
	if len(r.decided.Epochs) > 0 {
		f = r.decided.Form
	}
	return f.Filled()
}

// held returns why the request as a whole gets no stub, empty if it may.
func (r *run) held() Reason {
	switch {
	case r.request.Hold != "":
		return r.request.Hold
	case len(r.request.RecallTools) == 0 || !slices.Contains(r.request.RecallTools, r.form().RecallTool):
		return ReasonNoRecallTool
	case r.logDown:
		return ReasonLedgerError
	}
	return ""
}

// judge returns what the policy wants for o, given what the transcript and the
// log say of it.
func (r *run) judge(o *occurrence) (Disposition, Reason) {
	policy := r.policy.ForTool(o.Tool)
	unexposed := o.Message >= r.exposed && !policy.onArrival()
	fresh := o.state == stateAnswer && o.Message >= *r.policy.FreshStart
	switch {
	case r.policy.Disabled || o.Message < r.policy.StartIndex:
	case o.state == stateStub:
		return Keep, ReasonStub
	case o.hold != "" && o.hold != ReasonViewable:
		return Keep, o.hold
	case fresh && (o.Message >= r.exposed || !r.isDecided(o)):
		return Keep, ReasonFreshRecall
	case r.isDecided(o) && !unexposed:
		return Stub, ReasonDecided
	case o.state == stateAnswer && o.key == "":
		return Keep, ReasonRecall
	}
	d, why := policy.Decide(o.Message, o.Size, o.protected, o.hold == ReasonViewable)
	switch {
	case d != Stub:
	case o.CallID == "":
		return Keep, ReasonNoID
	case unexposed:
		return Keep, ReasonUnexposed
	case o.key != "" && !o.gains(r.form()):
		return Keep, ReasonNoGain
	}
	return d, why
}

// settle logs what is new and applies what the log then holds.
func (r *run) settle(ctx context.Context) {
	r.withhold(r.held())
	r.wait()
	r.weigh()
	r.withhold(r.open(ctx))
	form := r.form()
	for i := range r.list {
		o := &r.list[i]
		if o.Disposition != Stub || o.withheld {
			continue
		}
		if o.key == "" || !r.isDecided(o) {
			o.withheld, o.Reason = true, ReasonLedgerError
			continue
		}
		if !o.gains(form) { // another process froze a longer form meanwhile
			o.Disposition, o.Reason = Keep, ReasonNoGain
			continue
		}
		o.Applied = true
	}
}

// withhold keeps every stub from being applied, for reason.
func (r *run) withhold(reason Reason) {
	for i := range r.list {
		if o := &r.list[i]; reason != "" && o.Disposition == Stub && !o.withheld {
			o.withheld, o.Reason = true, reason
		}
	}
}

// wait keeps new stubs that together save less than an epoch should.
func (r *run) wait() {
	var saving int64
	form := r.form()
	for i := range r.list {
		if o := &r.list[i]; o.opens(r) {
			saving += o.Size - chars(o.stub(form))
		}
	}
	if saving >= r.policy.MinSaving {
		return
	}
	r.postpone(len(r.messages))
}

// postpone keeps new stubs in the messages before to. What the model has not been sent
// is in nobody's cache and never waits.
func (r *run) postpone(to int) {
	for i := range r.list {
		if o := &r.list[i]; o.opens(r) && o.Message < min(to, r.exposed) {
			o.Disposition, o.Reason = Keep, ReasonWaiting
		}
	}
}

// opens tells whether o is a stub that an epoch has yet to decide.
func (o *occurrence) opens(r *run) bool {
	return o.Disposition == Stub && !o.withheld && o.key != "" && !r.isDecided(o)
}

// open appends the epoch of what is new and returns why nothing may be applied,
// empty if it may.
func (r *run) open(ctx context.Context) Reason {
	epoch := docket.Epoch{Form: r.form(), Messages: len(r.messages)}
	listed := map[docket.MemID]bool{}
	for i := range r.list {
		if o := &r.list[i]; o.opens(r) && !listed[o.key] {
			listed[o.key] = true
			epoch.Mems = append(epoch.Mems, o.key)
		}
	}
	if len(epoch.Mems) == 0 {
		return ""
	}
	decided, err := r.service.Log.Append(ctx, r.thread, epoch)
	if err != nil {
		r.fail(fmt.Errorf("append an epoch: %w", err))
		return ""
	}
	r.decided = decided
	return r.held()
}

// plan turns what was settled into edits and the report.
func (r *run) plan() Plan {
	p := Plan{Marks: r.marks()}
	form := r.form()
	for i := range r.list {
		o := &r.list[i]
		p.Report.Decisions = append(p.Report.Decisions, o.Decision)
		if o.Applied {
			text := string(o.stub(form))
			p.Edits = append(p.Edits, Edit{Message: o.Message, Replacement: Replacement{Result: o.at, Text: text}})
		}
	}
	if r.refused > maxRefused {
		r.fail(fmt.Errorf("%d more results were refused", r.refused-maxRefused))
	}
	p.Report.Err = r.err
	p.Report.Receipt = r.receipt
	return p
}
