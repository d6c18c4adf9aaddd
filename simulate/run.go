package simulate

// Replaying one transcript under one policy: every request through the dialect, on a
// ledger in memory, and the views through the simulated cache.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"docket/compact/planner"
	"docket/compact/wire"
)

// bytesPerToken is how many bytes of a body are taken for a token.
const bytesPerToken = 4

// DefaultTrigger is the size in tokens above which a provider's own clearing acts.
const DefaultTrigger = 100_000

// The policies.
const (
	None    = "none"
	Static  = "static"
	Trigger = "trigger"
	Clear   = "clear"
	Cost    = "cost"
	Free    = "free"
	Optimum = "optimum"
)

// Policies returns the names of all policies, in the order of a report.
func Policies() []string { return []string{None, Static, Trigger, Clear, Cost, Free, Optimum} }

// Options say how to replay.
type Options struct {
	planner.Rates
	// Threshold in characters and Keep as of [compact.Policy].
	Threshold int64
	Keep      int
	// Of these, as of [planner.Options].
	Horizon, Doubt, Insurance, Limit, Patience float64
	// Trigger, in tokens, is the size of a request above which trigger and clear act. 0:
	// [DefaultTrigger].
	Trigger int
	// ClearAtLeast, in tokens, is what clear must clear at once, or it waits. Default 0.
	ClearAtLeast int
	// TTL is how long the provider keeps what it has cached, where the transcript says
	// when its messages were. 0: for ever.
	TTL time.Duration
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
	// CostOptimum is there when the optimum is among the policies.
	CostOptimum float64 `json:"cost_optimum,omitempty"`
	Rewritten   float64 `json:"rewritten"`
	Changed     int     `json:"changed"` // requests that changed what was sent before
	Peak        int     `json:"peak_bytes"`
	PeakTokens  int     `json:"peak_tokens"` // Peak ÷ 4, rounded up
	Facts
	// Course is the cost after each request.
	Course []float64 `json:"-"`
	// Receipts are those of the requests, from 0, that opened an epoch.
	Receipts map[int]planner.Receipt `json:"-"`
}

// Transcript is a recorded conversation.
type Transcript struct {
	Name    string
	Dialect string
	conv    *wire.Conversation
	times   []time.Time // of the messages, zero where it is not said
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
	t := &Transcript{Name: filepath.Base(path), Dialect: dialect, conv: conv}
	for _, m := range conv.Messages {
		t.times = append(t.times, timeOf(m.Bytes))
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
	r := Result{Transcript: t.Name, Policy: policy, Write: o.Write, Read: o.Read, Receipts: map[int]planner.Receipt{}}
	c := newCache(o.Rates, t.Rule())
	f := newFacts(t)
	err := t.replay(ctx, policy, o, func(v view) error {
		if err := o.dump(t.Name, policy, v.request, v.body); err != nil {
			return err
		}
		if t.cold(v.request, o) {
			c.forget()
		}
		c.add(v.messages, v.around)
		f.see(v)
		r.count(v)
		r.Course = append(r.Course, c.cost)
		return nil
	})
	r.Cost, r.Rewritten, r.Changed, r.Peak = c.cost, c.written, c.changed, c.peak
	r.PeakTokens = (c.peak + bytesPerToken - 1) / bytesPerToken
	r.Facts = f.Facts
	return r, err
}

// view is what goes out for a request.
type view struct {
	request  int // from 0
	body     []byte
	messages [][]byte // of body
	around   int      // bytes of it beside them
	opened   bool     // something changes for the first time
	receipt  *planner.Receipt
	stubs    int
}

// replay calls see with the view of each request of t under the named policy.
func (t *Transcript) replay(ctx context.Context, policy string, o Options, see func(view) error) error {
	m, err := t.maker(ctx, policy, o)
	if err != nil {
		return err
	}
	return t.views(ctx, m, see)
}

// views calls see with the view of each request as m makes it.
func (t *Transcript) views(ctx context.Context, m maker, see func(view) error) error {
	for i, n := range t.conv.Requests() {
		v := view{request: i}
		if err := m.make(ctx, &v, n); err != nil {
			return fmt.Errorf("%s, request %d: %w", t.Name, i, err)
		}
		conv, err := wire.Parse(t.Dialect, v.body)
		if err != nil {
			return fmt.Errorf("%s, request %d: %w", t.Name, i, err)
		}
		v.around = len(v.body)
		for _, m := range conv.Messages {
			v.messages = append(v.messages, m.Bytes)
			v.around -= len(m.Bytes)
		}
		if err := see(v); err != nil {
			return err
		}
	}
	return nil
}

// count takes in a view.
func (r *Result) count(v view) {
	r.Requests++
	if v.opened {
		r.Epochs++
	}
	if v.receipt != nil {
		r.Receipts[v.request] = *v.receipt
	}
	r.Stubs = v.stubs
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

// RunAll replays t under the named policies, each beside none and, if that is among
// them, the optimum.
func (t *Transcript) RunAll(ctx context.Context, policies []string, o Options) ([]Result, error) {
	var out []Result
	var none, optimum float64
	for _, name := range policies {
		r, err := t.Run(ctx, name, o)
		if err != nil {
			return nil, err
		}
		switch name {
		case None:
			none = r.Cost
		case Optimum:
			optimum = r.Cost
		}
		out = append(out, r)
	}
	if none == 0 {
		o.DumpWire = ""
		r, err := t.Run(ctx, None, o)
		if err != nil {
			return nil, err
		}
		none = r.Cost
	}
	for i := range out {
		out[i].CostNone, out[i].CostOptimum = none, optimum
	}
	return out, nil
}

// Sum adds up one policy's results.
type Sum struct {
	Cost, CostNone, CostOptimum, Rewritten float64
	Worst                                  float64 // the dearest transcript, as a share of none
	Requests, Epochs                       int
	Peak                                   int // bytes of the largest body
	Facts                                  Facts
	Course                                 [][]float64 // of each transcript
}

// Add takes in r.
func (s *Sum) Add(r Result) {
	s.Cost += r.Cost
	s.CostNone += r.CostNone
	s.CostOptimum += r.CostOptimum
	s.Rewritten += r.Rewritten
	if r.CostNone > 0 {
		s.Worst = max(s.Worst, r.Cost/r.CostNone)
	}
	s.Requests += r.Requests
	s.Epochs += r.Epochs
	s.Peak = max(s.Peak, r.Peak)
	s.Facts.Used += r.Facts.Used
	s.Facts.AtRisk += r.Facts.AtRisk
	s.Facts.InStub += r.Facts.InStub
	s.Course = append(s.Course, r.Course)
}
