package bench

// The plot: latency against payload size, both axes logarithmic, a panel for each
// workload, all panels on the same axes so that they can be compared. It is
// written as SVG by hand: a plotting library would weigh more than the rest of the
// package, for one picture. Colour tells the subject, the marker the kind; a line
// is the median and the shade above it reaches to the 99th percentile.

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"docket"
)

const (
	panelWidth, panelHeight = 236, 200
	panelGapX, panelGapY    = 70, 92
	plotColumns             = 4
	plotLeft, plotTop       = 74, 148
	plotBottom              = 44
)

// look is how a subject is drawn.
type look struct{ name, color string }

var looks = []look{{NaiveName, "#c2410c"}, {Docket, "#0f766e"}}

// plot maps latencies and sizes to the coordinates of a panel.
type plot struct {
	strings.Builder
	minX, maxX, minY, maxY float64 // log10 of bytes and nanoseconds
	sizes                  []int64
}

// WriteSVG draws the rows that have a size to be drawn against: warm operations on
// one payload.
func WriteSVG(w io.Writer, rows []Result) error {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r Result) bool { return r.Cold || r.P50 <= 0 || r.Size <= 0 || !plotted(r.Workload) })
	if len(rows) == 0 {
		return fmt.Errorf("bench: nothing to plot: no row of a workload on one payload")
	}
	workloads := slices.DeleteFunc(Workloads(), func(name string) bool {
		return !slices.ContainsFunc(rows, func(r Result) bool { return r.Workload == name })
	})
	p := newPlot(rows)
	p.head(len(workloads), rows)
	for i, name := range workloads {
		of := slices.DeleteFunc(slices.Clone(rows), func(r Result) bool { return r.Workload != name })
		x := plotLeft + i%plotColumns*(panelWidth+panelGapX)
		y := plotTop + i/plotColumns*(panelHeight+panelGapY)
		p.panel(x, y, name, of)
	}
	p.WriteString("</svg>\n")
	_, err := io.WriteString(w, p.String())
	return err
}

// plotted tells whether a workload is one operation on one payload.
func plotted(workload string) bool { return about(workload) != "" }

// about says what such a workload does.
func about(workload string) string {
	if workload == "record" {
		return "the payload, fsync included"
	}
	for _, p := range pickers {
		if p.workload == workload {
			return p.about
		}
	}
	return ""
}

func newPlot(rows []Result) *plot {
	p := &plot{minX: math.Inf(1), maxX: math.Inf(-1), minY: math.Inf(1), maxY: math.Inf(-1)}
	for _, r := range rows {
		p.minX, p.maxX = min(p.minX, log(r.Size)), max(p.maxX, log(r.Size))
		p.minY, p.maxY = min(p.minY, log(r.P50)), max(p.maxY, log(r.P99))
	}
	p.minX, p.maxX = p.minX-0.15, p.maxX+0.15
	p.minY, p.maxY = math.Floor(p.minY), math.Ceil(p.maxY)
	p.sizes = []int64{4 << 10, 64 << 10, 1 << 20, 10 << 20, 100 << 20}
	p.sizes = slices.DeleteFunc(p.sizes, func(n int64) bool { return log(n) < p.minX || log(n) > p.maxX })
	return p
}

func log(n int64) float64 { return math.Log10(float64(n)) }

func (p *plot) x(size int64) float64 { return (log(size) - p.minX) / (p.maxX - p.minX) * panelWidth }

func (p *plot) y(ns int64) float64 {
	return panelHeight - (log(ns)-p.minY)/(p.maxY-p.minY)*panelHeight
}

func (p *plot) printf(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// head writes the document's frame, title and legend.
func (p *plot) head(panels int, rows []Result) {
	columns, lines := min(panels, plotColumns), (panels+plotColumns-1)/plotColumns
	width := max(plotLeft+columns*(panelWidth+panelGapX), 560)
	height := plotTop + lines*(panelHeight+panelGapY) + plotBottom - panelGapY
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif" font-size="12" fill="#374151">`, width, height, width, height)
	p.printf(`<rect width="100%%" height="100%%" fill="#ffffff"/>`)
	p.printf(`<text x="%d" y="38" font-size="20" font-weight="600" fill="#111827">Latency against payload size</text>`, plotLeft)
	p.printf(`<text x="%d" y="60">Both axes logarithmic. Lines are medians; the shade reaches to the 99th percentile.</text>`, plotLeft)
	x := plotLeft
	for i, l := range []look{looks[1], looks[0]} {
		p.printf(`<line x1="%d" y1="84" x2="%d" y2="84" stroke="%s" stroke-width="2.5"/>`, x, x+22, l.color)
		p.printf(`<text x="%d" y="88">%s</text>`, x+28, []string{"docket", "naive: one zstd value, decoded whole"}[i])
		x += 90 + 194*i
	}
	for _, kind := range []docket.Kind{docket.KindJSON, docket.KindText, docket.KindNDJSON, docket.KindBinary} {
		if slices.ContainsFunc(rows, func(r Result) bool { return r.Kind == kind }) {
			p.marker(float64(x), 84, kind, "#6b7280")
			p.printf(`<text x="%d" y="88">%s</text>`, x+9, kind)
			x += 34 + 7*len(kind.String())
		}
	}
}

// panel draws one workload with its axes at x, y.
func (p *plot) panel(x, y int, name string, rows []Result) {
	p.printf(`<g transform="translate(%d %d)">`, x, y)
	p.printf(`<text x="0" y="-26" font-size="14" font-weight="600" fill="#111827">%s</text>`, name)
	p.printf(`<text x="0" y="-11" fill="#6b7280">%s</text>`, about(name))
	p.axes(x == plotLeft)
	for _, l := range looks {
		of := slices.DeleteFunc(slices.Clone(rows), func(r Result) bool { return r.Subject != l.name })
		slices.SortStableFunc(of, func(a, b Result) int { return int(a.Size - b.Size) })
		p.shade(of, l.color)
		p.lines(of, l.color)
	}
	p.ratio(rows)
	p.printf("</g>")
}

// axes draws the grid; the latencies are written in the first column only.
func (p *plot) axes(labels bool) {
	for e := p.minY; e <= p.maxY; e++ {
		ns := int64(math.Round(math.Pow(10, e)))
		p.printf(`<line x1="0" y1="%.1f" x2="%d" y2="%.1f" stroke="#e5e7eb"/>`, p.y(ns), panelWidth, p.y(ns))
		if labels {
			p.printf(`<text x="-8" y="%.1f" text-anchor="end" font-size="11" fill="#6b7280">%s</text>`, p.y(ns)+4, FormatNanos(ns))
		}
	}
	for _, size := range p.sizes {
		p.printf(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#9ca3af"/>`, p.x(size), panelHeight, p.x(size), panelHeight+4)
		p.printf(`<text x="%.1f" y="%d" text-anchor="middle" font-size="11" fill="#6b7280">%s</text>`, p.x(size), panelHeight+18, FormatSize(size))
	}
	p.printf(`<line x1="0" y1="%d" x2="%d" y2="%d" stroke="#9ca3af"/>`, panelHeight, panelWidth, panelHeight)
}

// shade fills, for generated payloads, from the lowest median to the highest 99th
// percentile of each size. rows are ascending by size.
func (p *plot) shade(rows []Result, color string) {
	var low, high []string
	for from := 0; from < len(rows); {
		to := from
		p50, p99 := rows[from].P50, rows[from].P99
		for ; to < len(rows) && rows[to].Size == rows[from].Size; to++ {
			p50, p99 = min(p50, rows[to].P50), max(p99, rows[to].P99)
		}
		low = append(low, fmt.Sprintf("%.1f,%.1f", p.x(rows[from].Size), p.y(p50)))
		high = append(high, fmt.Sprintf("%.1f,%.1f", p.x(rows[from].Size), p.y(p99)))
		from = to
	}
	if len(low) < 2 || rows[0].Payload != "" {
		return
	}
	slices.Reverse(high)
	p.printf(`<polygon points="%s" fill="%s" fill-opacity="0.10"/>`, strings.Join(append(low, high...), " "), color)
}

// lines draws a line of medians for each kind; recorded payloads, each another
// thing, are points.
func (p *plot) lines(rows []Result, color string) {
	for _, kind := range []docket.Kind{docket.KindJSON, docket.KindText, docket.KindNDJSON, docket.KindBinary} {
		var at []string
		for _, r := range rows {
			if r.Kind == kind {
				at = append(at, fmt.Sprintf("%.1f,%.1f", p.x(r.Size), p.y(r.P50)))
				p.marker(p.x(r.Size), p.y(r.P50), kind, color)
			}
		}
		if len(at) > 1 && rows[0].Payload == "" {
			p.printf(`<polyline points="%s" fill="none" stroke="%s" stroke-width="1.6"/>`, strings.Join(at, " "), color)
		}
	}
}

func (p *plot) marker(x, y float64, kind docket.Kind, color string) {
	switch kind {
	case docket.KindJSON:
		p.printf(`<circle cx="%.1f" cy="%.1f" r="3.2" fill="%s"/>`, x, y, color)
	case docket.KindNDJSON:
		p.printf(`<path d="M%.1f %.1fl3.6 6.4h-7.2z" fill="#ffffff" stroke="%s" stroke-width="1.4"/>`, x, y-4, color)
	default:
		p.printf(`<rect x="%.1f" y="%.1f" width="5.6" height="5.6" fill="#ffffff" stroke="%s" stroke-width="1.4"/>`, x-2.8, y-2.8, color)
	}
}

// ratio writes beside the right end how far apart the two are there, in JSON if
// there is any.
func (p *plot) ratio(rows []Result) {
	var best pair
	for _, q := range pairs(rows) {
		if q.speedup() > 0 && q.payload == "" && (q.size > best.size || q.size == best.size && q.kind == docket.KindJSON) {
			best = q
		}
	}
	if best.docket == nil {
		return
	}
	x, top, low := p.x(best.size)+10, p.y(best.naive.P50), p.y(best.docket.P50)
	if gap := low - top; math.Abs(gap) < 18 {
		apart := math.Copysign((18-math.Abs(gap))/2, gap)
		top, low = top-apart, low+apart
	}
	p.printf(`<text x="%.1f" y="%.1f" fill="%s" font-weight="600">naive</text>`, x, top+4, looks[0].color)
	p.printf(`<text x="%.1f" y="%.1f" fill="%s" font-weight="600">docket</text>`, x, low+4, looks[1].color)
	if math.Abs(top-low) >= 30 {
		p.printf(`<text x="%.1f" y="%.1f" text-anchor="middle" fill="#111827">%s</text>`, x+20, (top+low)/2+4, formatRatio(best.speedup()))
	}
	if math.Abs(top-low) >= 46 {
		p.printf(`<path d="M%.1f %.1fV%.1fM%.1f %.1fV%.1f" stroke="#9ca3af"/>`, x+20, min(top, low)+9, (top+low)/2-9, x+20, (top+low)/2+9, max(top, low)-9)
	}
}
