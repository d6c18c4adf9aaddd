//go:build !unix

package engine

import (
	"os"
	"syscall"
)

// openFile opens a ledger's file.
func openFile(path string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, mode)
}

// syncFolder does nothing: a folder cannot be synced here, a rename is durable when
// the file system says so.
func syncFolder(string, *Options) error { return nil }

// noSpace tells whether err is a full disk: ERROR_HANDLE_DISK_FULL,
// ERROR_DISK_FULL.
func noSpace(err error) bool {
	return saysOnly(err, syscall.Errno(39)) || saysOnly(err, syscall.Errno(112))
}

// readOnlyDisk is for systems that say so; here it is a matter of permissions.
func readOnlyDisk(error) bool { return false }

// noMemory is for systems on which the first map is small anyway.
func noMemory(error) bool { return false }

// keepOwner does nothing: a new file has the owner of its folder's rules.
func keepOwner(string, os.FileInfo) error { return nil }

// mapFile maps nothing: a map that is larger than the file makes it grow here.
func mapFile(*os.File, int) []byte { return nil }

func unmapFile([]byte) {}
