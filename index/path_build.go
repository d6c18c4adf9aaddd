package index

// Building the paths section: one pass of the scanner, which also decides what the
// payload is. Containers that are still open collect marks of their own; when one
// closes it is known whether it is large enough for a row, and its marks join the
// table in one piece. Rows are therefore in the order in which values end, and a
// child always comes before its parent, which is what keeps a damaged table from
// leading in circles.

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"docket"
	"docket/internal/seal"
)

const (
	// pathGrain is the size in bytes from which a value has a row, and the distance
	// of marks: a quarter of a frame, so that what lies between two marks is in one
	// frame or two.
	pathGrain = 8 << 10
	// minPathsPayload is the smallest payload with a paths section: to scan less
	// takes no longer than to decode the one frame that it lies in.
	minPathsPayload = 32 << 10
	// maxKeyHashes is how many keys of open objects are remembered to find twins:
	// 2 MiB. Objects beyond it are taken to have some.
	maxKeyHashes = 1 << 18
	// maxName is the longest key that is kept with the row of its value, so that a
	// walk need not read it.
	maxName = 64
	// printedShare is the share of a grain that the members of an object must have,
	// on average, for prints of one byte, and four times that for two: they take at
	// most four thousandths of the payload, and two.
	printedShare = 32
	// pathTries is how often the grain is quadrupled for a payload whose table is
	// too large, because it is deeply nested.
	pathTries = 3
)

// pathBudget is the most that a section may take of a payload: with less, nested
// wrappers around values of just a grain would go without.
func pathBudget(payload int) int { return payload/64 + 4<<10 }

// scanPaths returns what a payload is that is cut into frames at cuts, and its paths
// section, nil for a payload
// that needs none or that would need a larger one than [pathBudget].
func scanPaths(payload []byte, cuts []int64) (docket.Kind, []byte) {
	if len(payload) < minPathsPayload || int64(len(payload)) > math.MaxUint32 {
		kind, _ := scanKind(payload)
		return kind, nil
	}
	cuts = cuts[:max(len(cuts)-1, 0)] // behind the last nothing begins
	kind, grain := docket.KindText, pathGrain
	for range pathTries {
		b := builder{grain: grain, printed: grain / printedShare, budget: pathBudget(len(payload)), cuts: cuts}
		if kind = b.build(payload); kind == docket.KindText {
			return kind, nil
		}
		if b.size() <= b.budget {
			return kind, b.append(nil, len(payload))
		}
		grain *= 4
	}
	return kind, nil
}

// opened is a container that has not ended yet.
type opened struct {
	start    int
	members  uint32
	member   int    // where the member being read began: its key, in an object
	hash     uint64 // of its key
	keyEnd   int    // where that ends, with its quote; 0 if it has an escape
	border   int    // where a mark is, or could as well be: distances count from here
	cut      int    // the number of the next frame's end
	object   bool
	flags    uint32
	hashes   int // where its keys begin in builder.hashes
	marks    []mark
	children []keyMark // of its large members; mark counts from its first
}

// builder collects the table. stack[0] stands for the list of documents.
type builder struct {
	grain, budget int
	printed       int     // the average size of members from which on they have prints
	cuts          []int64 // where the payload's frames end
	cut           int     // the number of the first that is behind what was scanned
	s             *scanner
	docs          documents
	stack         []opened
	hashes        []uint64
	rows          []row
	marks         []mark
	keys          []keyMark
	prints, names []byte
	spelled       []byte // a key without its escapes
}

// size returns the length of the body so far.
func (b *builder) size() int {
	return pathsHead + rowSize*len(b.rows) + markSize*len(b.marks) + keySize*len(b.keys) + len(b.prints) + len(b.names)
}

// build scans payload. It returns KindText for what is not JSON.
func (b *builder) build(payload []byte) docket.Kind {
	b.s = scan(payload)
	b.push(markLen(payload), false)
	b.top().border = markLen(payload) // documents have no bracket before the first
	for {
		switch b.s.next() {
		case tokenNone:
			return b.finish(len(payload))
		case tokenBad:
			return docket.KindText
		case tokenKey:
			b.key()
		case tokenOpen:
			if !b.element(true) {
				return docket.KindText
			}
			b.push(b.s.start, b.s.object)
		case tokenClose:
			b.pop(b.s.end)
		case tokenString:
			if !b.element(false) {
				return docket.KindText
			}
			b.scalar(kindString)
		case tokenScalar:
			if !b.element(false) {
				return docket.KindText
			}
			b.scalar(kindScalar)
		}
	}
}

func (b *builder) top() *opened { return &b.stack[len(b.stack)-1] }

// push opens a container, and reuses what a closed one left.
func (b *builder) push(start int, object bool) {
	n := len(b.stack)
	if n < cap(b.stack) {
		b.stack = b.stack[:n+1]
	} else {
		b.stack = append(b.stack, opened{})
	}
	for b.cut < len(b.cuts) && b.cuts[b.cut] <= int64(start) {
		b.cut++
	}
	t := &b.stack[n]
	*t = opened{start: start, object: object, border: start + 1, cut: b.cut, hashes: len(b.hashes), marks: t.marks[:0], children: t.children[:0]}
}

// key begins a member of an object.
func (b *builder) key() {
	t := b.top()
	quoted := b.s.b[b.s.start:b.s.end]
	t.keyEnd = b.s.end
	if b.s.escaped {
		t.keyEnd = 0
		t.flags |= flagEscapes
		b.spelled, _ = appendUnquote(b.spelled[:0], quoted)
		t.hash = keyHash(b.spelled)
	} else {
		t.hash = keyHash(quoted[1 : len(quoted)-1])
	}
	if len(b.hashes) < maxKeyHashes {
		b.hashes = append(b.hashes, t.hash)
	} else {
		t.flags |= flagTwins
	}
	b.begin(t, b.s.start)
}

// element begins an element of an array, or a document. A document that cannot
// follow the ones before makes it return false.
func (b *builder) element(container bool) bool {
	t := b.top()
	if t.object {
		return true // its key began it
	}
	b.begin(t, b.s.start)
	return len(b.stack) > 1 || b.docs.begin(b.s.start, container)
}

// begin takes note of a member that begins at start, and marks its border when it
// is far from the last mark, as it always is behind a large member, or when a frame
// ended since: what lies between two marks is then in one frame.
func (b *builder) begin(t *opened, start int) {
	crossed := b.cross(t, start)
	t.member = start
	t.members++
	if crossed || start-t.border >= b.grain {
		t.marks = append(t.marks, mark{ordinal: t.members - 1, offset: uint32(start)})
		t.border = start
	}
}

// cross tells whether a frame ended before start, and since the last member of t
// began: that one is marked too, since it lies in two.
func (b *builder) cross(t *opened, start int) bool {
	if t.cut == len(b.cuts) || b.cuts[t.cut] > int64(start) {
		return false
	}
	if t.members > 0 && int64(t.member) < b.cuts[t.cut] {
		m := mark{ordinal: t.members - 1, offset: uint32(t.member)}
		if n := len(t.marks); n == 0 || t.marks[n-1].ordinal < m.ordinal {
			t.marks = append(t.marks, m)
		}
	}
	for t.cut < len(b.cuts) && b.cuts[t.cut] <= int64(start) {
		t.cut++
	}
	return t.members > 0
}

// scalar ends a value that is no container.
func (b *builder) scalar(k valueKind) {
	if b.s.end-b.s.start >= b.grain {
		b.add(b.row(b.s.start, b.s.end, k))
	}
}

// pop ends a container.
func (b *builder) pop(end int) {
	t := b.top()
	b.stack = b.stack[:len(b.stack)-1]
	if end-t.start >= b.grain {
		b.cross(t, end)
		k := kindArray
		if t.object {
			k = kindObject
		}
		b.add(b.close(t, end, k))
	}
	b.hashes = b.hashes[:t.hashes]
}

// close moves the marks and keys of t into the table and returns its row.
func (b *builder) close(t *opened, end int, k valueKind) row {
	r := b.row(t.start, end, k)
	r.members = t.members
	hashes := b.hashes[t.hashes:]
	if t.object {
		r.flags |= t.flags | b.print(r, hashes)
		if twins(hashes) {
			r.flags |= flagTwins
		}
	}
	if b.size() > b.budget {
		return r // lost already: the table is not kept
	}
	if r.printSize() == 0 {
		slices.SortFunc(t.children, func(x, y keyMark) int {
			return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.mark, y.mark))
		})
		for _, c := range t.children {
			b.keys = append(b.keys, keyMark{hash: c.hash, mark: c.mark + r.marks})
		}
	}
	b.marks = append(b.marks, t.marks...)
	return r
}

// row returns the row of a value, whose marks, keys and prints come next.
func (b *builder) row(start, end int, k valueKind) row {
	return row{
		start: uint32(start), end: uint32(end), flags: uint32(k),
		marks: uint32(len(b.marks)), keys: uint32(len(b.keys)), prints: uint32(len(b.prints)),
	}
}

// print appends the prints of the members of r, if these are large enough, and
// returns the flag that says so.
func (b *builder) print(r row, hashes []uint64) uint32 {
	if len(hashes) == 0 || len(hashes) != int(r.members) {
		return 0 // some were not remembered
	}
	switch size := int(r.end-r.start) / len(hashes); {
	case size >= 4*b.printed:
		for _, h := range hashes {
			b.prints = binary.LittleEndian.AppendUint16(b.prints, uint16(h))
		}
		return flagPrints2
	case size >= b.printed:
		for _, h := range hashes {
			b.prints = append(b.prints, byte(h))
		}
		return flagPrint
	}
	return 0
}

// add appends a row and marks its member in the container that is open now.
func (b *builder) add(r row) {
	t := b.top()
	if b.size() <= b.budget {
		r.name = b.name(t)
		b.rows = append(b.rows, r)
	}
	m := mark{ordinal: t.members - 1, offset: uint32(t.member), child: uint32(len(b.rows))}
	if n := len(t.marks); n > 0 && t.marks[n-1].ordinal == m.ordinal {
		t.marks[n-1] = m
	} else {
		t.marks = append(t.marks, m)
	}
	if t.object {
		t.children = append(t.children, keyMark{hash: uint32(t.hash), mark: uint32(len(t.marks) - 1)})
	}
}

// name keeps the key of the member that t is reading, unless it is long or has an
// escape, and returns where.
func (b *builder) name(t *opened) uint32 {
	if !t.object || t.keyEnd == 0 || t.keyEnd-t.member-2 > maxName {
		return 0
	}
	at := uint32(len(b.names))
	key := b.s.b[t.member+1 : t.keyEnd-1]
	b.names = append(append(b.names, byte(len(key))), key...)
	return at + 1
}

// finish ends the payload.
func (b *builder) finish(end int) docket.Kind {
	kind := b.docs.kind()
	if kind == docket.KindNDJSON && b.size() <= b.budget {
		b.cross(b.top(), end)
		b.rows = append(b.rows, b.close(b.top(), end, kindDocs))
	}
	return kind
}

// append appends the sealed section, nothing if the root has no row.
func (b *builder) append(dst []byte, payload int) []byte {
	if len(b.rows) == 0 {
		return dst
	}
	root := b.rows[len(b.rows)-1].kind()
	body := make([]byte, 0, b.size())
	body = append(body, pathsVersion, byte(root), 0, 0)
	body = appendU32(body, uint32(b.grain), uint32(len(b.rows)), uint32(len(b.marks)), uint32(len(b.keys)), uint32(len(b.prints)), uint32(len(b.names)), uint32(payload))
	for _, r := range b.rows {
		body = appendU32(body, r.start, r.end, r.members, r.marks, r.keys, r.prints, r.name, r.flags)
	}
	for _, m := range b.marks {
		body = appendU32(body, m.ordinal, m.offset, m.child)
	}
	for _, k := range b.keys {
		body = appendU32(body, k.hash, k.mark)
	}
	return seal.Append(dst, append(append(body, b.prints...), b.names...))
}

// twins tells whether two of the hashes are equal. It reorders them.
func twins(hashes []uint64) bool {
	slices.Sort(hashes)
	for i := 1; i < len(hashes); i++ {
		if hashes[i] == hashes[i-1] {
			return true
		}
	}
	return false
}

// keyHash is the hash of a key. Its low half is part of the format; it need not
// resist an attacker, who gains a scan.
func keyHash(key []byte) uint64 {
	const odd = 0x9E3779B97F4A7C15 // 2^64 / golden ratio
	h := uint64(len(key))*odd + 1
	for ; len(key) >= 8; key = key[8:] {
		h = fold128(h^binary.LittleEndian.Uint64(key), odd)
	}
	var tail uint64
	for i := len(key) - 1; i >= 0; i-- {
		tail = tail<<8 | uint64(key[i])
	}
	h = fold128(h^tail, odd)
	return h ^ h>>32
}

// fold128 multiplies into 128 bits and folds them into 64.
func fold128(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}
