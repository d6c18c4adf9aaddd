package index

// Steps of a walk over values that have a row. The members of a row lie in regions:
// from one mark to the next, the first from the row's beginning. A region holds one
// large member, or small ones of about a grain together.

// region is a run of members of a row.
type region struct {
	start, end int64 // its bytes
	ordinal    int64 // of its first member
	child      int   // 1 + the row of its only member, 0 if the members are small
}

// regions gives the regions of one row by number.
type regions struct {
	table       *Paths
	row         row
	marks, keys int // where the row's marks and keys end
	last        int64
}

// rowNode returns the node of row number n.
func (w *walker) rowNode(n int) (node, error) {
	r, err := w.table.row(n)
	if err != nil {
		return node{}, err
	}
	return node{kind: r.kind(), start: int64(r.start), end: int64(r.end), row: n}, nil
}

// childNode returns the node of a region's large member. A child's row comes
// before its parent's, so no damage leads in circles.
func (w *walker) childNode(parent int, g region) (node, error) {
	if g.child > parent {
		return node{}, ErrDamaged
	}
	n, err := w.rowNode(g.child - 1)
	if err == nil && (n.start < g.start || n.end > g.end) {
		err = ErrDamaged
	}
	return n, err
}

// regions returns the regions of the row of n.
func (w *walker) regions(n node) (regions, error) {
	r, err := w.table.row(n.row)
	if err != nil {
		return regions{}, err
	}
	g := regions{table: w.table, row: r}
	g.marks, g.keys, err = w.table.after(n.row)
	if err == nil && (g.marks < int(r.marks) || g.keys < int(r.keys)) {
		err = ErrDamaged
	}
	_, g.last = r.inner()
	return g, err
}

// count returns how many regions there are.
func (g *regions) count() int { return g.marks - int(g.row.marks) + 1 }

// at returns region k.
func (g *regions) at(k int) (region, error) {
	var out region
	out.start, out.end = g.row.inner()
	if k > 0 {
		m, err := g.table.mark(int(g.row.marks) + k - 1)
		if err != nil {
			return out, err
		}
		out.start, out.ordinal, out.child = int64(m.offset), int64(m.ordinal), int(m.child)
	}
	if k+1 < g.count() {
		m, err := g.table.mark(int(g.row.marks) + k)
		if err != nil {
			return out, err
		}
		out.end = int64(m.offset)
	}
	if out.start > out.end || out.start < int64(g.row.start) || out.end > g.last {
		return out, ErrDamaged
	}
	return out, nil
}

// find returns the number of the last region whose mark is not after the wanted
// place, of which after tells.
func (g *regions) find(after func(mark) bool) (int, error) {
	low, high := 0, g.count() // region low begins at or before it, region high after it
	for low+1 < high {
		mid := (low + high) / 2
		m, err := g.table.mark(int(g.row.marks) + mid - 1)
		if err != nil {
			return 0, err
		}
		if after(m) {
			high = mid
		} else {
			low = mid
		}
	}
	return low, nil
}

// read returns a node whose text is a region: a part of a container, without
// brackets.
func (w *walker) read(n node, g region) (node, error) {
	text, err := w.src.Bytes(g.start, g.end)
	return node{kind: n.kind, start: g.start, end: g.end, text: text}, err
}

// run walks the members of a node that [walker.read] returned.
func (n node) run() members { return members{b: n.text, object: n.kind == kindObject} }

// rowElement steps to element at of an array, or document at, that has a row.
func (w *walker) rowElement(n node, at int64) (node, error) {
	all, err := w.regions(n)
	if err != nil {
		return n, err
	}
	k, err := all.find(func(m mark) bool { return int64(m.ordinal) > at })
	if err != nil {
		return n, err
	}
	g, err := all.at(k)
	if err != nil {
		return n, err
	}
	if g.child > 0 {
		if g.ordinal != at {
			return n, ErrDamaged
		}
		return w.childNode(n.row, g)
	}
	part, err := w.read(n, g)
	if err != nil {
		return n, err
	}
	walk, m := part.run(), member{}
	for at -= g.ordinal; at > 0 && walk.next(&m); at-- {
	}
	if at > 0 || !walk.begin(&m) {
		return n, ErrDamaged
	}
	return part.from(m.start), nil
}

// rowMember finds the first member that has the key, of an object that has a row.
func (w *walker) rowMember(n node, key string) (found node, ok bool, err error) {
	all, err := w.regions(n)
	if err != nil {
		return n, false, err
	}
	c := keySearch{regions: all, key: key, text: appendQuote(nil, key)}
	c.twins, c.escapes = all.row.flags&flagTwins != 0, all.row.flags&flagEscapes != 0
	if all.row.printSize() > 0 {
		return w.printed(n, &c)
	}
	if !c.twins {
		found, ok, err = w.largeMember(n, &all, key)
		if err != nil || ok {
			return found, ok, err
		}
	}
	if !c.escapes && len(c.text) != len(key)+2 {
		return n, false, nil // such a key has an escape wherever it occurs
	}
	return w.search(n, &c)
}

// keySearch looks for a key in the regions of a row.
type keySearch struct {
	regions
	key            string
	text           []byte // the key with its quotes: how it stands in the payload
	twins, escapes bool   // the row's flags
}

// printed goes through the members whose print is that of the key, in order.
func (w *walker) printed(n node, c *keySearch) (found node, ok bool, err error) {
	size, hash := c.row.printSize(), keyHash([]byte(c.key))
	want := []byte{byte(hash), byte(hash >> 8)}[:size]
	for at := 0; at < int(c.row.members); {
		prints, err := c.table.printsFrom(c.row, at)
		if err != nil {
			return n, false, err
		}
		for i := 0; i < len(prints); i += size {
			if prints[i] != want[0] || size == 2 && prints[i+1] != want[1] {
				continue
			}
			if found, ok, err = w.isMember(n, c, int64(at+i/size)); err != nil || ok {
				return found, ok, err
			}
		}
		at += len(prints) / size
	}
	return n, false, nil
}

// isMember tells whether the member called ordinal has the key.
func (w *walker) isMember(n node, c *keySearch, ordinal int64) (found node, ok bool, err error) {
	k, err := c.find(func(m mark) bool { return int64(m.ordinal) > ordinal })
	if err != nil {
		return n, false, err
	}
	g, err := c.at(k)
	if err != nil || !c.escapes && w.src.Skip(c.text, g.start, g.end) >= g.end {
		return n, false, err
	}
	return w.inRegion(n, g, c.key)
}

// search goes through the regions in order. Where no key has an escape, the source
// says which parts need not be read; where no two keys are equal, the large members
// have been ruled out.
func (w *walker) search(n node, c *keySearch) (found node, ok bool, err error) {
	for k := 0; k < c.count(); k++ {
		g, err := c.at(k)
		if err != nil {
			return n, false, err
		}
		if !c.escapes {
			next := w.src.Skip(c.text, g.start, c.last)
			if next >= c.last {
				break
			}
			if next >= g.end {
				if k, g, err = c.jump(k, next); err != nil {
					return n, false, err
				}
			}
		}
		if g.child > 0 && !c.twins {
			continue
		}
		if found, ok, err = w.inRegion(n, g, c.key); err != nil || ok {
			return found, ok, err
		}
	}
	return n, false, nil
}

// jump returns the region that holds the byte at offset, which is behind region k.
func (c *keySearch) jump(k int, offset int64) (int, region, error) {
	to, err := c.find(func(m mark) bool { return int64(m.offset) > offset })
	if err != nil {
		return k, region{}, err
	}
	if to <= k {
		return k, region{}, ErrDamaged // the marks do not ascend
	}
	g, err := c.at(to)
	return to, g, err
}

// largeMember finds the member with the key among those that have rows.
func (w *walker) largeMember(n node, all *regions, key string) (found node, ok bool, err error) {
	hash := uint32(keyHash([]byte(key)))
	low, high := int(all.row.keys), all.keys
	for low < high {
		mid := (low + high) / 2
		k, err := w.table.key(mid)
		if err != nil {
			return n, false, err
		}
		if k.hash < hash {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for ; low < all.keys; low++ {
		k, err := w.table.key(low)
		if err != nil || k.hash != hash {
			return n, false, err
		}
		if int(k.mark) < int(all.row.marks) || int(k.mark) >= all.marks {
			return n, false, ErrDamaged
		}
		g, err := all.at(int(k.mark) - int(all.row.marks) + 1)
		if err != nil {
			return n, false, err
		}
		if found, ok, err = w.inRegion(n, g, key); err != nil || ok {
			return found, ok, err
		}
	}
	return n, false, nil
}

// inRegion finds the first member of a region that has the key.
func (w *walker) inRegion(n node, g region, key string) (found node, ok bool, err error) {
	if g.child > 0 {
		return w.isLarge(n, g, key)
	}
	part, err := w.read(n, g)
	if err != nil {
		return n, false, err
	}
	if start := find(part.text, part.run(), key); start >= 0 {
		return part.from(start), true, nil
	}
	return n, false, nil
}

// isLarge tells whether the large member of a region has the key: as the table keeps
// it, or else as the payload has it.
func (w *walker) isLarge(n node, g region, key string) (found node, ok bool, err error) {
	child, err := w.childNode(n.row, g)
	if err != nil {
		return n, false, err
	}
	r, err := w.table.row(child.row)
	if err != nil {
		return n, false, err
	}
	name, kept, err := w.table.name(r)
	if err != nil || kept {
		return child, string(name) == key, err
	}
	text, err := w.src.Bytes(g.start, child.start)
	if err != nil {
		return n, false, err
	}
	end := skipString(text, 0)
	return child, keyIs(text[:end], key), nil
}
