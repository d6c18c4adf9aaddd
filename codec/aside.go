package codec

// The aside: what a result carries beside its payload, as one zstd frame.

import (
	"encoding/binary"
	"slices"

	"docket"
)

// MaxAside is the largest raw aside in bytes. What a decoder allocates for one is
// bounded by what its stored bytes can expand to, as for a frame.
const MaxAside = 512 << 20

const flagArgs = 1 // arguments are known: nil and empty differ

// Aside is the call's arguments and the attachments of a result.
type Aside struct {
	Args        []byte // nil: unknown
	Attachments []docket.Attachment
}

// Empty tells whether there is nothing to keep.
func (a Aside) Empty() bool { return a.Args == nil && len(a.Attachments) == 0 }

// Size returns about how many raw bytes the aside takes, never fewer.
func (a Aside) Size() int64 {
	n := int64(len(a.Args)) + 32
	for _, at := range a.Attachments {
		n += int64(len(at.Kind)) + int64(len(at.Data)) + 32
	}
	return n
}

// AppendAside appends the raw encoding of a; it is compressed by
// [Encoder.AppendFrame].
func AppendAside(dst []byte, a Aside) []byte {
	if a.Args == nil {
		dst = append(dst, 0)
	} else {
		dst = appendString(append(dst, flagArgs), a.Args)
	}
	dst = binary.AppendUvarint(dst, uint64(len(a.Attachments)))
	for _, at := range a.Attachments {
		dst = appendString(dst, at.Kind)
		dst = appendString(dst, at.Data)
	}
	return dst
}

// ParseAside is the inverse of [AppendAside]. The result aliases b.
func ParseAside(b []byte) (Aside, error) {
	var a Aside
	c := cursor{rest: b}
	switch c.byte("aside flags") {
	case 0:
	case flagArgs:
		a.Args = c.string("arguments")
	default:
		c.fail("aside flags")
	}
	n := c.uvarint("attachments")
	if n > uint64(len(c.rest)/2) { // each takes two bytes or more
		c.fail("attachments")
		n = 0
	}
	a.Attachments = slices.Grow(a.Attachments, int(n))
	for range n {
		kind := string(c.string("attachment kind"))
		a.Attachments = append(a.Attachments, docket.Attachment{Kind: kind, Data: c.string("attachment")})
	}
	if err := c.end(); err != nil {
		return Aside{}, err
	}
	return a, nil
}
