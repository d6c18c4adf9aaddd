package wire

// What views cost, under a small model of a provider's prompt cache: characters
// of the prefix that a request shares with the one before it cost 0.1, all others
// 1.25. It says nothing about absolute prices; it compares policies.

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"docket/compact"
	"docket/engine"
)

// costs follows the requests of one conversation.
type costs struct {
	last     []byte // the messages of the request before
	total    float64
	requests int
	changed  int // requests in which a message changed that was sent already
}

// add counts a request whose messages end at end.
func (c *costs) add(body []byte, end int) {
	same := commonPrefix(c.last, body[:end])
	if same < len(c.last) {
		c.changed++
	}
	c.total += 0.1*float64(same) + 1.25*float64(len(body)-same)
	c.requests++
	c.last = append(c.last[:0], body[:end]...)
}

func commonPrefix(a, b []byte) int {
	lo, hi := 0, min(len(a), len(b))
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if bytes.Equal(a[lo:mid], b[lo:mid]) {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// rounds is a conversation of n results of size characters each.
func rounds(n, size int) *conversation {
	var b bytes.Buffer
	c := &conversation{name: fmt.Sprintf("%d results of %d", n, size)}
	b.WriteString(`{` + tools + `,"messages":[`)
	add := func(role, content string) {
		if len(c.roles) > 0 {
			b.WriteString(",")
		}
		start := b.Len()
		fmt.Fprintf(&b, `{"role":"%s","content":%s}`, role, content)
		c.messages, c.roles = append(c.messages, span{start, b.Len()}), append(c.roles, role)
	}
	add("user", `"go"`)
	for i := range n {
		add("assistant", fmt.Sprintf(`[{"type":"tool_use","id":"t%d","name":"read","input":{}}]`, i))
		add("user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t%d","content":"%d%s"}]`, i, i, strings.Repeat(" a word", size/7)))
	}
	add("assistant", `"done"`)
	b.WriteString(`]}`)
	c.src = b.Bytes()
	c.contents = contents(c.src)
	return c
}

// B1: how often a message changes that the provider has read already: once for
// every result that goes stale, unless stale results wait for one another. B3: the
// replay demands that the report names each change.
func TestB1B3SentMessagesChange(t *testing.T) {
	for _, c := range []struct {
		saving int64
		most   int
	}{{0, 37}, {100_000, 8}, {200_000, 4}} {
		p := compact.Default()
		p.MinSaving = c.saving
		a := &replay{conversation: rounds(40, 20_000), t: t}
		a.run(engine.NewMemory(nil), p)
		t.Logf("MinSaving %6d: a sent message changes in %2d of %d requests; cost %.3f of no compaction",
			c.saving, a.view.changed, a.view.requests, a.view.total/a.plain.total)
		if a.view.changed > c.most || a.stubs < 20 {
			t.Errorf("MinSaving %d: a sent message changes in %d requests, want at most %d; %d stubs", c.saving, a.view.changed, c.most, a.stubs)
		}
	}
}

// B4: on short histories a policy must cost no more than doing nothing.
func TestB4Cost(t *testing.T) {
	for _, c := range []struct{ n, size int }{{2, 1000}, {3, 20_000}, {10, 1500}, {10, 5000}, {40, 5000}, {40, 20_000}} {
		var line []string
		for _, saving := range []int64{0, 20_000} {
			p := compact.Default()
			p.MinSaving = saving
			a := &replay{conversation: rounds(c.n, c.size), t: t}
			a.run(engine.NewMemory(nil), p)
			ratio := a.view.total / a.plain.total
			line = append(line, fmt.Sprintf("MinSaving %d: %.3f", saving, ratio))
			if short := c.n <= 3 || c.size <= 2000; short && ratio > 1 {
				t.Errorf("%s, MinSaving %d: costs %.3f of doing nothing", a.name, saving, ratio)
			}
		}
		t.Logf("%2d results of %6d characters: %s", c.n, c.size, strings.Join(line, ", "))
	}
}

func TestB4CorpusCost(t *testing.T) {
	for _, saving := range []int64{0, 20_000} {
		var view, plain, worst float64
		var changed, requests int
		for i, path := range transcripts(t) {
			if i%4 != 0 { // a sample: the whole corpus takes a minute
				continue
			}
			p := compact.Default()
			p.MinSaving = saving
			a := &replay{conversation: load(t, path), t: t}
			a.run(engine.NewMemory(nil), p)
			view, plain = view+a.view.total, plain+a.plain.total
			worst = max(worst, a.view.total/a.plain.total)
			changed, requests = changed+a.view.changed, requests+a.view.requests
		}
		t.Logf("MinSaving %d: cost %.3f of doing nothing, worst conversation %.3f; a sent message changes in %d of %d requests",
			saving, view/plain, worst, changed, requests)
	}
}
