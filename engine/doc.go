// Package engine is the ledger that docket ships: on one bbolt file, and in memory.
package engine
