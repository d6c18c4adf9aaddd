package simulate

// Replaying one transcript under one policy: every request through the dialect, on a
// ledger in memory, and the views through the simulated cache.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"docket"
	"docket/compact"
	"docket/compact/planner"
	"docket/compact/wire"
	"docket/engine"
)

// The policies.
const (
	None   = "none"
	Static = "static"
	Cost   = "cost"
	Free   = "free"
)

// Policies returns the names of all policies, in the order of a report.
func Policies() []string { return []string{None, Static, Cost, Free} }

// Options say how to replay.
type Options struct {
	planner.Rates
	// Threshold in characters and Keep as of [compact.Policy].
	Threshold int64
	Keep      int
	Horizon   float64 // as of [planner.Options]
	Insurance float64
	// DumpWire is a folder for the wire bodies, empty: they are not kept. Each is
	// DumpWire/transcript/policy/NNNN.json, in order.
	DumpWire string
}

// Result is what one policy costs on one transcript. Costs are in bytes of uncached
// input.
type Result struct {
	Transcript string  `json:"transcript"`
	Policy     string  `json:"policy"`
	Write      float64 `json:"write"`
	Read       float64 `json:"read"`
	Requests   int     `json:"requests"`
	Epochs     int     `json:"epochs"`
	Stubs      int     `json:"stubs"`
	Cost       float64 `json:"cost"`
	CostNone   float64 `json:"cost_none"`
	Rewritten  float64 `json:"rewritten"`
	Changed    int     `json:"changed"` // requests that changed what was sent before
	Peak       int     `json:"peak_bytes"`
	// Course is the cost after each request.
	Course []float64 `json:"-"`
}

// Transcript is a recorded conversation.
type Transcript struct {
	Name    string
	Dialect string
	conv    *wire.Conversation
	around  int // bytes of the body beside its messages
}

// Load reads a transcript. dialect is empty to have it detected. Errors: of the file,
// [wire.ErrDialect], [wire.ErrBody].
func Load(path, dialect string) (*Transcript, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if dialect == "" {
		if dialect, err = wire.Detect(body); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	conv, err := wire.Parse(dialect, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t := &Transcript{Name: filepath.Base(path), Dialect: dialect, conv: conv, around: len(body)}
	for _, m := range conv.Messages {
		t.around -= len(m.Bytes)
	}
	return t, nil
}

// Rule is how the provider of the transcript's dialect finds what it can read.
func (t *Transcript) Rule() planner.Rule {
	if t.Dialect == "anthropic" {
		return planner.RuleMarks
	}
	return planner.RulePrefix
}

// Run replays t under the named policy.
func (t *Transcript) Run(ctx context.Context, policy string, o Options) (Result, error) {
	r := Result{Transcript: t.Name, Policy: policy, Write: o.Write, Read: o.Read}
	ledger := engine.NewMemory(nil)
	service := &compact.Service{Ledger: ledger, Log: ledger, Policy: t.policy(policy, o)}
	dialect, err := wire.New(t.Dialect, wire.Options{Service: service, RecallTool: docket.DefaultRecallTool})
	if err != nil {
		return r, err
	}
	c := newCache(o.Rates, t.Rule())
	for i, n := range t.conv.Requests() {
		view, report := dialect.View(ctx, "simulated", t.conv.Request(n))
		if report.Err != nil {
			return r, fmt.Errorf("%s, request %d: %w", t.Name, i, report.Err)
		}
		if err := o.dump(t.Name, policy, i, view); err != nil {
			return r, err
		}
		if err := c.addBody(t.Dialect, view); err != nil {
			return r, fmt.Errorf("%s, request %d: %w", t.Name, i, err)
		}
		r.count(report)
		r.Course = append(r.Course, c.cost)
	}
	r.Cost, r.Rewritten, r.Changed, r.Peak = c.cost, c.written, c.changed, c.peak
	return r, nil
}

// addBody counts a view.
func (c *cache) addBody(dialect string, view []byte) error {
	conv, err := wire.Parse(dialect, view)
	if err != nil {
		return err
	}
	messages, around := make([][]byte, len(conv.Messages)), len(view)
	for i, m := range conv.Messages {
		messages[i] = m.Bytes
		around -= len(m.Bytes)
	}
	c.add(messages, around)
	return nil
}

// count takes in the report of a request.
func (r *Result) count(report compact.Report) {
	r.Requests++
	stubs := 0
	for _, d := range report.Decisions {
		if d.Applied {
			stubs++
		}
	}
	if _, opened := report.Cut(); opened {
		r.Epochs++
	}
	r.Stubs = stubs
}

// policy returns the policy of the given name.
func (t *Transcript) policy(name string, o Options) compact.Policy {
	p := compact.Policy{Threshold: o.Threshold, KeepLast: o.Keep}
	weigh := planner.Options{Rates: o.Rates, Rule: t.Rule(), Horizon: o.Horizon, Insurance: o.Insurance}
	switch name {
	case None:
		p.Disabled = true
	case Cost:
		p.Cost = &weigh
	case Free:
		weigh.Insurance = -1
		p.Cost = &weigh
	}
	return p
}

func (o Options) dump(transcript, policy string, n int, body []byte) error {
	if o.DumpWire == "" {
		return nil
	}
	dir := filepath.Join(o.DumpWire, transcript, policy)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.json", n)), body, 0o600)
}

// RunAll replays t under the named policies, each beside none.
func (t *Transcript) RunAll(ctx context.Context, policies []string, o Options) ([]Result, error) {
	plain := o
	plain.DumpWire = ""
	none, err := t.Run(ctx, None, plain)
	if err != nil {
		return nil, err
	}
	var out []Result
	for _, name := range policies {
		r, err := t.Run(ctx, name, o)
		if err != nil {
			return nil, err
		}
		r.CostNone = none.Cost
		out = append(out, r)
	}
	return out, nil
}

// Sum adds up one policy's results.
type Sum struct {
	Cost, CostNone, Rewritten float64
	Worst                     float64 // the dearest transcript, as a share of none
	Requests, Epochs          int
	Peak                      int // bytes of the largest body
}

// Add takes in r.
func (s *Sum) Add(r Result) {
	s.Cost += r.Cost
	s.CostNone += r.CostNone
	s.Rewritten += r.Rewritten
	if r.CostNone > 0 {
		s.Worst = max(s.Worst, r.Cost/r.CostNone)
	}
	s.Requests += r.Requests
	s.Epochs += r.Epochs
	s.Peak = max(s.Peak, r.Peak)
}
