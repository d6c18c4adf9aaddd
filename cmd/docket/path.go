package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"docket"
	"docket/engine"
	"docket/index"
	"docket/recall"
)

// shaped is what path --json prints.
type shaped struct {
	MemID      docket.MemID `json:"mem_id"`
	Path       string       `json:"path"`
	TotalChars int64        `json:"total_chars"`
	Shape      string       `json:"shape"`
}

func (a *app) pathCommand() *cobra.Command {
	var thread string
	c := verb("look", &cobra.Command{
		Use:   "path MEM [PATH] [--thread T]",
		Short: "show the shape of a JSON payload",
		Long: `Show the shape of a JSON payload, or of the part that PATH selects: keys, types,
counts, an example of each. Paths are those of docket fetch.

--json prints mem_id, path, total_chars, shape.`,
		Example: `  docket path k5twzq 'orders[0]'`,
	}, cobra.RangeArgs(1, 2))
	c.Flags().StringVar(&thread, "thread", "", "look in this `thread` only")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.forReading(func(l *engine.Ledger) error {
			in, id, err := resolve(c.Context(), l, thread, args[0])
			if err != nil {
				return err
			}
			path := argument(args, 1)
			answer, err := recall.Fetch(c.Context(), l, in, recall.Request{MemID: id, Path: path, Format: recall.FormatFull})
			if err != nil {
				return fetchError(err)
			}
			return a.printShape(answer, path)
		})
	}
	return c
}

func (a *app) printShape(answer recall.Answer, path string) error {
	shape, err := index.Shape(answer.Text, index.ShapeLimits{})
	var syntax *index.SyntaxError
	if errors.As(err, &syntax) {
		return codeError{fmt.Errorf("record %s has no shape, it is %s, not JSON: read it by --query or --offset", answer.Handle.MemID, answer.Handle.Kind), exitNotFound}
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(shaped{answer.Handle.MemID, path, answer.TotalChars, shape})
	}
	_, err = fmt.Fprintln(a.out, shape)
	return err
}
