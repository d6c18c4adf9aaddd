package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"docket/engine"
)

func (a *app) checkCommand() *cobra.Command {
	var opts engine.CheckOptions
	c := verb("care", &cobra.Command{
		Use:   "check [--read-data]",
		Short: "verify everything in the file",
		Long: `Verify the invariants of FORMAT.md: the structure of the file, every handle, every
index; with --read-data also every frame of every payload. Nothing is repaired.
What is found is printed one finding a line, and the exit code is 5.

--json prints one object for each finding (rule, place, expected, found), then one
with the counts.`,
	}, cobra.NoArgs)
	c.Flags().BoolVar(&opts.ReadData, "read-data", false, "read every payload as well")
	c.RunE = func(c *cobra.Command, _ []string) error {
		show := a.progress()
		defer show.end()
		opts.Progress = func(done, total int64) { show.step("checking", done, total) }
		return a.forReading(func(l *engine.Ledger) error {
			report, err := l.Check(c.Context(), &opts)
			if err != nil {
				return err
			}
			show.end()
			return a.printCheck(report)
		})
	}
	return c
}

// finding is what check --json prints of one broken invariant.
type finding struct {
	Rule     int    `json:"rule"`
	Place    string `json:"place"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// checked is what check --json prints last.
type checked struct {
	Findings int   `json:"findings"`
	Threads  int64 `json:"threads"`
	Records  int64 `json:"records"`
	Payloads int64 `json:"payloads"`
}

func (a *app) printCheck(report engine.CheckReport) error {
	for _, f := range report.Findings {
		if !a.json {
			fmt.Fprintf(a.out, "rule %d, %s: expected %s, found %s\n", f.Rule, f.Place, f.Expected, f.Found)
		} else if err := a.printJSON(finding{f.Rule, f.Place, f.Expected, f.Found}); err != nil {
			return err
		}
	}
	n := len(report.Findings) + report.More
	if a.json {
		if err := a.printJSON(checked{n, report.Threads, report.Records, report.Payloads}); err != nil {
			return err
		}
	}
	if n > 0 {
		return codeError{fmt.Errorf("%d findings: the file is damaged: keep it as it is, and restore a backup beside it", n), exitCorrupt}
	}
	if a.json {
		return nil
	}
	_, err := fmt.Fprintf(a.out, "sound: %s records in %s threads, %s payloads read\n", grouped(report.Records), grouped(report.Threads), grouped(report.Payloads))
	return err
}
