//go:build !race

package engine_test

const slowdown = 1
