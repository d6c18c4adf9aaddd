// Package docket is the vocabulary of a durable ledger for the results of the
// tools that LLM agents call.
//
// Three sentences say what docket does. It records: a tool result becomes a
// durable [Record]. It compacts: on the wire, and only there, stale results are
// replaced by small deterministic stubs ([Handle.AppendStub]). It recalls: any
// slice of a record is read back, after a restart, from a fork, from another
// process.
//
// # Terms
//
// A thread is a conversation: the scope of call ids, of decisions, and of
// isolation. A call is one invocation of a tool; a [Result] is a call with what
// it returned; a record is what the ledger keeps of it; the payload is its
// bytes, verbatim. A handle is the compact descriptor that a stub is made from,
// and the mem id is the public address that the model passes back. A frame is
// an independently decodable piece of a payload. A character is a Unicode code
// point; every byte that is not part of valid UTF-8 counts as one character.
//
// # Guarantees
//
// Nothing here touches a disk. [DeriveMemID], [DeriveTag] and
// [Handle.AppendStub] are pure functions whose outputs never change between
// releases: FORMAT.md gives their bytes and its tests execute it.
//
// # Caveats
//
// Call ids are opaque bytes and need not be UTF-8; a mem id is sixteen
// characters of lower-case base32 and nothing else.
//
// # Concurrency
//
// All values are plain data. A [Ledger] is safe for concurrent use; a [Record]
// is for the goroutine that it was handed to.
//
// # Where to read next
//
// engine has the two ledgers (bbolt, memory), recall reads slices, compact
// decides what becomes a stub, and FORMAT.md is the normative description of
// every byte that is kept.
package docket
