// Package codec is the encoding of a record: its payload as compressed frames,
// its handle, and the segment that holds both ends of the way back.
//
// # Terms
//
// A frame is an independently decodable piece of a payload: one zstd frame with
// its content size and a checksum. Raw bytes are the payload's, stored bytes are
// the frame's. A segment is all that is kept of a payload, as named parts; a
// frame group is the part that holds some frames in a row; the aside is the part
// that holds the call's arguments and the attachments. An inline segment is a
// segment as one byte string.
//
// # Guarantees
//
// Every Append has a Parse; what Parse accepts is canonical: appending it again
// gives the same bytes. Parse checks all that it reads and never panics; where it
// refuses, the error is [ErrDamaged] and names the field. A frame that claims more
// raw bytes than allowed is refused before anything is allocated for it. Frames
// end at character borders.
//
// # Caveats
//
// The bytes that a level compresses to may change with a release of the zstd
// library; what they decode to does not.
//
// # Concurrency
//
// [Encoder] and [Decoder] are safe for concurrent use and start no goroutine,
// except that [Encoder.Encode] runs as many as there are processors and waits for
// them. All else is plain data.
//
// # Where to read next
//
// FORMAT.md, "Handle" and "Segment", is normative. frame.go has the frames,
// segment.go reads the parts, pack.go writes them; index builds and reads the
// sections that lie in them, engine keeps them in its file.
package codec
