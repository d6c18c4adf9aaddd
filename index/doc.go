// Package index derives search structures from the bytes of a payload.
//
// Everything here is a pure function over bytes, without I/O. [Build] makes one
// pass at record time; the sections that it returns are kept beside the payload
// and read where they lie, so that opening a record parses nothing.
//
// # Terms
//
// A section is one sealed table: characters ([Chars]: where each frame begins, in
// bytes and in characters), paths ([Paths]: where the large values of a JSON
// payload lie), grams ([Grams]: which frames may contain a substring). A frame is
// an independently decodable piece of a payload; a candidate is a frame that a
// section cannot rule out, a match is one that was verified on the payload. A
// path ([Path]) is a list of segments that leads to a value; a row describes a
// value of at least the table's grain; a mark is a border between two members of
// a row from which reading can start.
//
// # Guarantees
//
// Sections only narrow: hashes and signatures are verified on the payload. A missing
// or damaged section costs a scan, never an error and never a wrong answer. A
// gram query never misses. Values come back as their source bytes: numbers are
// not rounded, strings keep their escapes. Of duplicate keys the first wins, with
// and without a table. No input makes a function panic or recurse without bound:
// JSON nested deeper than [MaxDepth] is text.
//
// # Caveats
//
// A character is a Unicode code point; a byte that is not part of valid UTF-8
// counts as one. Nothing is normalised: "é" in two code points is not "é" in one.
// The lookups trust that a payload whose kind is JSON was found to be so by
// [Build]; on other bytes they are bounded but their answer means nothing.
//
// # Concurrency
//
// Functions are pure; [AppendGrams] shares a large payload among the processors and
// waits for all. Opened sections remember the page that they verified last
// and are for one goroutine.
//
// # Where to read next
//
// FORMAT.md has the bytes of each section; scan.go and path.go are the JSON half,
// chars.go, fold.go and gram.go the text half, shape.go and outline.go make what a
// stub shows.
// The recall package joins the sections to decoded frames.
package index
