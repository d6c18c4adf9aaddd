package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"docket/compact"
	"docket/compact/wire"
)

func (a *app) trimCommand() *cobra.Command {
	var limit int
	var dialect string
	var mend bool
	c := verb("main", &cobra.Command{
		Use:   "trim --cap N [--mend] [--dialect D] [FILE | -]",
		Short: "cap a history without parting a call from its result",
		Long: `Read a provider's request body and print it with the most recent N messages. A
call and its results stay together even where that makes more than N; a history
that would not begin with a user message gets its first one in front. Calls and
results that stand alone in what is left are named on standard error, exit code 4:
the provider would refuse them; --mend repairs them.`,
	}, cobra.MaximumNArgs(1))
	c.Flags().IntVar(&limit, "cap", 0, "the most recent `n` messages")
	c.Flags().StringVar(&dialect, "dialect", "", dialectUsage)
	c.Flags().BoolVar(&mend, "mend", false, "answer calls that stand alone with an error result, and drop results that do")
	c.RunE = func(c *cobra.Command, args []string) error {
		if !c.Flags().Changed("cap") || limit < 0 {
			return usagef("trim needs --cap, a number of messages from 0")
		}
		if err := checkDialect(dialect); err != nil {
			return err
		}
		body, err := a.read(argument(args, 0), maxBody)
		if err != nil {
			return err
		}
		return a.trim(dialect, body, limit, mend)
	}
	return c
}

// mender repairs bodies. Not every dialect can.
type mender interface {
	Mend(body []byte) (mended []byte, faults []compact.Fault, err error)
}

func (a *app) trim(name string, body []byte, limit int, mend bool) error {
	dialect, err := dialectOf(name, body, wire.Options{})
	if err != nil {
		_, werr := a.out.Write(body)
		return cmp.Or(werr, err)
	}
	m, able := dialect.(mender)
	if mend && !able {
		return usagef("--mend does not know %s bodies", dialect.Name())
	}
	out, dropped, err := dialect.Trim(body, limit)
	var faults []compact.Fault
	if err == nil && mend {
		out, _, err = m.Mend(out)
	}
	if err == nil {
		faults, err = dialect.Faults(out)
	}
	if _, werr := a.out.Write(out); werr != nil {
		return werr
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "docket: %s dropped\n", plural(int64(dropped), "message"))
	for _, f := range faults {
		fmt.Fprintf(a.err, "docket: message %d: %s\n", f.Message, faultText(f.Kind, f.ID))
	}
	if len(faults) > 0 {
		return codeError{fmt.Errorf("%d calls or results stand alone, in the input already: the provider would refuse the body", len(faults)), exitPartial}
	}
	return nil
}
