package simulate

// What makes the views of each policy: the dialect, on a ledger in memory, with the
// policy's settings; or, for clear, the provider itself.

import (
	"context"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"docket"
	"docket/compact"
	"docket/compact/planner"
	"docket/compact/wire"
	"docket/engine"
)

// maker makes the views of one conversation under one policy.
type maker interface {
	// make makes the view of the request with the first n messages.
	make(ctx context.Context, v *view, n int) error
}

// maker returns what makes the views of the named policy.
func (t *Transcript) maker(ctx context.Context, policy string, o Options) (maker, error) {
	p := compact.Policy{Threshold: o.Threshold, KeepLast: o.Keep}
	weigh := o.weigh(t.Rule())
	switch policy {
	case Clear:
		return newClearing(t, o), nil
	case None:
		p.Disabled = true
	case Cost:
		p.Cost = &weigh
	case Free:
		weigh.Insurance = -1
		p.Cost = &weigh
	case Trigger:
		weigh.Cuts = map[int]int{}
		p.Cost = &weigh
	case Optimum:
		c, err := t.measure(ctx, o)
		if err != nil {
			return nil, err
		}
		weigh.Cuts = c.optimum(o.Rates)
		p.Cost = &weigh
	}
	m, err := t.docketing(p, o)
	if err == nil && policy == Trigger {
		m.trigger = o.trigger()
	}
	return m, err
}

// weigh returns what the planner weighs.
func (o Options) weigh(rule planner.Rule) planner.Options {
	return planner.Options{Rates: o.Rates, Rule: rule, Horizon: o.Horizon, Doubt: o.Doubt, Insurance: o.Insurance, Limit: o.Limit, Patience: o.Patience}
}

// docketing returns what makes views with docket under policy p.
func (t *Transcript) docketing(p compact.Policy, o Options) (*docketing, error) {
	ledger := engine.NewMemory(nil)
	service := &compact.Service{Ledger: ledger, Log: ledger, Policy: p}
	dialect, err := wire.New(t.Dialect, wire.Options{Service: service, RecallTool: docket.DefaultRecallTool})
	return &docketing{transcript: t, options: o, dialect: dialect, weigh: p.Cost}, err
}

// trigger returns the size of a body, in bytes, above which trigger and clear act.
func (o Options) trigger() int {
	if o.Trigger == 0 {
		o.Trigger = DefaultTrigger
	}
	return o.Trigger * bytesPerToken
}

// docketing makes views with docket.
type docketing struct {
	transcript *Transcript
	options    Options
	dialect    wire.Dialect
	weigh      *planner.Options // of the policy; nil: it does not weigh
	trigger    int              // bytes above which everything eligible becomes a stub; 0: not so
	saved      int              // bytes that the view before was smaller than its body
}

func (m *docketing) make(ctx context.Context, v *view, n int) error {
	body := m.transcript.conv.Request(n)
	if m.weigh != nil {
		m.weigh.Intact = nil
		if m.transcript.cold(v.request, m.options) {
			m.weigh.Intact = new(0)
		}
	}
	if m.trigger > 0 && len(body)-m.saved > m.trigger {
		m.weigh.Cuts[n] = 0
	}
	var report compact.Report
	v.body, report = m.dialect.View(ctx, "simulated", body)
	m.saved = len(body) - len(v.body)
	for _, d := range report.Decisions {
		if d.Applied {
			v.stubs++
		}
	}
	_, v.opened = report.Cut()
	v.receipt = report.Receipt
	return report.Err
}

// timeOf returns when a message was: its member "timestamp", as RFC 3339 has it. No
// provider takes one, but recorders write it.
func timeOf(message []byte) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, gjson.GetBytes(message, "timestamp").Str)
	return at
}

// cold tells whether the provider has forgotten what the request before had put into
// its cache.
func (t *Transcript) cold(request int, o Options) bool {
	if o.TTL <= 0 || request == 0 {
		return false
	}
	requests := t.conv.Requests()
	before, now := t.sentAt(requests[request-1]), t.sentAt(requests[request])
	return !before.IsZero() && !now.IsZero() && now.Sub(before) > o.TTL
}

// sentAt is when the request with the first n messages was: the time of its last
// message that has one.
func (t *Transcript) sentAt(n int) time.Time {
	for _, at := range slices.Backward(t.times[:n]) {
		if !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}
