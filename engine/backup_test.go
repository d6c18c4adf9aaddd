package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"docket"
	"docket/engine"
)

// records reads all that a ledger has of a thread, by mem id.
func records(t *testing.T, l *engine.Ledger, thread docket.ThreadID) map[docket.MemID]string {
	t.Helper()
	all := map[docket.MemID]string{}
	for h, err := range l.List(t.Context(), thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := payload(l, thread, h.MemID)
		var gone *docket.ExpiredError
		if err != nil && !errors.As(err, &gone) {
			t.Fatal(err)
		}
		all[h.MemID] = string(b)
	}
	return all
}

func same(t *testing.T, got, want map[docket.MemID]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
	for id, p := range want {
		if got[id] != p {
			t.Errorf("record %s has %d other bytes", id, len(got[id]))
		}
	}
}

// TestBackupIsTheLedger: the same records and decisions, under the same mem ids
// (L5), in a file that is no larger and has nothing of what was erased.
func TestBackupIsTheLedger(t *testing.T) {
	l := openNew(t, nil)
	fill(t, l)
	secret := "a secret that must not stay"
	hs := record(t, l, "thread", result("secret", secret+text(70<<10, 5)))
	if err := l.Erase(t.Context(), "thread", hs[0].MemID); err != nil {
		t.Fatal(err)
	}
	want, decided := records(t, l, "thread"), decisions(t, l)
	path := filepath.Join(t.TempDir(), "backup.docket")
	if err := l.Backup(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	b := open(t, path, nil)
	same(t, records(t, b, "thread"), want)
	if got := decisions(t, b); len(got.Epochs) != len(decided.Epochs) || got.Form != decided.Form {
		t.Errorf("decisions %v, want %v", got, decided)
	}
	again := record(t, b, "thread", result("large", text(900<<10, 1)))
	if _, known := want[again[0].MemID]; !known {
		t.Error("a result that was recorded has another mem id in the backup")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte(secret)) {
		t.Error("erased bytes are in the backup")
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("the backup has mode %v", info.Mode())
	}
	alone(t, path)
}

func decisions(t *testing.T, l *engine.Ledger) docket.Decisions {
	t.Helper()
	d, err := l.Decided(t.Context(), "thread")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// alone demands that nothing but a ledger and its lock lie in path's folder.
func alone(t *testing.T, path string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := f.Name(); name != filepath.Base(path) && name != filepath.Base(path)+".lock" {
			t.Errorf("%q was left behind", name)
		}
	}
}

func TestBackupOverwritesNothing(t *testing.T) {
	l := openNew(t, nil)
	fill(t, l)
	path := filepath.Join(t.TempDir(), "backup.docket")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Backup(t.Context(), path, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v, want %v", err, fs.ErrExist)
	}
	if err := l.Backup(t.Context(), l.Path(), nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("onto itself: error %v, want %v", err, fs.ErrExist)
	}
	if b, _ := os.ReadFile(path); string(b) != "precious" {
		t.Error("the file that was there has changed")
	}
	alone(t, path)
	if err := l.Backup(t.Context(), filepath.Join(t.TempDir(), "no folder", "x"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a folder that is not there: error %v", err)
	}
}

func TestBackupStopsWhenCancelled(t *testing.T) {
	l := openNew(t, nil)
	fill(t, l)
	ctx, cancel := context.WithCancel(t.Context())
	path := filepath.Join(t.TempDir(), "backup.docket")
	err := l.Backup(ctx, path, func(_, _ int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a cancelled backup left a file")
	}
	alone(t, path)
}

// TestBackupIsOneMoment: what is recorded meanwhile is in it whole or not at all.
func TestBackupIsOneMoment(t *testing.T) {
	l := openNew(t, &engine.Options{NoSync: true})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			id := docket.CallID(fmt.Sprint(i))
			_, _ = l.Record(context.Background(), "thread", result(id, text(i*997%70_000, uint64(i))), result(id+"b", "second"))
		}
	}()
	for i := range 5 {
		path := filepath.Join(t.TempDir(), "backup.docket")
		if err := l.Backup(t.Context(), path, nil); err != nil {
			t.Fatal(err)
		}
		b := open(t, path, nil)
		report, err := b.Check(t.Context(), &engine.CheckOptions{ReadData: true})
		if err != nil || len(report.Findings) > 0 || report.Records%2 != 0 {
			t.Errorf("backup %d: error %v, %d records, findings %v", i, err, report.Records, report.Findings)
		}
	}
	cancel()
	<-done
}

func TestBackupRefusesADamagedLedger(t *testing.T) {
	path := filled(t)
	f := openRaw(t, path)
	f.flip(f.leaf("handles")*f.page+10, 0x80)
	f.close()
	l, err := engine.Open(path, &engine.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	to := filepath.Join(t.TempDir(), "backup.docket")
	var damage *docket.CorruptError
	if err := l.Backup(t.Context(), to, nil); !errors.As(err, &damage) {
		t.Errorf("error %v, want a %T", err, damage)
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a backup of a damaged ledger was left")
	}
}
