package simulate

// The simulated cache: what of a view a provider would have read, by its rule.

import (
	"bytes"
	"hash/maphash"

	"github.com/tidwall/gjson"

	"docket/compact/planner"
)

// lookback is how many content blocks before a mark an entry is looked for.
const lookback = 20

// cache counts the cost of one conversation's requests.
type cache struct {
	rates planner.Rates
	rule  planner.Rule
	seed  maphash.Seed

	last    [][]byte        // the messages of the view before
	entries map[uint64]bool // hashes of the message lists that an entry ends at
	cost    float64
	written float64 // bytes that were sent before and written again
	changed int     // requests in which something changed that was sent before
	peak    int     // bytes of the largest view
	cold    bool    // nothing can be read in the next request
}

func newCache(rates planner.Rates, rule planner.Rule) *cache {
	return &cache{rates: rates, rule: rule, seed: maphash.MakeSeed(), entries: map[uint64]bool{}}
}

// add counts a view: its messages, and the bytes around them.
func (c *cache) add(messages [][]byte, around int) {
	clean := make([][]byte, len(messages))
	var marks []int // how many messages precede each mark
	for i, m := range messages {
		clean[i] = withoutMark(m)
		if len(clean[i]) != len(m) {
			marks = append(marks, i+1)
		}
	}
	marks = append(marks, len(messages))
	hashes := c.prefixes(clean)
	same := 0
	for same < min(len(clean), len(c.last)) && bytes.Equal(clean[same], c.last[same]) {
		same++
	}
	read := same
	switch {
	case c.cold:
		read = 0
	case c.rule == planner.RuleMarks:
		read = c.longest(clean, hashes, marks)
	}
	total, readable := around, 0
	for i, m := range clean {
		total += len(m)
		if i < read {
			readable += len(m)
		}
	}
	if c.last != nil && !c.cold {
		readable += around
	}
	c.cost += c.rates.Read*float64(readable) + c.rates.Write*float64(total-readable)
	if same < len(c.last) {
		c.changed++
		for _, m := range clean[read:max(min(len(c.last), len(clean)), read)] {
			c.written += float64(len(m))
		}
	}
	c.peak = max(c.peak, total)
	for _, n := range marks {
		c.entries[hashes[n]] = true
	}
	c.last, c.cold = clean, false
}

// forget empties the cache.
func (c *cache) forget() {
	c.cold = true
	clear(c.entries)
}

// prefixes hashes every beginning of a list of messages.
func (c *cache) prefixes(messages [][]byte) []uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	out := []uint64{h.Sum64()}
	for _, m := range messages {
		h.Write(m)
		h.WriteByte(0)
		out = append(out, h.Sum64())
	}
	return out
}

// longest returns how many messages the longest entry holds that stands within
// lookback blocks before a mark.
func (c *cache) longest(messages [][]byte, hashes []uint64, marks []int) int {
	best := 0
	for _, mark := range marks {
		blocks := 0
		for n := mark; n > best && blocks <= lookback; n-- {
			if c.entries[hashes[n]] {
				best = n
				break
			}
			blocks += blocksOf(messages[n-1])
		}
	}
	return best
}

// blocksOf counts the content blocks of a message.
func blocksOf(m []byte) int {
	if content := gjson.GetBytes(m, "content"); content.IsArray() {
		return int(content.Get("#").Int())
	}
	return 1
}

// ourMark is the cache mark that a dialect sets before a cut.
var ourMark = []byte(`,"cache_control":{"type":"ephemeral"}`)

func withoutMark(m []byte) []byte {
	if !bytes.Contains(m, ourMark) {
		return m
	}
	return bytes.ReplaceAll(m, ourMark, nil)
}
