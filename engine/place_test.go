package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"docket"
)

// ledgerBytes makes a ledger with one record and returns its file.
func ledgerBytes(t *testing.T) (whole []byte, h docket.Handle) {
	t.Helper()
	l := open(t, nil)
	h = recordOne(t, l, result("call_1", "payload"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	return whole, h
}

// setMeta changes a u32 or u64 of a meta page and its checksum.
func setMeta(b []byte, page, off, size int, v uint64) []byte {
	b = bytes.Clone(b)
	m := b[page*os.Getpagesize()+pageHeader:]
	if size == 4 {
		binary.NativeEndian.PutUint32(m[off:], uint32(v))
	} else {
		binary.NativeEndian.PutUint64(m[off:], v)
	}
	sum := fnv.New64a()
	sum.Write(m[:metaChecksum])
	binary.NativeEndian.PutUint64(m[metaChecksum:], sum.Sum64())
	return b
}

// flip changes a bit of byte at.
func flip(b []byte, at ...int) []byte {
	b = bytes.Clone(b)
	for _, i := range at {
		b[i] ^= 1
	}
	return b
}

// TestG1WhatIsNoLedger: an error that names the file, no panic, and not a byte
// changed; the lock is free afterwards.
func TestG1WhatIsNoLedger(t *testing.T) {
	whole, _ := ledgerBytes(t)
	page := os.Getpagesize()
	corrupt := func(err error) bool { var c *docket.CorruptError; return errors.As(err, &c) }
	foreign := func(err error) bool { return errors.Is(err, docket.ErrNotLedger) }
	newer := func(err error) bool {
		var v *docket.VersionError
		return errors.As(err, &v) && v.Found == 2 && v.Newest == 1
	}
	cases := []struct {
		name  string
		bytes []byte
		want  func(error) bool
	}{
		{"empty", nil, foreign},
		{"text", []byte("hello\n"), foreign},
		{"one page of zeros", make([]byte, page), foreign},
		{"garbage", bytes.Repeat([]byte("docket!\n"), 8192), foreign},
		{"SQLite", append([]byte("SQLite format 3\x00"), make([]byte, 64<<10)...), foreign},
		{"bbolt of something else", foreignBolt(t, nil), foreign},
		{"newer", foreignBolt(t, binary.LittleEndian.AppendUint32(nil, 2)), newer},
		{"version 0", foreignBolt(t, make([]byte, 4)), func(err error) bool { var v *docket.VersionError; return errors.As(err, &v) }},
		{"version of 3 bytes", foreignBolt(t, make([]byte, 3)), corrupt},
		{"both meta pages", flip(whole, pageHeader+20, page+pageHeader+20), corrupt},
		{"cut short", whole[:8*page], corrupt},
		{"two pages", whole[:2*page], corrupt},
		{"root page outside", setMeta(setMeta(whole, 0, 16, 8, 1<<40), 1, 16, 8, 1<<40), corrupt},
		{"freelist outside", setMeta(setMeta(whole, 0, 32, 8, 1<<40), 1, 32, 8, 1<<40), corrupt},
		{"high water mark", setMeta(setMeta(whole, 0, 40, 8, 1<<60), 1, 40, 8, 1<<60), corrupt},
		{"page size", setMeta(setMeta(whole, 0, 8, 4, 100), 1, 8, 4, 100), corrupt},
		{"bbolt version", setMeta(setMeta(whole, 0, 4, 4, 9), 1, 4, 4, 9), corrupt},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger")
			if err := os.WriteFile(path, c.bytes, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, o := range []*Options{{}, {ReadOnly: true}, {}} {
				unchanged(t, path, func() {
					l, err := Open(path, o)
					if err == nil {
						l.Close()
					}
					if !c.want(err) || !bytes.Contains([]byte(err.Error()), []byte(path)) {
						t.Errorf("read only %t: error %v", o.ReadOnly, err)
					}
				})
			}
		})
	}
}

// foreignBolt makes a bbolt file; with version it has our bucket.
func foreignBolt(t *testing.T, version []byte) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bolt")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		if version == nil {
			_, err := tx.CreateBucket([]byte("other"))
			return err
		}
		b, err := tx.CreateBucket(bucketDocket)
		if err != nil {
			return err
		}
		return b.Put(keyFormat, version)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestG1OneMetaPageIsEnough: a crash may leave the newest one torn; what was before
// it is whole.
func TestG1OneMetaPageIsEnough(t *testing.T) {
	whole, h := ledgerBytes(t)
	page := os.Getpagesize()
	for meta := range 2 {
		path := filepath.Join(t.TempDir(), "ledger")
		if err := os.WriteFile(path, flip(whole, meta*page+pageHeader+50), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(path, nil)
		if err != nil {
			t.Errorf("without meta page %d: %v", meta, err)
			continue
		}
		_, newest := read(t, l, "t", h.MemID)
		if newest != nil && !errors.Is(newest, docket.ErrNotFound) {
			t.Errorf("without meta page %d: %v", meta, newest)
		}
		holds(t, l, recordOne(t, l, result("call_1", "payload")).MemID, "payload")
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir, nil); !errors.Is(err, docket.ErrNotLedger) {
		t.Errorf("a folder: %v", err)
	}
	missing := filepath.Join(dir, "sub", "missing")
	for _, o := range []*Options{{ReadOnly: true}, {MustExist: true}} {
		if _, err := Open(missing, o); !errors.Is(err, docket.ErrNoLedger) {
			t.Errorf("a missing file with %+v: %v", *o, err)
		}
	}
	if made, _ := filepath.Glob(filepath.Join(dir, "*")); len(made) > 0 {
		t.Errorf("failed openings made %q", made)
	}
	if runtime.GOOS == "windows" {
		return
	}
	l := openAt(t, filepath.Join(dir, "real"), nil)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(l.Path(), link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link, nil); !errors.Is(err, docket.ErrNotLedger) {
		t.Errorf("a symbolic link: %v", err)
	}
}

// TestModes: files are for the owner only, even those that were not.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	path := filepath.Join(t.TempDir(), "a", "b", "ledger")
	if err := openAt(t, path, nil).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	openAt(t, path, nil)
	for name, want := range map[string]os.FileMode{path: 0o600, path + lockSuffix: 0o600, filepath.Dir(path): 0o700, filepath.Dir(filepath.Dir(path)): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, error %v, want %v", name, info.Mode().Perm(), err, want)
		}
	}
}

// TestHalfMadeLedger: what a crash leaves of a ledger that was being made is made
// again.
func TestHalfMadeLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	if err := os.WriteFile(path+newSuffix, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := openAt(t, path, nil)
	holds(t, l, recordOne(t, l, result("1", "x")).MemID, "x")
	made, _ := filepath.Glob(path + "*")
	if want := []string{path, path + lockSuffix}; !slices.Equal(made, want) {
		t.Errorf("files %q, want %q", made, want)
	}
}

// TestSmallLedgerIsSmall: bbolt's own settings make a file of 32 MiB of it.
func TestSmallLedgerIsSmall(t *testing.T) {
	l := open(t, nil)
	fill(t, l, 50)
	info, err := os.Stat(l.Path())
	if err != nil || info.Size() > 512<<10 {
		t.Errorf("%d bytes for 50 small records, error %v", info.Size(), err)
	}
}

// TestReadOnly: readers share the file, and none writes.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l := openAt(t, path, nil)
	h := recordOne(t, l, result("1", "x"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	a, b := openAt(t, path, &Options{ReadOnly: true}), openAt(t, path, &Options{ReadOnly: true})
	holds(t, a, h.MemID, "x")
	holds(t, b, h.MemID, "x")
	_, errRecord := a.Record(t.Context(), "t", result("1", "x"))
	_, errAppend := a.Append(t.Context(), "t", docket.Epoch{Mems: []docket.MemID{h.MemID}})
	for name, err := range map[string]error{"Record": errRecord, "Append": errAppend, "Erase": a.Erase(t.Context(), "t", h.MemID)} {
		if !errors.Is(err, docket.ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
