package engine_test

// A full disk, case G5 and promise P9: a tmpfs of a few megabytes. Mounting it
// needs root; where that cannot be, the test is skipped and says so.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"docket"
	"docket/engine"
)

// mount mounts a tmpfs of the given size and returns its folder.
func mount(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("docket-test", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("NOT TESTED: a tmpfs cannot be mounted here (%v): run as root to test full and read-only disks", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestP9FullDisk(t *testing.T) {
	dir := mount(t, "size=8m")
	l := open(t, filepath.Join(dir, "ledger.docket"), nil)
	var kept []docket.Handle
	var kinds []docket.Result
	var failed error
	for i := 0; failed == nil && i < 1000; i++ {
		r := result(docket.CallID(fmt.Sprint(i)), incompressible(300<<10, uint64(i)))
		begin := time.Now()
		hs, err := l.Record(t.Context(), "thread", r)
		if failed = err; err == nil {
			kept, kinds = append(kept, hs...), append(kinds, r)
		} else if took := time.Since(begin); took > time.Second {
			t.Errorf("the error took %v", took)
		}
	}
	if !errors.Is(failed, engine.ErrFull) || len(kept) < 5 {
		t.Fatalf("after %d records: %v, want %v", len(kept), failed, engine.ErrFull)
	}
	holdAll := func(when string) {
		t.Helper()
		for i, h := range kept {
			if b, err := payload(l, "thread", h.MemID); err != nil || string(b) != string(kinds[i].Payload) {
				t.Fatalf("%s: record %d: %d bytes, error %v", when, i, len(b), err)
			}
		}
		report, err := l.Check(t.Context(), &engine.CheckOptions{ReadData: true})
		if err != nil || len(report.Findings) > 0 {
			t.Fatalf("%s: check: error %v, findings %v", when, err, report.Findings)
		}
	}
	holdAll("when it is full")
	if err := l.Backup(t.Context(), filepath.Join(dir, "backup.docket"), nil); !errors.Is(err, engine.ErrFull) {
		t.Errorf("backup onto the full disk: %v", err)
	}
	if _, err := l.Vacuum(t.Context(), &engine.VacuumOptions{Force: true}); !errors.Is(err, engine.ErrFull) {
		t.Errorf("vacuum on the full disk: %v", err)
	}
	alone(t, l.Path())
	holdAll("after backup and vacuum failed")
	if err := syscall.Mount("docket-test", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	more := result("after space was freed", incompressible(300<<10, 1<<20))
	kept, kinds = append(kept, record(t, l, "thread", more)...), append(kinds, more)
	holdAll("after space was freed")
	path := l.Path()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, path, nil)
	holdAll("after opening again")
}

// TestP9EraseOnAFullDisk: room can be made from inside.
func TestP9EraseOnAFullDisk(t *testing.T) {
	dir := mount(t, "size=8m")
	l := open(t, filepath.Join(dir, "ledger.docket"), nil)
	var kept []docket.Handle
	for i := 0; ; i++ {
		hs, err := l.Record(t.Context(), "thread", result(docket.CallID(fmt.Sprint(i)), incompressible(300<<10, uint64(i))))
		if err != nil {
			break
		}
		kept = append(kept, hs...)
	}
	// A commit writes beside what it replaces, so the first ones need a little space.
	if err := os.Truncate(filepath.Join(dir, "ledger.docket.lock"), 0); err != nil {
		t.Fatal(err)
	}
	for _, h := range kept[:5] {
		if err := l.Erase(t.Context(), "thread", h.MemID); err != nil {
			t.Fatalf("erase on a full disk: %v", err)
		}
	}
	record(t, l, "thread", result("again", incompressible(300<<10, 1<<21)))
}

// TestP9ReadOnlyDisk: on a file system that is mounted for reading, a ledger can be
// read and says why it cannot be written.
func TestP9ReadOnlyDisk(t *testing.T) {
	dir := mount(t, "size=8m")
	path := filepath.Join(dir, "ledger.docket")
	l, err := engine.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := record(t, l, "thread", result("1", "payload"))[0]
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("docket-test", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=8m"); err != nil {
		t.Fatal(err)
	}
	l, err = engine.Open(path, &engine.Options{ReadOnly: true})
	if err != nil {
		t.Fatalf("reading from a read-only disk: %v", err)
	}
	defer l.Close()
	if b, err := payload(l, "thread", h.MemID); err != nil || string(b) != "payload" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := l.Record(t.Context(), "thread", result("2", "more")); !errors.Is(err, docket.ErrReadOnly) {
		t.Errorf("record: %v, want %v", err, docket.ErrReadOnly)
	}
	if _, err := engine.Open(path, nil); !errors.Is(err, syscall.EROFS) {
		t.Errorf("opening it for writing: %v", err)
	}
}
