//go:build !race

package recall

const raced = false
