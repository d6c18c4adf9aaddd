package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"docket/engine"
)

func (a *app) backupCommand() *cobra.Command {
	c := verb("care", &cobra.Command{
		Use:   "backup FILE",
		Short: "copy the ledger, without free pages, checked",
		Long: `Write a copy of the ledger to FILE, where nothing may be yet. Never copy the file
itself while somebody records: nine such copies of ten are damaged.`,
	}, cobra.ExactArgs(1))
	c.RunE = func(c *cobra.Command, args []string) error {
		show := a.progress()
		defer show.end()
		return a.forReading(func(l *engine.Ledger) error {
			err := l.Backup(c.Context(), args[0], func(done, total int64) { show.step("copying", done, total) })
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%q is there already: a backup never replaces a file, name another", args[0])
			}
			return err
		})
	}
	return c
}
