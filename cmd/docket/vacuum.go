package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"docket/engine"
)

func (a *app) vacuumCommand() *cobra.Command {
	var opts engine.VacuumOptions
	c := verb("care", &cobra.Command{
		Use:   "vacuum [--force]",
		Short: "rewrite the file smaller",
		Long: `Rewrite the file without free pages, so that nothing of what was erased or expired
is left in it. The new file is checked before it takes the old one's place. Where
little would be gained nothing is done, unless --force is given.`,
	}, cobra.NoArgs)
	c.Flags().BoolVar(&opts.Force, "force", false, "rewrite it however little is free")
	c.RunE = func(c *cobra.Command, _ []string) error {
		show := a.progress()
		defer show.end()
		opts.Progress = func(done, total int64) { show.step("rewriting", done, total) }
		path, err := a.ledgerPath()
		if err != nil {
			return err
		}
		return with(path, &engine.Options{MustExist: true}, func(l *engine.Ledger) error {
			report, err := l.Vacuum(c.Context(), &opts)
			if err != nil {
				return err
			}
			show.end()
			if a.json {
				return a.printJSON(report)
			}
			if !report.Done {
				_, err = fmt.Fprintf(a.out, "left as it is, %s: little is free (--force rewrites it all the same)\n", size(report.Before))
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s before, %s now\n", size(report.Before), size(report.After))
			return err
		})
	}
	return c
}
