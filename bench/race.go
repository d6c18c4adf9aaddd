package bench

// One workload on one payload, both subjects in turn, in the same run. They
// alternate in rounds of a few operations: alternating each operation would give
// docket a processor cache that the naive ledger has just swept with the whole
// payload, and running one after the other would let a slower or faster minute of
// the machine decide. Every answer of docket is compared with the naive one's, or
// where the naive ledger had no time for it with what the payload itself says;
// the comparison is outside of the clock.

import (
	"context"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"docket"
)

const round = 16

// Result is a row: one workload, one payload, one subject. The JSON names are
// stable.
type Result struct {
	Workload string      `json:"workload"`
	Size     int64       `json:"size_bytes"`
	Kind     docket.Kind `json:"kind"`
	Subject  string      `json:"subject"`
	Ops      int64       `json:"ops"`
	P50      int64       `json:"p50_ns"`
	P90      int64       `json:"p90_ns"`
	P99      int64       `json:"p99_ns"`
	Max      int64       `json:"max_ns"`
	// BytesOnDisk is what the file uses of its pages: of record and concurrent a
	// record's share of it.
	BytesOnDisk int64 `json:"bytes_on_disk"`
	// MBPerSecond is the size over the mean latency: how fast a caller gets
	// through payloads, in 10⁶ bytes a second. Of concurrent: all goroutines.
	MBPerSecond float64 `json:"mb_per_s"`

	Payload string `json:"payload,omitempty"` // the file's name, of a corpus or a case
	Cold    bool   `json:"cold"`              // the file was evicted and reopened before each operation
	// Frames is the number of frames decoded an operation, on average.
	Frames float64 `json:"frames_decoded,omitempty"`
	// Mismatches is the number of answers that were wrong: 0, or nothing else
	// here means anything.
	Mismatches int `json:"mismatches"`
	// Commits is the number of commits that the operations took (concurrent).
	Commits int64 `json:"commits,omitempty"`
	// Records is the number of records that the ledger holds (open, search).
	Records int `json:"records,omitempty"`
	// Heap is the bytes of the heap that the open ledger holds (open).
	Heap int64 `json:"heap_bytes,omitempty"`
}

// meter collects the latencies of one subject.
type meter struct {
	hist       *hdrhistogram.Histogram
	spent      time.Duration
	frames     int64
	mismatches int
}

func newMeter() *meter {
	return &meter{hist: hdrhistogram.New(1, int64(time.Hour), 3)}
}

// time measures one call of fn.
func (m *meter) time(fn func() error) error {
	start := time.Now()
	err := fn()
	m.add(time.Since(start))
	return err
}

func (m *meter) add(took time.Duration) {
	m.spent += took
	_ = m.hist.RecordValue(min(max(int64(took), 1), int64(time.Hour))) // in range by construction
}

func (m *meter) ops() int64 { return m.hist.TotalCount() }

// into writes what was measured to r.
func (m *meter) into(r Result) Result {
	r.Ops = m.ops()
	r.P50, r.P90 = m.hist.ValueAtQuantile(50), m.hist.ValueAtQuantile(90)
	r.P99, r.Max = m.hist.ValueAtQuantile(99), m.hist.Max()
	r.Mismatches = m.mismatches
	if m.spent > 0 {
		r.MBPerSecond = float64(r.Size) * float64(r.Ops) / m.spent.Seconds() / 1e6
	}
	if r.Ops > 0 {
		r.Frames = float64(m.frames) / float64(r.Ops)
	}
	return r
}

// race is one workload on one payload.
type race struct {
	workload string
	payload  []byte
	lanes    []*lane
	targets  []target
	budget   time.Duration // of each lane's operations
	cold     bool
	// unchecked: nothing but docket can answer.
	unchecked bool
}

// minOps is how often a lane runs even when its budget is spent.
const minOps = 10

// run takes the targets in rounds. Answers are checked after a round: checking one
// reads the whole payload and would sweep the processor's cache before the next.
func (r *race) run(ctx context.Context) error {
	r.begin()
	for from := 0; from < len(r.targets); from += round {
		batch := r.targets[from:min(from+round, len(r.targets))]
		answers := make([][]reply, len(r.lanes))
		for i, l := range r.lanes {
			for _, t := range batch {
				if err := r.fetch(ctx, l, t, &answers[i]); err != nil {
					return err
				}
			}
		}
		r.check(batch, answers)
	}
	return nil
}

func (r *race) begin() {
	for _, l := range r.lanes {
		l.meter = newMeter()
	}
}

// fetch runs one operation on l while its budget lasts and appends the answer.
func (r *race) fetch(ctx context.Context, l *lane, t target, answers *[]reply) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.spent > r.budget && l.ops() >= minOps {
		return nil
	}
	if r.cold {
		if err := l.chill(); err != nil {
			return err
		}
	}
	var got reply
	err := l.time(func() (err error) {
		got, err = l.subject.fetch(ctx, l.id, t)
		return err
	})
	if err != nil {
		return fmt.Errorf("bench: %s: %w", l.name(), err)
	}
	l.frames += int64(got.frames)
	*answers = append(*answers, got)
	return nil
}

// check compares the answers of each lane, in the order of the batch and fewer
// where its budget was spent, with what the payload says.
func (r *race) check(batch []target, answers [][]reply) {
	if r.unchecked {
		return
	}
	for i, t := range batch {
		var want *reply
		for n, l := range r.lanes {
			if i >= len(answers[n]) {
				continue
			}
			if want == nil {
				truth := truth(r.payload, t)
				want = &truth
			}
			if !answers[n][i].equal(*want) {
				l.mismatches++
			}
		}
	}
}
