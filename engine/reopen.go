package engine

// After a commit error. bbolt may have written the new meta page and failed to sync
// it: the process, and every later one until the system's cache is dropped, sees a
// transaction that may never reach the disk. Recording again would find the record
// there and acknowledge what is not durable. So the failed transaction is taken
// back first: its meta page is overwritten with the one before it, and synced.

import (
	"fmt"
	"io"
	"os"
)

// reopen takes back transaction txid and replaces s by a new opening of the file.
// Readers of s finish on its memory map.
func (l *Ledger) reopen(s *store, txid uint64) error {
	if err := takeBack(s.file, txid, l.opts.NoSync); err != nil {
		return err
	}
	// The old opening's lock on the file would keep the new one out. Its readers
	// need the map only.
	_ = drop(s.file)
	if err := inspect(l.path); err != nil {
		return err
	}
	next, err := openStore(l.path, &l.opts)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cur, s.retired = next, true
	return nil
}

// takeBack overwrites the meta page of transaction txid, if it was written, with
// the one before it. The pages that the transaction before needs are all there: a
// transaction never writes into them.
func takeBack(f *os.File, txid uint64, noSync bool) error {
	whole, _ := metas(f)
	if len(whole) == 0 || whole[0].txid != txid {
		return nil
	}
	if len(whole) != 2 || whole[1].txid != txid-1 {
		return fmt.Errorf("engine: no meta page of transaction %d", txid-1)
	}
	size := int64(whole[0].pageSize)
	page := make([]byte, size)
	before, failed := int64((txid-1)%2), int64(txid%2)
	if _, err := io.ReadFull(io.NewSectionReader(f, before*size, size), page); err != nil {
		return err
	}
	page[0] = byte(failed) // the page's number, in either byte order of a small one
	if _, err := f.WriteAt(page, failed*size); err != nil {
		return err
	}
	if noSync {
		return nil
	}
	return f.Sync()
}
