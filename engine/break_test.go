package engine_test

// The tools of check_test.go that know what lies inside of values and pages. They
// read FORMAT.md, not the engine's code.

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"os"
	"slices"
	"testing"

	"go.etcd.io/bbolt"
)

// mem returns the mem id of the record at a position.
func (in inside) mem(seq []byte) []byte {
	in.t.Helper()
	c := in.lineage("mems").Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if bytes.Equal(v, seq) {
			return bytes.Clone(k)
		}
	}
	in.t.Fatalf("no mem id of position %x", seq)
	return nil
}

func (in inside) delMem(seq []byte) { in.del(in.lineage("mems"), in.mem(seq)) }

// copyData puts the inline segment at one position at another one.
func (in inside) copyData(from, to []byte) {
	in.put(in.lineage("data"), to, bytes.Clone(in.lineage("data").Get(from)))
}

// frame returns some stored frame.
func (in inside) frame() []byte {
	return append(unpack(in.others(atLarge).Get(others))["a"], 0)
}

// others is the key of what a segment's bucket has beside its frame groups.
var others = []byte("r")

// others returns the bucket of a segment.
func (in inside) others(seq []byte) *bbolt.Bucket { return in.lineage("data", string(seq)) }

// unpack takes packed parts apart.
func unpack(b []byte) map[string][]byte {
	parts := map[string][]byte{}
	table, n := b[3:], int(b[2])
	names, sizes := "", []int{}
	for range n {
		size, used := binary.Uvarint(table[1:])
		names, sizes = names+string(table[:1]), append(sizes, int(size))
		table = table[1+used:]
	}
	bodies := table[4:]
	for i, size := range sizes {
		parts[names[i:i+1]] = bytes.Clone(bodies[:size])
		bodies = bodies[size:]
	}
	return parts
}

// pack is its inverse.
func pack(parts map[string][]byte) []byte {
	b := []byte{0xd5, 1, byte(len(parts))}
	names := slices.Sorted(maps.Keys(parts))
	for _, name := range names {
		b = binary.AppendUvarint(append(b, name...), uint64(len(parts[name])))
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	for _, name := range names {
		b = append(b, parts[name]...)
	}
	return b
}

// part changes a part of the segment at a position; nil: there is none.
func (in inside) part(seq []byte, name string, change func(body []byte) []byte) {
	b := in.others(seq)
	parts := unpack(b.Get(others))
	parts[name] = change(parts[name])
	in.put(b, others, pack(parts))
}

// flipPart changes a bit of a part.
func (in inside) flipPart(seq []byte, name string, at int) {
	in.part(seq, name, func(body []byte) []byte {
		if at < 0 {
			at += len(body)
		}
		body[at] ^= 1
		return body
	})
}

// reseal gives a changed value the checksums that fit it, so that only what it says
// is wrong.
func reseal(sealed []byte) []byte {
	pages := (len(sealed) + 1024 + 3) / (1024 + 4)
	body := sealed[:len(sealed)-4*pages]
	out := bytes.Clone(body)
	for ; len(body) > 0; body = body[min(1024, len(body)):] {
		out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(body[:min(1024, len(body))], crc32.MakeTable(crc32.Castagnoli)))
	}
	return out
}

// swapFrames exchanges the frames 0 and 1 of a payload whose frames have sizes of
// their own: the table follows, every checksum fits.
func (in inside) swapFrames() {
	b := in.lineage("data", string(atFrames))
	t := unpack(b.Get(others))["t"]
	key := append([]byte("f"), 0, 0, 0, 0)
	frames := bytes.Clone(b.Get(key))
	end0, end1 := binary.LittleEndian.Uint64(t[8:]), binary.LittleEndian.Uint64(t[16:])
	swapped := append(bytes.Clone(frames[end0:end1]), frames[:end0]...)
	in.put(b, key, append(swapped, frames[end1:]...))
	binary.LittleEndian.PutUint64(t[8:], end1-end0)
	in.part(atFrames, "t", func([]byte) []byte { return reseal(t) })
}

// shiftChars says that frame 1 begins a character later than it does.
func (in inside) shiftChars() {
	in.part(atFrames, "c", func(c []byte) []byte {
		binary.LittleEndian.PutUint64(c[16+8:], binary.LittleEndian.Uint64(c[16+8:])-1)
		return reseal(c)
	})
}

// emptyGrams clears the signatures behind the head of a grams section.
func (in inside) emptyGrams() {
	g := bytes.Clone(in.lineage("grams").Get(atFrames))
	pages := (len(g) + 1024 + 3) / (1024 + 4)
	clear(g[len(g)/8 : len(g)-4*pages])
	in.put(in.lineage("grams"), atFrames, reseal(g))
}

// file is a closed ledger as bytes. Offsets are in bytes, pages by number.
type file struct {
	t    *testing.T
	path string
	b    []byte
	page int
}

func openRaw(t *testing.T, path string) *file {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &file{t, path, b, int(binary.NativeEndian.Uint32(b[16+8:]))}
}

func (f *file) close() {
	f.t.Helper()
	if err := os.WriteFile(f.path, f.b, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *file) flip(off int, bits byte)      { f.b[off] ^= bits }
func (f *file) get16(off int) uint16         { return binary.NativeEndian.Uint16(f.b[off:]) }
func (f *file) put16(off int, v uint16)      { binary.NativeEndian.PutUint16(f.b[off:], v) }
func (f *file) put32(off int, v uint32)      { binary.NativeEndian.PutUint32(f.b[off:], v) }
func (f *file) put64(off int, v uint64)      { binary.NativeEndian.PutUint64(f.b[off:], v) }
func (f *file) get64(off int) uint64         { return binary.NativeEndian.Uint64(f.b[off:]) }
func (f *file) txid(meta int) uint64         { return f.get64(meta*f.page + 16 + 48) }
func (f *file) freelist() int                { return int(f.get64(f.newerMeta()*f.page + 16 + 32)) }
func (f *file) newerMeta() int               { return 1 - f.olderMeta() }
func (f *file) bytes(key []byte, at int) int { return f.within(key, at*f.page, (at+1)*f.page) }

func (f *file) olderMeta() int {
	if f.txid(0) < f.txid(1) {
		return 0
	}
	return 1
}

// within finds key between two offsets.
func (f *file) within(key []byte, from, to int) int {
	f.t.Helper()
	i := bytes.Index(f.b[from:to], key)
	if i < 0 {
		f.t.Fatalf("no %x between %d and %d", key, from, to)
	}
	return from + i
}

// leaf returns the page that has the root of a lineage bucket. fill's handles fill
// one page of their own.
func (f *file) leaf(name string) (root int) {
	f.t.Helper()
	db, err := bbolt.Open(f.path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		f.t.Fatal(err)
	}
	defer db.Close()
	_ = db.View(func(tx *bbolt.Tx) error {
		root = int(inside{f.t, tx, f.path}.lineage(name).Root())
		return nil
	})
	return root
}

// last returns the last leaf of a lineage bucket whose root is a branch.
func (f *file) last(name string) int {
	f.t.Helper()
	root := f.leaf(name) * f.page
	if f.get16(root+8) != 1 {
		f.t.Fatalf("the root of %s is no branch", name)
	}
	return int(f.get64(root + 16*int(f.get16(root+10)) + 8))
}
