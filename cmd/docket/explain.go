package main

// What became of each result of a body, and why, as a person reads it.

import (
	"fmt"
	"io"

	"docket/compact"
)

// explain writes a line for each result to standard error. Results that are kept for the
// same reason one after the other share a line: a long history is mostly those.
func (a *app) explain(report compact.Report) {
	if len(report.Decisions) == 0 {
		fmt.Fprintln(a.err, "docket: the body holds no tool results")
		return
	}
	_ = table(a.err, func(w io.Writer) {
		fmt.Fprintln(w, "RESULT\tMESSAGE\tTOOL\tCHARACTERS\tGOES OUT\tWHY")
		for list := report.Decisions; len(list) > 0; {
			n := alike(list)
			explainRun(w, list[:n])
			list = list[n:]
		}
	})
}

// alike returns how many decisions of list, from the first on, are told in one line.
func alike(list []compact.Decision) int {
	n := 1
	for n < len(list) && !list[0].Applied && !list[n].Applied && list[n].Reason == list[0].Reason {
		n++
	}
	return n
}

// explainRun writes one line.
func explainRun(w io.Writer, run []compact.Decision) {
	first, last := run[0], run[len(run)-1]
	goes := "whole"
	switch {
	case first.New():
		goes = "stub " + string(first.MemID) + ", from now on"
	case first.Applied:
		goes = "stub " + string(first.MemID)
	}
	if first.Index == last.Index {
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%s\n", first.Index, first.Message, cell(first.Tool), grouped(first.Size), goes, first.Reason.Text())
		return
	}
	var chars int64
	for _, d := range run {
		chars += d.Size
	}
	fmt.Fprintf(w, "%d–%d\t%d–%d\t\t%s\t%s\t%s\n", first.Index, last.Index, first.Message, last.Message, grouped(chars), goes, first.Reason.Text())
}
