//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package engine

import (
	"os"
	"syscall"
)

// unlock lets go of bbolt's lock on f.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
