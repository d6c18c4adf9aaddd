package bench

// What docket promises, each promise with the run that measures it: one name, one
// figure, met or not. The limits are the project's requirements and stand nowhere
// else in the code. How each is measured is in goals_fetch.go and goals_store.go.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"text/tabwriter"

	"docket"
)

// Goal is a requirement and what was measured of it.
type Goal struct {
	Name        string  `json:"goal"`
	Requirement string  `json:"requirement"`
	Limit       float64 `json:"limit"`
	Value       float64 `json:"value"`    // in the unit of the limit
	Measured    string  `json:"measured"` // the value and what it was made from
	Met         bool    `json:"met"`
}

// goal measures one requirement, or a few that come from the same run.
type goal struct {
	name    string
	measure func(r *runner, ctx context.Context) ([]Goal, error)
}

// goals are the requirements in the order in which they are measured: the quick
// ones first.
var goals = []goal{
	{"path", atLeast("path", 150)},
	{"range", atLeast("range", 150)},
	{"identifier", atLeast("query-once", 100)},
	{"absent", atLeast("query-absent", 500)},
	{"substring", (*runner).substringGoals},
	{"record", (*runner).recordGoal},
	{"commits", (*runner).commitsGoal},
	{"storage", (*runner).storageGoal},
	{"never-slower", (*runner).neverSlowerGoal},
	{"corpus", (*runner).corpusGoals},
	{"flat", (*runner).flatGoals},
	{"open", (*runner).openGoals},
	{"search", (*runner).searchGoal},
}

// GoalNames returns the names that [Goals] takes.
func GoalNames() []string {
	var names []string
	for _, g := range goals {
		names = append(names, g.name)
	}
	return names
}

// ErrGoal is returned for the name of no goal.
var ErrGoal = errors.New("bench: no such goal")

// Goals measures the named goals, all if none is named, and yields them. Of opts
// it uses Corpus, Seed, Budget, Dir and Progress; without a corpus the goal corpus
// is left out and storage is measured on generated payloads. All of them take some
// minutes and 2 GB of memory.
func Goals(ctx context.Context, names []string, opts *Options) iter.Seq2[Goal, error] {
	return func(yield func(Goal, error) bool) {
		for _, name := range names {
			if !slices.Contains(GoalNames(), name) {
				yield(Goal{}, fmt.Errorf("%w: %q", ErrGoal, name))
				return
			}
		}
		for _, g := range goals {
			if len(names) > 0 && !slices.Contains(names, g.name) {
				continue
			}
			r := runner{Options: opts.filled(), openers: openers}
			got, err := g.measure(&r, ctx)
			if err != nil {
				yield(Goal{}, fmt.Errorf("bench: goal %s: %w", g.name, err))
				return
			}
			for _, one := range got {
				if !yield(one, nil) {
					return
				}
			}
		}
	}
}

// WriteGoals writes goals as a table.
func WriteGoals(w io.Writer, goals []Goal) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range goals {
		met := "met"
		if !g.Met {
			met = "NOT MET"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", met, g.Name, g.Requirement, g.Measured)
	}
	return tw.Flush()
}

// atMost makes the goal of a value that may not exceed its limit. A run with wrong
// answers meets no goal.
func atMost(g Goal, rows ...Result) Goal {
	g.Met = g.Value <= g.Limit
	return checked(g, rows)
}

// atLeastGoal makes the goal of a value that may not fall below its limit.
func atLeastGoal(g Goal, rows ...Result) Goal {
	g.Met = g.Value >= g.Limit
	return checked(g, rows)
}

func checked(g Goal, rows []Result) Goal {
	for _, r := range rows {
		if r.Mismatches > 0 {
			g.Met = false
			g.Measured += fmt.Sprintf("; %d WRONG answers of %s", r.Mismatches, r.Subject)
		}
	}
	return g
}

// collect runs fn on a runner like r that only runs the given workloads, and
// returns the rows that it gave.
func (r *runner) collect(workloads []string, fn func(*runner) error) (rows []Result, err error) {
	c := *r
	c.Workloads = workloads
	c.yield = func(row Result, _ error) bool {
		rows = append(rows, row)
		return true
	}
	err = fn(&c)
	return rows, err
}

// on measures one workload on one generated payload and returns docket's row and,
// if it ran, the naive one's.
func (r *runner) on(ctx context.Context, workload string, kind docket.Kind, size int) (d, n Result, err error) {
	rows, err := r.collect([]string{workload}, func(r *runner) error {
		return r.one(ctx, sample{kind: kind, payload: Generate(kind, size, r.Seed)})
	})
	for _, row := range rows {
		if row.Subject == Docket {
			d = row
		} else {
			n = row
		}
	}
	if err == nil && d.Ops == 0 {
		err = fmt.Errorf("%s of %s %s gave no row", workload, FormatSize(int64(size)), kind)
	}
	return d, n, err
}
