package bench

// The goals of keeping: what a record takes in bytes and time, how records share
// commits, opening, and searching across records.

import (
	"context"
	"fmt"
	"os"

	"github.com/klauspost/compress/zstd"

	"docket"
)

func (r *runner) recordGoal(ctx context.Context) ([]Goal, error) {
	d, n, err := r.on(ctx, "record", docket.KindJSON, 360<<10)
	if err != nil {
		return nil, err
	}
	g := Goal{Name: "record", Requirement: "record 360 KB of JSON, fsync included: p50 at most 2.5 × naive (aim 1.5)", Limit: 2.5}
	g.Value = float64(d.P50) / float64(n.P50)
	g.Measured = fmt.Sprintf("%.2f ×: %s", g.Value, versus(d, n))
	return []Goal{atMost(g, d, n)}, nil
}

func (r *runner) commitsGoal(ctx context.Context) ([]Goal, error) {
	rows, err := r.collect([]string{"concurrent"}, func(r *runner) error { return r.concurrent(ctx) })
	if err != nil {
		return nil, err
	}
	return []Goal{commitsGoalOf(rows[0])}, nil
}

func commitsGoalOf(d Result) Goal {
	g := Goal{Name: "commits", Requirement: "64 goroutines recording 4 KB results: at least 16 records a commit", Limit: 16}
	g.Value = float64(d.Ops) / float64(d.Commits)
	g.Measured = fmt.Sprintf("%.1f: %d records in %d commits", g.Value, d.Ops, d.Commits)
	return atLeastGoal(g)
}

// storageGoal records every payload in one ledger and divides what that takes by
// what one zstd frame of each takes.
func (r *runner) storageGoal(ctx context.Context) ([]Goal, error) {
	payloads, of, err := r.storagePayloads()
	if err != nil {
		return nil, err
	}
	var taken int64
	err = r.inTemp(func(dir string) error {
		taken, err = bytesTaken(ctx, dir, payloads)
		return err
	})
	if err != nil {
		return nil, err
	}
	frames, err := zstdBytes(payloads)
	if err != nil {
		return nil, err
	}
	g := Goal{Name: "storage", Requirement: "a record takes at most 1.45 × one zstd frame of its payload (aim 1.3)", Limit: 1.45}
	g.Value = float64(taken) / float64(frames)
	g.Measured = fmt.Sprintf("%.3f ×: %s against %s, %d %s", g.Value, FormatSize(taken), FormatSize(frames), len(payloads), of)
	return []Goal{atMost(g)}, nil
}

// storagePayloads are those of the corpus from 64 KB on, or generated ones.
func (r *runner) storagePayloads() (payloads [][]byte, of string, err error) {
	if r.Corpus == "" {
		for _, kind := range r.Kinds {
			for _, size := range []int{64 << 10, 256 << 10, megabyte, 4 * megabyte} {
				payloads = append(payloads, Generate(kind, size, r.Seed))
			}
		}
		return payloads, "generated payloads (no corpus given)", nil
	}
	files, err := corpusFiles(r.Corpus, 64<<10)
	if err != nil {
		return nil, "", err
	}
	for _, name := range files {
		payload, err := os.ReadFile(name)
		if err != nil {
			return nil, "", err
		}
		payloads = append(payloads, payload)
	}
	return payloads, "payloads of the corpus", nil
}

// zstdBytes is what one frame of each payload takes at the default level.
func zstdBytes(payloads [][]byte) (n int64, err error) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		return 0, err
	}
	var buf []byte
	for _, payload := range payloads {
		buf = enc.EncodeAll(payload, buf[:0])
		n += int64(len(buf))
	}
	return n, enc.Close()
}

// bytesTaken records the payloads in a new ledger in dir and returns by how many
// bytes of used pages it grew: all that a record costs, the store's overhead and
// the rounding to pages included.
func bytesTaken(ctx context.Context, dir string, payloads [][]byte) (int64, error) {
	l, err := openDocket(dir)
	if err != nil {
		return 0, err
	}
	// The first record makes the thread; it is not counted.
	if _, err := l.record(ctx, "first", []byte("first")); err != nil {
		return 0, err
	}
	if err := l.close(); err != nil {
		return 0, err
	}
	before, err := usedBytes(l.file())
	if err != nil {
		return 0, err
	}
	if l, err = openDocket(dir); err != nil {
		return 0, err
	}
	for i, payload := range payloads {
		if _, err := l.record(ctx, fmt.Sprintf("call-%d", i), payload); err != nil {
			return 0, err
		}
	}
	if err := l.close(); err != nil {
		return 0, err
	}
	after, err := usedBytes(l.file())
	return after - before, err
}

// openGoals compare opening 100,000 records with a limit, and the heap that it
// takes with what 1,000 records take.
func (r *runner) openGoals(ctx context.Context) ([]Goal, error) {
	alone := *r
	alone.openers = []opener{openDocket}
	few, err := alone.openWith(ctx, 1000)
	if err != nil {
		return nil, err
	}
	many, err := alone.openWith(ctx, 100_000)
	if err != nil {
		return nil, err
	}
	t := Goal{Name: "open", Requirement: "open a ledger of 100,000 records: p50 at most 50 ms", Limit: 50, Value: float64(many[0].P50) / 1e6}
	t.Measured = fmt.Sprintf("%s, worst %s, file of %s", FormatNanos(many[0].P50), FormatNanos(many[0].Max), FormatSize(many[0].BytesOnDisk))
	h := Goal{Name: "open heap", Requirement: "heap that opening takes: at most 256 KB more than with 1,000 records", Limit: 256 << 10}
	h.Value = float64(many[0].Heap - few[0].Heap)
	h.Measured = fmt.Sprintf("%s against %s", FormatSize(many[0].Heap), FormatSize(few[0].Heap))
	return []Goal{atMost(t), atMost(h)}, nil
}

func (r *runner) searchGoal(ctx context.Context) ([]Goal, error) {
	rows, err := r.searchOver(ctx, 10*searchRecords)
	if err != nil {
		return nil, err
	}
	d, n := rows[0], rows[1]
	g := Goal{Name: "search", Requirement: "a rare string over 10,000 records (300 MB): at least 10 × faster than a scan (aim 50)", Limit: 10}
	g.Value = float64(n.P50) / float64(d.P50)
	g.Measured = fmt.Sprintf("%.0f ×: %s", g.Value, versus(d, n))
	return []Goal{atLeastGoal(g, d, n)}, nil
}
