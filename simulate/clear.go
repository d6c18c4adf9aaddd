package simulate

// The policy clear: what a provider does that is told to clear old results itself, as
// clear_tool_uses_20250919 does. Nothing can be recalled.
//
// What providers do not document is read in their favour: what was cleared stays
// cleared, and the trigger is compared with what is left.

import (
	"context"

	"github.com/tidwall/gjson"
)

// cleared stands in the place of a result.
const cleared = "[cleared]"

// place is where a dialect has its results.
type place struct {
	list    string // the member of a body that lists messages
	blocks  string // the path of a list of blocks in one of them; empty: it is the block
	payload string // the path of the payload in a block
	with    string // what replaces it
}

var places = map[string]place{
	"anthropic": {"messages", "content", "content", `"` + cleared + `"`},
	"chat":      {"messages", "", "content", `"` + cleared + `"`},
	"responses": {"input", "", "output", `"` + cleared + `"`},
	"gemini":    {"contents", "parts", "functionResponse.response", `{"output":"` + cleared + `"}`},
	"converse":  {"messages", "content", "toolResult.content", `[{"text":"` + cleared + `"}]`},
}

// payloads returns the payloads of the results in a list of messages.
func payloads(dialect string, list gjson.Result) (found []gjson.Result) {
	at := places[dialect]
	list.ForEach(func(_, message gjson.Result) bool {
		blocks := []gjson.Result{message}
		if at.blocks != "" {
			blocks = message.Get(at.blocks).Array()
		}
		for _, block := range blocks {
			if p := block.Get(at.payload); p.Exists() && isResult(dialect, block) {
				found = append(found, p)
			}
		}
		return true
	})
	return found
}

// isResult tells whether a block that has a payload is a result.
func isResult(dialect string, block gjson.Result) bool {
	switch dialect {
	case "anthropic":
		return block.Get("type").Str == "tool_result"
	case "chat":
		return block.Get("role").Str == "tool"
	}
	return true
}

// clearing makes views as the provider would.
type clearing struct {
	transcript *Transcript
	trigger    int
	least      int
	keep       int
	done       int // how many results are cleared, the oldest first
}

func newClearing(t *Transcript, o Options) *clearing {
	return &clearing{transcript: t, trigger: o.trigger(), least: o.ClearAtLeast * bytesPerToken, keep: o.Keep}
}

func (c *clearing) make(_ context.Context, v *view, n int) error {
	body := c.transcript.conv.Request(n)
	at := places[c.transcript.Dialect]
	list := payloads(c.transcript.Dialect, gjson.GetBytes(body, at.list))
	saves := func(ps []gjson.Result) (sum int) {
		for _, p := range ps {
			sum += len(p.Raw) - len(at.with)
		}
		return sum
	}
	due := max(len(list)-c.keep, c.done)
	more := saves(list[c.done:due])
	if len(body)-saves(list[:c.done]) > c.trigger && more > 0 && more >= c.least {
		c.done, v.opened = due, true
	}
	next := 0
	for _, p := range list[:c.done] {
		v.body = append(append(v.body, body[next:p.Index]...), at.with...)
		next = p.Index + len(p.Raw)
	}
	v.body = append(v.body, body[next:]...)
	v.stubs = c.done
	return nil
}
