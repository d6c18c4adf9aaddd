package engine

// Threads through time from many goroutines: no order of them leaves a thread that is
// not what one of its moments says.

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"docket"
)

func TestPastTogether(t *testing.T) {
	for what, l := range map[string]pastSubject{"file": open(t, &Options{NoSync: true}), "memory": NewMemory(nil)} {
		t.Run(what, func(t *testing.T) {
			ctx := t.Context()
			first := recordOne(t, l, result("first", "payload"))
			if _, err := l.Checkpoint(ctx, "t", "start"); err != nil {
				t.Fatal(err)
			}
			const each = 20
			work := []func(i int) error{
				func(i int) error {
					_, err := l.Record(ctx, "t", result(docket.CallID(fmt.Sprint(i)), "payload"))
					return err
				},
				func(i int) error {
					mem := docket.DeriveMemID(docket.LineageKey{}, docket.CallID(fmt.Sprint(i)), docket.Digest{})
					_, err := l.Append(ctx, "t", docket.Epoch{Mems: []docket.MemID{mem}})
					return err
				},
				func(int) error { _, err := l.Checkpoint(ctx, "t", ""); return err },
				func(int) error { return l.Rewind(ctx, "t", "start") },
				func(i int) error {
					return errors.Join(l.Fork(ctx, "t", "start", docket.ThreadID(fmt.Sprint("start ", i))), l.Fork(ctx, "t", "", docket.ThreadID(fmt.Sprint("now ", i))))
				},
				func(i int) error {
					var b bytes.Buffer
					if err := l.Export(ctx, "t", &b); err != nil {
						return err
					}
					_, err := l.Import(ctx, &b, &docket.ImportOptions{As: docket.ThreadID(fmt.Sprint("copy ", i))})
					return err
				},
				func(int) error {
					for _, err := range l.Checkpoints(ctx, "t") {
						if err != nil {
							return err
						}
					}
					return nil
				},
			}
			var wg sync.WaitGroup
			errs := make([]error, len(work))
			for g, do := range work {
				wg.Go(func() {
					for i := 0; i < each && errs[g] == nil; i++ {
						errs[g] = do(i)
					}
				})
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			for i := range each {
				id := docket.ThreadID(fmt.Sprint("start ", i))
				n := 0
				for _, err := range l.List(ctx, id, 0) {
					if n++; err != nil {
						t.Fatal(err)
					}
				}
				if d, err := l.Decided(ctx, id); n != 1 || err != nil || len(d.Epochs) != 0 {
					t.Errorf("a fork at the start has %d records and %d decisions, error %v", n, len(d.Epochs), err)
				}
				if _, err := read(t, l, docket.ThreadID(fmt.Sprint("copy ", i)), first.MemID); err != nil {
					t.Errorf("copy %d: %v", i, err)
				}
			}
			n := 0
			for _, err := range l.List(ctx, "t", 0) {
				if n++; err != nil {
					t.Fatal(err)
				}
			}
			if n != each+1 {
				t.Errorf("%d records, want %d", n, each+1)
			}
		})
	}
}
