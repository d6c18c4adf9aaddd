package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"docket"
	"docket/compact"
	"docket/compact/planner"
	"docket/compact/prices"
	"docket/compact/wire"
	"docket/engine"
)

// maxBody is the largest request body that compact and trim take: providers take
// 32 MB.
const maxBody = 256 << 20

type compactFlags struct {
	dialect, thread, report string
	recallTool, unit, mode  string
	threshold, minSaving    int64
	keep                    int
	write, read             float64
	tools                   []string
	explain                 bool
	model, prices           string
	window                  int64
	row                     *prices.Row // of the model, for a request of this size
}

func (a *app) compactCommand() *cobra.Command {
	var f compactFlags
	c := verb("main", &cobra.Command{
		Use:   "compact [--threshold N] [--keep N] [--thread T] [--report FILE] [FILE | -]",
		Short: "replace stale results of a request body by stubs",
		Long: `Read a provider's request body, record its tool results, replace stale ones by
stubs, and print the wire body: every byte outside of the replaced results is as it
was. A body that cannot be read is printed as it is, with exit code 1; a result that
could not be recorded stays whole, with exit code 4.

A stub goes out only if the body's tools hold the recall tool (docket tool prints
it), since a model could not follow it otherwise; --recall-tool says that the model
can reach it all the same.

What was stubbed once stays a stub in every later body of the same thread: use one
thread for each conversation. --explain says on standard error what became of every
result and why; --report writes one JSON object a result: index,
message, call_id, tool, size, disposition, reason, applied, mem_id.`,
		Example: `  docket compact --thread build-7 --threshold 2000 --keep 3 request.json > wire.json`,
	}, cobra.MaximumNArgs(1))
	flags := c.Flags()
	flags.StringVar(&f.dialect, "dialect", "", dialectUsage)
	flags.StringVar(&f.thread, "thread", defaultThread, "the `thread` that the body belongs to")
	flags.Int64Var(&f.threshold, "threshold", compact.DefaultThreshold, "only results of more than `n` characters")
	flags.IntVar(&f.keep, "keep", compact.Default().KeepLast, "leave the last `n` results whole")
	flags.StringVar(&f.unit, "keep-unit", "results", "what --keep counts: results or rounds")
	flags.StringVar(&f.mode, "mode", "sliding", "sliding, offload (before the current turn) or arrival (at once)")
	flags.Int64Var(&f.minSaving, "min-saving", 0, "change sent messages only to save `n` characters at once")
	flags.Float64Var(&f.read, "read", 0, "stub when it pays, if cached input costs this `share` of the price of input (0.1, 0.05, 0.025); 0: at once")
	flags.Float64Var(&f.write, "write", 1.25, "with --read: what input costs that goes into the cache")
	flags.StringVar(&f.model, "model", "", "stub when it pays at the prices of this `model` (docket prices), instead of --read and --write")
	flags.StringVar(&f.prices, "prices", "", pricesUsage)
	flags.Int64Var(&f.window, "window", 0, "a request above `n` tokens is brought below it, whatever that costs (default: the model's, and its cliff)")
	flags.StringVar(&f.recallTool, "recall-tool", "", "the recall tool's `name`, if the body's tools do not show it")
	flags.StringArrayVar(&f.tools, "tool", nil, "other rules for one tool, `NAME=RULE`: never, always, arrival, or a threshold; NAME may end in *")
	flags.BoolVar(&f.explain, "explain", false, "say of every result what became of it and why, on standard error")
	flags.StringVar(&f.report, "report", "", "write the decisions to `FILE`, one JSON object a result")
	c.RunE = func(c *cobra.Command, args []string) error {
		policy, err := f.policy()
		if err != nil {
			return err
		}
		body, err := a.read(argument(args, 0), maxBody)
		if err == nil {
			err = f.price(&policy, body)
		}
		if err != nil {
			return err
		}
		return a.compact(c.Context(), &f, policy, body)
	}
	return c
}

func (f *compactFlags) policy() (compact.Policy, error) {
	p := compact.Policy{Threshold: f.threshold, KeepLast: f.keep, MinSaving: f.minSaving}
	if f.threshold == 0 {
		p.Threshold = -1
	}
	switch {
	case f.read < 0 || f.read > 0 && f.write < f.read:
		return p, usagef("--read cannot be negative, nor --write less than it")
	case f.model != "" && f.read > 0:
		return p, usagef("--model has the rates: --read is not for both")
	case f.model == "" && f.prices != "":
		return p, usagef("--prices needs a --model to look up")
	case f.window < 0:
		return p, usagef("--window is a number of tokens, not %d", f.window)
	case f.read > 0:
		p.Cost = &planner.Options{Rates: planner.Rates{Write: f.write, Read: f.read}}
	}
	switch f.unit {
	case "results":
	case "rounds":
		p.KeepUnit = compact.KeepRounds
	default:
		return p, usagef("--keep-unit is results or rounds, not %q", f.unit)
	}
	switch f.mode {
	case "sliding":
	case "offload":
		p.Mode = compact.ModeOffload
	case "arrival":
		p.Mode = compact.ModeArrival
	default:
		return p, usagef("--mode is sliding, offload or arrival, not %q", f.mode)
	}
	var err error
	if p.Tools, err = toolPolicies(f.tools); err != nil {
		return p, err
	}
	return p, checkDialect(f.dialect)
}

// price makes the policy one that weighs at the prices of the model that is named, for a
// request as large as body, and keeps below the window, or the size from which on the model
// is dearer.
func (f *compactFlags) price(p *compact.Policy, body []byte) error {
	limit := f.window
	tokens := prices.Tokens(body)
	if f.model != "" {
		table, err := priceTable(f.prices)
		if err != nil {
			return err
		}
		m, err := table.Model(f.model)
		if err != nil {
			return usageError{err}
		}
		f.row = new(m.At(tokens))
		p.Cost = &planner.Options{Rates: f.row.Rates(false)}
		// From the dearer side of a cliff the way back is what pays most.
		if cliff := m.Rows[0].UpTo; limit == 0 && cliff > 0 {
			limit = cliff
		}
		if limit == 0 {
			limit = m.Window
		}
	}
	if limit <= 0 {
		return nil
	}
	if p.Cost == nil {
		p.Cost = &planner.Options{Rates: planner.Rates{Write: 1.25, Read: 0.1}}
	}
	p.Cost.Window = float64(limit) * float64(len(body)) / float64(max(tokens, 1))
	return nil
}

// toolPolicies reads the values of --tool.
func toolPolicies(values []string) (map[string]compact.ToolPolicy, error) {
	tools := map[string]compact.ToolPolicy{}
	for _, v := range values {
		name, rule, ok := strings.Cut(v, "=")
		set := tools[name]
		n, err := strconv.ParseInt(rule, 10, 64)
		switch {
		case !ok || name == "":
			return nil, usagef("--tool is NAME=RULE, not %q", v)
		case err == nil && n > 0:
			set.Threshold = n
		case err == nil && n == 0:
			set.Threshold = -1
		case rule == "never":
			set.Stub = compact.WhenNever
		case rule == "always":
			set.Stub = compact.WhenAlways
		case rule == "arrival":
			set.Stub = compact.WhenArrival
		default:
			return nil, usagef("--tool %s: the rule is never, always, arrival or a number of characters, not %q", name, rule)
		}
		tools[name] = set
	}
	return tools, nil
}

// dialectUsage describes the flag that several verbs have.
var dialectUsage = "the body's `format`: " + strings.Join(wire.Names(), ", ") + " (default: found out)"

// checkDialect refuses a name that no dialect has; an empty one is found out later.
func checkDialect(name string) error {
	if name != "" && !slices.Contains(wire.Names(), name) {
		return usagef("--dialect %q is not known: %s are", name, strings.Join(wire.Names(), ", "))
	}
	return nil
}

// dialectOf returns the dialect that is named, else the one that body is in.
func dialectOf(name string, body []byte, o wire.Options) (wire.Dialect, error) {
	if name == "" {
		var err error
		if name, err = wire.Detect(body); err != nil {
			return nil, err
		}
	}
	d, err := wire.New(name, o)
	if err == nil {
		_, err = d.Faults(body)
	}
	return d, err
}

func (a *app) compact(ctx context.Context, f *compactFlags, policy compact.Policy, body []byte) error {
	checked, err := dialectOf(f.dialect, body, wire.Options{})
	if err != nil { // before a ledger is made for it
		_, werr := a.out.Write(body)
		return cmp.Or(werr, err)
	}
	var report compact.Report
	view := body
	err = a.forWriting(func(l *engine.Ledger) error {
		dialect, err := wire.New(checked.Name(), wire.Options{Service: &compact.Service{Ledger: l, Log: l, Policy: policy}, RecallTool: f.recallTool})
		if err == nil {
			view, report = dialect.View(ctx, docket.ThreadID(f.thread), body)
		}
		return err
	})
	if _, werr := a.out.Write(view); werr != nil {
		return werr
	}
	if err != nil {
		return err
	}
	if f.report != "" {
		if err := writeReport(f.report, report); err != nil {
			return err
		}
	}
	if f.explain {
		a.explain(report)
	}
	a.tell(report, len(body), len(view))
	a.bill(f.row, report.Receipt, body)
	if report.Err != nil {
		return codeError{fmt.Errorf("some results stay whole: %w", report.Err), exitPartial}
	}
	return nil
}

// tell says on standard error what became of the body.
func (a *app) tell(report compact.Report, before, after int) {
	stubs, unreachable := 0, 0
	for _, d := range report.Decisions {
		if d.Applied {
			stubs++
		}
		if d.Reason == compact.ReasonNoRecallTool {
			unreachable++
		}
	}
	fmt.Fprintf(a.err, "docket: %d of %d results are stubs: %s of %s bytes go out\n", stubs, len(report.Decisions), grouped(int64(after)), grouped(int64(before)))
	if r := report.Receipt; r != nil {
		fmt.Fprintf(a.err, "docket: from message %d on: %s bytes less in this request and every later one, %s written again; %s\n",
			r.Cut, grouped(int64(r.Saved)), grouped(int64(r.Rewritten)), pays(r))
	}
	if unreachable > 0 {
		fmt.Fprintf(a.err, "docket: %d more stay whole because the body's tools hold no recall tool: add what docket tool prints, or pass --recall-tool\n", unreachable)
	}
}

// pays says when an epoch has paid for itself.
func pays(r *planner.Receipt) string {
	switch {
	case r.Now <= 0:
		return "it pays at once"
	case r.Forced:
		return "the request was too large"
	}
	return fmt.Sprintf("it pays after %.1f more requests", r.BreakEven)
}

// bill says what a receipt is in tokens and money.
func (a *app) bill(row *prices.Row, r *planner.Receipt, body []byte) {
	if row == nil || r == nil {
		return
	}
	tokens := float64(prices.Tokens(body)) / float64(max(len(body), 1))
	money := func(size float64) prices.Money { return row.Input.Of(int64(size * tokens)) }
	now := "more"
	if r.Now < 0 {
		now = "less"
	}
	fmt.Fprintf(a.err, "docket: about %s tokens less: this request costs %s %s, every later one %s less\n",
		grouped(int64(r.Saved*tokens)), money(math.Abs(r.Now)), now, money(r.Later))
}

func writeReport(name string, report compact.Report) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, d := range report.Decisions {
		if err := enc.Encode(d); err != nil {
			return err
		}
	}
	return os.WriteFile(name, []byte(b.String()), 0o600)
}
