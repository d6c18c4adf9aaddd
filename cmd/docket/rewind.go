package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"docket"
	"docket/engine"
)

// rewound is what rewind prints with --json.
type rewound struct {
	Thread     docket.ThreadID     `json:"thread"`
	Checkpoint docket.CheckpointID `json:"checkpoint"`
	Epochs     int                 `json:"epochs"`
	Decisions  int                 `json:"decisions"`
}

func (a *app) rewindCommand() *cobra.Command {
	var thread string
	c := verb("past", &cobra.Command{
		Use:   "rewind [--thread T] CHECKPOINT",
		Short: "give a thread the decisions that it had at a checkpoint",
		Long: `Give a thread the decisions that it had at a checkpoint, so that an agent that is
restored there sends the views that it sent there. Records stay and can be fetched.
Checkpoints stay too: rewinding to a later one goes forward again.

--json prints thread, checkpoint, epochs, decisions: what the thread has now.`,
		Example: `  docket rewind --thread build-7 before-refactoring`,
	}, cobra.ExactArgs(1))
	c.Flags().StringVar(&thread, "thread", defaultThread, "the `thread` to rewind")
	c.RunE = func(c *cobra.Command, args []string) error {
		path, err := a.ledgerPath()
		if err != nil {
			return err
		}
		done := rewound{Thread: docket.ThreadID(thread), Checkpoint: docket.CheckpointID(args[0])}
		return with(path, &engine.Options{MustExist: true}, func(l *engine.Ledger) error {
			if err := l.Rewind(c.Context(), done.Thread, done.Checkpoint); err != nil {
				return pastError(err)
			}
			decided, err := l.Decided(c.Context(), done.Thread)
			if err != nil {
				return err
			}
			done.Epochs, done.Decisions = len(decided.Messages), len(decided.Epochs)
			if a.json {
				return a.printJSON(done)
			}
			_, err = fmt.Fprintf(a.out, "%s in %s\n", plural(int64(done.Decisions), "decision"), plural(int64(done.Epochs), "epoch"))
			return err
		})
	}
	return c
}
