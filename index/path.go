package index

// The paths section: where the large values of a JSON payload lie. It has a row for
// every value of at least grain bytes and marks at borders between members, so that
// a walk reads the few kilobytes around its target and nothing else. Small values
// have no row: to find one among the members between two marks costs less than
// decoding the frame that they lie in, and a table of every value would be larger
// than the payload's frames. FORMAT.md, "Paths section", is normative. Building is
// in path_build.go, walking in path_walk.go.

import (
	"encoding/binary"

	"docket/internal/seal"
)

// pathsVersion is the first byte of the section.
const pathsVersion = 1

// Sizes of the parts of the section's body.
const (
	pathsHead = 32 // version, root kind, 2 reserved, grain, rows, marks, keys, prints, names, payload size
	rowSize   = 32 // start, end, members, first mark, first key, first print, name, kind and flags
	markSize  = 12 // ordinal, offset, child
	keySize   = 8  // hash, mark
)

// valueKind is what a value is, as rows store it.
type valueKind uint8

const (
	kindObject valueKind = iota + 1
	kindArray
	kindString
	kindScalar // a number, true, false, null
	kindDocs   // the values of an NDJSON payload, as if they were an array
)

var kindWords = [...]string{"nothing", "an object", "an array", "a string", "a number or literal", "a list of JSON documents"}

// Flags of a row, above the byte of its kind.
const (
	flagTwins   = 1 << 8  // an object that may have two members of one key
	flagEscapes = 1 << 9  // an object of which some keys have escapes
	flagPrint   = 1 << 10 // an object with a print of one byte for each member
	flagPrints2 = 1 << 11 // or of two
	rowFlags    = 0xff | flagTwins | flagEscapes | flagPrint | flagPrints2
)

// row describes a value of at least grain bytes. Its marks and keys begin at
// these indexes and end where those of the next row begin; its prints at this byte;
// name is 1 + the byte of the names where its key is, 0 if its key is not kept.
type row struct {
	start, end          uint32 // in the payload
	members             uint32
	marks, keys, prints uint32
	name                uint32
	flags               uint32
}

func (r row) kind() valueKind { return valueKind(r.flags & 0xff) }

// printSize returns the size of a print in bytes: 0, 1, 2.
func (r row) printSize() int {
	switch {
	case r.flags&flagPrints2 != 0:
		return 2
	case r.flags&flagPrint != 0:
		return 1
	}
	return 0
}

// first returns where the first member may begin, last where the last one must
// have ended.
func (r row) inner() (first, last int64) {
	if r.kind() == kindDocs {
		return int64(r.start), int64(r.end)
	}
	return int64(r.start) + 1, int64(r.end) - 1
}

// mark is a border between members: the member called ordinal begins at offset (an
// object's with its key). child is 1 + the row of its value, 0 if that is small.
type mark struct {
	ordinal, offset, child uint32
}

// keyMark leads from the hash of a key to the mark of its member, one for each
// large member of an object without prints; sorted by hash, then mark.
type keyMark struct {
	hash, mark uint32
}

func appendU32(dst []byte, values ...uint32) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return dst
}

// Paths is an opened paths section. It aliases the section, and is for one
// goroutine. The zero value has no rows.
type Paths struct {
	body              seal.Bytes
	rows, marks, keys int
	prints, names     int // bytes of all of them
	size              uint32
}

// ParsePaths opens the paths section of a payload of size bytes. It reads the head
// only. [ErrDamaged] says that the section is not what FORMAT.md allows or belongs
// to another payload; the caller walks without it.
func ParsePaths(section []byte, size int64) (Paths, error) {
	body, err := seal.Open(section)
	if err != nil {
		return Paths{}, ErrDamaged
	}
	h, err := body.Read(0, pathsHead)
	if err != nil {
		return Paths{}, ErrDamaged
	}
	u32 := func(off int) int { return int(binary.LittleEndian.Uint32(h[off:])) }
	p := Paths{body: body, rows: u32(8), marks: u32(12), keys: u32(16), prints: u32(20), names: u32(24), size: uint32(u32(28))}
	length := int64(pathsHead) + int64(p.rows)*rowSize + int64(p.marks)*markSize + int64(p.keys)*keySize + int64(p.prints) + int64(p.names)
	if h[0] != pathsVersion || h[2]|h[3] != 0 || length != int64(body.Len()) || int64(p.size) != size || p.rows == 0 {
		return Paths{}, ErrDamaged
	}
	return p, nil
}

// marksAt and keysAt return where these parts begin in the body.
func (p *Paths) marksAt() int { return pathsHead + p.rows*rowSize }
func (p *Paths) keysAt() int  { return p.marksAt() + p.marks*markSize }

// root returns the number of the root's row: the last one.
func (p *Paths) root() int { return p.rows - 1 }

// read returns size bytes at off of the body.
func (p *Paths) read(off, size int) ([]byte, error) {
	b, err := p.body.Read(off, size)
	if err != nil {
		return nil, ErrDamaged
	}
	return b, nil
}

// row returns row n.
func (p *Paths) row(n int) (row, error) {
	b, err := p.read(pathsHead+n*rowSize, rowSize)
	if err != nil {
		return row{}, err
	}
	u32 := func(off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }
	r := row{start: u32(0), end: u32(4), members: u32(8), marks: u32(12), keys: u32(16), prints: u32(20), name: u32(24), flags: u32(28)}
	if r.start >= r.end || r.end > p.size || r.flags&^uint32(rowFlags) != 0 || r.kind() == 0 || r.kind() > kindDocs {
		return row{}, ErrDamaged
	}
	return r, nil
}

// after returns where the marks and keys of row n end.
func (p *Paths) after(n int) (marks, keys int, err error) {
	if n == p.root() {
		return p.marks, p.keys, nil
	}
	next, err := p.row(n + 1)
	if err == nil && (int(next.marks) > p.marks || int(next.keys) > p.keys) {
		err = ErrDamaged
	}
	return int(next.marks), int(next.keys), err
}

// mark returns mark n.
func (p *Paths) mark(n int) (mark, error) {
	b, err := p.read(p.marksAt()+n*markSize, markSize)
	if err != nil {
		return mark{}, err
	}
	return mark{
		ordinal: binary.LittleEndian.Uint32(b),
		offset:  binary.LittleEndian.Uint32(b[4:]),
		child:   binary.LittleEndian.Uint32(b[8:]),
	}, nil
}

// key returns key n.
func (p *Paths) key(n int) (keyMark, error) {
	b, err := p.read(p.keysAt()+n*keySize, keySize)
	if err != nil {
		return keyMark{}, err
	}
	return keyMark{hash: binary.LittleEndian.Uint32(b), mark: binary.LittleEndian.Uint32(b[4:])}, nil
}

// name returns the key of the member that row r is the value of, where it is kept: it
// has no escapes.
func (p *Paths) name(r row) (key []byte, kept bool, err error) {
	if r.name == 0 {
		return nil, false, nil
	}
	at := int(r.name) - 1
	if at >= p.names {
		return nil, false, ErrDamaged
	}
	off := p.keysAt() + p.keys*keySize + p.prints + at
	n, err := p.read(off, 1)
	if err != nil || at+1+int(n[0]) > p.names {
		return nil, false, ErrDamaged
	}
	key, err = p.read(off+1, int(n[0]))
	return key, true, err
}

// printsFrom returns prints of row r from member n on, as many as are in reach of one
// read.
func (p *Paths) printsFrom(r row, n int) ([]byte, error) {
	size := r.printSize()
	count := min(int(r.members)-n, seal.Page/size)
	off := int(r.prints) + n*size
	if off+count*size > p.prints {
		return nil, ErrDamaged
	}
	return p.read(p.keysAt()+p.keys*keySize+off, count*size)
}
