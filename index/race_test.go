//go:build race

package index

// raced scales tests down that the race detector makes ten times slower.
const raced = true
