package bench

// The goals of fetching: against the naive ledger, and against docket itself on a
// payload a hundred times larger.

import (
	"context"
	"fmt"
	"slices"
	"time"

	"docket"
)

const megabyte = 1 << 20

// versus writes the medians that a ratio was made from.
func versus(d, n Result) string {
	return fmt.Sprintf("%s against %s", FormatNanos(d.P50), FormatNanos(n.P50))
}

// atLeast is the goal that docket's median of a workload on 10 MB of JSON goes
// times into the naive one's.
func atLeast(workload string, times float64) func(*runner, context.Context) ([]Goal, error) {
	return func(r *runner, ctx context.Context) ([]Goal, error) {
		d, n, err := r.on(ctx, workload, docket.KindJSON, 10*megabyte)
		if err != nil {
			return nil, err
		}
		return []Goal{speedupGoal(workload, times, d, n)}, nil
	}
}

func speedupGoal(workload string, times float64, d, n Result) Goal {
	g := Goal{Name: workload, Limit: times, Value: float64(n.P50) / float64(d.P50)}
	g.Requirement = fmt.Sprintf("%s in 10 MB of JSON: p50 at most 1/%.0f of naive", about(workload), times)
	g.Measured = fmt.Sprintf("1/%.0f: %s, %.1f frames", g.Value, versus(d, n), d.Frames)
	return atLeastGoal(g, d, n)
}

// substringGoals are the median's and the tail's.
func (r *runner) substringGoals(ctx context.Context) ([]Goal, error) {
	d, n, err := r.on(ctx, "query-substring", docket.KindJSON, 10*megabyte)
	if err != nil {
		return nil, err
	}
	tail := Goal{Name: "query-substring p99", Limit: 1, Value: float64(d.P99) / float64(n.P99)}
	tail.Requirement = about("query-substring") + " in 10 MB of JSON: p99 at most naive's"
	tail.Measured = fmt.Sprintf("%.2f ×: %s against %s", tail.Value, FormatNanos(d.P99), FormatNanos(n.P99))
	return []Goal{speedupGoal("query-substring", 20, d, n), atMost(tail, d, n)}, nil
}

// flatGoals compare docket on 100 MB with docket on 1 MB.
func (r *runner) flatGoals(ctx context.Context) (out []Goal, err error) {
	alone := *r
	alone.openers = []opener{openDocket}
	workloads := []string{"path", "range", "query-once"}
	var bySize [2][]Result
	for i, size := range []int{megabyte, 100 * megabyte} {
		bySize[i], err = alone.collect(workloads, func(r *runner) error {
			return r.one(ctx, sample{kind: docket.KindJSON, payload: Generate(docket.KindJSON, size, r.Seed)})
		})
		if err != nil {
			return nil, err
		}
	}
	for i, name := range workloads {
		small, large := bySize[0][i], bySize[1][i]
		g := Goal{Name: name + " flat", Limit: 1.5, Value: float64(large.P50) / float64(small.P50)}
		g.Requirement = about(name) + ": p50 in 100 MB at most 1.5 × that in 1 MB"
		g.Measured = fmt.Sprintf("%.2f ×: %s against %s", g.Value, FormatNanos(large.P50), FormatNanos(small.P50))
		out = append(out, atMost(g, small, large))
	}
	return out, nil
}

// fetchNames are the names of the fetch workloads.
func fetchNames() (names []string) {
	for _, p := range pickers {
		names = append(names, p.workload)
	}
	return names
}

// survey makes r quick enough for many payloads: medians are wanted, not tails.
func (r *runner) survey() { r.Budget, r.most = min(r.Budget, 300*time.Millisecond), 100 }

// neverSlowerGoal looks for the generated payload of 64 KB or more on which docket
// does worst.
func (r *runner) neverSlowerGoal(ctx context.Context) ([]Goal, error) {
	rows, err := r.collect(fetchNames(), func(r *runner) error {
		r.survey()
		r.Corpus, r.Sizes = "", []int{64 << 10, 256 << 10, megabyte, 10 * megabyte}
		return r.payloads(ctx)
	})
	if err != nil {
		return nil, err
	}
	return []Goal{worst("never slower", "any fetch from generated payloads", rows)}, nil
}

// worst is the goal that docket's median is nowhere above 1.2 × the naive one.
func worst(name, of string, rows []Result) Goal {
	g := Goal{Name: name, Requirement: of + " of 64 KB and more: p50 at most 1.2 × naive", Limit: 1.2}
	all := pairs(rows)
	for _, p := range all {
		if v := 1 / p.speedup(); v > g.Value {
			g.Value = v
			g.Measured = fmt.Sprintf("worst of %d: %.2f ×, %s of %s (%s)", len(all), v, p.workload, p.title(), versus(*p.docket, *p.naive))
		}
	}
	return atMost(g, rows...)
}

// corpusGoals measure recorded payloads: nowhere slower from 64 KB on, and for
// those of 1 MB and more, where there is no limit to hold, how much faster and
// with how many frames.
func (r *runner) corpusGoals(ctx context.Context) ([]Goal, error) {
	if r.Corpus == "" {
		return nil, nil
	}
	rows, err := r.collect(fetchNames(), func(r *runner) error {
		r.survey()
		return r.folder(ctx, 64<<10)
	})
	if err != nil {
		return nil, err
	}
	out := []Goal{worst("corpus never slower", "any fetch from recorded payloads", rows)}
	for _, name := range fetchNames() {
		var speedups, frames []float64
		for _, p := range pairs(rows) {
			if p.workload == name && p.size >= megabyte {
				speedups, frames = append(speedups, p.speedup()), append(frames, p.docket.Frames)
			}
		}
		if len(speedups) == 0 {
			continue
		}
		g := Goal{Name: "corpus " + name, Requirement: about(name) + ", recorded payloads of 1 MB and more (reported)", Value: median(speedups), Met: true}
		g.Measured = fmt.Sprintf("1/%.0f of naive, worst 1/%.1f, over %d payloads; frames %.1f, most %.1f",
			g.Value, slices.Min(speedups), len(speedups), median(frames), slices.Max(frames))
		out = append(out, g)
	}
	return out, nil
}

// median of a list that is not empty; it sorts the list.
func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}
