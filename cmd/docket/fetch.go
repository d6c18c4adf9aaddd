package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"docket"
	"docket/engine"
	"docket/index"
	"docket/recall"
)

// fetchFlags are the arguments of a fetch, as flags.
type fetchFlags struct {
	thread       string
	full, answer bool
	ignoreCase   bool
	path, query  string
	window       int
	maxMatches   int
	offset       int64
	maxChars     int64
}

func (a *app) fetchCommand() *cobra.Command {
	var f fetchFlags
	c := verb("main", &cobra.Command{
		Use:   "fetch MEM [--full] [--path P] [--query Q [-i] [--window N] [--max-matches N]] [--offset N] [--max-chars N] [--answer] [--thread T]",
		Short: "read a record back, whole or any slice of it",
		Long: `Read a record back. MEM is a mem id, or the first 6 or more characters of one.

The arguments compose: --path selects a part of a JSON payload, --query searches
inside it, --offset and --max-chars page over what is left. Offsets and sizes are
characters: Unicode code points. Without any of them the stub is printed, with
--full the payload. What is printed is the slice and nothing else, except for a line
feed at its end on a terminal; of a query the windows, each headed by its offset. No
match is an answer, not an error.

Paths: a.b.0.c, a.b[0]["x.y"], /a/b/0, negative indexes, [20:40], [*] and # for all,
\. for a dot in a key, #(price>10) queries. Lines of NDJSON are numbered from 0.

--answer prints what the model's tool would answer.
--json prints mem_id, text, start, end, total_chars, matches [{offset, chars}],
match_count, match_count_exact, next_offset (null: there is no more).`,
		Example: `  docket fetch k5twzq --path 'orders[12].customer'
  docket fetch k5twzq --query 'panic:' --window 400
  docket fetch k5twzq --offset 16000 --max-chars 16000`,
	}, cobra.ExactArgs(1))
	flags := c.Flags()
	flags.StringVar(&f.thread, "thread", "", "look in this `thread` only")
	flags.BoolVar(&f.full, "full", false, "the whole payload")
	flags.BoolVar(&f.answer, "answer", false, "what the model's tool would answer")
	flags.StringVar(&f.path, "path", "", "a JSON `path`")
	flags.StringVar(&f.query, "query", "", "a `substring`")
	flags.BoolVarP(&f.ignoreCase, "ignore-case", "i", false, "match under simple case folding")
	flags.IntVar(&f.window, "window", recall.DefaultWindow, "`characters` shown either side of a match")
	flags.IntVar(&f.maxMatches, "max-matches", recall.DefaultMaxMatches, "stop after `n` matches")
	flags.Int64Var(&f.offset, "offset", 0, "begin at this `character`")
	flags.Int64Var(&f.maxChars, "max-chars", 0, "at most `n` characters (0: all)")
	c.RunE = func(c *cobra.Command, args []string) error {
		req, err := f.request(c)
		if err != nil {
			return err
		}
		return a.forReading(func(l *engine.Ledger) error {
			thread, id, err := resolve(c.Context(), l, f.thread, args[0])
			if err != nil {
				return err
			}
			req.MemID = id
			req.Form, err = form(c.Context(), l, thread)
			if err != nil {
				return err
			}
			return a.fetch(c.Context(), l, thread, req, f.answer)
		})
	}
	return c
}

// request checks what the flags ask for.
func (f *fetchFlags) request(c *cobra.Command) (recall.Request, error) {
	req := recall.Request{
		Path: f.path, Query: f.query, IgnoreCase: f.ignoreCase,
		Window: f.window, MaxMatches: f.maxMatches, MaxChars: f.maxChars,
	}
	if f.full {
		req.Format = recall.FormatFull
	}
	if c.Flags().Changed("offset") {
		req.Offset = &f.offset
	}
	if f.window == 0 {
		req.Window = -1
	}
	switch {
	case f.offset < 0, f.maxChars < 0:
		return req, usagef("--offset and --max-chars count characters from 0, they cannot be negative")
	case f.window < 0, f.maxMatches < 1:
		return req, usagef("--window cannot be negative, and --max-matches is at least 1")
	case c.Flags().Changed("query") && f.query == "":
		return req, usagef("--query is empty: give the text to look for")
	}
	return req, nil
}

func (a *app) fetch(ctx context.Context, l *engine.Ledger, thread docket.ThreadID, req recall.Request, model bool) error {
	if model {
		return a.answer(ctx, l, thread, req)
	}
	answer, err := recall.Fetch(ctx, l, thread, req)
	if err != nil {
		return fetchError(err)
	}
	if a.json {
		return a.printJSON(answer)
	}
	if req.Query != "" && len(answer.Matches) == 0 {
		fmt.Fprintf(a.err, "docket: no match for %q in characters %d to %d\n", req.Query, answer.Start, answer.End)
	}
	if req.Offset != nil && *req.Offset > answer.TotalChars {
		fmt.Fprintf(a.err, "docket: --offset %d is beyond the end: there are %d characters\n", *req.Offset, answer.TotalChars)
	}
	text := answer.AppendText(nil)
	if len(text) > 0 && text[len(text)-1] != '\n' && isTerminal(a.out) {
		text = append(text, '\n') // or the shell's prompt would follow the slice
	}
	_, err = a.out.Write(text)
	return err
}

// answer prints what the model's tool would answer to the same request.
func (a *app) answer(ctx context.Context, l *engine.Ledger, thread docket.ThreadID, req recall.Request) error {
	args := map[string]any{"mem_id": req.MemID, "window": max(req.Window, 0), "max_matches": req.MaxMatches}
	if req.Format != "" {
		args["format"] = req.Format
	}
	if req.Path != "" {
		args["json_path"] = req.Path
	}
	if req.Query != "" {
		args["query"], args["ignore_case"] = req.Query, req.IgnoreCase
	}
	if req.Offset != nil {
		args["offset"] = *req.Offset
	}
	if req.MaxChars > 0 {
		args["max_chars"] = req.MaxChars
	}
	text, err := json.Marshal(args)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, recall.Tool{Form: req.Form}.Call(ctx, l, thread, text))
	return err
}

// fetchError gives a path that leads nowhere, and a request that cannot be, their
// exit codes.
func fetchError(err error) error {
	var miss *index.MissError
	var request *recall.RequestError
	switch {
	case errors.As(err, &miss):
		return codeError{err, exitNotFound}
	case errors.As(err, &request):
		return usageError{err}
	}
	return err
}

// form is the form that the thread's stubs are frozen to.
func form(ctx context.Context, l *engine.Ledger, thread docket.ThreadID) (docket.Form, error) {
	decided, err := l.Decided(ctx, thread)
	if err != nil || len(decided.Epochs) == 0 {
		return docket.Form{}, err
	}
	return decided.Form, nil
}
