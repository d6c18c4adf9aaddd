package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"docket"
	"docket/engine"
)

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// incompressible makes n bytes that no level makes smaller.
func incompressible(n int, seed uint64) string {
	b := make([]byte, n)
	x := seed*2 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x >> 32)
	}
	return string(b)
}

// TestVacuumShrinksG3 is case G3: most of a file is expired, stats says so, vacuum
// gives the space back and keeps the rest, byte for byte.
func TestVacuumShrinksG3(t *testing.T) {
	l := openNew(t, &engine.Options{NoSync: true})
	var hs []docket.Handle
	for i := range 200 {
		hs = append(hs, record(t, l, "thread", result(docket.CallID(fmt.Sprint(i)), incompressible(100<<10, uint64(i))))...)
	}
	full := sizeOf(t, l.Path())
	for _, h := range hs[:190] {
		if err := l.Expire(t.Context(), "thread", h.MemID); err != nil {
			t.Fatal(err)
		}
	}
	want, before := records(t, l, "thread"), stats(t, l)
	if before.FreeBytes < full*8/10 {
		t.Errorf("of %d bytes %d are free, after 95 %% was expired", full, before.FreeBytes)
	}
	report, err := l.Vacuum(t.Context(), nil)
	if err != nil || !report.Done {
		t.Fatalf("error %v, report %+v", err, report)
	}
	after := stats(t, l)
	t.Logf("file %d bytes, of which %d free; vacuumed to %d, of which %d free", report.Before, before.FreeBytes, report.After, after.FreeBytes)
	if report.After != sizeOf(t, l.Path()) || report.After > full/10 {
		t.Errorf("%d bytes, reported %d, of %d before", sizeOf(t, l.Path()), report.After, full)
	}
	if after.Records != 10 || after.Expired != 190 || after.PayloadBytes != before.PayloadBytes {
		t.Errorf("stats %+v, before %+v", after, before)
	}
	same(t, records(t, l, "thread"), want)
	again := record(t, l, "thread", result("0", incompressible(100<<10, 0)))
	if again[0].MemID != hs[0].MemID || again[0].Seq != hs[0].Seq {
		t.Errorf("an expired record came back as %+v, was %+v", again[0], hs[0])
	}
	alone(t, l.Path())
}

// TestVacuumOfASmallFileG3: what would not help is not done, and never makes a file
// larger.
func TestVacuumOfASmallFileG3(t *testing.T) {
	l := openNew(t, nil)
	record(t, l, "thread", result("1", "small"))
	before := sizeOf(t, l.Path())
	if report, err := l.Vacuum(t.Context(), nil); err != nil || sizeOf(t, l.Path()) > before || report.After > before {
		t.Errorf("error %v, report %+v", err, report)
	}
	before = sizeOf(t, l.Path())
	if report, err := l.Vacuum(t.Context(), nil); err != nil || report.Done || report.After != before {
		t.Errorf("again: error %v, report %+v", err, report)
	}
	if report, err := l.Vacuum(t.Context(), &engine.VacuumOptions{Force: true}); err != nil || !report.Done || report.After > before {
		t.Errorf("forced: error %v, report %+v", err, report)
	}
	record(t, l, "thread", result("2", "still writes"))
}

// TestVacuumLeavesNothingOfErased: P8.
func TestVacuumLeavesNothingOfErased(t *testing.T) {
	l := openNew(t, nil)
	secret := incompressible(40, 77)
	hs := record(t, l, "thread", result("1", secret), result("2", secret+incompressible(90<<10, 3)), result("3", "stays"))
	for _, h := range hs[:2] {
		if err := l.Erase(t.Context(), "thread", h.MemID); err != nil {
			t.Fatal(err)
		}
	}
	holds := func() bool {
		b, err := os.ReadFile(l.Path())
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(b, []byte(secret))
	}
	if !holds() {
		t.Error("nothing of the secret was in free pages: the test shows nothing")
	}
	if _, err := l.Vacuum(t.Context(), &engine.VacuumOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if holds() {
		t.Error("erased bytes are in the vacuumed file")
	}
	if _, err := l.Record(t.Context(), "thread", result("1", secret)); !errors.Is(err, docket.ErrErased) {
		t.Errorf("recording an erased result after vacuum: %v", err)
	}
}

func TestVacuumKeepsModeAndLock(t *testing.T) {
	l := openNew(t, nil)
	fill(t, l)
	if _, err := l.Vacuum(t.Context(), &engine.VacuumOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(l.Path()); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	var locked *docket.LockedError
	if _, err := engine.Open(l.Path(), &engine.Options{LockTimeout: -1}); !errors.As(err, &locked) {
		t.Errorf("opening it twice after vacuum: %v", err)
	}
}

// TestVacuumWhileUsed: views go on, what is recorded meanwhile is kept, a view that
// began before reads on after.
func TestVacuumWhileUsed(t *testing.T) {
	l := openNew(t, &engine.Options{NoSync: true})
	big := result("big", text(1<<20, 1))
	h := record(t, l, "thread", big)[0]
	var wg sync.WaitGroup
	var recorded [4][]docket.Handle
	for g := range recorded {
		wg.Go(func() {
			for i := range 30 {
				hs, err := l.Record(t.Context(), "thread", result(docket.CallID(fmt.Sprint(g, ".", i)), text(i*3000, uint64(100*g+i))))
				if err != nil {
					t.Error(err)
					return
				}
				recorded[g] = append(recorded[g], hs...)
			}
		})
	}
	err := l.View(t.Context(), "thread", h.MemID, func(r docket.Record) error {
		for range 3 {
			if _, err := l.Vacuum(t.Context(), &engine.VacuumOptions{Force: true}); err != nil {
				return err
			}
		}
		var out []byte
		for n := range r.Frames() {
			var err error
			if out, err = r.AppendFrame(out, n); err != nil {
				return err
			}
		}
		if !bytes.Equal(out, big.Payload) {
			return errors.New("another payload")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	wg.Wait()
	for g := range recorded {
		for i, h := range recorded[g] {
			if b, err := payload(l, "thread", h.MemID); err != nil || string(b) != text(i*3000, uint64(100*g+i)) {
				t.Errorf("record %d.%d: %d bytes, error %v", g, i, len(b), err)
			}
		}
	}
}

// TestVacuumThatDied: what a killed vacuum leaves is removed by the next opening,
// and was never the ledger.
func TestVacuumThatDied(t *testing.T) {
	path := filled(t)
	left := path + ".vacuum"
	if err := os.WriteFile(left, []byte("half of a new file"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, path, nil)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the remains of a vacuum are still there")
	}
	if len(records(t, l, "thread")) == 0 {
		t.Error("no records")
	}
}

func TestVacuumIsRefused(t *testing.T) {
	path := filled(t)
	l, err := engine.Open(path, &engine.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Vacuum(t.Context(), nil); !errors.Is(err, docket.ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
}

func TestVacuumRefusesADamagedLedger(t *testing.T) {
	path := filled(t)
	f := openRaw(t, path)
	f.flip(f.leaf("grams")*f.page+10, 0x80)
	f.close()
	before, _ := os.ReadFile(path)
	l, err := engine.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var damage *docket.CorruptError
	if _, err := l.Vacuum(t.Context(), &engine.VacuumOptions{Force: true}); !errors.As(err, &damage) {
		t.Errorf("error %v, want a %T", err, damage)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the damaged file was changed")
	}
	alone(t, filepath.Clean(path))
}

func stats(t *testing.T, l *engine.Ledger) engine.Stats {
	t.Helper()
	s, err := l.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStats(t *testing.T) {
	l := openNew(t, nil)
	if s := stats(t, l); s.Records != 0 || s.Threads != 0 || s.FileBytes != sizeOf(t, l.Path()) || s.Ratio() != 0 {
		t.Errorf("of an empty ledger: %+v", s)
	}
	fill(t, l)
	s := stats(t, l)
	want := engine.Stats{
		FileBytes: sizeOf(t, l.Path()), LiveBytes: s.LiveBytes, FreeBytes: s.FileBytes - s.LiveBytes,
		Threads: 3, Lineages: 2, Records: 8, Expired: 1, Erased: 1, // the fork counts its own epochs
		PayloadBytes: s.PayloadBytes, PayloadChars: s.PayloadChars, StoredBytes: s.StoredBytes, Epochs: 5, Decisions: 7,
	}
	if s != want {
		t.Errorf("stats %+v, want %+v", s, want)
	}
	if payload := int64(2*len("a small one") + 900<<10 + 70<<10 + 500 + len("same call id") + len("recorded after the fork")); s.PayloadBytes != payload || s.PayloadChars > payload {
		t.Errorf("payload bytes %d, characters %d, want %d bytes", s.PayloadBytes, s.PayloadChars, payload)
	}
	if r := s.Ratio(); r < 1.5 || r > 10 {
		t.Errorf("ratio %f", r)
	}
}
