package codec

// Writing a segment: as parts, or inline as one byte string. Most payloads are
// small (the median has 440 characters), and a store pays for every value; a large
// one in one value makes the store copy its neighbours with it.

import (
	"encoding/binary"

	"docket/internal/seal"
)

// InlineMax is the largest inline segment in bytes. Above it the parts are worth
// a place of their own.
const InlineMax = 16 << 10

// groupSize is what a full frame group aims at, in stored bytes: store values of
// 64 to 256 KiB write 1.02 to 1.05 times their bytes.
const groupSize = 128 << 10

// Part is one part of a segment.
type Part struct {
	ID    PartID
	Group uint32
	Body  []byte
}

// Content is what goes into a segment. Sections that are nil are left out.
type Content struct {
	Frames
	Chars, Paths, Grams []byte // index sections, sealed
	Aside               []byte // one stored frame
}

// Parts returns the parts of the segment in ascending order of their keys. They
// alias c.
func (c Content) Parts() []Part {
	head := c.head()
	parts := make([]Part, 0, inlineParts+len(c.Cuts)/int(head.PerGroup))
	parts = appendPart(parts, PartAside, c.Aside)
	parts = appendPart(parts, PartChars, c.Chars)
	for at := 0; at < len(c.Ends); at += int(head.PerGroup) {
		last := min(at+int(head.PerGroup), len(c.Ends)) - 1
		group := uint32(at / int(head.PerGroup))
		parts = append(parts, Part{PartFrames, group, c.Stored[c.start(at):c.Ends[last]]})
	}
	parts = appendPart(parts, PartGrams, c.Grams)
	parts = appendPart(parts, PartHead, AppendHead(nil, head))
	parts = appendPart(parts, PartPaths, c.Paths)
	return appendPart(parts, PartTable, c.table())
}

func appendPart(parts []Part, id PartID, body []byte) []Part {
	if body == nil {
		return parts
	}
	return append(parts, Part{ID: id, Body: body})
}

// start returns where frame n begins in c.Stored.
func (c Content) start(n int) int64 {
	if n == 0 {
		return 0
	}
	return c.Ends[n-1]
}

func (c Content) head() Head {
	h := Head{PerGroup: 1, Frames: uint32(len(c.Cuts)), Stored: uint64(len(c.Stored))}
	last := int64(0)
	for _, cut := range c.Cuts {
		h.MaxRaw = max(h.MaxRaw, uint32(cut-last))
		last = cut
	}
	h.Raw = uint64(last)
	if h.Frames > 0 {
		each := max(len(c.Stored)/len(c.Cuts), 1)
		h.PerGroup = uint16(min(max(groupSize/each, 1), len(c.Cuts), 1<<16-1))
	}
	return h
}

// table returns the sealed frame table, nil where one frame needs none.
func (c Content) table() []byte {
	if len(c.Ends) <= 1 {
		return nil
	}
	body := make([]byte, 8, 8*(len(c.Ends)+1))
	for _, end := range c.Ends {
		body = binary.LittleEndian.AppendUint64(body, uint64(end))
	}
	return seal.Append(nil, body)
}

const (
	inlineMagic   = 0xd5
	inlineVersion = 1
	inlineParts   = 7 // one of each id: an inline segment has at most one frame group
)

// Size returns the bytes that parts take, and whether they make an inline
// segment: one group of frames at most, and no more than [InlineMax] in all.
func Size(parts []Part) (n int64, inline bool) {
	n = 3 + 4 + 6*inlineParts
	groups := 0
	for _, p := range parts {
		n += int64(len(p.Body))
		if p.ID == PartFrames {
			groups++
		}
	}
	return n, groups <= 1 && n <= InlineMax
}

// AppendInline appends parts, ascending by id and of one group at most, as one
// byte string.
func AppendInline(dst []byte, parts []Part) []byte {
	start := len(dst)
	dst = append(dst, inlineMagic, inlineVersion, byte(len(parts)))
	for _, p := range parts {
		dst = append(dst, byte(p.ID))
		dst = binary.AppendUvarint(dst, uint64(len(p.Body)))
	}
	dst = binary.LittleEndian.AppendUint32(dst, seal.Sum(dst[start:]))
	for _, p := range parts {
		dst = append(dst, p.Body...)
	}
	return dst
}

// Inline is an inline segment, taken apart. It aliases what it was parsed from.
type Inline struct {
	n     int
	parts [inlineParts]Part
}

// ParseInline is the inverse of [AppendInline]. It checks the table, not the
// bodies: those have checksums of their own.
func ParseInline(b []byte) (*Inline, error) {
	var in Inline
	c := cursor{rest: b}
	if c.byte("inline magic") != inlineMagic || c.byte("inline version") != inlineVersion {
		c.fail("inline magic or version")
	}
	if in.n = int(c.byte("part count")); in.n > inlineParts {
		c.fail("part count")
		in.n = 0
	}
	var sizes [inlineParts]uint64
	for i := range in.n {
		in.parts[i].ID = PartID(c.byte("part id"))
		sizes[i] = c.uvarint("part size")
		if !in.parts[i].ID.known() || (i > 0 && in.parts[i].ID <= in.parts[i-1].ID) {
			c.fail("part ids")
		}
	}
	table := b[:len(b)-len(c.rest)]
	if c.uint32("table checksum") != seal.Sum(table) {
		c.fail("part table checksum")
	}
	for i := range in.n {
		in.parts[i].Body = c.bytes(sizes[i], "part")
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	return &in, nil
}

func (id PartID) known() bool {
	switch id {
	case PartAside, PartChars, PartFrames, PartGrams, PartHead, PartPaths, PartTable:
		return true
	}
	return false
}

// Parts returns all parts, ascending by id.
func (in *Inline) Parts() []Part { return in.parts[:in.n] }

// Part returns a part, nil if it is not there.
func (in *Inline) Part(id PartID, group uint32) []byte {
	for i := range in.parts[:in.n] {
		if in.parts[i].ID == id && group == 0 {
			return in.parts[i].Body
		}
	}
	return nil
}
