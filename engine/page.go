package engine

// bbolt's pages, read without bbolt. bbolt trusts its pages: a branch that names
// itself makes it recurse until the process dies, which no guard can catch. What
// has to work on any file (check, backup, vacuum) therefore reads them here, with
// every bound verified, by reads that cannot fault. tree.go walks them.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"

	"docket"
)

// Layout of a page: a header, then a table of elements of 16 bytes each, then
// their keys and values. Numbers are in the byte order of the machine.
const (
	elementSize  = 16
	bucketHeader = 16
	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10
	bucketFlag   = 0x01 // of a leaf element: its value is a bucket
)

// firstPage is the first page that is no meta page.
const firstPage = 2

// maxDepth is deeper than any tree that fits a file: a branch page has two
// children at least.
const maxDepth = 64

// pageCache is how many pages a pager remembers: at 4 KiB a page 8 MiB.
const pageCache = 2048

// pager reads the pages of one transaction. It is for one goroutine, and reads
// what it is meant to as long as the transaction is open.
type pager struct {
	file   *os.File
	path   string
	meta   meta
	mapped []byte // the file; nil: pages are read and copied
	recent map[uint64]page
	lost   error // the file is closed: what was read since means nothing
}

// newPager returns a pager for tx.
func newPager(s *store, tx *bbolt.Tx, path string) (*pager, error) {
	whole, _ := metas(s.file)
	for _, m := range whole {
		if m.txid == uint64(tx.ID()) {
			return &pager{file: s.file, path: path, meta: m}, nil
		}
	}
	return nil, errMoved
}

// filePager returns a pager for the newest state of a file that nobody writes to.
func filePager(f *os.File, path string) (*pager, error) {
	whole, _ := metas(f)
	if len(whole) == 0 {
		return nil, &docket.CorruptError{File: path, Place: "meta pages", Rule: ruleFile, Expected: "one that matches its checksum", Found: "none"}
	}
	return &pager{file: f, path: path, meta: whole[0]}, nil
}

// read reads n bytes of page id from off. They may alias the map. After a commit error the file is closed
// under its readers, which have the memory map only.
func (p *pager) read(id uint64, off, n int64) ([]byte, error) {
	if off+n <= int64(len(p.mapped)) {
		return p.mapped[off : off+n : off+n], nil
	}
	b := make([]byte, n)
	_, err := p.file.ReadAt(b, off)
	if errors.Is(err, os.ErrClosed) {
		p.lost = errMoved
	}
	if err != nil {
		return nil, p.fault(pagePlace(id), "a page", err.Error())
	}
	return b, nil
}

// page is one page and its overflow, or the page inside of an inline bucket.
type page struct {
	pager *pager
	id    uint64 // 0: inline
	flags uint16
	count int
	off   int64  // in the file
	span  int64  // bytes of the page and its overflow
	head  []byte // the first of them, at least header and element table
}

// fault is damage that a pager meets.
func (p *pager) fault(place, expected, found string) error {
	return &docket.CorruptError{File: p.path, Place: place, Rule: rulePages, Expected: expected, Found: found}
}

// page reads page id, a branch or a leaf.
func (p *pager) page(id uint64) (page, error) {
	if g, ok := p.recent[id]; ok {
		return g, nil
	}
	g, err := p.header(id)
	if err != nil {
		return page{}, err
	}
	if g.flags != branchFlag && g.flags != leafFlag {
		return page{}, p.fault(pagePlace(id), "a branch or a leaf", fmt.Sprintf("flags %#x", g.flags))
	}
	if err := g.table(); err != nil {
		return page{}, err
	}
	if p.mapped != nil {
		return g, nil
	}
	if p.recent == nil || len(p.recent) >= pageCache {
		p.recent = map[uint64]page{}
	}
	p.recent[id] = g
	return g, nil
}

func pagePlace(id uint64) string {
	if id == 0 {
		return "inline bucket"
	}
	return fmt.Sprintf("page %d", id)
}

// header reads a page's header and checks that the page lies in the file.
func (p *pager) header(id uint64) (page, error) {
	if id < firstPage || id >= p.meta.highest {
		return page{}, p.fault(pagePlace(id), fmt.Sprintf("a page from %d to %d", firstPage, p.meta.highest-1), "a pointer outside")
	}
	size := int64(p.meta.pageSize)
	g := page{pager: p, id: id, off: int64(id) * size}
	var err error
	if g.head, err = p.read(id, g.off, size); err != nil {
		return page{}, err
	}
	order := binary.NativeEndian
	if found := order.Uint64(g.head); found != id {
		return page{}, p.fault(pagePlace(id), "its own number", fmt.Sprint(found))
	}
	g.flags, g.count = order.Uint16(g.head[8:]), int(order.Uint16(g.head[10:]))
	overflow := uint64(order.Uint32(g.head[12:]))
	if overflow >= p.meta.highest-id {
		return page{}, p.fault(pagePlace(id), fmt.Sprintf("at most %d pages of overflow", p.meta.highest-id-1), fmt.Sprint(overflow))
	}
	g.span = int64(overflow+1) * size
	return g, nil
}

// inlinePage reads the page of a bucket that lies in its parent's value.
func (p *pager) inlinePage(place string, b []byte) (page, error) {
	if len(b) < pageHeader {
		return page{}, p.fault(place, "an inline bucket", fmt.Sprintf("%d bytes", len(b)))
	}
	order := binary.NativeEndian
	g := page{pager: p, flags: order.Uint16(b[8:]), count: int(order.Uint16(b[10:])), span: int64(len(b)), head: b}
	if g.flags != leafFlag {
		return page{}, p.fault(place, "an inline leaf", fmt.Sprintf("flags %#x", g.flags))
	}
	return g, g.table()
}

// table makes head hold the whole element table.
func (g *page) table() error {
	need := int64(pageHeader + elementSize*g.count)
	if need > g.span {
		return g.pager.fault(pagePlace(g.id), fmt.Sprintf("at most %d elements", (g.span-pageHeader)/elementSize), fmt.Sprint(g.count))
	}
	if need <= int64(len(g.head)) {
		return nil
	}
	head, err := g.bytes(0, need)
	if err == nil {
		g.head = head
	}
	return err
}

// bytes returns n bytes of the page from off. They alias the page where it is in
// memory.
func (g *page) bytes(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > g.span-n {
		return nil, g.pager.fault(pagePlace(g.id), fmt.Sprintf("elements inside of its %d bytes", g.span), fmt.Sprintf("%d bytes at %d", n, off))
	}
	if off+n <= int64(len(g.head)) {
		return g.head[off : off+n : off+n], nil
	}
	return g.pager.read(g.id, g.off+off, n)
}

// element is one element of a page.
type element struct {
	key    []byte
	child  uint64 // of a branch
	bucket bool   // of a leaf: the value is a bucket

	in       page
	off, len int64 // where the value lies in the page
}

// element reads the key of element i, and where its value is.
func (g *page) element(i int) (element, error) {
	at := int64(pageHeader + elementSize*i)
	b, order := g.head[at:at+elementSize], binary.NativeEndian
	if g.flags == branchFlag {
		key, err := g.bytes(at+int64(order.Uint32(b)), int64(order.Uint32(b[4:])))
		return element{key: key, child: order.Uint64(b[8:])}, err
	}
	off, size := at+int64(order.Uint32(b[4:])), int64(order.Uint32(b[8:]))
	key, err := g.bytes(off, size)
	if err != nil {
		return element{}, err
	}
	e := element{key: key, bucket: order.Uint32(b) == bucketFlag, in: *g, off: off + size, len: int64(order.Uint32(b[12:]))}
	if flags := order.Uint32(b); flags > bucketFlag || len(key) == 0 {
		return element{}, g.pager.fault(pagePlace(g.id), "elements with a key and known flags", fmt.Sprintf("flags %#x, a key of %d bytes", flags, len(key)))
	}
	if e.off+e.len > g.span {
		return element{}, g.pager.fault(pagePlace(g.id), fmt.Sprintf("values inside of its %d bytes", g.span), fmt.Sprintf("%d bytes at %d", e.len, e.off))
	}
	return e, nil
}

// value reads the value. It may alias the page.
func (e *element) value() ([]byte, error) { return e.in.bytes(e.off, e.len) }

// freelist calls fn with each free page, in the order of the freelist page.
func (p *pager) freelist(fn func(id uint64)) (page, error) {
	g, err := p.header(p.meta.freelist)
	if err != nil {
		return g, err
	}
	if g.flags != freelistFlag {
		return g, p.fault(pagePlace(g.id), "the freelist", fmt.Sprintf("flags %#x", g.flags))
	}
	order := binary.NativeEndian
	count, at := int64(g.count), int64(pageHeader)
	if g.count == 1<<16-1 { // more than fit: the first element says how many
		b, err := g.bytes(at, 8)
		if err != nil {
			return g, err
		}
		count, at = int64(order.Uint64(b)), at+8
	}
	if count < 0 || count > (g.span-at)/8 {
		return g, p.fault(pagePlace(g.id), fmt.Sprintf("at most %d free pages", (g.span-at)/8), fmt.Sprint(count))
	}
	ids, err := g.bytes(at, 8*count)
	for ; len(ids) > 0; ids = ids[8:] {
		fn(order.Uint64(ids))
	}
	return g, err
}

// pageSet is a set of page numbers.
type pageSet []uint64

func newPageSet(highest uint64) pageSet { return make(pageSet, (highest+63)/64) }

// add adds n pages from id and tells whether none of them was in the set. Pages
// beyond the set are left out.
func (s pageSet) add(id, n uint64) bool {
	fresh := true
	for ; n > 0 && id/64 < uint64(len(s)); id, n = id+1, n-1 {
		fresh = fresh && s[id/64]&(1<<(id%64)) == 0
		s[id/64] |= 1 << (id % 64)
	}
	return fresh
}

func (s pageSet) has(id uint64) bool { return id/64 < uint64(len(s)) && s[id/64]&(1<<(id%64)) != 0 }
