package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"docket"
	"docket/engine"
)

func (a *app) lsCommand() *cobra.Command {
	var thread string
	var limit int
	c := verb("look", &cobra.Command{
		Use:   "ls [--thread T] [--limit N]",
		Short: "list records",
		Long: `List the records of one thread, or of all, oldest first.

--json prints the handle of each: see docket record --help.`,
	}, cobra.NoArgs)
	c.Flags().StringVar(&thread, "thread", "", "only this `thread`")
	c.Flags().IntVar(&limit, "limit", 0, "at most `n` records of each thread (0: all)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.forReading(func(l *engine.Ledger) error {
			threads := []docket.ThreadID{docket.ThreadID(thread)}
			if thread == "" {
				var err error
				if threads, err = threadIDs(c.Context(), l); err != nil {
					return err
				}
			}
			return a.list(c.Context(), l, threads, limit)
		})
	}
	return c
}

func (a *app) list(ctx context.Context, l *engine.Ledger, threads []docket.ThreadID, limit int) error {
	var failed error
	err := table(a.out, func(w io.Writer) {
		if !a.json {
			fmt.Fprintln(w, "MEM ID\tTHREAD\tTOOL\tCHARACTERS\tKIND\tRECORDED\tSUMMARY")
		}
		for _, thread := range threads {
			n := 0
			for h, err := range l.List(ctx, thread, 0) {
				if err == nil && a.json {
					err = a.printJSON(h)
				} else if err == nil {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", h.MemID, cell(string(thread)), cell(h.Tool), grouped(h.Chars), h.Kind, h.Created.Local().Format("2006-01-02 15:04"), cell(h.Summary))
				}
				if err != nil {
					failed = err
					return
				}
				if n++; n == limit {
					break
				}
			}
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// cell is s as part of a table on a terminal: on one line, short, nothing that the
// terminal would obey.
func cell(s string) string {
	const most = 48
	out, n := []rune{}, 0
	for _, r := range s {
		if n++; n > most {
			return string(append(out[:most-1], '…'))
		}
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			r = '·'
		}
		out = append(out, r)
	}
	return string(out)
}

func threadIDs(ctx context.Context, l *engine.Ledger) ([]docket.ThreadID, error) {
	var ids []docket.ThreadID
	for t, err := range l.Threads(ctx) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, t.ID)
	}
	return ids, nil
}
