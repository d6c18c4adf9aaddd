package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"docket"
	"docket/engine"
)

// eraseReport is what erase prints with --json.
type eraseReport struct {
	Records int   `json:"records"`          // erased now
	Traces  int   `json:"traces,omitempty"` // byte strings that were looked for
	Before  int   `json:"traces_before"`    // of them in the file before
	After   int   `json:"traces_after"`     // and after the vacuum
	Bytes   int64 `json:"file_bytes,omitempty"`
}

func (a *app) eraseCommand() *cobra.Command {
	var thread string
	var verify bool
	c := verb("care", &cobra.Command{
		Use:   "erase [--thread T] [--verify] MEM… | --thread T",
		Short: "take records away for ever",
		Long: `Erase records, in every thread that shares them: of each only its mem id is left,
and recording the same result again is refused. With --thread and no MEM all records of
that thread go. The bytes stay in free pages of the file until docket vacuum.

--verify rewrites the file at once, and looks in its raw bytes for pieces of what was
erased, taken before; it says how many were there then, and are there now. Exit code 4
if any is. Another record with the same contents keeps them.

--json prints one object: records, and with --verify traces, traces_before,
traces_after, file_bytes.`,
		Example: `  docket erase --verify k3qv7a`,
	}, cobra.ArbitraryArgs)
	c.Flags().StringVar(&thread, "thread", "", "the `thread` of the records")
	c.Flags().BoolVar(&verify, "verify", false, "rewrite the file and look for what is left in it")
	c.RunE = func(c *cobra.Command, mems []string) error {
		if len(mems) == 0 && thread == "" {
			return usagef("erase needs mem ids, or --thread for all records of one")
		}
		path, err := a.ledgerPath()
		if err != nil {
			return err
		}
		return with(path, &engine.Options{MustExist: true}, func(l *engine.Ledger) error {
			found, err := erasing(c.Context(), l, thread, mems)
			if err != nil {
				return err
			}
			return a.erase(c.Context(), l, found, verify)
		})
	}
	return c
}

// erasing finds what is named before anything is erased.
func erasing(ctx context.Context, l *engine.Ledger, thread string, mems []string) (found []engine.Found, err error) {
	for _, mem := range mems {
		t, id, err := resolve(ctx, l, thread, mem)
		if err != nil {
			return nil, err
		}
		found = append(found, engine.Found{Thread: t, MemID: id})
	}
	if len(mems) > 0 {
		return found, nil
	}
	for h, err := range l.List(ctx, docket.ThreadID(thread), 0) {
		if err != nil {
			return nil, err
		}
		found = append(found, engine.Found{Thread: docket.ThreadID(thread), MemID: h.MemID})
	}
	if len(found) == 0 {
		return nil, codeError{fmt.Errorf("thread %q has no records: docket threads lists those that do", thread), exitNotFound}
	}
	return found, nil
}

func (a *app) erase(ctx context.Context, l *engine.Ledger, found []engine.Found, verify bool) error {
	var report eraseReport
	traces := &engine.Traces{}
	show := a.progress()
	defer show.end()
	var err error
	if verify {
		if traces, err = tracesOf(ctx, l, found); err != nil {
			return err
		}
		if report.Before, err = tracesIn(l.Path(), traces); err != nil {
			return err
		}
	}
	for i, f := range found {
		show.step("erasing", int64(i), int64(len(found)))
		if err := l.Erase(ctx, f.Thread, f.MemID); err != nil {
			return err
		}
		report.Records++
	}
	if verify {
		report.Traces = traces.Len()
		vacuum, err := l.Vacuum(ctx, &engine.VacuumOptions{Force: true, Progress: func(done, total int64) { show.step("rewriting", done, total) }})
		if err != nil {
			return err
		}
		report.Bytes = vacuum.After
		if report.After, err = tracesIn(l.Path(), traces); err != nil {
			return err
		}
	}
	show.end()
	return a.tellErased(report, verify)
}

func (a *app) tellErased(r eraseReport, verify bool) error {
	switch {
	case a.json:
		if err := a.printJSON(r); err != nil {
			return err
		}
	case verify:
		fmt.Fprintf(a.out, "%s erased; of %s of it %s were in the file before, %s are in the %s now\n",
			plural(int64(r.Records), "record"), plural(int64(r.Traces), "piece"), grouped(int64(r.Before)), grouped(int64(r.After)), size(r.Bytes))
	default:
		fmt.Fprintf(a.out, "%s erased; docket vacuum takes the bytes out of the file\n", plural(int64(r.Records), "record"))
	}
	switch {
	case !verify:
	case r.After > 0:
		return codeError{errors.New("pieces of what was erased are in the file: another record has the same contents; docket ls lists them"), exitPartial}
	case r.Before == 0:
		return codeError{errors.New("none of the pieces were in the file before, so that none are now shows nothing"), exitPartial}
	}
	return nil
}

// tracesOf returns the traces of all that is to go.
func tracesOf(ctx context.Context, l *engine.Ledger, found []engine.Found) (*engine.Traces, error) {
	traces := &engine.Traces{}
	for _, f := range found {
		t, err := l.Traces(ctx, f.Thread, f.MemID)
		if err != nil {
			return nil, err
		}
		traces.Add(t)
	}
	return traces, nil
}

// tracesIn looks for traces in the raw file.
func tracesIn(path string, traces *engine.Traces) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return traces.In(f)
}
