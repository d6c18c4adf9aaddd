package codec

// Reading a segment: the head, and from it any frame. Nothing is parsed ahead: a
// frame of a 100 MB payload costs one entry of the frame table and the frame.
// pack.go is the other half.

import (
	"encoding/binary"
	"fmt"

	"docket"
	"docket/internal/seal"
)

// PartID names a part of a segment; the values are part of the format.
type PartID byte

// The parts. Only [PartFrames] has groups; the group of the others is 0.
const (
	PartAside  PartID = 'a' // arguments and attachments: one zstd frame
	PartChars  PartID = 'c' // chars section, sealed by the index
	PartFrames PartID = 'f' // a group of stored frames
	PartGrams  PartID = 'g' // grams section, sealed by the index, where it is large
	PartHead   PartID = 'h' // Head
	PartPaths  PartID = 'p' // paths section, sealed by the index
	PartTable  PartID = 't' // frame table, sealed
)

// AppendGroupKey appends the key under which a frame group is kept where groups are
// kept one by one: its part's id and the number in big-endian.
func AppendGroupKey(dst []byte, group uint32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, byte(PartFrames)), group)
}

// Parts gives the parts of one segment, nil for one that is not there.
type Parts interface {
	Part(id PartID, group uint32) []byte
}

// Head says how a payload was cut.
type Head struct {
	PerGroup uint16  // frames in a group; the last group may have fewer
	Frames   uint32  // 0: the payload is empty
	Raw      uint64  // bytes of the payload
	Stored   uint64  // bytes of all stored frames
	MaxRaw   uint32  // raw bytes of the largest frame
	Payload  [8]byte // which payload it is: PayloadOf its digest
}

// PayloadOf returns what a head keeps of a payload's digest. A segment that lies
// where another one belongs differs from its handle in it.
func PayloadOf(d docket.Digest) (p [8]byte) {
	copy(p[:], d[:])
	return p
}

const (
	headVersion = 1
	headSize    = 40
)

// AppendHead appends the encoding of h, 40 bytes.
func AppendHead(dst []byte, h Head) []byte {
	start := len(dst)
	dst = append(dst, headVersion, 0)
	dst = binary.LittleEndian.AppendUint16(dst, h.PerGroup)
	dst = binary.LittleEndian.AppendUint32(dst, h.Frames)
	dst = binary.LittleEndian.AppendUint64(dst, h.Raw)
	dst = binary.LittleEndian.AppendUint64(dst, h.Stored)
	dst = binary.LittleEndian.AppendUint32(dst, h.MaxRaw)
	dst = append(dst, h.Payload[:]...)
	return binary.LittleEndian.AppendUint32(dst, seal.Sum(dst[start:]))
}

// ParseHead is the inverse of [AppendHead].
func ParseHead(b []byte) (Head, error) {
	if len(b) != headSize || seal.Sum(b[:headSize-4]) != binary.LittleEndian.Uint32(b[headSize-4:]) {
		return Head{}, damaged("head checksum")
	}
	if b[0] != headVersion || b[1] != 0 {
		return Head{}, damaged("head version")
	}
	h := Head{
		PerGroup: binary.LittleEndian.Uint16(b[2:]),
		Frames:   binary.LittleEndian.Uint32(b[4:]),
		Raw:      binary.LittleEndian.Uint64(b[8:]),
		Stored:   binary.LittleEndian.Uint64(b[16:]),
		MaxRaw:   binary.LittleEndian.Uint32(b[24:]),
		Payload:  [8]byte(b[28:]),
	}
	if !h.consistent() {
		return Head{}, damaged("head counts")
	}
	return h, nil
}

// consistent tells whether the counts could be those of one payload.
func (h Head) consistent() bool {
	frames, most := uint64(h.Frames), uint64(h.MaxRaw)
	return h.PerGroup > 0 && most <= MaxFrame &&
		frames <= h.Raw && frames*most >= h.Raw && most <= h.Raw && frames <= h.Stored &&
		(frames > 0 || h.Stored == 0)
}

// Segment reads one record's payload out of its parts. It aliases them and is for
// one goroutine.
type Segment struct {
	Head
	parts Parts
	table seal.Bytes // u64[Frames+1]; unused where there is one frame
}

// Open reads the head of the segment that parts hold.
func Open(parts Parts) (Segment, error) {
	head, err := ParseHead(parts.Part(PartHead, 0))
	if err != nil {
		return Segment{}, err
	}
	s := Segment{Head: head, parts: parts}
	if head.Frames <= 1 {
		return s, nil
	}
	s.table, err = seal.Open(parts.Part(PartTable, 0))
	if err != nil || s.table.Len() != 8*(int(head.Frames)+1) {
		return Segment{}, damaged("frame table size")
	}
	return s, nil
}

// Part returns a part that has no groups, nil if it is not there. It aliases the
// store.
func (s *Segment) Part(id PartID) []byte { return s.parts.Part(id, 0) }

// Stored returns the stored bytes of frame n. They alias the store.
func (s *Segment) Stored(n int) ([]byte, error) {
	if n < 0 || n >= int(s.Frames) {
		return nil, fmt.Errorf("codec: no frame %d of %d", n, s.Frames)
	}
	if s.Frames == 1 {
		b := s.parts.Part(PartFrames, 0)
		if uint64(len(b)) != s.Head.Stored {
			return nil, damaged("frame group size")
		}
		return b, nil
	}
	group := n / int(s.PerGroup)
	base, err := s.offset(group * int(s.PerGroup))
	if err != nil {
		return nil, err
	}
	start, err := s.offset(n)
	if err != nil {
		return nil, err
	}
	end, err := s.offset(n + 1)
	if err != nil {
		return nil, err
	}
	b := s.parts.Part(PartFrames, uint32(group))
	if start < base || end < start || end-base > uint64(len(b)) {
		return nil, damaged("frame table")
	}
	return b[start-base : end-base : end-base], nil
}

// offset returns where frame n begins in the concatenation of all stored frames.
func (s *Segment) offset(n int) (uint64, error) {
	b, err := s.table.Read(8*n, 8)
	if err != nil {
		return 0, damaged("frame table checksum")
	}
	return binary.LittleEndian.Uint64(b), nil
}

// AppendFrame appends the raw bytes of frame n to dst; on an error dst comes back
// as it was.
func (s *Segment) AppendFrame(dst []byte, n int, dec *Decoder) ([]byte, error) {
	stored, err := s.Stored(n)
	if err != nil {
		return dst, err
	}
	out, err := dec.AppendFrame(dst, stored, int(s.MaxRaw))
	if err == nil && s.Frames == 1 && uint64(len(out)-len(dst)) != s.Raw {
		return dst, damaged("frame size")
	}
	return out, err
}

// Aside decodes the aside. The result is a copy.
func (s *Segment) Aside(dec *Decoder) (Aside, error) {
	stored := s.Part(PartAside)
	if stored == nil {
		return Aside{}, nil
	}
	raw, err := dec.AppendFrame(nil, stored, MaxAside)
	if err != nil {
		return Aside{}, err
	}
	return ParseAside(raw)
}
