package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"docket"
	"docket/engine"
)

func (a *app) checkpointCommand() *cobra.Command {
	var thread string
	var list bool
	c := verb("past", &cobra.Command{
		Use:   "checkpoint [--thread T] [NAME | --list]",
		Short: "keep the present moment of a thread, to fork or rewind to",
		Long: `Keep the present moment of a thread: which records it sees, and what it has decided.
The checkpoint is called NAME, or gets a new id; it is printed. Keeping the same
moment again under the same name changes nothing.

--json prints checkpoint, thread, created, seq, epochs: seq is the last position that
the checkpoint has, epochs how many epochs the decision log had.`,
		Example: `  docket checkpoint --thread build-7 before-refactoring
  docket checkpoint --thread build-7 --list`,
	}, cobra.MaximumNArgs(1))
	c.Flags().StringVar(&thread, "thread", defaultThread, "the `thread` to keep a moment of")
	c.Flags().BoolVar(&list, "list", false, "list the thread's checkpoints, oldest first")
	c.RunE = func(c *cobra.Command, args []string) error {
		if list && len(args) > 0 {
			return usagef("checkpoint --list takes no name")
		}
		if list {
			return a.forReading(func(l *engine.Ledger) error { return a.listCheckpoints(c.Context(), l, docket.ThreadID(thread)) })
		}
		if len(args) > 0 && args[0] == "" {
			return usagef("a checkpoint's name is not empty; leave it out for a new id")
		}
		return a.forWriting(func(l *engine.Ledger) error {
			made, err := l.Checkpoint(c.Context(), docket.ThreadID(thread), docket.CheckpointID(argument(args, 0)))
			if err != nil {
				return pastError(err)
			}
			if a.json {
				return a.printJSON(made)
			}
			_, err = fmt.Fprintln(a.out, made.ID)
			return err
		})
	}
	return c
}

func (a *app) listCheckpoints(ctx context.Context, l *engine.Ledger, thread docket.ThreadID) error {
	var failed error
	err := table(a.out, func(w io.Writer) {
		if !a.json {
			fmt.Fprintln(w, "CHECKPOINT\tCREATED\tEPOCHS\tUP TO")
		}
		for at, err := range l.Checkpoints(ctx, thread) {
			if err == nil && a.json {
				err = a.printJSON(at)
			} else if err == nil {
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", cell(string(at.ID)), at.Created.Local().Format("2006-01-02 15:04"), grouped(int64(at.Epochs)), at.Seq)
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
}

// pastError says what to do about an error of threads and checkpoints, and gives its
// exit code.
func pastError(err error) error {
	switch {
	case errors.Is(err, docket.ErrNoThread):
		return codeError{fmt.Errorf("%w: docket threads lists what is there", err), exitNotFound}
	case errors.Is(err, docket.ErrNoCheckpoint):
		return codeError{fmt.Errorf("%w: docket checkpoint --list lists them", err), exitNotFound}
	case errors.Is(err, docket.ErrThreadExists):
		return fmt.Errorf("%w: choose another name", err)
	case errors.Is(err, docket.ErrCheckpointExists):
		return fmt.Errorf("%w: choose another name", err)
	case errors.Is(err, docket.ErrCheckpointID):
		return usageError{err}
	}
	return err
}
