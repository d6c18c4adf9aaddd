// Package ledgertest is the conformance suite of [docket.Ledger]: what has to
// hold for every implementation, the two that ship and an adopter's own.
//
//	func TestLedger(t *testing.T) {
//		ledgertest.Run(t, func(t *testing.T) docket.Ledger {
//			return mystore.Open(t.TempDir())
//		}, nil)
//	}
//
// # Terms
//
// A check is one property, run as a subtest on a ledger of its own. Names of
// checks begin with the row of the contract that they execute ("L2 …") where
// there is one.
//
// # Guarantees
//
// A ledger that passes is one that the recall and compact packages work on. If
// the value also implements [docket.Narrower], the decision log (the methods
// Decided and Append of compact.Log) or [docket.Forker], those are checked too; where it does not,
// their checks are skipped and say so. Every check is shown to fail by a broken
// ledger in this package's own tests.
//
// # Caveats
//
// What a process cannot see of itself (power loss, a killed process, a full disk)
// is not checked here; package engine has such tests for its own file. Durability
// is checked as far as [Options.Reopen] can show it.
//
// # Concurrency
//
// Checks run one after the other; the check named "together" uses its ledger from
// many goroutines and finds most when the test runs with -race.
//
// # Where to read next
//
// run.go has the table of checks; broken_test.go the ledgers that fail them.
package ledgertest
