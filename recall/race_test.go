//go:build race

package recall

// raced scales tests down that the race detector makes ten times slower.
const raced = true
