package engine

// One opening of the bbolt file. After a commit error the file is opened anew, and
// readers of the old opening finish on its memory map: they are counted, and the
// last one unmaps it.

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"docket"
)

// firstMap is the address space taken at opening on 64-bit Unix. A map that must
// grow waits for every reader; one this large never does. It costs no memory.
const firstMap = 64 << 30

// A file grows by a quarter of itself between these bounds: each growth costs an
// fsync, and a small ledger should stay small.
const (
	firstAlloc = 128 << 10
	lastAlloc  = 16 << 20
)

// store is one opening of the file. refs, retired and stuck are guarded by Ledger.mu.
type store struct {
	db      *bbolt.DB
	file    *os.File // bbolt's own, captured to let go of its lock where bbolt cannot
	refs    int
	retired bool   // no new readers; the last one closes
	mapped  []byte // the file, for audits, which look at pages before bbolt does; nil: they read
	audited audits
	stuck   bool // bbolt panicked while it held its locks: it cannot be closed
}

// openStore opens the file with the largest map that the system allows.
func openStore(path string, o *Options) (*store, error) {
	size := int64(0)
	if runtime.GOOS != "windows" && strconv.IntSize == 64 {
		size = firstMap
	}
	s, err := openMapped(path, o, int(size))
	for size > 1<<30 && noMemory(err) {
		size /= 8
		s, err = openMapped(path, o, int(size))
	}
	return s, err
}

func openMapped(path string, o *Options, size int) (*store, error) {
	s := &store{}
	err := guard(path, "file structure", func() (err error) {
		s.db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			// Our own lock keeps other processes out; bbolt's is for tools that
			// don't know ours. Zero would wait for ever.
			Timeout:         max(o.LockTimeout, time.Millisecond),
			ReadOnly:        o.ReadOnly,
			NoSync:          o.NoSync,
			FreelistType:    bbolt.FreelistMapType,
			InitialMmapSize: size,
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				f, err := openFile(name, flag&^os.O_CREATE, mode)
				s.file = f
				return f, err
			},
		})
		if err != nil {
			return err
		}
		return checkFormat(s.db, path)
	})
	if err == nil {
		if size > 0 {
			s.mapped = mapFile(s.file, size)
		}
		return s, nil
	}
	if s.file != nil {
		_ = drop(s.file) // after a panic bbolt keeps it, with its lock
	}
	if s.db != nil {
		_ = s.db.Close()
	}
	return nil, openError(path, err)
}

// openError names what bbolt's error means for the caller.
func openError(path string, err error) error {
	if errors.Is(err, bolterrors.ErrTimeout) {
		return &docket.LockedError{File: path, Holder: "another program that has the file itself open"}
	}
	return fmt.Errorf("engine: open %q: %w", path, err)
}

// saysOnly tells whether err's text ends in that of target, for errors that were
// wrapped as text.
func saysOnly(err, target error) bool {
	return err != nil && strings.HasSuffix(err.Error(), target.Error())
}

// close unmaps and closes. Only the last user calls it.
func (s *store) close() error {
	unmapFile(s.mapped)
	if s.stuck {
		return drop(s.file)
	}
	return s.db.Close()
}

// drop closes a file that bbolt has mapped and locked, behind its back. Closing
// alone would not do: a map keeps the lock of the file that it was made from.
func drop(f *os.File) error { return errors.Join(unlock(f), f.Close()) }
