package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"docket"
	"docket/compact"
	"docket/compact/wire"
)

func (a *app) lintCommand() *cobra.Command {
	var dialect string
	c := verb("look", &cobra.Command{
		Use:   "lint [--dialect D] [FILE… | -]",
		Short: "find the calls without results, and the reverse, of request bodies",
		Long: `Read request bodies and name every call that has no result where the provider
wants it, and every result that answers no call: for each of them the provider would
refuse the body. Nothing is changed; no ledger is needed. Exit code 4 if there are any,
1 if a file could not be read.

--json prints one object a fault: file, dialect, message, call_id, kind (unanswered or
orphan).`,
		Example: `  docket lint request.json`,
	}, cobra.ArbitraryArgs)
	c.Flags().StringVar(&dialect, "dialect", "", dialectUsage)
	c.RunE = func(_ *cobra.Command, args []string) error {
		if err := checkDialect(dialect); err != nil {
			return err
		}
		if len(args) == 0 {
			args = []string{"-"}
		}
		return a.lint(dialect, args)
	}
	return c
}

// lint reads all files, whatever is wrong with one of them.
func (a *app) lint(dialect string, files []string) error {
	found, unread := 0, 0
	for _, file := range files {
		n, err := a.lintFile(dialect, file)
		found += n
		if err != nil && len(files) == 1 {
			return err
		}
		if err != nil {
			unread++
			fmt.Fprintf(a.err, "docket: %s: %s\n", file, message(err))
		}
	}
	switch {
	case unread > 0:
		return codeError{fmt.Errorf("%s of %d could not be read", plural(int64(unread), "file"), len(files)), exitFailed}
	case found > 0:
		return codeError{fmt.Errorf("%s: the provider would refuse what holds them; docket trim --mend repairs Anthropic bodies", plural(int64(found), "fault")), exitPartial}
	}
	fmt.Fprintf(a.err, "docket: every call has its result, every result its call: %s\n", plural(int64(len(files)), "file"))
	return nil
}

// lintFault is a fault as --json prints it.
type lintFault struct {
	File    string `json:"file"`
	Dialect string `json:"dialect"`
	compact.Fault
}

// lintFile prints the faults of one file.
func (a *app) lintFile(name, file string) (found int, err error) {
	body, err := a.read(file, maxBody)
	if err != nil {
		return 0, err
	}
	dialect, err := dialectOf(name, body, wire.Options{})
	if err != nil {
		return 0, err
	}
	faults, err := dialect.Faults(body)
	if err != nil {
		return 0, err
	}
	for _, f := range faults {
		if a.json {
			err = a.printJSON(lintFault{file, dialect.Name(), f})
		} else {
			_, err = fmt.Fprintf(a.out, "%s: message %d: %s\n", file, f.Message, faultText(f.Kind, f.ID))
		}
		if err != nil {
			return len(faults), err
		}
	}
	return len(faults), nil
}

// faultText says what is wrong with a call or result.
func faultText(kind compact.FaultKind, id docket.CallID) string {
	name := cell(string(id))
	if id == "" {
		name = "without an id"
	}
	if kind == compact.Orphan {
		return "result " + name + " answers no call of the message before it"
	}
	return "call " + name + " has no result"
}
