//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package engine

import "os"

// unlock does nothing: here bbolt's lock ends when the file is closed.
func unlock(*os.File) error { return nil }
