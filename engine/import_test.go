package engine

// Moving threads, where it meets the file: several commits, failures on the way, other
// positions, tombstones.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"docket"
)

// manyRecords is more than one commit of an import takes.
const manyRecords = 2*importRecords + 100

func exportOf(t testing.TB, l docket.Forker, thread docket.ThreadID) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := l.Export(t.Context(), thread, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func importOf(t testing.TB, l docket.Forker, export []byte, as docket.ThreadID) docket.ImportReport {
	t.Helper()
	report, err := l.Import(t.Context(), bytes.NewReader(export), &docket.ImportOptions{As: as})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// manyExport is the export of a thread of many records.
func manyExport(t testing.TB) []byte {
	t.Helper()
	l := open(t, &Options{NoSync: true})
	fill(t, l, manyRecords)
	if _, err := l.Checkpoint(t.Context(), "t", "end"); err != nil {
		t.Fatal(err)
	}
	return exportOf(t, l, "t")
}

// TestL5ImportInSeveralCommits: another ledger, of either kind, gives the same export;
// importing again does not touch the file.
func TestL5ImportInSeveralCommits(t *testing.T) {
	export := manyExport(t)
	l, m := open(t, nil), NewMemory(nil)
	for what, to := range map[string]docket.Forker{"file": l, "memory": m} {
		report := importOf(t, to, export, "")
		if report.Added != manyRecords || report.Records != manyRecords {
			t.Errorf("%s: %+v", what, report)
		}
		if again := exportOf(t, to, "t"); !bytes.Equal(again, export) {
			t.Errorf("%s: another export, of %d bytes instead of %d", what, len(again), len(export))
		}
	}
	unchanged(t, l.Path(), func() {
		if report := importOf(t, l, export, ""); report.Changed || report.Added != 0 {
			t.Errorf("imported again: %+v", report)
		}
	})
}

// stopsAfter is a reader that is read twice, and cancels at some byte of the second
// time.
type stopsAfter struct {
	*bytes.Reader
	left   int
	again  bool
	cancel func()
}

func (s *stopsAfter) Seek(off int64, whence int) (int64, error) {
	s.again = s.again || whence == io.SeekStart
	return s.Reader.Seek(off, whence)
}

func (s *stopsAfter) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if s.again {
		if s.left -= n; s.left < 0 {
			s.cancel()
		}
	}
	return n, err
}

// TestImportThatFailsLeavesNothing: an import that is cancelled after some commits
// takes them back, but not what a thread has come to see meanwhile.
func TestImportThatFailsLeavesNothing(t *testing.T) {
	export := manyExport(t)
	for _, joined := range []bool{false, true} {
		l := open(t, &Options{NoSync: true})
		want := Stats{}
		if joined {
			us := takeApart(t, export)
			importOf(t, l, putTogether(t, []unit{us[0], {unitEnd, appendExportEnd(nil, exportEnd{})}}), "other")
			want = Stats{Lineages: 1, Threads: 1}
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err := l.Import(ctx, &stopsAfter{Reader: bytes.NewReader(export), left: len(export) * 3 / 4, cancel: cancel}, nil)
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v", err)
		}
		got, err := l.Stats(t.Context())
		if err != nil || got.Records != 0 || got.Lineages != want.Lineages || got.Threads != want.Threads {
			t.Errorf("joined %t: %+v is left, error %v", joined, got, err)
		}
		if report := importOf(t, l, export, ""); report.Added != manyRecords {
			t.Errorf("joined %t: imported afterwards: %+v", joined, report)
		}
	}
}

// TestImportAtOtherPositions: two copies of a thread record by themselves, so that one
// position has two records. Side by side both are whole, in order, and a checkpoint has
// what it had.
func TestImportAtOtherPositions(t *testing.T) {
	ctx := t.Context()
	for what, l := range map[string]pastSubject{"file": open(t, nil), "memory": NewMemory(nil)} {
		t.Run(what, func(t *testing.T) {
			source := NewMemory(nil)
			recordOne(t, source, result("1", "the first"))
			importOf(t, l, exportOf(t, source, "t"), "")
			theirs := recordOne(t, l, result("2", "recorded there"))
			ours := recordOne(t, source, result("2", "recorded here"))
			mark, err := source.Checkpoint(ctx, "t", "mark")
			if err != nil || ours.Seq != theirs.Seq {
				t.Fatalf("positions %d and %d, error %v", ours.Seq, theirs.Seq, err)
			}
			recordOne(t, source, result("3", "after the checkpoint"))
			recordOne(t, source, result("4", "at the end"))
			report := importOf(t, l, exportOf(t, source, "t"), "copy")
			if report.Added != 3 {
				t.Errorf("%+v", report)
			}
			var calls []docket.CallID
			for h, err := range l.List(ctx, "copy", 0) {
				if err != nil {
					t.Fatal(err)
				}
				calls = append(calls, h.CallID)
			}
			if fmt.Sprint(calls) != "[1 2 3 4]" {
				t.Errorf("the copy has %q", calls)
			}
			holds(t, l, theirs.MemID, "recorded there")
			if err := l.Fork(ctx, "copy", mark.ID, "fork"); err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, err := range l.List(ctx, "fork", 0) {
				if n++; err != nil {
					t.Fatal(err)
				}
			}
			if _, err := read(t, l, "fork", ours.MemID); n != 2 || err != nil {
				t.Errorf("a fork of the copy at the checkpoint has %d records, want 2; error %v", n, err)
			}
			if again := importOf(t, l, exportOf(t, source, "t"), "copy"); again.Changed {
				t.Errorf("imported again: %+v", again)
			}
		})
	}
}

// TestP8TombstonesMove: what was erased on either side is erased; what had expired comes
// back.
func TestP8TombstonesMove(t *testing.T) {
	ctx := t.Context()
	for what, l := range map[string]pastSubject{"file": open(t, nil), "memory": NewMemory(nil)} {
		t.Run(what, func(t *testing.T) {
			source := open(t, nil)
			here := recordOne(t, source, result("1", "erased here"))
			there := recordOne(t, source, result("2", "erased there"))
			gone := recordOne(t, source, result("3", "expired there"))
			export := exportOf(t, source, "t")
			importOf(t, l, export, "")
			if err := errors.Join(source.Erase(ctx, "t", here.MemID), l.Erase(ctx, "t", there.MemID), l.Expire(ctx, "t", gone.MemID)); err != nil {
				t.Fatal(err)
			}
			later := exportOf(t, source, "t")
			if bytes.Contains(later, []byte("erased here")) || !bytes.Contains(export, []byte("erased here")) {
				t.Error("an erased payload is in an export, or was in none before (the control)")
			}
			if report := importOf(t, l, later, ""); !report.Changed || report.Added != 0 {
				t.Errorf("%+v", report)
			}
			for _, h := range []docket.Handle{here, there} {
				if _, err := read(t, l, "t", h.MemID); !errors.Is(err, docket.ErrErased) {
					t.Errorf("record %d: error %v", h.Seq, err)
				}
			}
			holds(t, l, gone.MemID, "expired there")
			if err := l.Expire(ctx, "t", gone.MemID); err != nil {
				t.Fatal(err)
			}
			third := NewMemory(nil)
			importOf(t, third, exportOf(t, l, "t"), "")
			var expired *docket.ExpiredError
			if _, err := read(t, third, "t", gone.MemID); !errors.As(err, &expired) || expired.Handle.Summary != gone.Summary {
				t.Errorf("an expired record arrives as %v", err)
			}
		})
	}
}

// failing is a writer that takes some bytes.
type failing struct{ left int }

var errWriter = errors.New("the pipe broke")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errWriter
	}
	return len(b), nil
}

func TestExportErrors(t *testing.T) {
	l := open(t, nil)
	for i := range 20 {
		recordOne(t, l, result(docket.CallID(fmt.Sprint(i)), string(sampleJSON(30<<10, uint64(i)))))
	}
	if err := l.Export(t.Context(), "t", &failing{left: 70 << 10}); !errors.Is(err, errWriter) {
		t.Errorf("error %v, want the writer's", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Export(ctx, "t", io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	export := exportOf(t, l, "t")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	reader := openAt(t, l.Path(), &Options{ReadOnly: true})
	if again := exportOf(t, reader, "t"); !bytes.Equal(again, export) {
		t.Error("a reader exports something else")
	}
	if _, err := reader.Import(t.Context(), bytes.NewReader(export), nil); !errors.Is(err, docket.ErrReadOnly) {
		t.Errorf("Import into a ledger for reading: %v", err)
	}
	if err := reader.Fork(t.Context(), "t", "", "u"); !errors.Is(err, docket.ErrReadOnly) {
		t.Errorf("Fork in a ledger for reading: %v", err)
	}
}

// TestForkCopiesNoPayload: a fork of 8 MB takes less than a hundredth of that.
func TestForkCopiesNoPayload(t *testing.T) {
	l := open(t, &Options{NoSync: true})
	for i := range 40 {
		recordOne(t, l, result(docket.CallID(fmt.Sprint(i)), string(sampleJSON(200<<10, uint64(i)))))
	}
	before, err := l.Stats(t.Context())
	if err == nil {
		err = l.Fork(t.Context(), "t", "", "fork")
	}
	if err != nil {
		t.Fatal(err)
	}
	after, err := l.Stats(t.Context())
	if err != nil || after.LiveBytes-before.LiveBytes > before.StoredBytes/100 || after.Records != before.Records {
		t.Errorf("a fork of %d stored bytes takes %d more, %d records became %d (%v)", before.StoredBytes, after.LiveBytes-before.LiveBytes, before.Records, after.Records, err)
	}
}

// TestBackupHasThePast: checkpoints, forks, and what a rewind dropped.
func TestBackupHasThePast(t *testing.T) {
	ctx := t.Context()
	l := open(t, nil)
	h := recordOne(t, l, result("1", "payload"))
	_, err := l.Checkpoint(ctx, "t", "start")
	_, err2 := l.Append(ctx, "t", docket.Epoch{Mems: []docket.MemID{h.MemID}})
	_, err3 := l.Checkpoint(ctx, "t", "decided")
	if err := errors.Join(err, err2, err3, l.Rewind(ctx, "t", "start"), l.Fork(ctx, "t", "", "fork")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "backup")
	if err := l.Backup(ctx, path, nil); err != nil {
		t.Fatal(err)
	}
	b := openAt(t, path, nil)
	for _, thread := range []docket.ThreadID{"t", "fork"} {
		if !bytes.Equal(exportOf(t, b, thread), exportOf(t, l, thread)) {
			t.Errorf("thread %q is another one in the backup", thread)
		}
	}
	if err := b.Rewind(ctx, "t", "decided"); err != nil {
		t.Fatal(err)
	}
	if d, err := b.Decided(ctx, "t"); err != nil || d.Epochs[h.MemID] != 1 {
		t.Errorf("rewound to the later checkpoint in the backup: %+v, error %v", d, err)
	}
}

// TestEraseReachesForks: erasing in one thread erases in all that share the record, also
// where the file was opened anew.
func TestEraseReachesForks(t *testing.T) {
	ctx := t.Context()
	l := open(t, nil)
	h := recordOne(t, l, result("1", "payload"))
	if err := errors.Join(l.Fork(ctx, "t", "", "fork"), l.Fork(ctx, "fork", "", "fork of it"), l.Close()); err != nil {
		t.Fatal(err)
	}
	l = openAt(t, l.Path(), nil)
	if err := l.Erase(ctx, "fork", h.MemID); err != nil {
		t.Fatal(err)
	}
	for _, thread := range []docket.ThreadID{"t", "fork", "fork of it"} {
		if _, err := read(t, l, thread, h.MemID); !errors.Is(err, docket.ErrErased) {
			t.Errorf("thread %q: error %v", thread, err)
		}
	}
	if err := l.Fork(ctx, "t", "", "after"); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, l, "after", h.MemID); !errors.Is(err, docket.ErrErased) {
		t.Errorf("a fork made afterwards: error %v", err)
	}
}

// TestImportWithAnotherKey: an export that claims a lineage of the ledger with another
// key is refused.
func TestImportWithAnotherKey(t *testing.T) {
	us := takeApart(t, exampleBytes(t))
	forged := exampleExport().thread
	forged.key, forged.id, forged.rewinds = docket.LineageKey{1}, "other", 0
	export := putTogether(t, []unit{{unitThread, appendExportThread(nil, forged)}, {unitEnd, appendExportEnd(nil, exportEnd{})}})
	for what, l := range map[string]docket.Forker{"file": open(t, nil), "memory": NewMemory(nil)} {
		importOf(t, l, putTogether(t, us), "")
		var damage *docket.CorruptError
		if report, err := l.Import(t.Context(), bytes.NewReader(export), nil); !errors.As(err, &damage) {
			t.Errorf("%s: imported %+v, error %v", what, report, err)
		}
	}
}
