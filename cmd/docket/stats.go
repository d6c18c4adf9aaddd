package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"docket/engine"
)

func (a *app) statsCommand() *cobra.Command {
	c := verb("look", &cobra.Command{
		Use:   "stats",
		Short: "say how much the ledger holds and takes",
		Long: `Say how much the ledger holds, what it takes on disk, and how much of that is free.

--json prints file_bytes, live_bytes, free_bytes, threads, lineages, records,
expired, erased, payload_bytes, payload_chars, stored_bytes, epochs, decisions.`,
	}, cobra.NoArgs)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.forReading(func(l *engine.Ledger) error {
			s, err := l.Stats(c.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(s)
			}
			return table(a.out, func(w io.Writer) {
				fmt.Fprintf(w, "file\t%s\t%s\n", size(s.FileBytes), l.Path())
				fmt.Fprintf(w, "  in use\t%s\t\n", size(s.LiveBytes))
				fmt.Fprintf(w, "  free\t%s\t%s\n", size(s.FreeBytes), vacuumHint(s))
				fmt.Fprintf(w, "threads\t%s\t\n", grouped(s.Threads))
				fmt.Fprintf(w, "records\t%s\t%s expired, %s erased\n", grouped(s.Records), grouped(s.Expired), grouped(s.Erased))
				fmt.Fprintf(w, "payloads\t%s\t%s characters\n", size(s.PayloadBytes), grouped(s.PayloadChars))
				fmt.Fprintf(w, "stored as\t%s\t%.1f times smaller, with indexes\n", size(s.StoredBytes), s.Ratio())
				fmt.Fprintf(w, "stubs\t%s\tdecided in %s epochs\n", grouped(s.Decisions), grouped(s.Epochs))
			})
		})
	}
	return c
}

// vacuumHint says when rewriting the file is worth it.
func vacuumHint(s engine.Stats) string {
	if s.FreeBytes > 64<<20 && s.FreeBytes > s.FileBytes/2 {
		return "docket vacuum would free it"
	}
	return ""
}
