package compact

// Settings of single tools: what a policy does otherwise for the results of one.

import "strings"

// When is when the results of a tool become stubs.
type When uint8

// The choices.
const (
	WhenPolicy  When = iota // as the policy has it
	WhenNever               // not at all; they are recorded like others
	WhenAlways              // once the model has been sent them, whatever keep places and turns say
	WhenArrival             // at once, as in [ModeArrival]: the model reads the stub first
)

// ToolPolicy is what a [Policy] does otherwise for the results of one tool. The zero
// value changes nothing.
type ToolPolicy struct {
	Stub When
	// Threshold in characters, as [Policy.Threshold]. 0: the policy's.
	Threshold int64
}

// ForTool returns p as it is for the results of tool: with the settings that
// [Policy.Tools] has under its name, else under the longest prefix of it that is there
// followed by a star.
func (p Policy) ForTool(tool string) Policy {
	set := p.settings(tool)
	if set.Threshold != 0 {
		p.Threshold = set.Threshold
	}
	p.when = set.Stub
	return p
}

// settings returns what is set for tool.
func (p Policy) settings(tool string) (set ToolPolicy) {
	if exact, ok := p.Tools[tool]; ok {
		return exact
	}
	longest := -1
	for name, s := range p.Tools {
		prefix, star := strings.CutSuffix(name, "*")
		if star && len(prefix) > longest && strings.HasPrefix(tool, prefix) {
			set, longest = s, len(prefix)
		}
	}
	return set
}
