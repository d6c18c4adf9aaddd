package wire

// What a long-lived process remembers of each thread's last request: hashes of its
// messages. From that follow how much of it the provider can still have in its cache, and
// where and why a view differs from the one before. Both are estimates: losing the memory
// costs accuracy, never bytes.

import (
	"container/list"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"docket"
	"docket/compact"
)

// Defaults of [Chains].
const (
	DefaultTTL     = 5 * time.Minute // of providers' caches, from the last use on
	DefaultThreads = 1024
)

// Chains remembers the last request of each thread. The zero value is ready; it is safe
// for concurrent use, and for several dialects and services at once.
type Chains struct {
	// TTL is how long a provider keeps its cache from the last use on. 0: [DefaultTTL].
	TTL time.Duration
	// Threads is how many are remembered: those used last. A message takes 16 bytes. 0:
	// [DefaultThreads].
	Threads int
	// Now is the clock. nil: time.Now.
	Now func() time.Time

	mu     sync.Mutex
	seed   maphash.Seed
	recent *list.List // of *chain, the last used first
	byID   map[docket.ThreadID]*list.Element
}

// chain is the last request of a thread. It is not changed once it is kept.
type chain struct {
	thread docket.ThreadID
	at     time.Time
	head   uint64   // hash of what stands in front of the messages
	sent   []uint64 // hashes of the messages as the client had them, canonical
	viewed []uint64 // and as they went out
}

// sight is a request on its way through a view: what was sent before it, and what is now.
// Without a [Chains] it is nil and all it knows is nothing.
type sight struct {
	chains *Chains
	last   *chain // nil: nothing is remembered
	now    chain
}

// look takes p up as a request of thread.
func (c *Chains) look(thread docket.ThreadID, p *parsed) *sight {
	if c == nil {
		return nil
	}
	s := &sight{chains: c, now: chain{thread: thread, at: time.Now()}}
	if c.Now != nil {
		s.now.at = c.Now()
	}
	c.mu.Lock()
	if c.seed == (maphash.Seed{}) {
		c.seed = maphash.MakeSeed()
	}
	if e, ok := c.byID[thread]; ok {
		s.last = e.Value.(*chain)
	}
	c.mu.Unlock()
	s.now.head = maphash.Bytes(c.seed, p.head())
	s.now.sent = make([]uint64, len(p.spans))
	for i := range p.spans {
		s.now.sent[i] = maphash.Bytes(c.seed, p.canonical(i))
	}
	return s
}

// intact returns how many of the request's first messages the provider can have in its
// cache, nil if all that were sent or nobody knows.
func (s *sight) intact() *int {
	if s == nil || s.last == nil {
		return nil
	}
	if s.now.head != s.last.head || s.now.at.Sub(s.last.at) > s.chains.ttl() {
		return new(0)
	}
	if n := common(s.last.sent, s.now.sent); n < min(len(s.last.sent), len(s.now.sent)) {
		return &n
	}
	return nil
}

// sent remembers the request with the edits of plan, and says in its report where the view
// differs from the one before.
func (s *sight) sent(plan *compact.Plan) {
	if s == nil {
		return
	}
	s.now.viewed = slices.Clone(s.now.sent)
	for _, e := range plan.Edits {
		s.now.viewed[e.Message] = s.now.viewed[e.Message]*31 + maphash.String(s.chains.seed, e.Text) + uint64(e.Result) + 1
	}
	if s.last != nil {
		_, opened := plan.Report.Cut()
		plan.Report.Change = s.change(opened)
	}
	s.chains.keep(&s.now)
}

// change says where the view differs from the one before, nil if one extends the other.
func (s *sight) change(opened bool) *compact.Change {
	n := common(s.last.viewed, s.now.viewed)
	switch {
	case n == min(len(s.last.viewed), len(s.now.viewed)):
		return nil
	case s.last.sent[n] != s.now.sent[n]:
		return &compact.Change{Message: n, Cause: compact.CauseClient}
	case opened:
		return &compact.Change{Message: n, Cause: compact.CauseEpoch}
	}
	return &compact.Change{Message: n, Cause: compact.CauseHeld}
}

// keep remembers n as its thread's last request.
func (c *Chains) keep(n *chain) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID, c.recent = map[docket.ThreadID]*list.Element{}, list.New()
	}
	if e, ok := c.byID[n.thread]; ok {
		e.Value = n
		c.recent.MoveToFront(e)
		return
	}
	c.byID[n.thread] = c.recent.PushFront(n)
	most := c.Threads
	if most <= 0 {
		most = DefaultThreads
	}
	for len(c.byID) > most {
		oldest := c.recent.Back()
		c.recent.Remove(oldest)
		delete(c.byID, oldest.Value.(*chain).thread)
	}
}

func (c *Chains) ttl() time.Duration {
	if c.TTL > 0 {
		return c.TTL
	}
	return DefaultTTL
}

// common returns how many elements a and b have in common at their beginnings.
func common(a, b []uint64) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
