//go:build unix

package engine

import (
	"errors"
	"os"
	"syscall"
)

// openFile opens a ledger's file. A symbolic link in its place is refused: whoever
// can make one there could have us write into any file of ours.
func openFile(path string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NOFOLLOW, mode)
}

// syncFolder makes a rename in dir durable.
func syncFolder(dir string, o *Options) error {
	if o.NoSync {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// noSpace tells whether err is a full disk or quota. bbolt wraps some of its errors
// as text only: saysOnly finds those.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) ||
		saysOnly(err, syscall.ENOSPC) || saysOnly(err, syscall.EDQUOT) || saysOnly(err, syscall.EFBIG)
}

// readOnlyDisk tells whether the file system is mounted for reading only.
func readOnlyDisk(err error) bool { return errors.Is(err, syscall.EROFS) }

// noMemory tells whether the address space is too small for what was asked.
func noMemory(err error) bool { return errors.Is(err, syscall.ENOMEM) }

// keepOwner gives the file at path the owner of the old one, which matters when root
// rewrites somebody's ledger.
func keepOwner(path string, old os.FileInfo) error {
	made, err := os.Stat(path)
	if err != nil {
		return err
	}
	was, ok1 := old.Sys().(*syscall.Stat_t)
	is, ok2 := made.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 || was.Uid == is.Uid && was.Gid == is.Gid {
		return nil
	}
	return os.Chown(path, int(was.Uid), int(was.Gid))
}

// mapFile maps size bytes of a file for reading, more than it has: it may grow. nil
// where that cannot be.
func mapFile(f *os.File, size int) []byte {
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}

func unmapFile(b []byte) {
	if b != nil {
		_ = syscall.Munmap(b)
	}
}
