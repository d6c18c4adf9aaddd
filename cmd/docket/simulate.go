package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"docket/compact"
	"docket/compact/planner"
	"docket/simulate"
)

type simulateFlags struct {
	opts     simulate.Options
	policies []string
	dialect  string
}

func (a *app) simulateCommand() *cobra.Command {
	var f simulateFlags
	c := verb("look", &cobra.Command{
		Use:   "simulate [--policy P] [--write W --read R] [--threshold N] [--keep N] FILE|DIR…",
		Short: "say what recorded conversations would have cost under each policy",
		Long: `Replay recorded conversations, request by request, under every policy, and count
what they cost: bytes of input times a rate, where 1 is the price of uncached input.
A FILE is the last request body of a conversation; of a DIR each *.json is one. What
a provider would have read of its cache is found out on the bytes of the wire views.

  none     nothing becomes a stub
  static   old results become stubs at once (docket compact)
  cost     when it pays, and never at the risk of much more than none
  free     when it pays on average, without that insurance

--json prints transcript, policy, write, read, requests, epochs, stubs, cost,
cost_none, rewritten, changed, peak_bytes: one object a transcript and policy.
--dump-wire DIR keeps every wire body: DIR/transcript/policy/NNNN.json.`,
		Example: `  docket simulate --read 0.1 my-conversation.json`,
	}, cobra.MinimumNArgs(1))
	flags := c.Flags()
	flags.StringSliceVar(&f.policies, "policy", simulate.Policies(), "only these `policies`")
	flags.Float64Var(&f.opts.Write, "write", 1.25, "what input costs that goes into the cache, as a `share` of uncached input")
	flags.Float64Var(&f.opts.Read, "read", 0.1, "what input costs that is read from the cache")
	flags.Int64Var(&f.opts.Threshold, "threshold", compact.DefaultThreshold, "only results of more than `n` characters")
	flags.IntVar(&f.opts.Keep, "keep", compact.Default().KeepLast, "leave the last `n` results whole")
	flags.Float64Var(&f.opts.Horizon, "horizon", planner.DefaultHorizon, "requests to come for each that was")
	flags.Float64Var(&f.opts.Insurance, "insurance", planner.DefaultInsurance, "what a conversation may cost at most at any time, as a share of none")
	flags.StringVar(&f.dialect, "dialect", "", "the bodies' `format` (default: found out)")
	flags.StringVar(&f.opts.DumpWire, "dump-wire", "", "keep every wire body in this `folder`")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.check(); err != nil {
			return err
		}
		return a.simulate(c.Context(), &f, args)
	}
	return c
}

func (f *simulateFlags) check() error {
	for _, p := range f.policies {
		if !slices.Contains(simulate.Policies(), p) {
			return usagef("--policy %q is not known: %s are", p, strings.Join(simulate.Policies(), ", "))
		}
	}
	if f.opts.Read < 0 || f.opts.Write < f.opts.Read || f.opts.Horizon < 0 {
		return usagef("--read and --horizon cannot be negative, and --write no less than --read")
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
	if a.json {
		return nil
	}
	return table(a.out, func(w io.Writer) {
		fmt.Fprintln(w, "POLICY\tCOST\tOF NONE\tWORST\tREQUESTS\tEPOCHS\tREWRITTEN\tLARGEST")
		for _, name := range f.policies {
			s := sums[name]
			fmt.Fprintf(w, "%s\t%s\t%.3f\t%.3f\t%d\t%d\t%s\t%s\n", name, size(int64(s.Cost)), s.Cost/s.CostNone, s.Worst, s.Requests, s.Epochs, size(int64(s.Rewritten)), size(int64(s.Peak)))
		}
	})
}
