package main

import (
	"github.com/spf13/cobra"

	"docket/engine"
	"docket/recall"
)

func (a *app) stubCommand() *cobra.Command {
	var thread string
	c := verb("look", &cobra.Command{
		Use:   "stub MEM [--thread T]",
		Short: "print the stub that stands for a record on the wire",
		Long: `Print the stub that stands for a record on the wire, in the form that its thread
is frozen to. The bytes are the same in every process and every release.`,
	}, cobra.ExactArgs(1))
	c.Flags().StringVar(&thread, "thread", "", "look in this `thread` only")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.forReading(func(l *engine.Ledger) error {
			in, id, err := resolve(c.Context(), l, thread, args[0])
			if err != nil {
				return err
			}
			f, err := form(c.Context(), l, in)
			if err != nil {
				return err
			}
			return a.fetch(c.Context(), l, in, recall.Request{MemID: id, Form: f}, false)
		})
	}
	return c
}
