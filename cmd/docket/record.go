package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"docket"
	"docket/engine"
)

func (a *app) recordCommand() *cobra.Command {
	var thread, call, tool, args string
	var failed bool
	c := verb("main", &cobra.Command{
		Use:   "record --call ID --tool NAME [--thread T] [--args JSON] [--error] [FILE | -]",
		Short: "record one tool result and print its mem id",
		Long: `Record one tool result durably and print its mem id. The result is FILE, or
standard input. Recording the same result again prints the same mem id and leaves
the file untouched.

--json prints the handle: mem_id, thread, call_id, tool, size_chars, size_bytes,
digest, seq, kind, is_error, summary, schema, preview, created.`,
		Example: `  go list -json ./... | docket record --thread build-7 --call toolu_01 --tool Bash`,
	}, cobra.MaximumNArgs(1))
	c.Flags().StringVar(&thread, "thread", defaultThread, "the `thread` that the call belongs to")
	c.Flags().StringVar(&call, "call", "", "the call's `id`, verbatim")
	c.Flags().StringVar(&tool, "tool", "", "the tool's `name`")
	c.Flags().StringVar(&args, "args", "", "the call's arguments, as `JSON`")
	c.Flags().BoolVar(&failed, "error", false, "the tool reported a failure")
	c.RunE = func(c *cobra.Command, files []string) error {
		if call == "" || tool == "" {
			return usagef("record needs --call and --tool")
		}
		if args != "" && !json.Valid([]byte(args)) {
			return usagef("--args %q is not JSON", args)
		}
		payload, err := a.read(argument(files, 0), docket.MaxPayload)
		if err != nil {
			return err
		}
		result := docket.Result{Call: docket.Call{ID: docket.CallID(call), Tool: tool}, Payload: payload, IsError: failed}
		if args != "" {
			result.Args = []byte(args)
		}
		return a.forWriting(func(l *engine.Ledger) error {
			handles, err := l.Record(c.Context(), docket.ThreadID(thread), result)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(handles[0])
			}
			_, err = fmt.Fprintln(a.out, handles[0].MemID)
			return err
		})
	}
	return c
}
