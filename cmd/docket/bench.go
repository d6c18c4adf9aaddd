package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"docket"
	"docket/bench"
)

type benchFlags struct {
	opts         bench.Options
	sizes, kinds []string
	svg          string
	goals        bool
	goal         []string
	payload      string
	path, query  string
	offset       int64
}

func (a *app) benchCommand() *cobra.Command {
	var f benchFlags
	c := verb("show", &cobra.Command{
		Use:   "bench [--workload W] [--size N] [--kind K] [--corpus DIR] [--cold] [--svg FILE] | --goals | --payload FILE [--query Q] [--path P] [--offset N]",
		Short: "measure docket beside the naive ledger",
		Long: `Measure docket beside the naive ledger, in the same run: the same bbolt, the whole
payload as one zstd value, decoded whole at every fetch. Payloads are made by a
seeded generator, or are the files of --corpus. Every answer of docket is compared
with the naive one.

--goals measures what the project promises, and says what is met.
--payload measures a case of your own, both ways.
--json prints workload, size_bytes, kind, subject, ops, p50_ns, p90_ns, p99_ns,
max_ns, bytes_on_disk, mb_per_s, and more where a workload has more to say.`,
		Example: `  docket bench --size 1m,10m --kind json --workload path,range,query-once
  docket bench --goals
  docket bench --payload big.json --query usr_8812 --path 'orders[12].id' --offset 900000`,
	}, cobra.NoArgs)
	flags := c.Flags()
	flags.StringSliceVar(&f.opts.Workloads, "workload", nil, "only these `workloads`: "+strings.Join(bench.Workloads(), ", "))
	flags.StringSliceVar(&f.sizes, "size", nil, "`sizes` of generated payloads: 4k, 64k, 1m, 10m, 100m")
	flags.StringSliceVar(&f.kinds, "kind", nil, "`kinds` of generated payloads: json, text, ndjson")
	flags.StringVar(&f.opts.Corpus, "corpus", "", "measure on the files of this `folder`")
	flags.BoolVar(&f.opts.Cold, "cold", false, "also measure with the file out of the page cache")
	flags.Uint64Var(&f.opts.Seed, "seed", 1, "`seed` of payloads and targets")
	flags.DurationVar(&f.opts.Budget, "budget", 0, "`time` for each row (default 1.5s)")
	flags.StringVar(&f.opts.Dir, "dir", "", "make temporary files in this `folder`")
	flags.StringVar(&f.svg, "svg", "", "draw latency against payload size into `FILE`")
	flags.BoolVar(&f.goals, "goals", false, "measure what the project promises")
	flags.StringSliceVar(&f.goal, "goal", nil, "only these `goals`: "+strings.Join(bench.GoalNames(), ", "))
	flags.StringVar(&f.payload, "payload", "", "measure on this `FILE`")
	flags.StringVar(&f.query, "query", "", "with --payload: a `substring` to fetch")
	flags.StringVar(&f.path, "path", "", "with --payload: a JSON `path` to fetch")
	flags.Int64Var(&f.offset, "offset", -1, "with --payload: fetch 2,000 characters from this `character` on")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := f.parse(); err != nil {
			return err
		}
		show := a.progress()
		f.opts.Progress = func(step string) { show.end(); show.step(step, 0, 0) }
		defer show.end()
		switch {
		case f.goals || len(f.goal) > 0:
			return a.benchGoals(c, &f)
		case f.payload != "":
			return a.benchCase(c, &f)
		}
		return a.benchRun(c, &f)
	}
	return c
}

// parse reads sizes and kinds.
func (f *benchFlags) parse() error {
	f.opts.Sizes, f.opts.Kinds = nil, nil
	for _, s := range f.sizes {
		n, err := parseSize(s)
		if err != nil {
			return err
		}
		f.opts.Sizes = append(f.opts.Sizes, n)
	}
	for _, s := range f.kinds {
		var k docket.Kind
		if err := k.UnmarshalText([]byte(s)); err != nil || k == docket.KindBinary {
			return usagef("--kind is json, text or ndjson, not %q", s)
		}
		f.opts.Kinds = append(f.opts.Kinds, k)
	}
	if f.opts.Budget < 0 {
		return usagef("--budget %s is negative", f.opts.Budget.Round(time.Millisecond))
	}
	return nil
}

// parseSize reads a number of bytes with an optional k or m (1,024 and 1,048,576).
func parseSize(s string) (int, error) {
	text, unit := strings.ToLower(s), 1
	switch {
	case strings.HasSuffix(text, "k"):
		text, unit = text[:len(text)-1], 1<<10
	case strings.HasSuffix(text, "m"):
		text, unit = text[:len(text)-1], 1<<20
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > docket.MaxPayload/unit || n*unit < 256 {
		return 0, usagef("--size %q is no size from 256 bytes to 256m", s)
	}
	return n * unit, nil
}

// benchGoals prints each goal as soon as it is measured: all of them take minutes.
func (a *app) benchGoals(c *cobra.Command, f *benchFlags) error {
	goals, missed := 0, 0
	for g, err := range bench.Goals(c.Context(), f.goal, &f.opts) {
		if err != nil {
			return benchError(err)
		}
		goals++
		met := "met"
		if !g.Met {
			missed++
			met = "NOT MET"
		}
		if a.json {
			err = a.printJSON(g)
		} else {
			_, err = fmt.Fprintf(a.out, "%-8s %-13s %s\n%22s %s\n", met, g.Name, g.Requirement, "", g.Measured)
		}
		if err != nil {
			return err
		}
	}
	if missed > 0 {
		return codeError{fmt.Errorf("%d of %d goals are not met in this run", missed, goals), exitPartial}
	}
	return nil
}

func (a *app) benchCase(c *cobra.Command, f *benchFlags) error {
	payload, err := a.read(f.payload, docket.MaxPayload)
	if err != nil {
		return err
	}
	row := bench.Case{Name: f.payload, Payload: payload, Path: f.path, Query: f.query, Offset: f.offset}
	return a.benchRows(bench.RunCase(c.Context(), row, &f.opts), f.svg)
}

func (a *app) benchRun(c *cobra.Command, f *benchFlags) error {
	return a.benchRows(bench.Run(c.Context(), &f.opts), f.svg)
}

func (a *app) benchRows(results func(func(bench.Result, error) bool), svg string) error {
	var rows []bench.Result
	for r, err := range results {
		if err != nil {
			return benchError(err)
		}
		if rows = append(rows, r); a.json {
			if err := bench.WriteJSON(a.out, r); err != nil {
				return err
			}
		}
	}
	if !a.json {
		if err := bench.WriteTable(a.out, rows); err != nil {
			return err
		}
	}
	if err := drawRows(svg, rows); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Mismatches > 0 {
			return fmt.Errorf("%d answers of %s on %s were wrong", r.Mismatches, r.Subject, r.Workload)
		}
	}
	return nil
}

func drawRows(name string, rows []bench.Result) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(bench.WriteSVG(f, rows), f.Close())
}

func benchError(err error) error {
	if errors.Is(err, bench.ErrWorkload) || errors.Is(err, bench.ErrGoal) || errors.Is(err, bench.ErrCase) {
		return usageError{err}
	}
	return err
}
