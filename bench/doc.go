// Package bench measures docket beside a naive ledger.
//
// # Terms
//
// A payload is generated from a seed ([Generate]) or read from a folder. A
// workload is one kind of operation; a target is what one operation asks for,
// each operation another. A lane is one subject with a file of its own: docket as
// an adopter uses it, or [Naive], which keeps the whole payload as one zstd value
// in the same bbolt and decodes it whole at every fetch. A [Result] is a row: the
// latencies of one subject in one workload on one payload. A [Goal] is a
// requirement that docket holds, with what was measured of it.
//
// The workloads ([Workloads]):
//
//	record           the payload, under a new call id each time, fsync included
//	path             one scalar at a random place, by its JSON path
//	range            2,000 characters from a random offset
//	query-once       an identifier that occurs once
//	query-substring  any 12 characters that occur once
//	query-common     a word that occurs often: 20 matches with their windows
//	query-absent     16 characters of an identifier that does not occur
//	open             opening a ledger of many records
//	concurrent       64 goroutines recording 4 KB results
//	search           an identifier of one record, over all records
//
// Queries are fetched with the defaults: 200 characters either side of a match,
// 20 matches.
//
// # Guarantees
//
// Both subjects run in the same process, in turn, on the same targets, and each
// answer is compared with what the payload says; Result.Mismatches counts the
// wrong ones and no goal is met by a run that has any. A generated payload depends
// on its kind, size and seed only. Temporary files are removed when a run ends,
// however it ends, short of being killed.
//
// # Caveats
//
// Warm, the default, means that the ledger is open and the payload was read whole
// once. Cold means that before each operation the ledger was closed, its file evicted
// from the page cache (Linux; elsewhere not), and opened again; opening is not
// part of the operation. The disk's own cache stays warm either way. The naive
// ledger keeps no digest, handle or index and checks less; that is its advantage
// in record and none of ours in fetch. Figures of one machine are not those of
// another; ratios travel better.
//
// # Concurrency
//
// Runs are sequential and belong to the goroutine that ranges over them; two at
// once would measure each other. [Naive] is safe for concurrent use.
//
// # Where to read next
//
// race.go has the clock and the comparison, targets.go what is asked, goals.go
// what docket promises, generate.go what a payload is. DESIGN.md has the figures.
package bench
