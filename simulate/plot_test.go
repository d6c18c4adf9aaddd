package simulate

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func plotted(t *testing.T) Plot {
	t.Helper()
	sums := map[string]*Sum{}
	for _, p := range []string{None, Cost} {
		sums[p] = &Sum{}
	}
	sums[None].Add(Result{Cost: 40e6, CostNone: 40e6, Course: []float64{10e6, 20e6, 40e6}})
	sums[Cost].Add(Result{Cost: 30e6, CostNone: 40e6, Course: []float64{10e6, 25e6, 30e6}})
	return NewPlot("a <b> & c", []string{None, Cost, Free}, sums)
}

// A line begins at nothing, ends at the sum, and meets each request's cost on its way.
func TestPlotLines(t *testing.T) {
	p := plotted(t)
	if len(p.lines) != 2 || p.requests != 3 {
		t.Fatalf("%d lines, %d requests", len(p.lines), p.requests)
	}
	for i, want := range []float64{0, 10e6, 20e6, 40e6} {
		if got := p.lines[0].costs[i*plotPoints/3]; got != want {
			t.Errorf("after %d requests %v, want %v", i, got, want)
		}
	}
}

// The picture is XML, with a line and a label for each policy, inside of its frame.
func TestPlotSVG(t *testing.T) {
	var b bytes.Buffer
	if err := plotted(t).WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	lines, words := 0, ""
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "polyline" {
				lines++
			}
		case xml.CharData:
			words += string(token) + "|"
		}
	}
	for _, want := range []string{"a <b> & c", "|none |", "40 MB|", "|cost |", "30 MB, 75.0 %", "|requests|", "|cost, as MB of uncached input|"} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in %q", want, words)
		}
	}
	if lines != 2 {
		t.Errorf("%d lines", lines)
	}
	if err := (Plot{}).WriteSVG(&b); err == nil {
		t.Error("nothing is drawn without an error")
	}
}

func TestPlotText(t *testing.T) {
	var b bytes.Buffer
	if err := plotted(t).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"·\n", "● cost     30 MB, 75.0 %\n", "requests", "    40 MB ┤"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if n := len([]rune(line)); n > 80 || strings.HasSuffix(line, " ") {
			t.Errorf("a line of %d characters, or with a space at its end: %q", n, line)
		}
	}
}

func TestStep(t *testing.T) {
	for top, want := range map[float64]float64{100: 20, 7: 2, 0: 1, 64e6: 20e6, 0.3: 0.05} {
		if got := step(top, 6); got != want {
			t.Errorf("step(%v) is %v, want %v", top, got, want)
		}
	}
}
