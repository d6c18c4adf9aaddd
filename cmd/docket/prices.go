package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"docket/compact/planner"
	"docket/compact/prices"
)

// priced is a row as --json prints it. Prices are USD per million tokens; what is unknown
// is left out.
type priced struct {
	Model   string `json:"model"`
	Cache   string `json:"cache"`
	UpTo    int64  `json:"up_to,omitempty"`
	Input   string `json:"input"`
	Write   string `json:"write"`
	Write1h string `json:"write_1h,omitempty"`
	Read    string `json:"read"`
	Output  string `json:"output,omitempty"`
	TTL     string `json:"ttl,omitempty"`
	Window  int64  `json:"window,omitempty"`
	Min     int64  `json:"min_cache,omitempty"`
	Date    string `json:"date"`
}

func (a *app) pricesCommand() *cobra.Command {
	var file string
	c := verb("look", &cobra.Command{
		Use:   "prices [--prices FILE] [MODEL]",
		Short: "print the price table, or what it has of a model",
		Long: `Print what models charge, in USD per million tokens: the table that is built in, or
FILE in its place, which is checked. --raw prints the built-in table as it is, to begin
one's own with; its header says what the columns mean.

--json prints one object a row: model, cache, up_to, input, write, write_1h, read, output,
ttl, window, min_cache, date; what is unknown is left out.`,
		Example: `  docket prices claude-opus-5`,
	}, cobra.MaximumNArgs(1))
	raw := c.Flags().Bool("raw", false, "print the built-in table as it is")
	c.Flags().StringVar(&file, "prices", "", pricesUsage)
	c.RunE = func(_ *cobra.Command, args []string) error {
		if *raw {
			_, err := a.out.Write(prices.Text())
			return err
		}
		table, err := priceTable(file)
		if err != nil {
			return err
		}
		models := table.Models()
		if len(args) > 0 {
			m, err := table.Model(args[0])
			if err != nil {
				return codeError{err, exitNotFound}
			}
			models = []prices.Model{m}
		}
		return a.printPrices(table, models)
	}
	return c
}

const pricesUsage = "a price table of your own, in this `file` (docket prices --raw prints one)"

// priceTable reads a table, the built-in one if no file is named.
func priceTable(file string) (*prices.Table, error) {
	if file == "" {
		return prices.Default(), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	table, err := prices.Parse(text)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", file, err)}
	}
	return table, nil
}

func (a *app) printPrices(table *prices.Table, models []prices.Model) error {
	var rows []priced
	for _, m := range models {
		for _, r := range m.Rows {
			p := priced{
				Model: m.Name, Cache: map[planner.Rule]string{planner.RuleMarks: "marks", planner.RulePrefix: "prefix"}[m.Rule], UpTo: r.UpTo,
				Input: r.Input.String(), Write: r.Write.String(), Read: r.Read.String(),
				Window: m.Window, Min: m.MinCache, Date: table.Date.Format(time.DateOnly),
			}
			if r.Write1h > 0 {
				p.Write1h = r.Write1h.String()
			}
			if r.Output > 0 {
				p.Output = r.Output.String()
			}
			if m.TTL > 0 {
				p.TTL = fmt.Sprintf("%gm", m.TTL.Minutes())
			}
			rows = append(rows, p)
		}
	}
	if a.json {
		for _, p := range rows {
			if err := a.printJSON(p); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Fprintf(a.err, "docket: prices of %s, in USD per million tokens\n", table.Date.Format(time.DateOnly))
	return priceRows(a.out, rows)
}

// priceRows prints rows of prices.
func priceRows(out io.Writer, rows []priced) error {
	return table(out, func(w io.Writer) {
		fmt.Fprintln(w, "MODEL\tCACHE\tUP TO\tINPUT\tWRITE\tWRITE 1H\tREAD\tOUTPUT\tTTL")
		for _, p := range rows {
			upTo := "any"
			if p.UpTo > 0 {
				upTo = grouped(p.UpTo)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.Model, p.Cache, upTo, p.Input, p.Write, orDash(p.Write1h), p.Read, orDash(p.Output), orDash(p.TTL))
		}
	})
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
