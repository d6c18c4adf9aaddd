package bench

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestGoalNames(t *testing.T) {
	names := GoalNames()
	slices.Sort(names)
	if len(names) != len(slices.Compact(slices.Clone(names))) {
		t.Errorf("a name is taken twice: %v", names)
	}
	for _, err := range Goals(t.Context(), []string{"faster"}, nil) {
		if !errors.Is(err, ErrGoal) {
			t.Errorf("unknown goal: %v", err)
		}
	}
}

func TestGoalOfStorageOverFolder(t *testing.T) {
	o := quick(t)
	r := runner{Options: o.filled(), openers: openers}
	payloads, _, err := r.storagePayloads()
	if err != nil {
		t.Fatal(err)
	}
	n, err := zstdBytes(payloads[:2])
	if err != nil || n < 1000 {
		t.Fatalf("%d bytes of zstd, %v", n, err)
	}
	taken, err := bytesTaken(t.Context(), o.Dir, payloads[:2])
	if err != nil || taken < n || taken > 3*n {
		t.Errorf("records take %d, frames %d bytes, %v", taken, n, err)
	}
}

func TestWorstIsFound(t *testing.T) {
	rows := []Result{
		{Workload: "path", Size: 1 << 20, Subject: Docket, P50: 100}, {Workload: "path", Size: 1 << 20, Subject: NaiveName, P50: 1000},
		{Workload: "range", Size: 1 << 16, Subject: Docket, P50: 150}, {Workload: "range", Size: 1 << 16, Subject: NaiveName, P50: 100},
	}
	if g := worst("n", "of", rows); g.Met || g.Value != 1.5 || !strings.Contains(g.Measured, "range") {
		t.Errorf("%+v", g)
	}
}

func TestWriteGoals(t *testing.T) {
	var out bytes.Buffer
	err := WriteGoals(&out, []Goal{{Name: "a", Requirement: "at most 2", Measured: "1", Met: true}, {Name: "bb", Requirement: "at least 3", Measured: "1"}})
	want := "met      a   at most 2   1\nNOT MET  bb  at least 3  1\n"
	if err != nil || out.String() != want {
		t.Errorf("got %q, want %q, %v", out.String(), want, err)
	}
}
