// Package seal protects a byte string with one checksum for each page of it, so
// that a reader pays for the pages that it touches and no others.
//
// # Terms
//
// The body is the protected byte string; a page is [Page] bytes of it, the last
// one shorter. Sealed bytes are the body followed by the CRC32C (Castagnoli) of
// each page, four bytes little-endian each. FORMAT.md, "Sealed bytes", is
// normative.
//
// # Guarantees
//
// [Bytes.Read] never returns bytes of a page whose checksum does not match.
// Opening costs nothing but arithmetic on the length.
//
// # Concurrency
//
// Append is pure. A Bytes remembers the page it verified last and is for one
// goroutine; copies are independent.
package seal
