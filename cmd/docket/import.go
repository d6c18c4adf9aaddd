package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"docket"
	"docket/engine"
)

func (a *app) importCommand() *cobra.Command {
	var as string
	c := verb("past", &cobra.Command{
		Use:   "import [--as T] [FILE | -]",
		Short: "read a thread that was exported",
		Long: `Read a thread from FILE or standard input, as docket export wrote it. It is verified
to its end before anything is recorded. Importing it again changes nothing; a later
export of the same thread brings the thread forward. A thread that went on by itself is
not touched: --as imports beside it, and both share what they have in common.

--json prints thread, records, added, epochs, checkpoints, changed.`,
		Example: `  docket import build-7.export
  docket import --as build-7-copy build-7.export`,
	}, cobra.MaximumNArgs(1))
	c.Flags().StringVar(&as, "as", "", "the `thread` to import it as (default: its own name)")
	c.RunE = func(c *cobra.Command, args []string) error {
		from, name := a.in, "standard input"
		if file := argument(args, 0); file != "" && file != "-" {
			f, err := os.Open(file)
			if err != nil {
				return err
			}
			defer f.Close()
			from, name = f, fmt.Sprintf("%q", file)
		}
		return a.forWriting(func(l *engine.Ledger) error {
			report, err := l.Import(c.Context(), from, &docket.ImportOptions{As: docket.ThreadID(as)})
			if err != nil {
				return importError(err, name)
			}
			return a.printImport(report)
		})
	}
	return c
}

func (a *app) printImport(r docket.ImportReport) error {
	if a.json {
		return a.printJSON(r)
	}
	what := "as it was"
	if r.Changed {
		what = "imported"
	}
	return printed(fmt.Fprintf(a.out, "%s: %s; %s, %s of them new, %s, %s\n", r.Thread, what,
		plural(r.Records, "record"), grouped(r.Added), plural(r.Epochs, "epoch"), plural(r.Checkpoints, "checkpoint")))
}

func printed(_ int, err error) error { return err }

// importError says what to do about an import that failed.
func importError(err error, name string) error {
	var damage *docket.CorruptError
	var version *docket.VersionError
	switch {
	case errors.As(err, &version):
		return fmt.Errorf("%s is an export of format %d, this release reads up to %d: use a newer docket", name, version.Found, version.Newest)
	case errors.As(err, &damage) && damage.File == "":
		return codeError{fmt.Errorf("%s is damaged, or no export (%s: expected %s, found %s): nothing was imported, export it again",
			name, damage.Place, damage.Expected, damage.Found), exitCorrupt}
	case errors.Is(err, docket.ErrThreadExists):
		return fmt.Errorf("%w: import it --as another", err)
	case errors.Is(err, docket.ErrDiverged):
		return fmt.Errorf("%w: import it --as another", err)
	}
	return err
}
