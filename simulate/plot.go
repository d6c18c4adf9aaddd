package simulate

// The plot: what each policy has cost so far against the requests so far, one line a
// policy. Of several conversations the sum, at the same share of the requests of each.
// SVG is written by hand, for the reason that package bench has; terminal.go draws the
// same lines with characters.

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// plotPoints is how many points a line has behind its first, which is zero.
const plotPoints = 240

// Plot is what is drawn.
type Plot struct {
	Title    string
	requests int // of the one conversation; 0: of several
	lines    []line
}

// line is one policy's cost.
type line struct {
	policy string
	costs  []float64 // at equal steps, from 0
}

// NewPlot returns the plot of the named policies' sums, in this order.
func NewPlot(title string, policies []string, sums map[string]*Sum) Plot {
	p := Plot{Title: title}
	for _, name := range policies {
		s := sums[name]
		if s == nil {
			continue
		}
		costs := make([]float64, plotPoints+1)
		for _, course := range s.Course {
			for i := range costs {
				costs[i] += costAt(course, float64(i)/plotPoints)
			}
		}
		if len(s.Course) == 1 {
			p.requests = len(s.Course[0])
		}
		p.lines = append(p.lines, line{name, costs})
	}
	return p
}

// costAt returns what a course has cost at a share of its requests.
func costAt(course []float64, share float64) float64 {
	at := share * float64(len(course))
	n := int(at)
	before, next := 0.0, 0.0
	if n > 0 {
		before = course[n-1]
	}
	if next = before; n < len(course) {
		next = course[n]
	}
	return before + (at-float64(n))*(next-before)
}

// top returns the highest cost.
func (p Plot) top() (top float64) {
	for _, l := range p.lines {
		top = max(top, slices.Max(l.costs))
	}
	return top
}

// last returns what a line ends at.
func (l line) last() float64 { return l.costs[len(l.costs)-1] }

// below says what a place on the horizontal axis is.
func (p Plot) below() string {
	if p.requests > 0 {
		return "requests"
	}
	return "share of each conversation's requests, in percent"
}

// span returns the number at the right end of the horizontal axis.
func (p Plot) span() float64 {
	if p.requests > 0 {
		return float64(p.requests)
	}
	return 100
}

// step returns a round distance between ticks that divides top about n times.
func step(top float64, n int) float64 {
	if top <= 0 {
		return 1
	}
	rough := top / float64(n)
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5} {
		if m*unit >= rough {
			return m * unit
		}
	}
	return 10 * unit
}

// colors are of the policies, so that one looks the same in every plot.
var colors = map[string]string{
	None: "#6b7280", Static: "#dc2626", Trigger: "#d97706", Clear: "#9333ea", Cost: "#0f766e", Free: "#2563eb", Optimum: "#111827",
}

// Measures of the picture, in pixels.
const (
	svgWidth, svgHeight  = 860, 520
	svgLeft, svgTop      = 84, 92
	svgRight, svgBottom  = 190, 64
	svgInner, svgUpright = svgWidth - svgLeft - svgRight, svgHeight - svgTop - svgBottom
	labelHeight          = 16
)

// WriteSVG draws p. It fails when there is nothing to draw, or as w does.
func (p Plot) WriteSVG(w io.Writer) error {
	top := p.top()
	if top <= 0 {
		return fmt.Errorf("simulate: nothing to plot: no request cost anything")
	}
	d := &drawing{Plot: p, high: top, step: step(top, 6)}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif" font-size="12" fill="#374151">`, svgWidth, svgHeight, svgWidth, svgHeight)
	d.printf(`<rect width="100%%" height="100%%" fill="#ffffff"/>`)
	d.printf(`<text x="%d" y="36" font-size="20" font-weight="600" fill="#111827">What each policy has cost so far</text>`, svgLeft)
	d.printf(`<text x="%d" y="58">%s</text>`, svgLeft, escape(p.Title))
	d.axes()
	for _, l := range p.lines {
		d.line(l)
	}
	d.labels()
	d.printf("</svg>")
	_, err := io.WriteString(w, d.String())
	return err
}

// drawing is an SVG on its way.
type drawing struct {
	strings.Builder
	Plot
	high, step float64 // the highest cost, and how far ticks are apart
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

func (d *drawing) y(cost float64) float64 { return svgTop + svgUpright*(1-cost/d.high) }

// axes draws the grid, the ticks and what they are.
func (d *drawing) axes() {
	for n := 0; float64(n)*d.step <= d.high; n++ {
		y := d.y(float64(n) * d.step)
		d.printf(`<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#e5e7eb"/>`, svgLeft, y, svgLeft+svgInner, y)
		d.printf(`<text x="%d" y="%.1f" text-anchor="end">%s</text>`, svgLeft-8, y+4, d.amount(float64(n)*d.step))
	}
	span, unit := d.span(), step(d.span(), 8)
	for n := 0; float64(n)*unit <= span; n++ {
		x := svgLeft + svgInner*float64(n)*unit/span
		d.printf(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#9ca3af"/>`, x, svgTop+svgUpright, x, svgTop+svgUpright+5)
		d.printf(`<text x="%.1f" y="%d" text-anchor="middle">%g</text>`, x, svgTop+svgUpright+20, float64(n)*unit)
	}
	d.printf(`<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#9ca3af"/>`, svgLeft, svgTop+svgUpright, svgLeft+svgInner, svgTop+svgUpright)
	d.printf(`<text x="%d" y="%d" text-anchor="middle">%s</text>`, svgLeft+svgInner/2, svgTop+svgUpright+44, d.below())
	name, _ := d.unit()
	d.printf(`<text x="20" y="%d" text-anchor="middle" transform="rotate(-90 20 %d)">cost, as %s of uncached input</text>`, svgTop+svgUpright/2, svgTop+svgUpright/2, name)
}

func (d *drawing) line(l line) {
	points := make([]string, len(l.costs))
	for i, cost := range l.costs {
		points[i] = fmt.Sprintf("%.1f,%.1f", svgLeft+svgInner*float64(i)/float64(len(l.costs)-1), d.y(cost))
	}
	dashes := ""
	if l.policy == None || l.policy == Optimum {
		dashes = ` stroke-dasharray="5 3"`
	}
	d.printf(`<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`, strings.Join(points, " "), colors[l.policy], dashes)
}

// labels writes beside the end of each line what it is: apart from one another, in the
// order of the ends.
func (d *drawing) labels() {
	lines := slices.Clone(d.lines)
	slices.SortStableFunc(lines, func(a, b line) int { return int(math.Copysign(1, b.last()-a.last())) })
	low := svgTop + svgUpright - labelHeight*float64(len(lines)-1)
	at := math.Inf(-1)
	for i, l := range lines {
		at = max(at+labelHeight, min(d.y(l.last()), low+labelHeight*float64(i)))
		d.printf(`<path d="M%d %.1fL%d %.1f" stroke="%s"/>`, svgLeft+svgInner+2, d.y(l.last()), svgLeft+svgInner+14, at, colors[l.policy])
		d.printf(`<text x="%d" y="%.1f" fill="%s" font-weight="600">%s <tspan font-weight="400">%s</tspan></text>`, svgLeft+svgInner+18, at+4, colors[l.policy], l.policy, d.ends(l))
	}
}

// ends says what a line ends at, and what that is of none.
func (p Plot) ends(l line) string {
	i := slices.IndexFunc(p.lines, func(l line) bool { return l.policy == None })
	if i < 0 || l.policy == None {
		return p.amount(l.last())
	}
	return fmt.Sprintf("%s, %.1f %%", p.amount(l.last()), 100*l.last()/p.lines[i].last())
}

// unit returns the unit that all amounts of p are in.
func (p Plot) unit() (name string, bytes float64) {
	switch top := p.top(); {
	case top >= 1e9:
		return "GB", 1e9
	case top >= 1e6:
		return "MB", 1e6
	}
	return "KB", 1e3
}

// amount writes a number of bytes with three digits.
func (p Plot) amount(bytes float64) string {
	name, unit := p.unit()
	return fmt.Sprintf("%.3g %s", bytes/unit, name)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escape(text string) string { return escaper.Replace(text) }
