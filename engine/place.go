package engine

// The file itself: what is looked at before bbolt may touch it, and how a new one
// is made. bbolt trusts its file: on one that is no ledger, or a damaged one, it
// panics or faults, and it begins to write into an empty one.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"docket"
)

// newSuffix is what the name of a ledger that is being made adds to its own.
const newSuffix = ".new"

// look checks what is at path without opening it. It returns fs.ErrNotExist when
// nothing is.
func look(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fs.ErrNotExist
	case err != nil:
		return fmt.Errorf("engine: %w", err)
	case info.IsDir():
		return notLedger(path, "it is a folder")
	case !info.Mode().IsRegular():
		return notLedger(path, "it is no regular file")
	case info.Size() == 0:
		return notLedger(path, "it is empty; a ledger never is, not even while it is made")
	}
	return nil
}

func notLedger(path, why string) error {
	return fmt.Errorf("%w: %q: %s", docket.ErrNotLedger, path, why)
}

// create makes an empty ledger at path: whole under another name, synced, then
// renamed, so that no crash leaves half of one. The lock is held.
func create(path string, o *Options) error {
	tmp := path + newSuffix
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("engine: make %q: %w", path, err)
	}
	if err := initialize(tmp, o); err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("engine: make %q: %w", path, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("engine: make %q: %w", path, err)
	}
	return syncFolder(filepath.Dir(path), o)
}

// initialize writes the file of a ledger without records, and syncs it: bbolt syncs
// every commit.
func initialize(path string, o *Options) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockRetry, FreelistType: bbolt.FreelistMapType, NoSync: o.NoSync, OpenFile: openFile})
	if err != nil {
		return err
	}
	db.AllocSize = firstAlloc
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket(bucketDocket)
		if err != nil {
			return err
		}
		id := uuid.New()
		return errors.Join(
			b.Put(keyFormat, binary.LittleEndian.AppendUint32(nil, formatVersion)),
			b.Put(keyID, id[:]),
			b.Put(keyCreated, binary.LittleEndian.AppendUint64(nil, uint64(o.Now().UnixNano()))))
	})
	return errors.Join(err, db.Close())
}

// meta is a bbolt meta page, as far as we need it.
type meta struct {
	pageSize uint32
	root     uint64
	freelist uint64
	highest  uint64 // pages in use: the first page number never written
	txid     uint64
}

// bbolt's constants. A meta page is a page header of 16 bytes and then the fields
// below, in the byte order of the machine.
const (
	metaMagic    = 0xed0cdaed
	metaVersion  = 2
	metaSize     = 64
	pageHeader   = 16
	noFreelist   = 1<<64 - 1
	minPageSize  = 1 << 10
	maxPageSize  = 1 << 24
	metaChecksum = 56
)

// readMeta reads the meta page at off. magic tells whether one was meant to be
// there, ok whether it is whole.
func readMeta(f io.ReaderAt, off int64) (m meta, magic, ok bool) {
	var buf [pageHeader + metaSize]byte
	if _, err := f.ReadAt(buf[:], off); err != nil {
		return m, false, false
	}
	b, order := buf[pageHeader:], binary.NativeEndian
	if order.Uint32(b) != metaMagic {
		return m, false, false
	}
	sum := fnv.New64a()
	sum.Write(b[:metaChecksum])
	m = meta{
		pageSize: order.Uint32(b[8:]),
		root:     order.Uint64(b[16:]),
		freelist: order.Uint64(b[32:]),
		highest:  order.Uint64(b[40:]),
		txid:     order.Uint64(b[48:]),
	}
	ok = order.Uint32(b[4:]) == metaVersion && order.Uint64(b[metaChecksum:]) == sum.Sum64()
	return m, true, ok && m.consistent()
}

func (m meta) consistent() bool {
	size := m.pageSize
	return size >= minPageSize && size <= maxPageSize && size&(size-1) == 0 &&
		m.root < m.highest && (m.freelist < m.highest || m.freelist == noFreelist) &&
		m.highest <= 1<<63/uint64(size)
}

// metas returns the meta pages of a file that are whole, the newest first. magic
// tells whether the file has the look of a bbolt file at all.
func metas(f io.ReaderAt) (whole []meta, magic bool) {
	first, magic, ok := readMeta(f, 0)
	if ok {
		whole = append(whole, first)
		second, _, ok := readMeta(f, int64(first.pageSize))
		if ok && second.txid > first.txid {
			return []meta{second, first}, true
		} else if ok {
			return append(whole, second), true
		}
		return whole, true
	}
	for size := int64(minPageSize); size <= maxPageSize; size <<= 1 {
		m, there, ok := readMeta(f, size)
		if ok && int64(m.pageSize) == size {
			return []meta{m}, true
		}
		magic = magic || there
	}
	return nil, magic
}

// inspect checks the meta pages and the length of the file at path.
func inspect(path string) error {
	f, err := openFile(path, os.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	whole, magic := metas(f)
	if !magic {
		return notLedger(path, "it does not begin as one")
	}
	if len(whole) == 0 {
		return &docket.CorruptError{File: path, Place: "meta pages", Rule: ruleFile, Expected: "one that matches its checksum", Found: "none"}
	}
	if need := int64(whole[0].highest) * int64(whole[0].pageSize); info.Size() < need {
		return &docket.CorruptError{File: path, Place: "file", Rule: ruleFile, Expected: fmt.Sprintf("%d bytes", need), Found: fmt.Sprintf("%d: it is cut short", info.Size())}
	}
	return inspectStart(f, path)
}

// inspectStart checks the two pages that bbolt reads when it opens the file, where
// damage would make it panic: a panic in Open leaves the whole memory map behind. A
// freelist that is out of order would make it write over pages in use.
func inspectStart(f *os.File, path string) error {
	p, err := filePager(f, path)
	if err != nil {
		return err
	}
	if _, err := p.page(p.meta.root); err != nil || p.meta.freelist == noFreelist {
		return err
	}
	before, ascends := uint64(firstPage-1), true
	if _, err := p.freelist(func(id uint64) {
		ascends = ascends && id > before && id < p.meta.highest
		before = id
	}); err != nil {
		return err
	}
	if !ascends {
		return &docket.CorruptError{File: path, Place: "freelist", Rule: ruleFree, Expected: "ascending pages of the file", Found: "others"}
	}
	return nil
}

// checkFormat reads the version of an opened file.
func checkFormat(db *bbolt.DB, path string) error {
	return db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketDocket)
		if b == nil {
			return notLedger(path, "it is a bbolt file of something else")
		}
		v := b.Get(keyFormat)
		if len(v) != 4 {
			return &docket.CorruptError{File: path, Place: "format version", Expected: "4 bytes", Found: fmt.Sprintf("%d", len(v))}
		}
		if found := binary.LittleEndian.Uint32(v); found == 0 || found > formatVersion {
			return &docket.VersionError{File: path, Found: found, Newest: formatVersion}
		}
		return nil
	})
}
