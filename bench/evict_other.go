//go:build !linux

package bench

// Cold operations where the page cache is the system's alone; see evict_linux.go.

// evict does nothing: a cold operation is then one on a reopened file.
func evict(string) error { return nil }
