package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"docket"
)

// txid returns the number of the last transaction.
func txid(t testing.TB, l *Ledger) (id int) {
	t.Helper()
	if err := l.view("", func(tx txn) error { id = tx.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestTogether: what 64 goroutines record shares commits, 16 or more in each.
func TestTogether(t *testing.T) {
	const goroutines, each = 64, 20
	l := open(t, nil)
	before := txid(t, l)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			payload := string(sampleJSON(4<<10, uint64(g)))
			for i := range each {
				if _, err := l.Record(t.Context(), "t", result(docket.CallID(fmt.Sprint(g, " ", i)), payload)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	commits := txid(t, l) - before
	t.Logf("%d records in %d commits: %.1f each", goroutines*each, commits, float64(goroutines*each)/float64(commits))
	if goroutines*each < 8*commits {
		t.Errorf("%d commits for %d records", commits, goroutines*each)
	}
	if n := len(list(t, l)); n != goroutines*each {
		t.Errorf("%d records, want %d", n, goroutines*each)
	}
}

// hold makes a leader that stays until the returned function is called.
func hold(t *testing.T, l *Ledger) (release func()) {
	t.Helper()
	held, free := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := l.commit(context.Background(), &op{alone: func(*store) error { close(held); <-free; return nil }}); err != nil {
			t.Error(err)
		}
	})
	<-held
	return func() { close(free); wg.Wait() }
}

// await waits until n ops wait in the queue.
func (q *queue) await(n int) {
	for {
		q.mu.Lock()
		waiting := len(q.waiting)
		q.mu.Unlock()
		runtime.Gosched()
		if waiting == n {
			return
		}
	}
}

// TestCancelWhileWaiting: an op that waits is withdrawn and the others are not
// concerned.
func TestCancelWhileWaiting(t *testing.T) {
	l := open(t, nil)
	release := hold(t, l)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			var err error
			if i == 2 {
				_, err = l.Record(ctx, "t", result("cancelled", "x"))
				if errors.Is(err, context.Canceled) {
					err = nil
				} else {
					err = fmt.Errorf("a cancelled Record returned %w", err)
				}
			} else {
				_, err = l.Record(t.Context(), "t", result(docket.CallID(fmt.Sprint(i)), "x"))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	l.commits.await(5)
	cancel()
	l.commits.await(4)
	release()
	wg.Wait()
	if hs := list(t, l); len(hs) != 4 {
		t.Errorf("%d records, want the 4 that were not cancelled", len(hs))
	}
}

// TestRefusedOpLeavesTheOthers: in one commit, an op that is refused, one that
// fails after it wrote, and one that panics; the rest is recorded.
func TestRefusedOpLeavesTheOthers(t *testing.T) {
	l := open(t, nil)
	erased := recordOne(t, l, result("erased", "x"))
	if err := l.Erase(t.Context(), "t", erased.MemID); err != nil {
		t.Fatal(err)
	}
	release := hold(t, l)
	own := errors.New("own")
	var damage *docket.CorruptError
	outcomes := []struct {
		do   func() error
		want func(error) bool
	}{
		{func() error { _, err := l.Record(t.Context(), "t", result("1", "x")); return err }, func(err error) bool { return err == nil }},
		{func() error { return l.Expire(t.Context(), "t", erased.MemID) }, func(err error) bool { return errors.Is(err, docket.ErrErased) }},
		{func() error {
			return l.commit(t.Context(), &op{apply: func(tx txn, writes func()) error {
				writes()
				_, err := tx.CreateBucket([]byte("half"))
				return errors.Join(err, own)
			}})
		}, func(err error) bool { return errors.Is(err, own) }},
		{func() error {
			return l.commit(t.Context(), &op{apply: func(tx txn, writes func()) error {
				writes()
				panic("page 7 is not what it should be")
			}})
		}, func(err error) bool { return errors.As(err, &damage) }},
		{func() error { _, err := l.Record(t.Context(), "t", result("2", "x")); return err }, func(err error) bool { return err == nil }},
	}
	var wg sync.WaitGroup
	for i, o := range outcomes {
		wg.Go(func() {
			if err := o.do(); !o.want(err) {
				t.Errorf("op %d: error %v", i, err)
			}
		})
	}
	l.commits.await(len(outcomes))
	before := txid(t, l)
	release()
	wg.Wait()
	if commits := txid(t, l) - before; commits != 1 {
		t.Errorf("%d commits, want one", commits)
	}
	if n := len(list(t, l)); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
	_ = l.view("", func(tx txn) error {
		if tx.Bucket([]byte("half")) != nil {
			t.Error("half of a failed op is in the file")
		}
		return nil
	})
}

// TestP5FailedCommit: when the commit fails, nobody in it is told that all is well,
// a view that was open reads on, and recording goes on.
func TestP5FailedCommit(t *testing.T) {
	l := open(t, nil)
	large := string(sampleJSON(300<<10, 2))
	before := recordOne(t, l, result("before", string(sampleJSON(100<<10, 1))))
	err := l.View(t.Context(), "t", before.MemID, func(rec docket.Record) error {
		release := hold(t, l)
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				if _, err := l.Record(t.Context(), "t", result(docket.CallID(fmt.Sprint(i)), large)); !errors.Is(err, ErrUnknown) {
					t.Errorf("Record in a failed commit: %v", err)
				}
			})
		}
		l.commits.await(3)
		l.cur.db.MaxSize = 1 // of this opening: its commits fail as soon as the file must grow
		release()
		wg.Wait()
		if payload, err := payloadOf(rec); err != nil || len(payload) != int(before.Bytes) {
			t.Errorf("the view that was open reads %d bytes, error %v", len(payload), err)
		}
		holds(t, l, recordOne(t, l, result("after", "y")).MemID, "y")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if n := len(list(t, l)); n != 2 {
		t.Errorf("%d records, want those before and after", n)
	}
	holds(t, l, recordOne(t, l, result("0", large)).MemID, large)
	holds(t, l, before.MemID, string(sampleJSON(100<<10, 1)))
}

// TestP5TakenBack: a transaction whose meta page was written but not synced is
// taken back, so that nothing acknowledges it later.
func TestP5TakenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	for _, kept := range []int{1, 2} { // the last transaction's meta page is page 0, or 1
		l := openAt(t, path, nil)
		recordOne(t, l, result(docket.CallID(fmt.Sprint("kept ", kept)), "x"))
		failed := recordOne(t, l, result("failed", string(sampleJSON(50<<10, 1))))
		txid := uint64(txid(t, l))
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(takeBack(f, txid+1, false), l.Close()); err != nil {
			t.Fatal(err)
		}
		unchanged(t, path, func() { // no transaction of that number was written
			if err := takeBack(f, txid+1, false); err != nil {
				t.Error(err)
			}
		})
		if err := errors.Join(takeBack(f, txid, false), f.Close()); err != nil {
			t.Fatal(err)
		}
		l = openAt(t, path, nil)
		if hs := list(t, l); len(hs) != kept || hs[len(hs)-1].CallID == "failed" {
			t.Errorf("%d records after one was taken back, want %d", len(hs), kept)
		}
		if _, err := read(t, l, "t", failed.MemID); !errors.Is(err, docket.ErrNotFound) {
			t.Errorf("the record that was taken back: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStoppedLedger: when the file cannot be opened again, every call says so, and
// Close ends.
func TestStoppedLedger(t *testing.T) {
	l := open(t, nil)
	h := recordOne(t, l, result("1", "x"))
	if err := os.Rename(l.path, l.path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := l.cur.file.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := l.Record(t.Context(), "t", result("2", "x")); !errors.Is(err, ErrUnknown) {
			t.Errorf("Record: %v", err)
		}
	}
	if _, err := read(t, l, "t", h.MemID); !errors.Is(err, ErrUnknown) {
		t.Errorf("View: %v", err)
	}
	_ = l.Close()
	if err := os.Rename(l.path+".away", l.path); err != nil {
		t.Fatal(err)
	}
	holds(t, openAt(t, l.path, nil), h.MemID, "x")
}

func TestClosed(t *testing.T) {
	l := open(t, nil)
	h := recordOne(t, l, result("1", "x"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, errRecord := l.Record(t.Context(), "t", result("2", "x"))
	_, errView := read(t, l, "t", h.MemID)
	_, errDecided := l.Decided(t.Context(), "t")
	for name, err := range map[string]error{"Record": errRecord, "View": errView, "Decided": errDecided, "Expire": l.Expire(t.Context(), "t", h.MemID), "Close": l.Close()} {
		if !errors.Is(err, docket.ErrClosed) {
			t.Errorf("%s of a closed ledger: %v", name, err)
		}
	}
}

// TestCloseDuringAFailingCommit: Close waits for the opening that was current when
// it began, and for the one that took its place.
func TestCloseDuringAFailingCommit(t *testing.T) {
	l := open(t, nil)
	recordOne(t, l, result("before", "x"))
	release := hold(t, l)
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := l.Record(t.Context(), "t", result("1", string(sampleJSON(300<<10, 2))))
		if !errors.Is(err, ErrUnknown) && !errors.Is(err, docket.ErrClosed) {
			t.Errorf("Record: %v", err)
		}
	})
	l.commits.await(1)
	l.cur.db.MaxSize = 1
	wg.Go(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	release()
	wg.Wait()
}
