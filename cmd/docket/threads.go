package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"docket/engine"
)

func (a *app) threadsCommand() *cobra.Command {
	c := verb("look", &cobra.Command{
		Use:   "threads",
		Short: "list threads",
		Long: `List the threads of the ledger.

--json prints thread, created, records, payload_bytes, stored_bytes.`,
	}, cobra.NoArgs)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.forReading(func(l *engine.Ledger) error {
			var failed error
			err := table(a.out, func(w io.Writer) {
				if !a.json {
					fmt.Fprintln(w, "THREAD\tRECORDS\tPAYLOADS\tSTORED\tCREATED")
				}
				for t, err := range l.Threads(c.Context()) {
					if err == nil && a.json {
						err = a.printJSON(t)
					} else if err == nil {
						fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", cell(string(t.ID)), grouped(t.Records), size(t.PayloadBytes), size(t.StoredBytes), t.Created.Local().Format("2006-01-02 15:04"))
					}
					if err != nil {
						failed = err
						return
					}
				}
			})
			if failed != nil {
				return failed
			}
			return err
		})
	}
	return c
}
