package main

// Output: JSON lines with fixed names, aligned tables, sizes that people read.

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// printJSON writes v as one line. HTML characters stay as they are: the reader is
// a program or a person, not a page.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// table writes rows of cells, tab separated, in aligned columns.
func table(w io.Writer, write func(w io.Writer)) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	write(tw)
	return tw.Flush()
}

// grouped writes n with a comma every three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size writes n bytes with a unit and three digits.
func size(n int64) string {
	x, unit := float64(n), "B"
	for _, next := range []string{"KB", "MB", "GB", "TB"} {
		if x < 999.5 {
			break
		}
		x, unit = x/1000, next
	}
	switch {
	case unit == "B":
		return fmt.Sprintf("%d B", n)
	case x < 9.995:
		return fmt.Sprintf("%.2f %s", x, unit)
	case x < 99.95:
		return fmt.Sprintf("%.1f %s", x, unit)
	}
	return fmt.Sprintf("%.0f %s", x, unit)
}

// plural writes a count with its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}
