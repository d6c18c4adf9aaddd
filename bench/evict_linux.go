package bench

// Cold operations, where the system can drop a file from its page cache. Where it
// cannot: evict_other.go.

import (
	"os"

	"golang.org/x/sys/unix"
)

// evict drops the pages of a file that nobody has mapped from the page cache.
// Only clean pages go; both ledgers have synced theirs.
func evict(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}
