package engine

// Vacuum: the ledger rewritten without free pages, under its own name. bbolt's file
// never shrinks, and what was erased stays in free pages until it is overwritten.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// vacuumSuffix is what the name of the new file adds to the ledger's until it
// takes its place.
const vacuumSuffix = ".vacuum"

// worthwhile is the share of the file that has to be free for a vacuum to be worth
// rewriting the rest: a tenth.
const worthwhile = 10

// VacuumOptions of [Ledger.Vacuum]. The zero value of each field is its default.
type VacuumOptions struct {
	// Force rewrites the file whatever is free in it. Set it to make sure that
	// nothing of what was erased is left. Default: only where a tenth of the file
	// is free.
	Force bool

	// Progress is told how far it is. Default: nobody is told.
	Progress Progress
}

// VacuumReport is what a vacuum did.
type VacuumReport struct {
	Before int64 `json:"before_bytes"` // the file's length
	After  int64 `json:"after_bytes"`
	Done   bool  `json:"done"` // false: the file is as it was, a new one would not be smaller
}

// Vacuum rewrites the file without free pages, so that it is as small as what it
// holds and nothing of what was erased or expired is left in it. Recording waits
// meanwhile; reading goes on, and a view that is running keeps the old file, which
// has lost its name, until it ends. The new file is synced and checked before it
// takes the old one's name and permissions; a process that dies leaves one of the
// two whole. nil options are the defaults. It takes the space of the new file
// beside the old one.
//
// Errors: [*docket.CorruptError] where the ledger cannot be read whole; [ErrFull];
// [docket.ErrReadOnly]. The ledger goes on as it was.
func (l *Ledger) Vacuum(ctx context.Context, opts *VacuumOptions) (VacuumReport, error) {
	if opts == nil {
		opts = &VacuumOptions{}
	}
	var report VacuumReport
	err := l.commit(ctx, &op{alone: func(s *store) (err error) {
		report, err = l.vacuum(ctx, s, *opts)
		return err
	}})
	if err != nil {
		return report, fmt.Errorf("engine: vacuum: %w", full(err))
	}
	return report, nil
}

func (l *Ledger) vacuum(ctx context.Context, s *store, o VacuumOptions) (VacuumReport, error) {
	info, err := s.file.Stat()
	if err != nil {
		return VacuumReport{}, err
	}
	report := VacuumReport{Before: info.Size(), After: info.Size()}
	tmp := l.path + vacuumSuffix
	if err := removeOld(tmp); err != nil {
		return report, err
	}
	if helps, err := l.copyTo(ctx, s, tmp, o); err != nil || !helps {
		return report, errors.Join(err, removeOld(tmp))
	}
	made, err := os.Stat(tmp)
	if err != nil {
		return report, err
	}
	if made.Size() >= report.Before && !o.Force {
		return report, os.Remove(tmp)
	}
	if err := l.swap(s, tmp, info); err != nil {
		return report, errors.Join(err, removeOld(tmp))
	}
	report.After, report.Done = made.Size(), true
	return report, nil
}

func removeOld(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyTo writes the new file, unless it would not be worth it.
func (l *Ledger) copyTo(ctx context.Context, s *store, tmp string, o VacuumOptions) (helps bool, err error) {
	tx, err := l.begin(s, false)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // of a reader: it cannot fail
	p, err := newPager(s, tx, l.path)
	if err != nil {
		return false, err
	}
	var st Stats
	if err := st.file(p); err != nil {
		return false, err
	}
	if st.FreeBytes < st.FileBytes/worthwhile && !o.Force {
		return false, nil
	}
	return true, writeCopy(ctx, p, tmp, o.Progress)
}

// swap opens the file at tmp and gives it the ledger's name. It is opened first:
// after the rename nothing may fail that would leave the process with a file that
// has no name.
func (l *Ledger) swap(s *store, tmp string, old fs.FileInfo) error {
	if err := errors.Join(keepOwner(tmp, old), os.Chmod(tmp, old.Mode().Perm())); err != nil {
		return err
	}
	next, err := openStore(tmp, &l.opts)
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, l.path); err != nil {
		return errors.Join(err, next.close())
	}
	l.mu.Lock()
	l.cur, s.retired = next, true
	l.mu.Unlock()
	if err := syncFolder(filepath.Dir(l.path), &l.opts); err != nil {
		// A crash could bring back the old file, without what is recorded from now on.
		l.halt(nil, err)
		return err
	}
	return nil
}
