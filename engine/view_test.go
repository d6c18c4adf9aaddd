package engine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"docket"
	"docket/codec"
)

// TestG4SlowReader: a view that stays open while four writers grow the file past
// several doublings stops neither them nor other readers, and reads what it read.
func TestG4SlowReader(t *testing.T) {
	l := open(t, &Options{NoSync: true})
	large := string(sampleJSON(1<<20, 1))
	h := recordOne(t, l, result("large", large))
	before := size(t, l)
	err := l.View(t.Context(), "t", h.MemID, func(rec docket.Record) error {
		first, err := rec.AppendFrame(nil, 0)
		if err != nil {
			return err
		}
		section := bytes.Clone(rec.Section(docket.SectionPaths))
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := range 6 {
					r := result(docket.CallID(fmt.Sprint(w, i)), string(sampleJSON(1<<20, uint64(10+10*w+i))))
					holds(t, l, recordOne(t, l, r).MemID, string(r.Payload))
				}
			})
		}
		wg.Wait()
		payload, err := payloadOf(rec)
		if err != nil || string(payload) != large || !bytes.Equal(payload[:len(first)], first) {
			t.Errorf("the slow reader reads %d bytes, error %v", len(payload), err)
		}
		if !bytes.Equal(rec.Section(docket.SectionPaths), section) {
			t.Error("the section that it holds has changed")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if after := size(t, l); after < 4*before {
		t.Errorf("the file grew from %d to %d bytes only", before, after)
	}
}

func size(t *testing.T, l *Ledger) int64 {
	t.Helper()
	info, err := os.Stat(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestG4RecordInsideOfAView: bbolt deadlocks when its map must grow then; ours is
// large from the start.
func TestG4RecordInsideOfAView(t *testing.T) {
	l := open(t, &Options{NoSync: true})
	h := recordOne(t, l, result("1", "x"))
	err := l.View(t.Context(), "t", h.MemID, func(docket.Record) error {
		for i := range 20 {
			recordOne(t, l, result(docket.CallID(fmt.Sprint("in ", i)), string(sampleJSON(1<<20, uint64(i)))))
		}
		return l.View(t.Context(), "t", h.MemID, func(docket.Record) error { return nil })
	})
	if err != nil {
		t.Error(err)
	}
}

// TestG5ManyFetches: 10,000 views leave no goroutine and no memory behind.
func TestG5ManyFetches(t *testing.T) {
	l := open(t, &Options{NoSync: true})
	h := recordOne(t, l, result("1", string(sampleJSON(200<<10, 1))))
	buf := make([]byte, 0, 64<<10)
	fetch := func(n int) {
		for i := range n {
			if err := l.View(t.Context(), "t", h.MemID, func(rec docket.Record) (err error) {
				_, err = rec.AppendFrame(buf, i%rec.Frames())
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	fetch(1000)
	goroutines, heap := runtime.NumGoroutine(), heapBytes()
	fetch(10_000)
	if now := runtime.NumGoroutine(); now > goroutines {
		t.Errorf("%d goroutines, before %d", now, goroutines)
	}
	if now := heapBytes(); now > heap+4<<20 {
		t.Errorf("%d bytes on the heap, before %d", now, heap)
	}
}

func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestFlippedBitInAFrame: the error names record and frame, the other frames and
// the other records are as they were.
func TestFlippedBitInAFrame(t *testing.T) {
	l := open(t, nil)
	payload := string(sampleJSON(200<<10, 1))
	h, other := recordOne(t, l, result("1", payload)), recordOne(t, l, result("2", payload))
	damageFrame(t, l, h.Seq)
	t.Cleanup(func() { _ = l.Close() }) // before the check that would find it
	bad := 0
	err := l.View(t.Context(), "t", h.MemID, func(rec docket.Record) error {
		for n := range rec.Frames() {
			got, err := rec.AppendFrame([]byte("dst"), n)
			var c *docket.CorruptError
			switch {
			case err == nil && !strings.Contains(payload, string(got[3:])):
				t.Errorf("frame %d: wrong bytes", n)
			case err == nil:
			case !errors.As(err, &c) || string(got) != "dst" || c.File != l.Path() || c.Place != fmt.Sprintf("record %d, frame %d", h.Seq, n):
				t.Errorf("frame %d: dst %q, error %v", n, got, err)
			default:
				bad++
			}
		}
		return nil
	})
	if err != nil || bad != 1 {
		t.Errorf("%d damaged frames, error %v", bad, err)
	}
	holds(t, l, other.MemID, payload)
}

// damageFrame flips a bit in the middle of a record's first frame group.
func damageFrame(t *testing.T, l *Ledger, seq docket.Seq) {
	t.Helper()
	err := l.cur.db.Update(func(tx *bbolt.Tx) error {
		th, err := openThread(newTxn(tx, l.cur, l.path), l.path, "t")
		if err != nil {
			return err
		}
		own := th.lineage.Bucket(bucketData).Bucket(seqKey(seq))
		key := []byte("f\x00\x00\x00\x00")
		group := bytes.Clone(own.Get(key))
		group[len(group)/2] ^= 1
		return own.Put(key, group)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestG1TruncatedUnderTheReader: a page that is gone faults; the process lives and
// the error names what was read.
func TestG1TruncatedUnderTheReader(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file cannot be cut short on Windows")
	}
	l := open(t, nil)
	t.Cleanup(func() { _ = l.Close() })
	h := recordOne(t, l, result("1", string(sampleJSON(2<<20, 1))))
	var c *docket.CorruptError
	err := l.View(t.Context(), "t", h.MemID, func(rec docket.Record) error {
		section := rec.Section(docket.SectionPaths)
		if err := os.Truncate(l.Path(), 2*int64(os.Getpagesize())); err != nil {
			t.Fatal(err)
		}
		if _, err := rec.AppendFrame(nil, rec.Frames()-1); !errors.As(err, &c) {
			t.Errorf("AppendFrame: %v", err)
		}
		if len(section) > 0 {
			_ = bytes.Count(section, []byte{0}) // faults in the caller's code
			t.Error("reading a section that is gone did not fault")
		}
		return nil
	})
	if !errors.As(err, &c) {
		t.Errorf("View: %v", err)
	}
	if _, err := read(t, l, "t", h.MemID); !errors.As(err, &c) {
		t.Errorf("View again: %v", err)
	}
	if _, err := l.Record(t.Context(), "t", result("2", "x")); err == nil {
		t.Error("Record into a file that is gone: no error")
	}
}

// TestPanicOfTheCaller: it is the caller's, and leaves nothing held.
func TestPanicOfTheCaller(t *testing.T) {
	l := open(t, nil)
	h := recordOne(t, l, result("1", "x"))
	func() {
		defer func() {
			if p := recover(); p != "mine" {
				t.Errorf("recovered %v", p)
			}
		}()
		_ = l.View(t.Context(), "t", h.MemID, func(docket.Record) error { panic("mine") })
	}()
	func() {
		defer func() {
			if p, ok := recover().(runtime.Error); !ok {
				t.Errorf("recovered %v", p)
			}
		}()
		var none *docket.Handle
		_ = l.View(t.Context(), "t", h.MemID, func(docket.Record) error { none.Seq++; return nil })
	}()
	done := make(chan struct{})
	go func() { // as t.FailNow in a callback does
		defer close(done)
		_ = l.View(t.Context(), "t", h.MemID, func(docket.Record) error { runtime.Goexit(); return nil })
	}()
	<-done
	holds(t, l, h.MemID, "x")
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestDamagedAside: arguments that cannot be read are unknown, attachments say so.
func TestDamagedAside(t *testing.T) {
	l := open(t, nil)
	t.Cleanup(func() { _ = l.Close() })
	r := result("1", string(sampleJSON(100<<10, 1)))
	r.Attachments = []docket.Attachment{{Kind: "image", Data: []byte("png")}}
	h := recordOne(t, l, r)
	if err := l.cur.db.Update(func(tx *bbolt.Tx) error {
		th, err := openThread(newTxn(tx, l.cur, l.path), l.path, "t")
		if err != nil {
			return err
		}
		own := th.lineage.Bucket(bucketData).Bucket(seqKey(h.Seq))
		packed, err := codec.ParsePacked(own.Get(keyOthers))
		if err != nil {
			return err
		}
		parts := slices.Clone(packed.Parts())
		parts[0].Body = []byte("not zstd") // the aside is the first
		return own.Put(keyOthers, codec.AppendPacked(nil, parts))
	}); err != nil {
		t.Fatal(err)
	}
	if err := l.View(t.Context(), "t", h.MemID, func(rec docket.Record) error {
		var c *docket.CorruptError
		if _, err := rec.Attachments(); rec.Args() != nil || !errors.As(err, &c) {
			t.Errorf("arguments %q, error %v", rec.Args(), err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	holds(t, l, h.MemID, string(r.Payload))
}
