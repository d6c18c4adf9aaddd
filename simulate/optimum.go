package simulate

// The offline optimum: of all ways to open epochs, the cheapest for a conversation
// whose end is known. A dynamic programme over sizes finds it; what it costs is
// counted, as for every other policy, on the bytes of its wire views.
//
// An epoch at request k with cut c makes everything behind what the provider can still
// read be written again: it costs that, times (write - read). A result that may become
// a stub from request a on costs what its stub would save, times read, in each request
// until an epoch with a cut at or before it. Whatever an epoch rewrites it may as well
// stub, so an epoch takes everything eligible behind its cut; and it may as well open in
// the first request in which all of that is eligible, since what lies behind only grows.
//
// Number the stubs to be by position. Epochs that reach stub e reach all behind it. So
// between two epochs that reach e, at s and t, what happens to e and the stubs behind it
// depends on s and t alone, the state. Either no epoch between them reaches e: it waits
// for t, and the question is that of e+1 between s and t. Or one does, at u with its cut
// at e: the question is that of e+1 between s and u and between u and t. More than one
// would be in vain: e is a stub by then and the later cut may be behind it. Where the
// cache is cold an epoch costs nothing, so there is one, and the parts between are on
// their own. This takes O(m⁴/24) steps and O(m³/6) numbers for m stubs, so there is a limit.
//
// It is the optimum among policies that stub what the literal policy would, at messages,
// with the dialect's marks, under the cache rule of cache.go; TestOptimumIsTheCheapest
// tries all of them on small conversations. Three things it does not see: that a later
// request may miss an entry that is more than 20 blocks back; with marks, what an epoch in
// a cold request leaves if nothing became eligible just then; and with marks, when results
// of one message become eligible one by one, that a cut at it may read what an older epoch
// left: there it counts on nothing, so that a cheaper way may be missed. TestFrontier bounds
// by how much: it counts on everything there.

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"docket/compact/planner"
)

// maxStubs is for how many results the optimum is looked for: these take some seconds and
// 150 MB.
const maxStubs = 600

// stubAt is a result that may become a stub.
type stubAt struct {
	message int
	request int     // the first in which it may
	saves   float64 // bytes on the wire
}

// course is what the programme knows of a conversation.
type course struct {
	requests []int     // how many messages each has
	before   []float64 // bytes of all messages before each
	stubs    []stubAt  // by position
	cold     []int     // requests that find nothing in the cache
	rule     planner.Rule
}

// measure finds out what may become a stub and when: by replaying the literal policy.
func (t *Transcript) measure(ctx context.Context, o Options) (*course, error) {
	c := &course{requests: t.conv.Requests(), rule: t.Rule(), before: []float64{0}}
	for k := range c.requests {
		if t.cold(k, o) {
			c.cold = append(c.cold, k)
		}
	}
	last := make([]float64, len(t.conv.Messages))
	for i, m := range t.conv.Messages {
		last[i] = float64(len(m.Bytes))
		c.before = append(c.before, c.before[i]+last[i])
	}
	o.DumpWire = ""
	err := t.replay(ctx, Static, o, func(v view) error {
		for i, m := range v.messages {
			if d := last[i] - float64(len(m)); d != 0 {
				c.stubs = append(c.stubs, stubAt{i, v.request, d})
				last[i] -= d
			}
		}
		return nil
	})
	slices.SortStableFunc(c.stubs, func(a, b stubAt) int {
		return cmp.Or(a.message-b.message, a.request-b.request)
	})
	if err == nil && len(c.stubs) > maxStubs {
		err = fmt.Errorf("%s: %d results could become stubs: the optimum is looked for among at most %d", t.Name, len(c.stubs), maxStubs)
	}
	return c, err
}

// optimum returns where epochs open: for a number of messages, the cut.
func (c *course) optimum(r planner.Rates) map[int]int {
	p := newProgramme(c, r)
	p.solve()
	cuts := map[int]int{}
	opens := func(at, stub int) { cuts[c.requests[p.times[at]]] = c.stubs[stub].message }
	from := 0
	for _, k := range c.cold {
		cuts[c.requests[k]] = 0
		to, _ := slices.BinarySearch(p.times, k)
		p.walk(0, from, to, opens)
		from = to
	}
	p.walk(0, from, len(p.times)-1, opens)
	return cuts
}

// programme is the dynamic programme. Times are numbered: 0 is before the first
// request, the last after the end, those between are the requests in which something
// becomes eligible, and those that find the cache cold.
type programme struct {
	*course
	planner.Rates
	times   []int
	reach   [][]float64 // by time and stub: what the stubs from there on save that are eligible by then
	last    []int       // by time: the message after the last eligible one, where an epoch sets a mark; 0: it need not
	from    []int       // by stub: the number of the time that it becomes eligible at
	best    [][]float64 // by two times: cost of the stubs from the present one on
	choices [][][]int32 // by stub and two times: the time of the epoch between, 0: none
	hopeful bool        // count on whatever an older epoch may have left: a lower bound
}

func newProgramme(c *course, r planner.Rates) *programme {
	p := &programme{course: c, Rates: r, times: []int{-1}}
	for _, s := range c.stubs {
		p.times = append(p.times, s.request)
	}
	p.times = append(p.times, c.cold...)
	slices.Sort(p.times)
	p.times = append(slices.Compact(p.times), len(c.requests))
	p.last = make([]int, len(p.times))
	for n, at := range p.times {
		sum := make([]float64, len(c.stubs)+1)
		last, fresh := 0, false
		for e := len(c.stubs) - 1; e >= 0; e-- {
			sum[e] = sum[e+1]
			if s := c.stubs[e]; s.request <= at {
				sum[e] += s.saves
				last = max(last, s.message+1)
			}
			fresh = fresh || c.stubs[e].request == at
		}
		if fresh {
			p.last[n] = last
		}
		p.reach = append(p.reach, sum)
		p.best = append(p.best, make([]float64, len(p.times)))
	}
	for _, s := range c.stubs {
		n, _ := slices.BinarySearch(p.times, s.request)
		p.from = append(p.from, n)
	}
	return p
}

// solve fills the choices, from the last stub to the first.
func (p *programme) solve() {
	p.choices = make([][][]int32, len(p.stubs))
	for e := len(p.stubs) - 1; e >= 0; e-- {
		p.choices[e] = p.decide(e)
	}
}

// decide takes stub e into the costs between all pairs of times, and returns the epochs
// that are cut at it. Only where it becomes eligible between them is there a question.
func (p *programme) decide(e int) [][]int32 {
	from, end := p.from[e], len(p.times)
	out := make([][]int32, from)
	wait := make([]float64, end) // by time: cost of waiting until then
	for t := from; t < end; t++ {
		wait[t] = p.Read * p.stubs[e].saves * float64(p.times[t]-p.times[from])
	}
	cost := make([]float64, end) // of an epoch at each time
	for s := range from {
		out[s] = make([]int32, end)
		for u := from; u < end-1; u++ {
			cost[u] = p.best[s][u] + wait[u] + p.epoch(e, u, s)
		}
		// best[u] is of the stubs behind e still: e is one by then. best[s] is written from
		// its end, where what is read lies before.
		for t := end - 1; t >= from; t-- {
			best := p.best[s][t] + wait[t]
			for u := from; u < t; u++ {
				if c := cost[u] + p.best[u][t]; c < best {
					best, out[s][t] = c, int32(u)
				}
			}
			p.best[s][t] = best
		}
	}
	return out
}

// epoch returns what an epoch at time u with its cut at stub e costs at once, when the
// epoch before that reached e was at time s.
func (p *programme) epoch(e, u, s int) float64 {
	k := p.times[u]
	sent := p.requests[k-1]
	behind := p.before[sent] - p.before[p.readable(e, k, s)] - p.reach[u][e]
	return (p.Write - p.Read) * behind
}

// readable returns how many messages the provider can read in request k when stub e is
// the first that changes. With marks they end where a request since s ended, or behind
// what the epoch at s changed.
func (p *programme) readable(e, k, s int) int {
	message := p.stubs[e].message
	if p.rule == planner.RulePrefix {
		return message
	}
	q, found := slices.BinarySearch(p.requests[:k], message)
	if !found {
		q--
	}
	best := 0
	if q >= max(p.times[s], 0) || p.hopeful && p.last[s] > message {
		best = p.requests[q]
	}
	if p.last[s] <= message {
		best = max(best, p.last[s])
	}
	return best
}

// walk calls opens for each epoch that was chosen for stub e and those behind it
// between the times s and t.
func (p *programme) walk(e, s, t int, opens func(at, stub int)) {
	for ; e < len(p.stubs); e++ {
		if s >= p.from[e] || t < p.from[e] {
			continue
		}
		if u := int(p.choices[e][s][t]); u > 0 {
			opens(u, e)
			p.walk(e+1, s, u, opens)
			s = u
		}
	}
}
