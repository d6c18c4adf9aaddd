package planner

import (
	"math/rand/v2"
	"slices"
	"testing"
)

var rates = Rates{Write: 1.25, Read: 0.1}

// talk is a conversation of n rounds: an answer of 100, a result of size, which may
// be stubbed down to 100 unless it is one of the last two.
func talk(n int, size float64) []Item {
	items := []Item{{Size: 500, Whole: 500}}
	for i := range n {
		result := Item{Size: size, Whole: size}
		if i < n-2 {
			result.Saves = size - 100
		}
		items = append(items, Item{Size: 100, Whole: 100, Answer: true}, result)
	}
	return items
}

func TestNothingToSave(t *testing.T) {
	for _, items := range [][]Item{nil, {{Size: 10, Whole: 10}}, talk(2, 5000)} {
		if r, pays := Plan(items, nil, Options{Rates: rates}); pays {
			t.Errorf("%d items: %+v", len(items), r)
		}
	}
}

// A cut near the end writes little again; one far back waits until it pays.
func TestBestCut(t *testing.T) {
	items := talk(30, 5000)
	r, pays := Plan(items, nil, Options{Rates: rates, Insurance: -1})
	if !pays || r.Cut != 2 || r.Entry != 1 && r.Entry != 2 {
		t.Errorf("pays %t, %+v: want all of it", pays, r)
	}
	if want := 28 * 4900.0; r.Saved != want || r.Later != 0.1*want {
		t.Errorf("saves %v, later %v", r.Saved, r.Later)
	}
	items = talk(5, 5000)
	items[2].Saves = 0
	items = append(items, Item{Size: 200000, Whole: 200000}, Item{Size: 10, Answer: true}, Item{Size: 10})
	if r, pays := Plan(items, nil, Options{Rates: rates, Insurance: -1}); pays {
		t.Errorf("a large tail is written again for little: %+v", r)
	}
}

// The cost of an epoch as the receipt says is what the account grows by.
func TestReceiptIsTheAccount(t *testing.T) {
	for _, rule := range []Rule{RulePrefix, RuleMarks} {
		o := Options{Rates: rates, Rule: rule, Insurance: -1}
		items := talk(12, 4000)
		r, pays := Plan(items, nil, o)
		if !pays {
			t.Fatal("nothing pays")
		}
		e := Epoch{Items: len(items), Cut: r.Cut, Saved: map[int]float64{}}
		for i := r.Cut; i < len(items); i++ {
			e.Saved[i] = items[i].Saves
		}
		c := newCourse(items)
		_, before, _ := c.account(nil, o)
		_, after, _ := c.account([]Epoch{e}, o)
		if d := after - before - r.Now; d > 1e-6 || d < -1e-6 {
			t.Errorf("rule %d: the account grows by %v, the receipt says %v", rule, after-before, r.Now)
		}
		if at := Entry(items, nil, r.Cut, o); at != r.Entry {
			t.Errorf("rule %d: entry %d, the receipt says %d", rule, at, r.Entry)
		}
	}
}

// What changed behind an entry makes it useless for the next epoch.
func TestEntriesBehindACutAreGone(t *testing.T) {
	items := talk(20, 3000)
	first := Epoch{Items: 21, Cut: 4, Last: 6, Saved: map[int]float64{4: 2900, 6: 2900}}
	o := Options{Rates: rates, Rule: RuleMarks}
	if at := Entry(items, []Epoch{first}, 18, o); at != 7 {
		t.Errorf("entry %d, but everything from 4 on is another view, with a mark at 7", at)
	}
	if at := Entry(items, []Epoch{first}, 6, o); at > 4 {
		t.Errorf("entry %d, but everything from 4 on is another view", at)
	}
	if at := Entry(items, []Epoch{first}, 30, o); at != 29 && at != 30 {
		t.Errorf("entry %d, want the end of the last request before 30", at)
	}
}

// The limit: whatever the conversation, and whenever it ends, it costs at most so
// much more than without any stub.
func TestLimitBoundsEveryEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		rule := Rule(r.IntN(2))
		o := Options{Rates: Rates{1.25, []float64{0.1, 0.05, 0.025}[r.IntN(3)]}, Rule: rule, Limit: 1.03}
		var items []Item
		var epochs []Epoch
		done := map[int]bool{}
		opened := 0
		for range 80 {
			items = append(items, Item{Size: 50 + 500*r.Float64(), Answer: true}, Item{Size: 100 + 20000*r.Float64()*r.Float64()})
			for i := range items {
				items[i].Whole = max(items[i].Whole, items[i].Size)
				if items[i].Saves = 0; !items[i].Answer && i < len(items)-3 && items[i].Size > 2000 && !done[i] {
					items[i].Saves = items[i].Size - 400
				}
			}
			if receipt, pays := Plan(items, epochs, o); pays {
				e := Epoch{Items: len(items), Cut: receipt.Cut, Last: receipt.Cut, Saved: map[int]float64{}}
				for i := receipt.Cut; i < len(items); i++ {
					if s := items[i].Saves; s > 0 {
						e.Saved[i], done[i], e.Last = s, true, i
						items[i].Size -= s
					}
				}
				epochs, opened = append(epochs, e), opened+1
			}
			c := newCourse(items)
			whole, spent, _ := c.account(slices.Clone(epochs), o)
			if spent > 1.03*whole+1e-6 {
				t.Fatalf("after %d items: %.0f where none costs %.0f", len(items), spent, whole)
			}
		}
		if opened == 0 {
			t.Log("no epoch in one conversation")
		}
	}
}

// A cold cache makes every stub free.
func TestCold(t *testing.T) {
	items := talk(6, 3000)
	r, pays := Plan(items, nil, Options{Rates: rates, Intact: new(0)})
	if !pays || r.Cut != 2 || r.Now >= 0 || r.BreakEven != 0 {
		t.Errorf("pays %t, %+v", pays, r)
	}
}

func BenchmarkPlan(b *testing.B) {
	items := talk(1000, 3000)
	for b.Loop() {
		Plan(items, nil, Options{Rates: rates, Rule: RuleMarks})
	}
}

// Above its window a request gets an epoch whether or not it pays: the best of those that
// bring it down to the target, else all that there is.
func TestWindow(t *testing.T) {
	items := talk(6, 3000)
	never := Options{Rates: Rates{Write: 1.25, Read: 0}, Insurance: 1}
	if r, pays := Plan(items, nil, never); pays {
		t.Fatalf("it pays: %+v", r)
	}
	size := 500 + 6*3100.0
	for _, c := range []struct {
		limit, target float64
		cut           int // -1: none
	}{
		{size, 0, -1},
		{size - 1, size - 2900, 8},
		{size - 1, size - 2901, 6},
		{size - 1, size - 4*2900, 2},
		{size - 1, 1, 2}, // more than there is
		{15_000, 0, 4},   // 8,600 to go
	} {
		o := never
		o.Window, o.Target = c.limit, c.target
		r, pays := Plan(items, nil, o)
		if pays != (c.cut >= 0) || pays && (r.Cut != c.cut || !r.Forced) {
			t.Errorf("limit %.0f, target %.0f: %t, %+v, want a cut of %d", c.limit, c.target, pays, r, c.cut)
		}
	}
	cheap := Options{Rates: rates, Insurance: -1, Window: size - 1, Target: size - 1}
	if r, _ := Plan(talk(30, 3000), nil, cheap); r.Cut != 2 {
		t.Errorf("the best cut is as good a target: %+v", r)
	}
}
