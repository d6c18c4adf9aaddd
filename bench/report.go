package bench

// Rows for people and for programs: an aligned table with both subjects side by
// side, and JSON, one object a line. The plot is in plot.go.

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"docket"
)

// WriteJSON writes r on one line.
func WriteJSON(w io.Writer, r Result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// pairKey is what the two rows of one measurement have in common.
type pairKey struct {
	workload, payload string
	size              int64
	kind              docket.Kind
	cold              bool
}

// pair is a measurement with both subjects; one may be missing.
type pair struct {
	pairKey
	docket, naive *Result
}

// pairs joins rows to measurements, in the order of their first rows.
func pairs(rows []Result) []pair {
	var out []pair
	at := map[pairKey]int{}
	for i := range rows {
		r := &rows[i]
		k := pairKey{r.Workload, r.Payload, r.Size, r.Kind, r.Cold}
		n, ok := at[k]
		if !ok {
			n = len(out)
			at[k] = n
			out = append(out, pair{pairKey: k})
		}
		if r.Subject == NaiveName {
			out[n].naive = r
		} else {
			out[n].docket = r
		}
	}
	return out
}

// speedup is how many times docket's median goes into the naive one's; 0 when one
// is missing.
func (p pair) speedup() float64 {
	if p.docket == nil || p.naive == nil || p.docket.P50 == 0 {
		return 0
	}
	return float64(p.naive.P50) / float64(p.docket.P50)
}

// WriteTable writes the rows as a table, one line a measurement. Wrong answers,
// if there are any, are said last and loudly.
func WriteTable(w io.Writer, rows []Result) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "workload\tpayload\tops\tp50\tp90\tp99\tmax\tframes\tnaive p50\tp99\tnaive/docket\ton disk\tnaive\t")
	wrong := 0
	for _, p := range pairs(rows) {
		fmt.Fprintf(tw, "%s\t%s\t", p.workload, p.title())
		fmt.Fprintf(tw, "%s%s%s%s\t\n", docketCells(p.docket), naiveCells(p.naive), ratioCell(p.speedup()), diskCells(p.docket, p.naive))
		for _, r := range []*Result{p.docket, p.naive} {
			if r != nil {
				wrong += r.Mismatches
			}
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if wrong > 0 {
		_, err := fmt.Fprintf(w, "WRONG: %d answers were not what the payload says; the latencies above mean nothing\n", wrong)
		return err
	}
	return nil
}

// title names the payload of a measurement.
func (p pair) title() string {
	s := p.payload
	if s == "" {
		s = p.kind.String()
	}
	s += " " + FormatSize(p.size)
	if p.cold {
		s += " cold"
	}
	return s
}

func docketCells(r *Result) string {
	if r == nil {
		return "\t\t\t\t\t\t"
	}
	frames := ""
	if r.Frames > 0 {
		frames = strconv.FormatFloat(r.Frames, 'f', 1, 64)
	}
	return fmt.Sprintf("%d\t%s\t%s\t%s\t%s\t%s\t", r.Ops, FormatNanos(r.P50), FormatNanos(r.P90), FormatNanos(r.P99), FormatNanos(r.Max), frames)
}

func naiveCells(r *Result) string {
	if r == nil {
		return "\t\t"
	}
	return FormatNanos(r.P50) + "\t" + FormatNanos(r.P99) + "\t"
}

func ratioCell(ratio float64) string {
	if ratio == 0 {
		return "\t"
	}
	return formatRatio(ratio) + "\t"
}

func diskCells(docket, naive *Result) string {
	cell := func(r *Result) string {
		if r == nil {
			return ""
		}
		return FormatSize(r.BytesOnDisk)
	}
	return cell(docket) + "\t" + cell(naive)
}

// formatRatio writes a ratio with as many digits as mean something.
func formatRatio(x float64) string {
	switch {
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64) + " ×"
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64) + " ×"
	}
	return strconv.FormatFloat(x, 'f', 2, 64) + " ×"
}

// FormatSize writes a number of bytes in units of 1,024 with two or three digits:
// "4 KB", "1.8 MB".
func FormatSize(bytes int64) string {
	if bytes < 1<<10 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	x, unit := float64(bytes)/(1<<10), "KB"
	for _, next := range []string{"MB", "GB", "TB"} {
		if x < 1000 {
			break
		}
		x, unit = x/(1<<10), next
	}
	return threeDigits(x) + " " + unit
}

// FormatNanos writes a latency with three digits: "83.1 µs", "1.42 ms".
func FormatNanos(ns int64) string {
	x, unit := float64(ns), "ns"
	for _, next := range []string{"µs", "ms", "s"} {
		if x < 1000 {
			break
		}
		x, unit = x/1000, next
	}
	return threeDigits(x) + " " + unit
}

// threeDigits writes x, 0 ≤ x < 1024, with three significant digits and no zeros
// after them.
func threeDigits(x float64) string {
	places := 0
	switch {
	case x < 10:
		places = 2
	case x < 100:
		places = 1
	}
	s := strconv.FormatFloat(x, 'f', places, 64)
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return s
}
