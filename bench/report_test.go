package bench

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"docket"
)

func TestFormats(t *testing.T) {
	for ns, want := range map[int64]string{0: "0 ns", 950: "950 ns", 1000: "1 µs", 83_140: "83.1 µs", 1_424_000: "1.42 ms", 999_900_000: "1000 ms", 2_500_000_000: "2.5 s"} {
		if got := FormatNanos(ns); got != want {
			t.Errorf("FormatNanos(%d) = %q, want %q", ns, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 512: "512 B", 4096: "4 KB", 64 << 10: "64 KB", 360 << 10: "360 KB", 1 << 20: "1 MB", 1_900_000: "1.81 MB", 100 << 20: "100 MB", 3 << 30: "3 GB"} {
		if got := FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", n, got, want)
		}
	}
}

// The names of a row's fields are what scripts read.
func TestJSONNames(t *testing.T) {
	var out bytes.Buffer
	row := Result{Workload: "path", Size: 4096, Kind: docket.KindNDJSON, Subject: Docket, Ops: 3, P50: 1, P90: 2, P99: 3, Max: 4, BytesOnDisk: 5, MBPerSecond: 6.5}
	if err := WriteJSON(&out, row); err != nil {
		t.Fatal(err)
	}
	want := `{"workload":"path","size_bytes":4096,"kind":"ndjson","subject":"docket","ops":3,"p50_ns":1,"p90_ns":2,"p99_ns":3,"max_ns":4,` +
		`"bytes_on_disk":5,"mb_per_s":6.5,"cold":false,"mismatches":0}` + "\n"
	if out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
	if !json.Valid(out.Bytes()) {
		t.Error("invalid")
	}
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	rows := []Result{
		{Workload: "path", Size: 1 << 20, Kind: docket.KindJSON, Subject: Docket, Ops: 500, P50: 41_200, P90: 60_000, P99: 90_000, Max: 120_000, Frames: 1.25, BytesOnDisk: 300 << 10},
		{Workload: "path", Size: 1 << 20, Kind: docket.KindJSON, Subject: NaiveName, Ops: 100, P50: 1_030_000, P90: 1_100_000, P99: 1_500_000, Max: 2_000_000, Frames: 1, BytesOnDisk: 200 << 10},
		{Workload: "open", Size: 1 << 20, Kind: docket.KindJSON, Subject: Docket, Ops: 30, P50: 500_000, P90: 600_000, P99: 700_000, Max: 800_000, BytesOnDisk: 2 << 20},
	}
	if err := WriteTable(&out, rows); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"  workload    payload  ops      p50     p90     p99     max  frames  naive p50     p99  naive/docket  on disk   naive",
		"      path  json 1 MB  500  41.2 µs   60 µs   90 µs  120 µs     1.2    1.03 ms  1.5 ms        25.0 ×   300 KB  200 KB",
		"      open  json 1 MB   30   500 µs  600 µs  700 µs  800 µs                                              2 MB        ",
	}
	got := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	rows[0].Mismatches = 2
	out.Reset()
	if err := WriteTable(&out, rows); err != nil || !strings.Contains(out.String(), "WRONG: 2 answers") {
		t.Errorf("wrong answers are not said: %s, %v", out.String(), err)
	}
}
