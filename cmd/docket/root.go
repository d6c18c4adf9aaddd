package main

// The root command: flags that every verb has, and the verbs themselves.

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// app is one invocation: its streams and the flags that all verbs share. Data
// goes to out; everything else goes to err.
type app struct {
	in       io.Reader
	out, err io.Writer
	db       string // the ledger's file; empty: found by ledgerPath
	json     bool
}

func (a *app) execute(ctx context.Context, args []string) int {
	root := a.command()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	return a.exit(root.ExecuteContext(ctx))
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "docket",
		Short: "a durable ledger for the results of the tools that LLM agents call",
		Long: `docket keeps the results of the tools that LLM agents call in one file, replaces
stale ones on the wire by small stubs, and reads any slice of them back.

The file is --db, else $DOCKET_DB, else ledger.docket in the docket folder of
$XDG_STATE_HOME (~/.local/state). Data is written to standard output, everything
else to standard error.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 done in part,
5 the ledger is damaged, 10 no ledger there, 11 locked by another process.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          usageArgs(cobra.NoArgs),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	flags := root.PersistentFlags()
	flags.StringVar(&a.db, "db", "", "the ledger's `file` (default $DOCKET_DB, else the state folder)")
	flags.BoolVar(&a.json, "json", false, "write one JSON object a line")
	root.AddGroup(
		&cobra.Group{ID: "main", Title: "Record, compact, recall:"},
		&cobra.Group{ID: "look", Title: "Look:"},
		&cobra.Group{ID: "past", Title: "Keep a moment, fork, go back, move:"},
		&cobra.Group{ID: "care", Title: "Take care of the file:"},
		&cobra.Group{ID: "show", Title: "See for yourself:"},
	)
	for _, verb := range a.verbs() {
		root.AddCommand(verb)
	}
	return root
}

func (a *app) verbs() []*cobra.Command {
	return []*cobra.Command{
		a.recordCommand(), a.compactCommand(), a.trimCommand(), a.lintCommand(), a.fetchCommand(), a.searchCommand(),
		a.stubCommand(), a.lsCommand(), a.threadsCommand(), a.statsCommand(), a.pathCommand(), a.toolCommand(), a.pricesCommand(),
		a.checkpointCommand(), a.forkCommand(), a.rewindCommand(), a.exportCommand(), a.importCommand(),
		a.checkCommand(), a.backupCommand(), a.vacuumCommand(), a.retainCommand(), a.eraseCommand(), a.tryCommand(),

		a.benchCommand(), a.simulateCommand(),
	}
}

// verb fills in what all verbs have in common.
func verb(group string, c *cobra.Command, args cobra.PositionalArgs) *cobra.Command {
	c.GroupID = group
	c.Args = usageArgs(args)
	c.DisableFlagsInUseLine = true
	return c
}

// usageArgs makes a wrong number of arguments a usage error, exit code 2.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}
