package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"docket/compact"
	"docket/compact/planner"
	"docket/simulate"
)

type simulateFlags struct {
	opts     simulate.Options
	policies []string
	dialect  string
	plot     bool
	svg      string
	model    string
	prices   string
}

func (a *app) simulateCommand() *cobra.Command {
	var f simulateFlags
	c := verb("look", &cobra.Command{
		Use:   "simulate [--policy P] [--model M | --write W --read R] [--threshold N] [--keep N] [--plot] [--svg FILE] FILE|DIR…",
		Short: "say what recorded conversations would have cost under each policy",
		Long: `Replay recorded conversations, request by request, under every policy, and count
what they cost: bytes of input times a rate, where 1 is the price of uncached input.
A FILE is the last request body of a conversation; of a DIR each *.json is one. What
a provider would have read of its cache is found out on the bytes of the wire views.

  none     nothing becomes a stub
  static   old results become stubs at once (docket compact)
  trigger  nothing until the request has --trigger tokens, then all old results
  clear    what a provider does by itself (clear_tool_uses_20250919): above --trigger
           tokens all results but the last --keep are cleared, of any size; cannot
           be recalled
  cost     when it pays, and never at the risk of much more than none
  free     when it pays on average, without that insurance
  optimum  what costs least, by one who knows the whole conversation

--json prints transcript, policy, write, read, requests, epochs, stubs, cost,
cost_none, cost_optimum (if optimum is among the policies), rewritten, changed,
peak_bytes, peak_tokens, facts_used, facts_at_risk, facts_in_stub: one object a
transcript and policy. A token is taken to be 4 bytes. A fact is an exact name (a path,
a hash, a number of 8 characters or more) that an answer uses and a result before it
held; at risk when nothing that went out had it but, perhaps, a stub.

Where messages have a "timestamp" (RFC 3339), the provider forgets a conversation
after --ttl; otherwise it never does.

--plot draws what each policy has cost so far in the terminal, --svg FILE as a picture.
--dump-wire DIR keeps every wire body: DIR/transcript/policy/NNNN.json.`,
		Example: `  docket simulate --read 0.1 my-conversation.json
  docket simulate --policy none,cost,optimum --svg costs.svg transcripts/`,
	}, cobra.MinimumNArgs(1))
	f.register(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.price(c.Flags().Changed("read") || c.Flags().Changed("write")); err != nil {
			return err
		}
		if err := f.check(a.json); err != nil {
			return err
		}
		return a.simulate(c.Context(), &f, args)
	}
	return c
}

// register makes the flags of c.
func (f *simulateFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&f.policies, "policy", simulate.Policies(), "only these `policies`")
	flags.Float64Var(&f.opts.Write, "write", 1.25, "what input costs that goes into the cache, as a `share` of uncached input")
	flags.Float64Var(&f.opts.Read, "read", 0.1, "what input costs that is read from the cache")
	flags.StringVar(&f.model, "model", "", "the rates of this `model` (docket prices), instead of --write and --read")
	flags.StringVar(&f.prices, "prices", "", pricesUsage)
	flags.Int64Var(&f.opts.Threshold, "threshold", compact.DefaultThreshold, "only results of more than `n` characters")
	flags.IntVar(&f.opts.Keep, "keep", compact.Default().KeepLast, "leave the last `n` results whole")
	flags.Float64Var(&f.opts.Horizon, "horizon", planner.DefaultHorizon, "requests to come for each that was")
	flags.Float64Var(&f.opts.Doubt, "doubt", planner.DefaultDoubt, "by how many `requests` that may be wrong; negative: not at all")
	flags.Float64Var(&f.opts.Insurance, "insurance", planner.DefaultInsurance, "what a conversation may cost at most if the fewest requests come, as a `share` of none; negative: no bound")
	flags.Float64Var(&f.opts.Limit, "limit", planner.DefaultLimit, "what it may cost at most if none comes, as a `share` of none; negative: no bound")
	flags.Float64Var(&f.opts.Patience, "patience", planner.DefaultPatience, "how many `requests` an epoch waits for large results that will soon be old; negative: none")
	flags.IntVar(&f.opts.Trigger, "trigger", simulate.DefaultTrigger, "trigger and clear act on requests of more than `n` tokens")
	flags.IntVar(&f.opts.ClearAtLeast, "clear-at-least", 0, "clear waits until it can clear `n` tokens")
	flags.DurationVar(&f.opts.TTL, "ttl", 5*time.Minute, "how long the provider keeps its cache; 0: for ever")
	flags.StringVar(&f.dialect, "dialect", "", "the bodies' `format` (default: found out)")
	flags.BoolVar(&f.plot, "plot", false, "draw the costs in the terminal")
	flags.StringVar(&f.svg, "svg", "", "draw the costs into this `file`")
	flags.StringVar(&f.opts.DumpWire, "dump-wire", "", "keep every wire body in this `folder`")
}

// price takes the rates of the model that is named, for small requests.
func (f *simulateFlags) price(rates bool) error {
	switch {
	case f.model == "" && f.prices != "":
		return usagef("--prices needs a --model to look up")
	case f.model == "":
		return nil
	case rates:
		return usagef("--model has the rates: --read and --write are not for both")
	}
	table, err := priceTable(f.prices)
	if err != nil {
		return err
	}
	m, err := table.Model(f.model)
	if err != nil {
		return usageError{err}
	}
	f.opts.Rates = m.At(1).Rates(false)
	return nil
}

func (f *simulateFlags) check(json bool) error {
	for _, p := range f.policies {
		if !slices.Contains(simulate.Policies(), p) {
			return usagef("--policy %q is not known: %s are", p, strings.Join(simulate.Policies(), ", "))
		}
	}
	if f.opts.Read < 0 || f.opts.Write < f.opts.Read || f.opts.Horizon < 0 {
		return usagef("--read and --horizon cannot be negative, and --write no less than --read")
	}
	if f.opts.Trigger <= 0 || f.opts.ClearAtLeast < 0 || f.opts.TTL < 0 {
		return usagef("--trigger has to be positive, and --clear-at-least and --ttl cannot be negative")
	}
	if f.plot && json {
		return usagef("--plot and --json cannot go together: --svg can")
	}
	if f.svg != "" {
		if _, err := os.Stat(filepath.Dir(f.svg)); err != nil {
			return fmt.Errorf("%w: --svg needs a folder that is there", err)
		}
	}
	return nil
}

// transcripts lists the files that are named, and those of folders.
func transcripts(args []string) (paths []string, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, fmt.Errorf("%w: name a request body, or a folder of them", err)
		}
		if !info.IsDir() {
			paths = append(paths, arg)
			continue
		}
		err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) == ".json" {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(paths) == 0 {
		return nil, usagef("no *.json in %s", strings.Join(args, ", "))
	}
	return paths, nil
}

func (a *app) simulate(ctx context.Context, f *simulateFlags, args []string) error {
	paths, err := transcripts(args)
	if err != nil {
		return err
	}
	sums, skipped := map[string]*simulate.Sum{}, 0
	shown := a.progress()
	defer shown.end()
	for i, path := range paths {
		shown.step("simulating", int64(i), int64(len(paths)))
		t, err := simulate.Load(path, f.dialect)
		if err != nil {
			skipped++
			fmt.Fprintf(a.err, "docket: left out: %v\n", err)
			continue
		}
		results, err := t.RunAll(ctx, f.policies, f.opts)
		if err != nil {
			return err
		}
		for _, r := range results {
			if sums[r.Policy] == nil {
				sums[r.Policy] = &simulate.Sum{}
			}
			sums[r.Policy].Add(r)
			if a.json {
				if err := a.printJSON(r); err != nil {
					return err
				}
			}
		}
	}
	if skipped == len(paths) {
		return codeError{fmt.Errorf("none of %s could be replayed", plural(int64(skipped), "file")), exitFailed}
	}
	shown.end()
	return a.simulated(f, paths, skipped, sums)
}

// simulated prints and draws the sums over all transcripts.
func (a *app) simulated(f *simulateFlags, paths []string, skipped int, sums map[string]*simulate.Sum) error {
	if !a.json {
		if err := a.simulateTable(f.policies, sums); err != nil {
			return err
		}
	}
	title := plural(int64(len(paths)-skipped), "conversation")
	if len(paths) == 1 {
		title = filepath.Base(paths[0])
	}
	plot := simulate.NewPlot(fmt.Sprintf("%s, write %g, read %g, percent of none", title, f.opts.Write, f.opts.Read), f.policies, sums)
	if f.plot {
		fmt.Fprintln(a.out)
		if err := plot.WriteText(a.out); err != nil {
			return err
		}
	}
	if f.svg == "" {
		return nil
	}
	file, err := os.Create(f.svg)
	if err != nil {
		return err
	}
	return errors.Join(plot.WriteSVG(file), file.Close())
}

// simulateTable prints a line a policy.
func (a *app) simulateTable(policies []string, sums map[string]*simulate.Sum) error {
	return table(a.out, func(w io.Writer) {
		fmt.Fprintln(w, "POLICY\tCOST\tOF NONE\tOF OPTIMUM\tWORST\tREQUESTS\tEPOCHS\tREWRITTEN\tLARGEST\tFACTS AT RISK\tIN STUB")
		for _, name := range policies {
			s := sums[name]
			optimum := "–"
			if s.CostOptimum > 0 {
				optimum = fmt.Sprintf("%.3f", s.Cost/s.CostOptimum)
			}
			fmt.Fprintf(w, "%s\t%s\t%.3f\t%s\t%.3f\t%d\t%d\t%s\t%s\t%d of %d\t%d\n", name, size(int64(s.Cost)), s.Cost/s.CostNone, optimum, s.Worst,
				s.Requests, s.Epochs, size(int64(s.Rewritten)), size(int64(s.Peak)), s.Facts.AtRisk, s.Facts.Used, s.Facts.InStub)
		}
	})
}
