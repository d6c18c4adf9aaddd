package compact_test

import (
	"testing"

	"docket/compact"
)

// ForTool: the exact name before the longest prefix, and nothing of it for others.
func TestForTool(t *testing.T) {
	p := compact.Policy{Threshold: 2000, KeepLast: 3, Tools: map[string]compact.ToolPolicy{
		"read":        {Stub: compact.WhenNever},
		"mcp__*":      {Stub: compact.WhenArrival, Threshold: 500},
		"mcp__db__*":  {Stub: compact.WhenAlways},
		"mcp__db__ls": {Threshold: -1},
	}}
	for _, c := range []struct {
		tool      string
		size      int64
		protected bool
		want      compact.Reason
	}{
		{"read", 9000, false, compact.ReasonNever},
		{"reader", 9000, false, compact.ReasonStale},
		{"reader", 9000, true, compact.ReasonProtected},
		{"mcp__web__get", 600, true, compact.ReasonArrival},
		{"mcp__web__get", 500, true, compact.ReasonBelowThreshold},
		{"mcp__db__query", 2001, true, compact.ReasonAlways},
		{"mcp__db__query", 1500, true, compact.ReasonBelowThreshold},
		{"mcp__db__ls", 1, false, compact.ReasonStale},
		{"mcp__db__ls", 1, true, compact.ReasonProtected},
		{"", 9000, false, compact.ReasonStale},
	} {
		if _, why := p.ForTool(c.tool).Decide(5, c.size, c.protected, false); why != c.want {
			t.Errorf("%q of %d characters, protected %t: %s, want %s", c.tool, c.size, c.protected, why, c.want)
		}
	}
}

// In a view: a tool whose results never go, one whose always do, one whose go on
// arrival, beside one that the policy decides about.
func TestToolsInAView(t *testing.T) {
	list := turns(5)
	list = list[:len(list)-2] // the model has not answered the last result
	for i, tool := range []string{"never", "always", "plain", "always", "arrival"} {
		list[1+2*i].calls[0].Tool = tool
		list[2+2*i].results[0].tool = ""
	}
	p := compact.Policy{KeepLast: 9, Tools: map[string]compact.ToolPolicy{
		"never": {Stub: compact.WhenNever}, "always": {Stub: compact.WhenAlways}, "arrival": {Stub: compact.WhenArrival},
	}}
	l := memory(t)
	_, report := whole(t, l, p, list)
	if got, want := reasons(report), "never always! protected always! arrival!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// Without the setting what was decided stays, and nothing else goes.
	p.Tools = nil
	_, report = whole(t, l, p, list)
	if got, want := reasons(report), "protected decided! protected decided! protected"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// A result that goes on arrival does not wait for others: nobody has it cached.
	p = compact.Policy{KeepLast: 9, MinSaving: 1 << 30, Tools: map[string]compact.ToolPolicy{
		"always": {Stub: compact.WhenAlways}, "arrival": {Stub: compact.WhenArrival},
	}}
	_, report = whole(t, memory(t), p, list)
	if got, want := reasons(report), "protected waiting protected waiting arrival!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
