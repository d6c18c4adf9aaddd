package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"docket"
	"docket/engine"
)

// exported is what export prints with --json.
type exported struct {
	Thread docket.ThreadID `json:"thread"`
	File   string          `json:"file"`
	Bytes  int64           `json:"bytes"`
}

func (a *app) exportCommand() *cobra.Command {
	var thread string
	c := verb("past", &cobra.Command{
		Use:   "export [--thread T] [FILE | -]",
		Short: "write a thread to a file, for another ledger",
		Long: `Write a thread with its lineage key, records, decisions and checkpoints to FILE,
where nothing may be yet, or to standard output. docket import reads it, here or on
another machine: mem ids stay. Every payload is verified on the way.

The file holds the key and every payload in the clear. It has mode 0600: keep it so.

--json prints thread, file, bytes; to standard output only the export is written.`,
		Example: `  docket export --thread build-7 build-7.export
  docket export --thread build-7 | ssh elsewhere docket import`,
	}, cobra.MaximumNArgs(1))
	c.Flags().StringVar(&thread, "thread", defaultThread, "the `thread` to export")
	c.RunE = func(c *cobra.Command, args []string) error {
		done := exported{Thread: docket.ThreadID(thread), File: argument(args, 0)}
		return a.forReading(func(l *engine.Ledger) error {
			if done.File == "" || done.File == "-" {
				if isTerminal(a.out) {
					return usagef("an export is no text: name a file, or pipe it")
				}
				return pastError(l.Export(c.Context(), done.Thread, a.out))
			}
			var err error
			if done.Bytes, err = exportTo(c.Context(), l, done); err != nil {
				return pastError(err)
			}
			if a.json {
				return a.printJSON(done)
			}
			_, err = fmt.Fprintf(a.out, "%s in %s\n", size(done.Bytes), done.File)
			return err
		})
	}
	return c
}

// exportTo writes an export to a new file, whole or not at all, and returns its length.
func exportTo(ctx context.Context, l *engine.Ledger, to exported) (n int64, err error) {
	f, err := os.OpenFile(to.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return 0, fmt.Errorf("%q is there already: an export never replaces a file, name another", to.File)
	}
	if err != nil {
		return 0, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(to.File)
		}
	}()
	if err := l.Export(ctx, to.Thread, f); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), f.Sync()
}
