package engine

// A copy of the ledger in a file of its own. It is made bucket by bucket, from one
// state of the ledger: bbolt's own copy has the free pages in it, and what was
// erased stays readable there; a copy of the file while it is written to is damaged
// nine times of ten. vacuum.go uses the same copy.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"docket"
)

// Progress is told the bytes that are done and about how many there are. It is
// called often and should return at once.
type Progress func(done, total int64)

// Backup writes a copy of the ledger as it is now to path, where nothing may be
// yet; recording goes on meanwhile. The copy has no free pages, so nothing of what
// was erased is in it. It is synced and checked before it gets its name; a process
// that dies leaves a file with a name like path's that ends in ".new". progress
// may be nil.
//
// Errors: fs.ErrExist; [*docket.CorruptError] where the ledger cannot be read
// whole; [ErrFull].
func (l *Ledger) Backup(ctx context.Context, path string, progress Progress) error {
	if err := l.backup(ctx, path, progress); err != nil {
		return fmt.Errorf("engine: back up to %q: %w", path, full(err))
	}
	return nil
}

func (l *Ledger) backup(ctx context.Context, path string, progress Progress) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fs.ErrExist)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+newSuffix)
	if err != nil {
		return err
	}
	tmp := f.Name()
	defer os.Remove(tmp)
	if err := f.Close(); err != nil {
		return err
	}
	if err := l.frozen(ctx, func(p *pager) error { return writeCopy(ctx, p, tmp, progress) }); err != nil {
		return err
	}
	if err := claimName(tmp, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path), &l.opts)
}

// claimName gives the file at tmp the name path, unless somebody else has it by now.
func claimName(tmp, path string) error {
	err := os.Link(tmp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) { // a file system without links
		return errors.Join(err, fs.ErrExist)
	}
	return os.Rename(tmp, path)
}

// full marks an error of a full disk.
func full(err error) error {
	if noSpace(err) && !errors.Is(err, ErrFull) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// writeCopy writes what p reads to a new file at path, syncs it, cuts off what no
// page uses, and checks it.
func writeCopy(ctx context.Context, p *pager, path string, progress Progress) error {
	if err := os.Truncate(path, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockRetry, FreelistType: bbolt.FreelistMapType, NoSync: true, OpenFile: openFile})
	if err != nil {
		return err
	}
	db.AllocSize = lastAlloc
	c := &copier{ctx: ctx, db: db, progress: progress, total: int64(p.meta.highest) * int64(p.meta.pageSize)}
	err = guard(path, "copy", func() error { return c.run(p.root()) })
	err = errors.Join(err, db.Close())
	if err == nil {
		err = cutAndSync(path)
	}
	if err != nil {
		return err
	}
	report, err := checkFile(ctx, path, CheckOptions{})
	if err == nil && len(report.Findings) > 0 {
		err = report.Findings[0]
	}
	return err
}

// cutAndSync cuts the file at path behind its last page and syncs it.
func cutAndSync(path string) error {
	f, err := openFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	p, err := filePager(f, path)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(int64(p.meta.highest)*int64(p.meta.pageSize)), f.Sync())
}

// copyBatch is how many bytes a copy puts into one transaction.
const copyBatch = 16 << 20

// copyDepth is deeper than our buckets lie in each other.
const copyDepth = 8

// copier copies buckets into a new file.
type copier struct {
	ctx         context.Context
	db          *bbolt.DB
	progress    Progress
	done, total int64

	tx      *bbolt.Tx
	names   [][]byte // of the bucket that is being filled
	dst     *bbolt.Bucket
	pending int64 // bytes in tx
}

func (c *copier) run(root tree) (err error) {
	if c.tx, err = c.db.Begin(true); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = c.tx.Rollback()
		}
	}()
	if err = c.fill(root); err != nil {
		return err
	}
	return c.tx.Commit()
}

// fill copies the elements of src into the bucket that names lead to.
func (c *copier) fill(src tree) error {
	if len(c.names) > copyDepth {
		return src.pager.fault(src.place, "a bucket that is not as deep", fmt.Sprint(len(c.names)))
	}
	for e, err := range src.elements() {
		if err == nil {
			err = c.ctx.Err()
		}
		if err == nil && e.bucket {
			err = c.enter(src, e)
		} else if err == nil {
			err = c.put(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enter copies the bucket that is the value of e.
func (c *copier) enter(src tree, e *element) error {
	sub, err := src.sub(e)
	if err != nil {
		return err
	}
	if len(c.names) == 0 {
		c.dst, err = c.tx.CreateBucket(e.key)
	} else {
		c.dst, err = c.bucket().CreateBucket(e.key)
	}
	if err != nil {
		return err
	}
	if err := c.dst.SetSequence(sub.seq); err != nil {
		return err
	}
	c.names = append(c.names, e.key)
	err = c.fill(sub)
	c.names, c.dst = c.names[:len(c.names)-1], nil
	return err
}

// bucket returns the bucket that names lead to.
func (c *copier) bucket() *bbolt.Bucket {
	if c.dst == nil {
		for i, name := range c.names {
			if i == 0 {
				c.dst = c.tx.Bucket(name)
			} else {
				c.dst = c.dst.Bucket(name)
			}
		}
	}
	c.dst.FillPercent = appendFill
	return c.dst
}

// put copies one value, and commits now and then.
func (c *copier) put(e *element) error {
	if len(c.names) == 0 {
		return &docket.CorruptError{File: e.in.pager.path, Place: "root", Rule: ruleRoot, Expected: "buckets only", Found: "a value"}
	}
	v, err := e.value()
	if err != nil {
		return err
	}
	if err := c.bucket().Put(e.key, v); err != nil {
		return err
	}
	c.pending += int64(len(e.key) + len(v))
	c.done += int64(len(e.key) + len(v))
	if c.progress != nil {
		c.progress(min(c.done, c.total), c.total)
	}
	if c.pending < copyBatch {
		return nil
	}
	c.pending, c.dst = 0, nil
	if err := c.tx.Commit(); err != nil {
		return err
	}
	c.tx, err = c.db.Begin(true)
	return err
}
