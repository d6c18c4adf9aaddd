package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"docket"
	"docket/engine"
	"docket/recall"
)

// searchRow is what search --json prints of one record.
type searchRow struct {
	MemID           docket.MemID    `json:"mem_id"`
	Thread          docket.ThreadID `json:"thread"`
	Tool            string          `json:"tool"`
	Matches         []recall.Span   `json:"matches"`
	MatchCount      int             `json:"match_count"`
	MatchCountExact bool            `json:"match_count_exact"`
	Text            string          `json:"text"`
}

func (a *app) searchCommand() *cobra.Command {
	var thread string
	req := recall.SearchRequest{}
	c := verb("main", &cobra.Command{
		Use:   "search QUERY [-i] [--thread T] [--window N] [--max-matches N] [--max-records N]",
		Short: "find a substring in all records",
		Long: `Find a substring in the payloads of one thread, or of all, oldest record first. For
each record that has it: its mem id, and the windows around the matches.

--json prints mem_id, thread, tool, matches [{offset, chars}], match_count,
match_count_exact, text.`,
	}, cobra.ExactArgs(1))
	flags := c.Flags()
	flags.StringVar(&thread, "thread", "", "look in this `thread` only")
	flags.BoolVarP(&req.IgnoreCase, "ignore-case", "i", false, "match under simple case folding")
	flags.IntVar(&req.Window, "window", 60, "`characters` shown either side of a match")
	flags.IntVar(&req.MaxMatches, "max-matches", 3, "at most `n` matches of each record")
	flags.IntVar(&req.MaxRecords, "max-records", 0, "stop after `n` records (0: all)")
	c.RunE = func(c *cobra.Command, args []string) error {
		req.Query = args[0]
		if req.Query == "" || req.Window < 0 || req.MaxMatches < 1 || req.MaxRecords < 0 {
			return usagef("search needs a text to look for; --window and --max-records cannot be negative, --max-matches is at least 1")
		}
		if req.Window == 0 {
			req.Window = -1
		}
		return a.forReading(func(l *engine.Ledger) error {
			return a.searchThreads(c.Context(), l, thread, req)
		})
	}
	return c
}

// searchThreads searches one thread, or all, and goes on over records that cannot
// be read.
func (a *app) searchThreads(ctx context.Context, l *engine.Ledger, thread string, req recall.SearchRequest) error {
	threads := []docket.ThreadID{docket.ThreadID(thread)}
	if thread == "" {
		var err error
		if threads, err = threadIDs(ctx, l); err != nil {
			return err
		}
	}
	show, records, damaged := a.progress(), 0, 0
	defer show.end()
	for i, t := range threads {
		show.step("searching", int64(i), int64(len(threads)))
		for answer, err := range recall.Search(ctx, l, t, req) {
			if err != nil {
				if answer.Handle.MemID == "" {
					return err
				}
				damaged++
				fmt.Fprintf(a.err, "docket: %s: %s\n", answer.Handle.MemID, message(err))
				continue
			}
			if err := a.printFound(answer); err != nil {
				return err
			}
			if records++; records == req.MaxRecords {
				return nil
			}
		}
	}
	if damaged > 0 {
		return codeError{fmt.Errorf("%d records could not be read: run docket check", damaged), exitPartial}
	}
	if records == 0 {
		fmt.Fprintf(a.err, "docket: no record holds %q\n", req.Query)
	}
	return nil
}

func (a *app) printFound(answer recall.Answer) error {
	h := answer.Handle
	if a.json {
		return a.printJSON(searchRow{
			MemID: h.MemID, Thread: h.Thread, Tool: h.Tool, Matches: answer.Matches,
			MatchCount: answer.MatchCount, MatchCountExact: answer.MatchCountExact, Text: string(answer.Text),
		})
	}
	least := ""
	if !answer.MatchCountExact {
		least = "at least "
	}
	_, err := fmt.Fprintf(a.out, "== %s  %s  %s  %s%s\n%s\n", h.MemID, cell(string(h.Thread)), cell(h.Tool), least, matches(answer.MatchCount), answer.AppendText(nil))
	return err
}

func matches(n int) string {
	if n == 1 {
		return "1 match"
	}
	return grouped(int64(n)) + " matches"
}
