package codec

// Writing a segment: inline as one byte string, or as frame groups and a byte string
// of all other parts. Most payloads are small (the median has 440 characters), and a
// store pays for every value; a large one in one value makes the store copy its
// neighbours with it.

import (
	"encoding/binary"

	"docket"
	"docket/internal/seal"
)

// InlineMax is the largest inline segment in bytes. Above it the segment is worth a
// place of its own.
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
	Digest              docket.Digest // of the payload
	Chars, Paths, Grams []byte        // index sections, sealed
	Aside               []byte        // one stored frame
}

// Parts returns the parts of the segment in ascending order of their keys. They
// alias c.
func (c Content) Parts() []Part {
	head := c.head()
	parts := make([]Part, 0, packedParts+len(c.Cuts)/int(head.PerGroup))
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
	h := Head{PerGroup: 1, Frames: uint32(len(c.Cuts)), Stored: uint64(len(c.Stored)), Payload: PayloadOf(c.Digest)}
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
	packedMagic   = 0xd5
	packedVersion = 1
	packedParts   = 7 // one of each id: there is at most one frame group
)

// Size returns the bytes that parts take, and whether they make an inline
// segment: one group of frames at most, and no more than [InlineMax] in all.
func Size(parts []Part) (n int64, inline bool) {
	n = 3 + 4 + 6*packedParts
	groups := 0
	for _, p := range parts {
		n += int64(len(p.Body))
		if p.ID == PartFrames {
			groups++
		}
	}
	return n, groups <= 1 && n <= InlineMax
}

// Split parts the frame groups from the other parts. Both keep their order.
func Split(parts []Part) (groups, others []Part) {
	for _, p := range parts {
		if p.ID == PartFrames {
			groups = append(groups, p)
		} else {
			others = append(others, p)
		}
	}
	return groups, others
}

// AppendPacked appends parts, ascending by id and of one group at most, as one
// byte string.
func AppendPacked(dst []byte, parts []Part) []byte {
	start := len(dst)
	dst = append(dst, packedMagic, packedVersion, byte(len(parts)))
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

// Packed are packed parts, taken apart. They alias what they were parsed from.
type Packed struct {
	n     int
	parts [packedParts]Part
}

// ParsePacked is the inverse of [AppendPacked]. It checks the table, not the
// bodies: those have checksums of their own.
func ParsePacked(b []byte) (*Packed, error) {
	var p Packed
	c := cursor{rest: b}
	if c.byte("magic of packed parts") != packedMagic || c.byte("version of packed parts") != packedVersion {
		c.fail("magic or version of packed parts")
	}
	if p.n = int(c.byte("part count")); p.n > packedParts {
		c.fail("part count")
		p.n = 0
	}
	var sizes [packedParts]uint64
	for i := range p.n {
		p.parts[i].ID = PartID(c.byte("part id"))
		sizes[i] = c.uvarint("part size")
		if !p.parts[i].ID.known() || (i > 0 && p.parts[i].ID <= p.parts[i-1].ID) {
			c.fail("part ids")
		}
	}
	table := b[:len(b)-len(c.rest)]
	if c.uint32("table checksum") != seal.Sum(table) {
		c.fail("part table checksum")
	}
	for i := range p.n {
		p.parts[i].Body = c.bytes(sizes[i], "part")
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	return &p, nil
}

func (id PartID) known() bool {
	switch id {
	case PartAside, PartChars, PartFrames, PartGrams, PartHead, PartPaths, PartTable:
		return true
	}
	return false
}

// Parts returns all parts, ascending by id.
func (p *Packed) Parts() []Part { return p.parts[:p.n] }

// Part returns a part, nil if it is not there.
func (p *Packed) Part(id PartID, group uint32) []byte {
	for i := range p.parts[:p.n] {
		if p.parts[i].ID == id && group == 0 {
			return p.parts[i].Body
		}
	}
	return nil
}
