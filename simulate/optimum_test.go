package simulate

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"docket/compact"
	"docket/compact/planner"
)

// talk writes a transcript of results of the given sizes in characters: sizes[i] are those
// that answer the i-th answer of the model. Before the rounds of late an hour passes.
func talk(t *testing.T, dialect string, sizes [][]int, late ...int) *Transcript {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"go"}`)
	id := 0
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, round := range sizes {
		if at = at.Add(time.Second); slices.Contains(late, i) {
			at = at.Add(time.Hour)
		}
		when := fmt.Sprintf(`"timestamp":"%s",`, at.Format(time.RFC3339))
		var calls, results []string
		for _, size := range round {
			text := fmt.Sprintf("%d%s", id, strings.Repeat(" word", size/5))
			if dialect == "chat" {
				calls = append(calls, fmt.Sprintf(`{"id":"t%d","type":"function","function":{"name":"read","arguments":"{}"}}`, id))
				results = append(results, fmt.Sprintf(`,{%s"role":"tool","tool_call_id":"t%d","content":"%s"}`, when, id, text))
			} else {
				calls = append(calls, fmt.Sprintf(`{"type":"tool_use","id":"t%d","name":"read","input":{}}`, id))
				results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"t%d","content":"%s"}`, id, text))
			}
			id++
		}
		if dialect == "chat" {
			fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[%s]}%s`, strings.Join(calls, ","), strings.Join(results, ""))
		} else {
			fmt.Fprintf(&b, `,{"role":"assistant","content":[%s]},{%s"role":"user","content":[%s]}`, strings.Join(calls, ","), when, strings.Join(results, ","))
		}
	}
	b.WriteString(`,{"role":"assistant","content":"done"}]}`)
	path := filepath.Join(t.TempDir(), "talk.json")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, err := Load(path, dialect)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// forced is what a transcript costs with epochs at the given cuts and no others.
func forced(t *testing.T, tr *Transcript, o Options, cuts map[int]int) float64 {
	t.Helper()
	c := newCache(o.Rates, tr.Rule())
	m, err := tr.docketing(compact.Policy{Threshold: o.Threshold, KeepLast: o.Keep,
		Cost: &planner.Options{Rates: o.Rates, Rule: tr.Rule(), Cuts: cuts}}, o)
	if err != nil {
		t.Fatal(err)
	}
	err = tr.views(t.Context(), m, func(v view) error {
		if tr.cold(v.request, o) {
			c.forget()
		}
		c.add(v.messages, v.around)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.cost
}

// cheapest tries every way to open epochs: in each request none, or one at each message
// that could then become a stub.
func cheapest(t *testing.T, tr *Transcript, o Options, c *course, k int, cuts map[int]int, best *float64) {
	if k == len(c.requests) {
		*best = min(*best, forced(t, tr, o, cuts))
		return
	}
	cheapest(t, tr, o, c, k+1, cuts, best)
	tried := -1
	for _, s := range c.stubs {
		if s.request <= k && s.message != tried && !covered(c, s, cuts) {
			with := maps.Clone(cuts)
			with[c.requests[k]] = s.message
			cheapest(t, tr, o, c, k+1, with, best)
			tried = s.message
		}
	}
}

// covered tells whether an epoch has made s a stub.
func covered(c *course, s stubAt, cuts map[int]int) bool {
	for n, cut := range cuts {
		if cut <= s.message && c.requests[s.request] <= n {
			return true
		}
	}
	return false
}

// The programme finds what trying everything finds, on the bytes of the wire.
func TestOptimumIsTheCheapest(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var same, less int
	for i := range 16 {
		dialect := []string{"anthropic", "chat"}[i%2]
		rounds := make([][]int, 4+i%2*(i/2%2)) // four, and in a quarter of them five
		for j := range rounds {
			rounds[j] = []int{[]int{300, 2500, 6000, 20000, 60000}[r.IntN(5)]}
			if dialect == "chat" && j == 2 {
				rounds[j] = append(rounds[j], 4000)
			}
		}
		var late []int
		if i%4 >= 2 {
			at := 2 + r.IntN(len(rounds)-2)
			late = []int{at}
			rounds[at-1][0], rounds[at-2][0] = 6000, 6000 // something becomes eligible there
		}
		tr := talk(t, dialect, rounds, late...)
		o := Options{Rates: planner.Rates{Write: 1.25, Read: []float64{0.3, 0.1, 0.6}[i%3]}, Threshold: 2000, Keep: i % 2, TTL: time.Minute}
		c, err := tr.measure(t.Context(), o)
		if err != nil || len(c.cold) != len(late) {
			t.Fatalf("%d requests are late, error %v", len(c.cold), err)
		}
		best := math.Inf(1)
		cheapest(t, tr, o, c, 0, map[int]int{}, &best)
		found := forced(t, tr, o, c.optimum(o.Rates))
		if math.Abs(found-best) > 1e-6 {
			t.Errorf("%d %s %v late %v keep %d read %v: %.1f, the cheapest is %.1f", i, dialect, rounds, late, o.Keep, o.Read, found, best)
		}
		if same++; best < forced(t, tr, o, map[int]int{})-1 {
			less++
		}
	}
	if less < same/3 {
		t.Errorf("an epoch pays in %d of %d conversations only: the test shows little", less, same)
	}
}
