package simulate

// Fitting the planner: it is run over sizes only, which takes milliseconds a
// conversation, and its cost is counted from them. What is chosen that way is confirmed on
// wire bytes by TestTargets.
//
//	DOCKET_CORPUS=DIR go test ./simulate -run TestFrontier -v -frontier

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"docket/compact/planner"
)

var frontier = flag.Bool("frontier", false, "print what other parameters of the planner would cost")

// rates that the planner is fitted to.
var fitted = []float64{0.1, 0.05, 0.025}

// corpus loads the transcripts that the planner is fitted to: Anthropic's first.
func corpus(t *testing.T) (all []*Transcript) {
	t.Helper()
	dir := os.Getenv("DOCKET_CORPUS")
	if dir == "" {
		t.Skip("SKIPPED: DOCKET_CORPUS names no folder of recorded transcripts")
	}
	for _, folder := range []string{"anthropic", "openai-chat"} {
		paths, err := filepath.Glob(filepath.Join(dir, "transcripts", folder, "*.json"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no transcripts in %s of the corpus, error %v", folder, err)
		}
		for _, path := range paths {
			tr, err := Load(path, "")
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, tr)
		}
	}
	return all
}

// sized is a conversation in sizes.
type sized struct {
	*course
	name    string
	answers []bool
	around  float64
	least   map[float64]float64 // what the optimum costs, by the rate of reading
}

func measured(t *testing.T, tr *Transcript) *sized {
	t.Helper()
	c, err := tr.measure(t.Context(), Options{Threshold: 2000, Keep: 3})
	if err != nil {
		t.Fatal(err)
	}
	s := &sized{course: c, name: tr.Name, around: float64(len(tr.conv.Request(0))), least: map[float64]float64{}}
	for _, m := range tr.conv.Messages {
		s.answers = append(s.answers, m.Answer)
		s.around -= float64(len(m.Bytes))
	}
	return s
}

// items are what the planner weighs in request k, with the stubs that are done.
func (s *sized) items(k int, done []bool) []planner.Item {
	items := make([]planner.Item, s.requests[k])
	for i := range items {
		size := s.before[i+1] - s.before[i]
		items[i] = planner.Item{Size: size, Whole: size, Answer: s.answers[i]}
	}
	for e, stub := range s.stubs {
		switch {
		case done[e]:
			items[stub.message].Size -= stub.saves
		case stub.request <= k:
			items[stub.message].Saves += stub.saves
		}
	}
	return items
}

// outcome is what a conversation costs, in sizes.
type outcome struct {
	cost, none float64
	dearest    float64 // the most that any beginning of it costs, as a share of none
	epochs     int
	over       float64 // the share of its beginnings that cost more than 1.02 of none
}

// run replays s: plan says in each request where an epoch opens.
func (s *sized) run(r planner.Rates, plan func(items []planner.Item, epochs []planner.Epoch) (cut int, opens bool)) (out outcome) {
	done := make([]bool, len(s.stubs))
	var epochs []planner.Epoch
	var ends []int // the entries, ascending
	sent := 0
	for k, n := range s.requests {
		items := s.items(k, done)
		read := sent
		if cut, opens := plan(items, epochs); opens {
			out.epochs++
			if read = min(cut, sent); s.rule == planner.RuleMarks {
				at, _ := slices.BinarySearch(ends, cut+1)
				ends, read = ends[:at], 0
				if at > 0 {
					read = ends[at-1]
				}
			}
			e := planner.Epoch{Items: n, Cut: cut, Last: cut, Saved: map[int]float64{}}
			for i, stub := range s.stubs {
				if !done[i] && stub.request <= k && stub.message >= cut {
					done[i], e.Last = true, stub.message
					e.Saved[stub.message] += stub.saves
					items[stub.message].Size -= stub.saves
				}
			}
			if epochs = append(epochs, e); e.Last+1 < n {
				ends = append(ends, e.Last+1)
			}
		}
		out.add(r, items, read, sent)
		if k == 0 {
			out.cost, out.none = out.cost+r.Write*s.around, out.none+r.Write*s.around
		} else {
			out.cost, out.none = out.cost+r.Read*s.around, out.none+r.Read*s.around
		}
		if out.dearest = max(out.dearest, out.cost/out.none); out.cost > 1.02*out.none {
			out.over += 1 / float64(len(s.requests))
		}
		ends, sent = append(ends, n), n
	}
	return out
}

// add counts a request.
func (out *outcome) add(r planner.Rates, items []planner.Item, read, sent int) {
	for i, it := range items {
		rate := r.Write
		if i < read {
			rate = r.Read
		}
		out.cost += rate * it.Size
		if rate = r.Write; i < sent {
			rate = r.Read
		}
		out.none += rate * it.Whole
	}
}

// planned is what s costs under the planner.
func (s *sized) planned(o planner.Options) outcome {
	o.Rule = s.rule
	return s.run(o.Rates, func(items []planner.Item, epochs []planner.Epoch) (int, bool) {
		r, pays := planner.Plan(items, epochs, o)
		return r.Cut, pays
	})
}

// optimal is what s costs at least.
func (s *sized) optimal(r planner.Rates) float64 {
	if s.least[r.Read] == 0 {
		cuts := s.optimum(r)
		s.least[r.Read] = s.run(r, func(items []planner.Item, _ []planner.Epoch) (int, bool) {
			cut, opens := cuts[len(items)]
			return cut, opens
		}).cost
	}
	return s.least[r.Read]
}

// missed is how much less than [sized.optimal] s may cost at the very least, where the
// programme is not exact.
func (s *sized) missed(r planner.Rates) float64 {
	sure, hopeful := newProgramme(s.course, r), newProgramme(s.course, r)
	hopeful.hopeful = true
	sure.solve()
	hopeful.solve()
	end := len(sure.times) - 1
	return sure.best[0][end] - hopeful.best[0][end]
}

// total adds up conversations.
type total struct {
	cost, none, least float64
	worst             string
	dear, dearest     float64
	over              float64 // mean share of beginnings
	epochs            int
}

func sum(all []*sized, o planner.Options) (sum total) {
	for _, s := range all {
		out := s.planned(o)
		sum.cost, sum.none, sum.least = sum.cost+out.cost, sum.none+out.none, sum.least+s.optimal(o.Rates)
		if dear := out.cost / out.none; dear > sum.dear {
			sum.dear, sum.worst = dear, s.name
		}
		sum.dearest = max(sum.dearest, out.dearest)
		sum.epochs += out.epochs
		sum.over += out.over / float64(len(all))
	}
	return sum
}

// halves are the transcripts that the planner was fitted to, and the others.
func halves(all []*sized) (fit, held []*sized) {
	for i, s := range all {
		if i%2 == 1 {
			fit = append(fit, s)
		} else {
			held = append(held, s)
		}
	}
	return fit, held
}

// TestFrontier prints total and dearest conversation for other parameters; the defaults
// must keep to the targets on sizes.
func TestFrontier(t *testing.T) {
	var all []*sized
	for _, tr := range corpus(t) {
		all = append(all, measured(t, tr))
	}
	fit, held := halves(all)
	for i, target := range []float64{1.05, 1.08, 1.11} {
		r := planner.Rates{Write: 1.25, Read: fitted[i]}
		s := sum(all, planner.Options{Rates: r})
		var missed float64
		for _, one := range all {
			missed += one.missed(r)
		}
		if missed < 0 || missed > 0.005*s.least {
			t.Errorf("read %.3f: the optimum costs %.0f, but perhaps %.0f less", r.Read, s.least, missed)
		}
		t.Logf("read %.3f: %.3f of the optimum, %.3f of none, dearest %.3f (%s), %d epochs; %.3f of all beginnings above 1.02; the optimum is at most %.5f too dear", r.Read, s.cost/s.least, s.cost/s.none, s.dear, s.worst, s.epochs, s.over, missed/s.least)
		if s.cost > target*s.least || s.dear > 1.02 {
			t.Errorf("read %.3f: %.3f of the optimum, dearest %.3f", fitted[i], s.cost/s.least, s.dear)
		}
	}
	if !*frontier {
		return
	}
	for _, v := range variants() {
		for _, half := range []struct {
			name string
			of   []*sized
		}{{"fit", fit}, {"held out", held}, {"all", all}} {
			line := []any{v.name, half.name}
			for _, read := range fitted {
				o := v.o
				o.Rates = planner.Rates{Write: 1.25, Read: read}
				s := sum(half.of, o)
				line = append(line, s.cost/s.least, s.dear, s.dearest)
			}
			t.Logf("%-34s %-8s  %.3f, %.3f, %.3f | %.3f, %.3f, %.3f | %.3f, %.3f, %.3f", line...)
		}
	}
}

// variant is a set of parameters with a name.
type variant struct {
	name string
	o    planner.Options
}

func variants() (out []variant) {
	out = []variant{
		{"default", planner.Options{}},
		{"no insurance", planner.Options{Insurance: -1}},
		{"insurance only at the end, no limit", planner.Options{Limit: -1}},
		{"no patience", planner.Options{Patience: -1}},
		{"as before: no doubt, limit 1.04", planner.Options{Doubt: -1, Insurance: 1.04, Limit: 1.04, Patience: -1}},
		{"no doubt", planner.Options{Doubt: -1}},
	}
	for _, x := range []float64{1.02, 1.04, 1.06, 1.08, 1.12} {
		out = append(out, variant{"limit " + fmt.Sprint(x), planner.Options{Limit: x}})
	}
	for _, x := range []float64{1.01, 1.03, 1.04} {
		out = append(out, variant{"insurance " + fmt.Sprint(x), planner.Options{Insurance: x}})
	}
	for _, x := range []float64{0.25, 0.4, 0.6, 1} {
		out = append(out, variant{"horizon " + fmt.Sprint(x), planner.Options{Horizon: x}})
	}
	for _, x := range []float64{6, 12, 24} {
		out = append(out, variant{"doubt " + fmt.Sprint(x), planner.Options{Doubt: x}})
	}
	for _, x := range []float64{3, 5, 10, 15} {
		out = append(out, variant{"patience " + fmt.Sprint(x), planner.Options{Patience: x}})
	}
	return out
}
