package simulate

// The plot in a terminal: a grid of characters, one glyph a policy.

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// glyphs are of the policies. Where lines meet the later of the report is seen.
var glyphs = map[string]rune{None: '·', Static: '×', Trigger: '△', Clear: '□', Cost: '●', Free: '○', Optimum: '━'}

// Measures of the grid, in characters.
const gridWidth, gridHeight = 68, 18

// WriteText draws p with characters. It fails as w does.
func (p Plot) WriteText(w io.Writer) error {
	top := p.top()
	if top <= 0 {
		top = 1
	}
	var grid [gridHeight][gridWidth]rune
	for _, l := range p.lines {
		for x := range gridWidth {
			cost := l.costs[(x+1)*(len(l.costs)-1)/gridWidth]
			y := int(math.Round(cost / top * (gridHeight - 1)))
			grid[gridHeight-1-y][x] = glyphs[l.policy]
		}
	}
	var b strings.Builder
	unit, _ := p.unit()
	fmt.Fprintf(&b, "%s: cost so far, as %s of uncached input\n", p.Title, unit)
	for y, row := range grid {
		fmt.Fprintf(&b, "%9s ┤", p.amount(top*float64(gridHeight-1-y)/(gridHeight-1)))
		drawn := strings.ReplaceAll(string(row[:]), "\x00", " ")
		b.WriteString(strings.TrimRight(drawn, " ") + "\n")
	}
	end := fmt.Sprintf("%g", p.span())
	fmt.Fprintf(&b, "%9s └%s\n", "", strings.Repeat("─", gridWidth))
	fmt.Fprintf(&b, "%9s  0%s%s\n", "", center(p.below(), gridWidth-1-len(end)), end)
	for _, l := range p.lines {
		fmt.Fprintf(&b, "%9s  %c %-8s %s\n", "", glyphs[l.policy], l.policy, p.ends(l))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// center puts text in the middle of width characters.
func center(text string, width int) string {
	left := max(width-len(text), 0) / 2
	return fmt.Sprintf("%-*s", width, strings.Repeat(" ", left)+text)
}
