// Package engine is the ledger that docket ships: [Ledger] on one bbolt file, and
// [Memory] for tests and short runs.
//
// # Terms
//
// A lineage is a thread with its forks: they share a key, and the records that they
// have in common lie in the file once. A row is what has become of a record (live,
// expired, erased) with its handle; a draft is a result compressed and indexed,
// ready to be committed. A store is one opening of the file. Vacuum rewrites the
// file without free pages, check verifies all of it.
//
// A moment is a position of the lineage: a thread sees a record since one, and a
// checkpoint is one. A line is the epochs that a decision log had at one time; a
// rewind ends a line and begins another, with a beginning in common. The image of a
// thread is all of it but what its records hold; a fork, a rewind and an import are
// one image made from another. An export is a stream of units.
//
// # Guarantees
//
// What Record acknowledged is durable, and all of a call or none of it. Recording a
// result again finds it and writes nothing. A read gives the exact bytes or a
// [*docket.CorruptError] that names the place: every byte string in the file has a
// checksum of its own, and no content of a file makes the process panic, fault or
// hang. A commit that failed is acknowledged to nobody ([ErrUnknown]), is taken
// back from the file, and leaves a ledger that goes on; where that cannot be done
// every later call returns the error. A thread sees its own records only, and an id
// of another thread is answered as one that never was.
//
// A fork, a rewind and an imported thread are there whole or not at all, whenever the
// process dies. What is imported is verified to its end before anything is written.
//
// Writers share commits: while one is synced the next gathers, so that many
// goroutines cost about the fsyncs of one. Neither reading nor a growing file stops
// anybody.
//
// # Caveats
//
// One process has the file open for writing, or several for reading; another gets a
// [*docket.LockedError] with the name of the holder. The lock is a file beside the
// ledger's; never delete it, and never copy a ledger that is open (Backup does). On
// file systems without working locks or fsync nothing is promised. Erased bytes
// stay in free pages until Vacuum. An import of many megabytes takes several commits
// before the one that makes the thread: a process that dies on the way leaves records
// that no thread sees, which the next import of the same thread takes up. A thread
// lists its records by their positions in the lineage: what a fork had recorded
// earlier, or an import brought, is not always last. View runs its callback inside of a read
// transaction: pages that are freed meanwhile are not used again, so it should not
// wait for a network.
//
// # Concurrency
//
// Both ledgers are safe for concurrent use. Neither starts a goroutine that
// outlives a call: the first writer to arrive leads the commit of those that wait.
//
// # Where to read next
//
// FORMAT.md, "The file", is normative. ledger.go opens, record.go and put.go write,
// commit.go makes commits and reopen.go what follows a failed one; view.go and
// list.go read, narrow.go rules out; retire.go and retain.go let go; past.go has the rules
// of checkpoints, forks and rewinds, fork.go and fill.go keep them in the file, export.go,
// arrive.go and import.go move threads; guard.go and audit.go keep a damaged file from
// ending the process.
package engine
