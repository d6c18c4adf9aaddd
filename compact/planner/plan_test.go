package planner

import (
	"math"
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

// A young conversation bets little: what a cut costs must come back within the fewest
// requests that are expected, unless earlier savings pay for it.
func TestDoubtInsuresTheYoung(t *testing.T) {
	items := talk(12, 5000)
	sure := Options{Rates: rates, Doubt: -1, Insurance: 1.001, Limit: -1, Patience: -1}
	if _, pays := Plan(items, nil, sure); !pays {
		t.Fatal("nothing pays: the test shows nothing")
	}
	doubting := sure
	doubting.Doubt = 18
	if r, pays := Plan(items, nil, doubting); pays && r.Now > leastTrust*r.Later+0.001*40000*12 {
		t.Errorf("%+v in a conversation of 12 requests", r)
	}
	// With nothing to fear the doubt only adds requests to hope for.
	doubting.Insurance = -1
	if r, pays := Plan(items, nil, doubting); !pays || r.Expected <= 0 {
		t.Errorf("pays %t, %+v", pays, r)
	}
}

// What is large and soon old is waited for; as small things it would not be, nor for ever.
func TestPatience(t *testing.T) {
	items := talk(12, 5000) // the last two may not become stubs yet
	last := len(items) - 3
	items[last].Size, items[last].Whole = 60000, 60000
	patient := Options{Rates: rates, Insurance: -1}
	hasty := patient
	hasty.Patience = -1
	if r, pays := Plan(items, nil, patient); pays {
		t.Errorf("60,000 are written again, soon to be a stub: %+v", r)
	}
	if _, pays := Plan(items, nil, hasty); !pays {
		t.Error("nothing pays without patience either: the test shows nothing")
	}
	longer := talk(60, 5000)
	last = len(longer) - 3
	longer[last].Size, longer[last].Whole = 60000, 60000
	if _, pays := Plan(longer, nil, patient); !pays {
		t.Error("much that is old waits for one that is new")
	}
}

// Cuts say where epochs open, whatever that costs, and nowhere else.
func TestCuts(t *testing.T) {
	items := talk(5, 5000)
	o := Options{Rates: rates, Cuts: map[int]int{len(items): 3, 7: 0}}
	if r, pays := Plan(items, nil, o); !pays || r.Cut != 4 || r.Saved != 2*4900 {
		t.Errorf("pays %t, %+v, want the cut 4", pays, r)
	}
	if _, pays := Plan(items[:9], nil, o); pays {
		t.Error("a cut where none is wanted")
	}
}

// The account, kept in sums that grow, is what counting item by item gives.
func TestAccountByItems(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 40 {
		o := Options{Rates: Rates{1.25, 0.1}, Rule: Rule(r.IntN(2))}
		items := talk(20, 3000)
		var epochs []Epoch
		for n := 9; n < len(items); n += 2 + 2*r.IntN(5) {
			e := Epoch{Items: n, Cut: 2 + 2*r.IntN((n-5)/2), Saved: map[int]float64{}}
			for i := e.Cut; i < n-4; i += 2 {
				e.Saved[i], e.Last = float64(1+r.IntN(100)), i
			}
			epochs = append(epochs, e)
		}
		c := newCourse(items)
		_, spent, _ := c.account(epochs, o)
		if want := counted(c, epochs, o); math.Abs(spent-want) > 1e-6 {
			t.Errorf("%v: %v, item by item %v", epochs, spent, want)
		}
	}
}

// counted is what the requests of c cost, item by item.
func counted(c *course, epochs []Epoch, o Options) (cost float64) {
	view := make([]float64, len(c.items))
	for i, it := range c.items {
		view[i] = it.Whole
	}
	var found entries
	before := 0
	for _, n := range append(slices.Clone(c.requests), len(c.items)) {
		read := before
		for len(epochs) > 0 && epochs[0].Items <= n {
			e := epochs[0]
			read = min(read, readable(found, e.Cut, before, o.Rule))
			found = slices.Clone(found.cut(e.Cut))
			if e.Last+1 < n {
				found = append(found, e.Last+1)
			}
			for i, s := range e.Saved {
				view[i] -= s
			}
			epochs = epochs[1:]
		}
		for i := range n {
			if i < read {
				cost += o.Read * view[i]
			} else {
				cost += o.Write * view[i]
			}
		}
		if n < len(c.items) {
			found = append(found, n)
		}
		before = n
	}
	return cost
}

// BenchmarkPlan plans a request of 2,001 messages, early and after an epoch in every
// tenth request.
func BenchmarkPlan(b *testing.B) {
	items := talk(1000, 3000)
	var epochs []Epoch
	for n := 41; n < len(items)-4; n += 20 {
		e := Epoch{Items: n, Cut: n - 25, Last: n - 7, Saved: map[int]float64{}}
		for i := e.Cut; i <= e.Last; i += 2 {
			e.Saved[i] = 100
		}
		epochs = append(epochs, e)
	}
	for name, epochs := range map[string][]Epoch{"epochs=0": nil, "epochs=98": epochs} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Plan(items, epochs, Options{Rates: rates, Rule: RuleMarks})
			}
		})
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
