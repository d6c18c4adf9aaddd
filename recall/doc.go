// Package recall answers requests from a ledger.
//
// A [Request] names a record and what to read of it; [Fetch] gives the [Answer].
// [Search] looks into all records of a thread. A [Tool] does both as a model calls
// them: arguments in, always a text out; its specifications ([Tool.RecallSpec],
// [Tool.SearchSpec]) are bytes to paste into any SDK's list of tools.
//
// # Terms
//
// A slice is the part of a payload that a request selects; an answer is what comes
// back. The keyed arguments compose: the path selects, the query searches inside
// what it selected, offset and max characters page over what is left. All offsets
// and limits count characters (Unicode code points; a byte that is not part of
// valid UTF-8 counts as one) of the selected text. A match is an occurrence of the
// query that was verified on the payload; a window is the text around one match or
// more.
//
// # Guarantees
//
// Answers are exact: indexes only narrow, and a record without any, or with
// damaged ones, gives the same answers by scanning. Pages concatenate to the
// selected text for every page size; offsets that a query reports work unchanged
// in ranges of the same path. The bytes of the payload come back unchanged; only a
// text for a model shows bytes that are not UTF-8 as U+FFFD.
//
// A request decodes the frames that it touches and no others, and keeps two of
// them, whatever the size of the payload; a query longer than that keeps about
// twice its own length.
//
// A text for a model is at most the tool's limit of characters and a head of fixed
// bound. An id that thread cannot see reads as one that never was, whoever else
// owns it.
//
// # Caveats
//
// Matches do not overlap: "aa" occurs once in "aaa". Code points are compared
// exactly or under simple case folding: "é" in one code point does not match "é"
// in two, "ß" does not match "ss". The count of matches is exact when nothing
// follows the last one shown that may hold another, else a lower bound, since
// counting would read the whole payload.
//
// # Concurrency
//
// Everything is safe for concurrent use, as the ledger is. No goroutine outlives a
// call.
//
// # Where to read next
//
// fetch.go has the request and the answer, reader.go the frames, query.go and
// window.go the search, path.go the paths; tool.go is the model's side, with
// answer.go and miss.go for what it says. FORMAT.md, "Answer", has the head of an
// answer, which the root package seals and verifies.
package recall
