package bench

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"docket"
)

// sampleRows are rows as a run gives them: docket's latency flat, the naive one's
// growing with the payload.
func sampleRows() []Result {
	var rows []Result
	for _, w := range Workloads()[:7] {
		for k, kind := range []docket.Kind{docket.KindJSON, docket.KindText, docket.KindNDJSON} {
			for _, size := range []int64{4 << 10, 64 << 10, 1 << 20, 10 << 20, 100 << 20} {
				d := int64(9000 + 12000*math.Log10(float64(size)) + float64(k*4000))
				n := 12_000 + size*int64(11+k)/10
				rows = append(rows,
					Result{Workload: w, Size: size, Kind: kind, Subject: Docket, Ops: 100, P50: d, P90: d * 5 / 4, P99: d * 2, Max: d * 3, Frames: 1.5, BytesOnDisk: size / 4},
					Result{Workload: w, Size: size, Kind: kind, Subject: NaiveName, Ops: 100, P50: n, P90: n * 11 / 10, P99: n * 3 / 2, Max: n * 2, Frames: 1, BytesOnDisk: size / 6})
			}
		}
	}
	return rows
}

func TestSVGIsWellFormed(t *testing.T) {
	var svg bytes.Buffer
	if err := WriteSVG(&svg, sampleRows()); err != nil {
		t.Fatal(err)
	}
	if name := os.Getenv("BENCH_PLOT"); name != "" {
		if err := os.WriteFile(name, svg.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	panels := 0
	for dec := xml.NewDecoder(&svg); ; {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			for _, a := range start.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("<%s %s=%q>", start.Name.Local, a.Name.Local, a.Value)
				}
			}
			if start.Name.Local == "g" {
				panels++
			}
		}
	}
	if panels != 7 {
		t.Errorf("%d panels, want one for each of 7 workloads", panels)
	}
}

func TestSVGOfNothing(t *testing.T) {
	if err := WriteSVG(io.Discard, nil); err == nil {
		t.Error("a plot of no rows was written")
	}
}
