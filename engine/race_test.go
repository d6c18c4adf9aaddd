//go:build race

package engine_test

// slowdown is how much longer than usual something may take under the race
// detector.
const slowdown = 10
