package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"docket"
	"docket/engine"
)

func (a *app) retainCommand() *cobra.Command {
	var r engine.Retention
	var age, bytes, live, thread string
	c := verb("care", &cobra.Command{
		Use:   "retain [--age 90d] [--bytes 2GB] [--thread T] [--erase] [--dry-run] [--yes]",
		Short: "let go of old records",
		Long: `Expire the records that are older than --age, and of the others the oldest until
what is stored takes no more than --bytes. Their handles stay, and one comes back when
the same result is recorded again; --erase takes the handles too, for ever. What stubs
of a live thread name stays: of one that was used within --live.

A pass takes a tenth of the stored bytes at most, and nothing while the clock is far
from the last recording; --yes lifts both. The file gets smaller by docket vacuum.

--json prints one object: records, bytes (let go of), named, named_bytes (stay, because
a live stub names them), later, later_bytes (due, for the next pass), all, all_bytes
(before the pass), dry_run.`,
		Example: `  docket retain --age 90d --dry-run`,
	}, cobra.NoArgs)
	flags := c.Flags()
	flags.StringVar(&age, "age", "", "how old records may become, as `90d` or 36h")
	flags.StringVar(&bytes, "bytes", "", "how much records may take, as `2GB`")
	flags.StringVar(&thread, "thread", "", "only records of this `thread`")
	flags.StringVar(&live, "live", "30d", "how long after its last use a thread's stubs keep what they name; 0: not at all")
	flags.BoolVar(&r.Erase, "erase", false, "erase for ever instead")
	flags.BoolVar(&r.DryRun, "dry-run", false, "only say what would go")
	flags.BoolVar(&r.Unbounded, "yes", false, "take all that is due at once, whatever the clock says")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		if age == "" && bytes == "" {
			return usagef("retain needs --age, --bytes, or both")
		}
		if r.Age, err = parseAge("--age", age); err != nil {
			return err
		}
		if r.Live, err = parseAge("--live", live); err != nil {
			return err
		}
		if r.Live == 0 {
			r.Live = -1
		}
		if r.Bytes, err = parseBytes("--bytes", bytes); err != nil {
			return err
		}
		r.Thread = docket.ThreadID(thread)
		return a.retain(c, r)
	}
	return c
}

func (a *app) retain(c *cobra.Command, r engine.Retention) error {
	path, err := a.ledgerPath()
	if err != nil {
		return err
	}
	show := a.progress()
	defer show.end()
	r.Progress = func(done, total int64) { show.step("retaining", done, total) }
	return with(path, &engine.Options{MustExist: true}, func(l *engine.Ledger) error {
		report, err := l.Retain(c.Context(), r)
		show.end()
		if errors.Is(err, engine.ErrClock) {
			return fmt.Errorf("%w: set the clock right, or pass --yes", err)
		}
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(report)
		}
		verb := map[bool]string{false: "expired", true: "erased"}[r.Erase]
		if r.DryRun {
			verb = "would be " + verb
		}
		fmt.Fprintf(a.out, "%s of %s %s, %s of %s\n", grouped(report.Records), plural(report.All, "record"), verb, size(report.Bytes), size(report.AllBytes))
		if report.Named > 0 {
			fmt.Fprintf(a.out, "%s more, %s, stay: stubs of live threads name them\n", grouped(report.Named), size(report.NamedBytes))
		}
		if report.Later > 0 {
			fmt.Fprintf(a.out, "%s more, %s, are left for the next pass: one takes a tenth at most (--yes takes all)\n", grouped(report.Later), size(report.LaterBytes))
		}
		return nil
	})
}

var ageUnits = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

var sizeUnits = map[string]int64{"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}

var quantity = regexp.MustCompile(`^([0-9]{1,9})([A-Za-z]*)$`)

// parseAge reads a whole number of days, or of another unit; "" and "0" are none.
func parseAge(flag, s string) (time.Duration, error) {
	if s == "" || s == "0" {
		return 0, nil
	}
	m := quantity.FindStringSubmatch(s)
	if m == nil || ageUnits[m[2]] == 0 {
		return 0, usagef("%s is a whole number of s, m, h, d or w, as 90d, not %q", flag, s)
	}
	n, _ := strconv.ParseInt(m[1], 10, 64)
	unit := ageUnits[m[2]]
	if n > int64(100*365*24*time.Hour/unit) {
		return 0, usagef("%s of %q is more than a hundred years", flag, s)
	}
	return time.Duration(n) * unit, nil
}

// parseBytes reads a number of bytes with a unit; "" is none.
func parseBytes(flag, s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	m := quantity.FindStringSubmatch(s)
	if m == nil || sizeUnits[m[2]] == 0 {
		return 0, usagef("%s is a whole number of B, KB, MB, GB or TB, as 2GB, not %q", flag, s)
	}
	n, _ := strconv.ParseInt(m[1], 10, 64)
	if n == 0 || n > (1<<62)/sizeUnits[m[2]] {
		return 0, usagef("%s of %q: give more than nothing, and less than 4 EB", flag, s)
	}
	return n * sizeUnits[m[2]], nil
}
