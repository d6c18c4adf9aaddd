package bench

// A run: which workloads over which payloads, and the lanes that they need. It
// yields rows as they are measured, so that a caller can print them and stop. The
// workloads that are not fetches of one payload are in record.go, search.go and
// open.go.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"docket"
	"docket/index"
)

// Options says what a run measures. The zero value is the default run: every
// workload, at 4 KB to 10 MB, of each kind.
type Options struct {
	// Workloads: names of [Workloads]. Default: all.
	Workloads []string
	// Sizes of the generated payloads, in bytes. Default: 4 KB, 64 KB, 1 MB, 10 MB. 100 MB
	// takes a few minutes and 2 GB of memory.
	Sizes []int
	// Kinds of the generated payloads. Default: JSON, text, NDJSON.
	Kinds []docket.Kind
	// Corpus is a folder whose files (4 KB and more, in it and below) take the
	// place of generated payloads.
	Corpus string
	// Cold also measures each fetch on a reopened file that was evicted from the
	// page cache.
	Cold bool
	// Seed of payloads and targets. Default: 1.
	Seed uint64
	// Budget of each subject's operations on each payload and workload, after
	// which only what is left of docket's targets is run. Default: 1.5 s.
	Budget time.Duration
	// Dir is where temporary folders are made; all of them are removed. Default:
	// the system's. A memory file system makes fsync free and so the record
	// workloads meaningless.
	Dir string
	// Progress is told what is measured next, from the goroutine of the run.
	// Default: nobody is told.
	Progress func(step string)
}

// defaultSizes are the sizes of a run.
var defaultSizes = []int{4 << 10, 64 << 10, 1 << 20, 10 << 20}

func (o *Options) filled() Options {
	var f Options
	if o != nil {
		f = *o
	}
	if len(f.Workloads) == 0 {
		f.Workloads = Workloads()
	}
	if len(f.Sizes) == 0 {
		f.Sizes = defaultSizes
	}
	if len(f.Kinds) == 0 {
		f.Kinds = []docket.Kind{docket.KindJSON, docket.KindText, docket.KindNDJSON}
	}
	if f.Seed == 0 {
		f.Seed = 1
	}
	if f.Budget == 0 {
		f.Budget = 1500 * time.Millisecond
	}
	if f.Progress == nil {
		f.Progress = func(string) {}
	}
	return f
}

// Workloads returns the names of the workloads, in the order of a report.
func Workloads() []string {
	names := []string{"record"}
	for _, p := range pickers {
		names = append(names, p.workload)
	}
	return append(names, "open", "concurrent", "search")
}

// ErrWorkload is returned for the name of no workload.
var ErrWorkload = errors.New("bench: no such workload")

// Run measures and yields the rows, docket's and the naive ledger's next to each
// other. An error ends it.
func Run(ctx context.Context, opts *Options) iter.Seq2[Result, error] {
	o := opts.filled()
	return func(yield func(Result, error) bool) {
		if err := o.check(); err != nil {
			yield(Result{}, err)
			return
		}
		r := runner{Options: o, openers: openers, yield: yield}
		if err := r.all(ctx); err != nil && !errors.Is(err, errStopped) {
			yield(Result{}, err)
		}
	}
}

// check refuses what cannot be measured.
func (o *Options) check() error {
	for _, name := range o.Workloads {
		if !slices.Contains(Workloads(), name) {
			return fmt.Errorf("%w: %q", ErrWorkload, name)
		}
	}
	if slices.ContainsFunc(o.Kinds, func(k docket.Kind) bool { return k > docket.KindNDJSON }) {
		return fmt.Errorf("bench: payloads of kinds %s cannot all be generated", o.Kinds)
	}
	return nil
}

// errStopped ends a run whose caller stopped ranging over it.
var errStopped = errors.New("bench: stopped")

// runner is a run that yields.
type runner struct {
	Options
	openers []opener // the subjects, docket first
	most    int      // targets of a workload on one payload; 0: by its size
	yield   func(Result, error) bool
}

// give yields rows.
func (r *runner) give(rows ...Result) error {
	for _, row := range rows {
		if !r.yield(row, nil) {
			return errStopped
		}
	}
	return nil
}

func (r *runner) wants(workload string) bool { return slices.Contains(r.Workloads, workload) }

// all runs everything that was asked for.
func (r *runner) all(ctx context.Context) error {
	if err := r.payloads(ctx); err != nil {
		return err
	}
	for _, w := range []struct {
		name string
		run  func(context.Context) error
	}{{"open", r.open}, {"concurrent", r.concurrent}, {"search", r.search}} {
		if !r.wants(w.name) {
			continue
		}
		if err := w.run(ctx); err != nil {
			return fmt.Errorf("bench: %s: %w", w.name, err)
		}
	}
	return nil
}

// sample is one payload to measure on.
type sample struct {
	name    string // of a file; empty: generated
	kind    docket.Kind
	payload []byte
}

func (s sample) String() string {
	if s.name != "" {
		return s.name
	}
	return fmt.Sprintf("%s of %s", FormatSize(int64(len(s.payload))), s.kind)
}

// payloads runs the workloads of one payload over every payload.
func (r *runner) payloads(ctx context.Context) error {
	if r.Corpus != "" {
		return r.folder(ctx, minFile)
	}
	for _, kind := range r.Kinds {
		for _, size := range r.Sizes {
			if err := r.one(ctx, sample{kind: kind, payload: Generate(kind, size, r.Seed)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// minFile is the smallest file of a corpus that is measured: below it, both
// ledgers keep one value and decode it whole.
const minFile = 4 << 10

func (r *runner) folder(ctx context.Context, atLeast int64) error {
	files, err := corpusFiles(r.Corpus, atLeast)
	if err != nil {
		return err
	}
	for _, name := range files {
		payload, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := r.one(ctx, sample{name: filepath.Base(name), kind: kindOf(payload), payload: payload}); err != nil {
			return err
		}
	}
	return nil
}

// corpusFiles lists the regular files of at least atLeast bytes in and below dir.
// A folder without any is an error: a benchmark of nothing would look like one of
// something.
func corpusFiles(dir string, atLeast int64) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err == nil && info.Size() >= atLeast {
			names = append(names, path)
		}
		return nil
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("bench: no file of %d bytes or more in %q", atLeast, dir)
	}
	return names, err
}

// one runs the record and fetch workloads on one payload.
func (r *runner) one(ctx context.Context, s sample) error {
	if r.wants("record") {
		if err := r.record(ctx, s); err != nil {
			return fmt.Errorf("bench: record %s: %w", s, err)
		}
	}
	fetches := slices.ContainsFunc(pickers, func(p fetchWorkload) bool { return r.wants(p.workload) })
	if !fetches {
		return nil
	}
	return r.inLanes(ctx, s.payload, func(lanes []*lane) error { return r.fetches(ctx, s, lanes) })
}

// fetches runs each fetch workload, warm and perhaps cold.
func (r *runner) fetches(ctx context.Context, s sample, lanes []*lane) error {
	for i, p := range pickers {
		if !r.wants(p.workload) {
			continue
		}
		r.Progress(fmt.Sprintf("%s, %s", p.workload, s))
		targets := p.pick(newPicker(s.payload, s.kind, r.Seed+uint64(i)), r.targetCount(len(s.payload)))
		if len(targets) == 0 {
			continue
		}
		if err := r.race(ctx, s, race{workload: p.workload, payload: s.payload, lanes: lanes, targets: targets, budget: r.Budget}); err != nil {
			return err
		}
		if !r.Cold {
			continue
		}
		cold := race{workload: p.workload, payload: s.payload, lanes: lanes, targets: targets[:min(coldOps, len(targets))], budget: r.Budget, cold: true}
		if err := r.race(ctx, s, cold); err != nil {
			return err
		}
	}
	return nil
}

// coldOps is the number of cold operations: each reopens its file.
const coldOps = 40

// targetCount is the number of targets that a payload of size bytes gets: enough
// for a 99th percentile where operations are fast, and not minutes where they are
// not.
func (r *runner) targetCount(size int) int {
	switch {
	case r.most > 0:
		return r.most
	case size <= 64<<10:
		return 1000
	case size <= 4<<20:
		return 500
	case size <= 16<<20:
		return 256
	}
	return 64
}

func (r *runner) race(ctx context.Context, s sample, race race) error {
	if err := race.run(ctx); err != nil {
		return err
	}
	for _, l := range race.lanes {
		row := Result{Workload: race.workload, Size: int64(len(s.payload)), Kind: s.kind, Subject: l.name(), Payload: s.name, Cold: race.cold}
		row.BytesOnDisk = l.disk
		if err := r.give(l.into(row)); err != nil {
			return err
		}
	}
	return nil
}

// kindOf recognises the kind of a payload as the ledger does.
func kindOf(payload []byte) docket.Kind { return index.Build(payload, nil).Kind }
