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

// flatGoals compare docket on 100 MB with docket on 1 MB. The two alternate each
// operation: a thousand fetches in a row from 34 frames would find them, and what
// the processor learned of decoding them, in its caches, and would measure those.
// A process that fetches now and then, from one record or another, finds neither.
// Fetches of other targets go before, which are not counted: of a file that was just
// opened each page's first use is a fault of the memory map, ten times as dear on some
// virtual machines as on others, and 100 MB have a hundred times as many.
func (r *runner) flatGoals(ctx context.Context) (out []Goal, err error) {
	err = r.alone(ctx, megabyte, func(small *race) error {
		return r.alone(ctx, 100*megabyte, func(large *race) error {
			for i, p := range pickers {
				if p.workload != "path" && p.workload != "range" && p.workload != "query-once" {
					continue
				}
				r.Progress(p.workload + ", 1 MB and 100 MB of json")
				for _, one := range []*race{small, large} {
					one.targets = p.pick(newPicker(one.payload, docket.KindJSON, r.Seed+uint64(i)), flatTargets)
				}
				if err := alternate(ctx, small, large); err != nil {
					return err
				}
				out = append(out, flatGoal(p.workload, small.lanes[0], large.lanes[0]))
			}
			return nil
		})
	})
	return out, err
}

// flatTargets is how many targets are fetched of either payload: two thirds of them to
// warm up.
const flatTargets = 600

// alone records a generated JSON payload in docket alone and calls fn with a race
// of that lane, its targets open.
func (r *runner) alone(ctx context.Context, size int, fn func(*race) error) error {
	only := *r
	only.openers = []opener{openDocket}
	payload := Generate(docket.KindJSON, size, r.Seed)
	r.Progress("recording " + FormatSize(int64(size)) + " of json")
	return only.inLanes(ctx, payload, func(lanes []*lane) error {
		return fn(&race{payload: payload, lanes: lanes, budget: time.Hour})
	})
}

// alternate runs the targets of two races, each of one lane, in turn, and counts the
// last third. Answers are checked at the end: that reads the whole payloads.
func alternate(ctx context.Context, a, b *race) error {
	n := min(len(a.targets), len(b.targets))
	var ofA, ofB [1][]reply
	for i := range n {
		if i == n*2/3 {
			a.begin()
			b.begin()
		}
		if err := a.fetch(ctx, a.lanes[0], a.targets[i], &ofA[0]); err != nil {
			return err
		}
		if err := b.fetch(ctx, b.lanes[0], b.targets[i], &ofB[0]); err != nil {
			return err
		}
	}
	a.check(a.targets[:n], ofA[:])
	b.check(b.targets[:n], ofB[:])
	return nil
}

func flatGoal(workload string, a, b *lane) Goal {
	small, large := a.into(Result{Subject: Docket}), b.into(Result{Subject: Docket})
	g := Goal{Name: workload + " flat", Limit: 1.5, Value: float64(large.P50) / float64(small.P50)}
	g.Requirement = about(workload) + ": p50 in 100 MB at most 1.5 × that in 1 MB"
	g.Measured = fmt.Sprintf("%.2f ×: %s against %s; %.1f and %.1f frames", g.Value, FormatNanos(large.P50), FormatNanos(small.P50), large.Frames, small.Frames)
	return atMost(g, small, large)
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
	all, above := pairs(rows), 0
	var at pair
	for _, p := range all {
		v := 1 / p.speedup()
		if v > g.Limit {
			above++
		}
		if v > g.Value {
			g.Value, at = v, p
		}
	}
	if at.docket != nil {
		g.Measured = fmt.Sprintf("%d of %d above; worst %.2f ×, %s of %s: %s", above, len(all), g.Value, at.workload, at.title(), versus(*at.docket, *at.naive))
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
