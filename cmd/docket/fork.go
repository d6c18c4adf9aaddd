package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"docket"
	"docket/engine"
)

// forked is what fork prints with --json.
type forked struct {
	Thread docket.ThreadID     `json:"thread"`
	From   docket.ThreadID     `json:"from"`
	At     docket.CheckpointID `json:"at,omitempty"`
}

func (a *app) forkCommand() *cobra.Command {
	var from, at string
	c := verb("past", &cobra.Command{
		Use:   "fork --from T [--at CHECKPOINT] NEW",
		Short: "begin a thread with the past of another",
		Long: `Make the thread NEW with all records, mem ids and decisions that thread T has now,
or had at a checkpoint. From then on each goes its own way. No payload is copied.

--json prints thread, from, at.`,
		Example: `  docket fork --from build-7 --at before-refactoring build-7b`,
	}, cobra.ExactArgs(1))
	c.Flags().StringVar(&from, "from", "", "the `thread` to fork")
	c.Flags().StringVar(&at, "at", "", "the `checkpoint` to fork it at (default: now)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if from == "" {
			return usagef("fork needs --from")
		}
		path, err := a.ledgerPath()
		if err != nil {
			return err
		}
		done := forked{docket.ThreadID(args[0]), docket.ThreadID(from), docket.CheckpointID(at)}
		return with(path, &engine.Options{MustExist: true}, func(l *engine.Ledger) error {
			if err := l.Fork(c.Context(), done.From, done.At, done.Thread); err != nil {
				return pastError(err)
			}
			if a.json {
				return a.printJSON(done)
			}
			_, err := fmt.Fprintln(a.out, done.Thread)
			return err
		})
	}
	return c
}
