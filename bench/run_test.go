package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"docket"
)

// quick are the options of a run that takes a moment.
func quick(t *testing.T) *Options {
	return &Options{Sizes: []int{4 << 10, 96 << 10}, Budget: 20 * time.Millisecond, Dir: t.TempDir()}
}

func collectRun(t *testing.T, o *Options) []Result {
	t.Helper()
	var rows []Result
	for row, err := range Run(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func isEmptyDir(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Every workload gives a row of each subject, nothing is wrong, nothing is left.
func TestRun(t *testing.T) {
	o := quick(t)
	o.Workloads = append(fetchNames(), "record")
	steps := 0
	o.Progress = func(string) { steps++ }
	rows := collectRun(t, o)
	for _, r := range rows {
		if r.Mismatches > 0 || r.Ops == 0 || r.P50 <= 0 || r.P50 > r.P90 || r.P90 > r.P99 || r.P99 > r.Max || r.BytesOnDisk <= 0 || r.MBPerSecond <= 0 {
			t.Errorf("%+v", r)
		}
	}
	for _, p := range pairs(rows) {
		if p.docket == nil || p.naive == nil {
			t.Errorf("%s, %s: a subject is missing", p.workload, p.title())
		}
	}
	// Text has no paths.
	if got, want := len(rows), 2*len(o.Sizes)*(len(o.Workloads)*len(generated)-1); got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
	if steps == 0 {
		t.Error("no progress was told")
	}
	isEmptyDir(t, o.Dir)
}

func TestRunCold(t *testing.T) {
	o := quick(t)
	o.Cold, o.Workloads, o.Sizes, o.Kinds = true, []string{"range"}, o.Sizes[1:], generated[:1]
	rows := collectRun(t, o)
	if len(rows) != 4 || rows[0].Cold || rows[1].Cold || !rows[2].Cold || !rows[3].Cold || rows[2].Mismatches > 0 {
		t.Errorf("%+v", rows)
	}
}

func TestRunOverManyRecords(t *testing.T) {
	r := runner{Options: quick(t).filled(), openers: openers}
	for name, rows := range map[string]func(context.Context, int) ([]Result, error){"search": r.searchOver, "open": r.openWith} {
		got, err := rows(t.Context(), 30)
		if err != nil || len(got) != 2 {
			t.Fatalf("%s: %d rows, %v", name, len(got), err)
		}
		for _, row := range got {
			if row.Records != 30 || row.Ops == 0 || row.Mismatches > 0 {
				t.Errorf("%s: %+v", name, row)
			}
		}
	}
	isEmptyDir(t, r.Dir)
}

func TestConcurrentCountsCommits(t *testing.T) {
	const each = 3
	r := runner{Options: quick(t).filled(), openers: openers}
	rows, err := r.collect(nil, func(r *runner) error { return r.concurrently(t.Context(), each) })
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		if row.Ops != recorders*each || row.Commits < 1 || row.Commits > row.Ops {
			t.Errorf("%+v", row)
		}
	}
	if g := commitsGoalOf(rows[0]); g.Value < 1 || g.Met != (g.Value >= 16) {
		t.Errorf("%+v", g)
	}
}

func TestRunOverFolder(t *testing.T) {
	o := quick(t)
	o.Corpus = t.TempDir()
	if err := os.Mkdir(filepath.Join(o.Corpus, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, payload := range map[string][]byte{
		"a.json": Generate(docket.KindJSON, 80<<10, 1), "below/b.log": Generate(docket.KindText, 5<<10, 1),
		"small": []byte("too small"), "c.bin": []byte(strings.Repeat("\xff\x00bytes", 1000)),
	} {
		if err := os.WriteFile(filepath.Join(o.Corpus, name), payload, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.Workloads = []string{"path", "range"}
	var names []string
	for _, row := range collectRun(t, o) {
		if row.Mismatches > 0 {
			t.Errorf("%+v", row)
		}
		names = append(names, row.Workload+" "+row.Payload)
	}
	slices.Sort(names)
	if got, want := strings.Join(slices.Compact(names), ", "), "path a.json, range a.json, range b.log, range c.bin"; got != want {
		t.Errorf("measured %s, want %s", got, want)
	}
}

func TestRunRefuses(t *testing.T) {
	empty := t.TempDir()
	for name, o := range map[string]*Options{
		"no such workload":  {Workloads: []string{"fetch"}},
		"cannot all be":     {Kinds: []docket.Kind{docket.KindBinary}},
		"no file of":        {Corpus: empty},
		"no such file":      {Corpus: filepath.Join(empty, "missing")},
		"no such directory": {Dir: filepath.Join(empty, "missing"), Sizes: []int{4096}},
	} {
		var got error
		for _, err := range Run(t.Context(), o) {
			got = err
		}
		if got == nil || name != "no such directory" && !strings.Contains(got.Error(), name) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestRunStops(t *testing.T) {
	o := quick(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got error
	for _, err := range Run(ctx, o) {
		cancel()
		got = err
	}
	if !errors.Is(got, context.Canceled) {
		t.Errorf("cancelled: %v", got)
	}
	for range Run(t.Context(), o) {
		break
	}
	isEmptyDir(t, o.Dir)
}

func TestRunCase(t *testing.T) {
	o := quick(t)
	payload := []byte(`{"items":[{"id":"a-1"},{"id":"b-2","note":"` + strings.Repeat("word ", 2000) + `needle"}]}`)
	c := Case{Name: "mine", Payload: payload, Path: "items[1].id", Query: "needle", Offset: 100}
	var rows []Result
	for row, err := range RunCase(t.Context(), c, o) {
		if err != nil {
			t.Fatal(err)
		}
		if row.Payload != "mine" || row.Mismatches > 0 {
			t.Errorf("%+v", row)
		}
		rows = append(rows, row)
	}
	if len(rows) != 6 {
		t.Errorf("%d rows, want path, range and query of both", len(rows))
	}
	rows = nil
	for row, err := range RunCase(t.Context(), Case{Payload: payload, Path: "items[-1].id", Offset: -1}, o) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if len(rows) != 1 || rows[0].Subject != Docket {
		t.Errorf("a path that gjson has no word for: %+v", rows)
	}
	for _, c := range []Case{{Payload: payload, Offset: -1}, {Payload: payload, Path: "a[", Offset: -1}, {Payload: payload, Path: "absent.b", Offset: -1}} {
		var got error
		for _, err := range RunCase(t.Context(), c, o) {
			got = err
		}
		if got == nil {
			t.Errorf("path %q, query %q: no error", c.Path, c.Query)
		}
	}
}

// liar answers with another text.
type liar struct{ subject }

func (l liar) fetch(context.Context, string, target) (reply, error) {
	return reply{text: []byte("wrong")}, nil
}

// The control of all comparisons: an answer that is wrong is counted, and a goal
// that such a run would meet is not met.
func TestWrongAnswersAreCounted(t *testing.T) {
	payload := Generate(docket.KindJSON, 8<<10, 1)
	race := race{payload: payload, targets: newPicker(payload, docket.KindJSON, 1).ranges(5), budget: time.Second}
	race.lanes = []*lane{{subject: liar{}}}
	if err := race.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := race.lanes[0].mismatches; got != 5 {
		t.Errorf("%d of 5 wrong answers were counted", got)
	}
	g := atMost(Goal{Value: 1, Limit: 2}, race.lanes[0].into(Result{Subject: Docket}))
	if g.Met || !strings.Contains(g.Measured, "5 WRONG") {
		t.Errorf("%+v", g)
	}
}
