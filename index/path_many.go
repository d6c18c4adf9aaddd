package index

// Steps of a walk that select several values: slices, all, filters; and the query,
// which selects the first of several.

// visit is called with each selected value. It returns false to stop.
type visit func(node) (bool, error)

// each walks on from every value that segment i selects. Values from which the rest
// of the path is missing are left out; the first miss is kept for a walk that finds
// nothing at all.
func (w *walker) each(n node, i int) error {
	return w.selected(n, i, func(v node) (bool, error) {
		entered := w.entered
		_, err := w.walk(v, i+1)
		w.entered = entered
		if miss, ok := err.(*MissError); ok {
			if w.missed == nil {
				w.missed = miss
			}
			err = nil
		}
		return true, err
	})
}

// first steps to the first element for which a query holds.
func (w *walker) first(n node, i int) (node, error) {
	var found *node
	err := w.selected(n, i, func(v node) (bool, error) {
		found = &v
		return false, nil
	})
	switch {
	case err != nil:
		return n, err
	case found == nil:
		return n, w.miss(n, i)
	}
	return *found, nil
}

// selected visits the values that segment i selects from n.
func (w *walker) selected(n node, i int, do visit) error {
	s := w.path[i]
	switch {
	case s.Kind == SegmentAll && n.kind == kindObject:
		return w.members(n, do)
	case n.kind != kindArray && n.kind != kindDocs:
		return w.miss(n, i)
	case s.Kind == SegmentAll:
		return w.elements(n, 0, openEnd, do)
	case s.Kind == SegmentSlice:
		count, err := w.count(n)
		if err != nil {
			return err
		}
		return w.elements(n, clampIndex(s.From, count), clampIndex(s.To, count), do)
	}
	q := newQueryMatcher(s.Key)
	return w.elements(n, 0, openEnd, func(v node) (bool, error) {
		text, err := w.load(v)
		if err != nil || !q.holds(text) {
			return true, err
		}
		return do(v)
	})
}

// clampIndex returns i, counted from the end if negative, within 0 and count.
func clampIndex(i, count int64) int64 {
	if i < 0 {
		i += count
	}
	return max(0, min(i, count))
}

// elements visits the elements from up to, not including, to.
func (w *walker) elements(n node, from, to int64, do visit) error {
	if n.text != nil {
		_, err := visitRun(n, n.members(), 0, limits{from, to, do})
		return err
	}
	all, err := w.regions(n)
	if err != nil {
		return err
	}
	for k := range all.count() {
		g, err := all.at(k)
		if err != nil {
			return err
		}
		if g.ordinal >= to {
			return nil
		}
		more, err := w.visitRegion(n, g, limits{from, to, do})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// limits says which elements to visit.
type limits struct {
	from, to int64
	do       visit
}

// visitRegion visits the elements of one region.
func (w *walker) visitRegion(n node, g region, l limits) (bool, error) {
	if g.child == 0 {
		part, err := w.read(n, g)
		if err != nil {
			return false, err
		}
		return visitRun(part, part.run(), g.ordinal, l)
	}
	if g.ordinal < l.from {
		return true, nil
	}
	v, err := w.childNode(n.row, g)
	if err != nil {
		return false, err
	}
	return l.do(v)
}

// visitRun visits the elements of a run whose first is called ordinal.
func visitRun(n node, walk members, ordinal int64, l limits) (bool, error) {
	var m member
	for ; ordinal < l.to && walk.next(&m); ordinal++ {
		if ordinal < l.from {
			continue
		}
		if more, err := l.do(n.part(m.start, m.end)); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// members visits the values of an object's members, of equal keys the first.
func (w *walker) members(n node, do visit) error {
	seen := map[string]bool{}
	if n.text != nil {
		return visitMembers(n, n.members(), seen, do)
	}
	all, err := w.regions(n)
	if err != nil {
		return err
	}
	if all.row.flags&flagTwins == 0 {
		seen = nil
	}
	for k := range all.count() {
		g, err := all.at(k)
		if err != nil {
			return err
		}
		if err := w.visitMemberRegion(n, g, seen, do); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) visitMemberRegion(n node, g region, seen map[string]bool, do visit) error {
	if g.child == 0 {
		part, err := w.read(n, g)
		if err != nil {
			return err
		}
		return visitMembers(part, part.run(), seen, do)
	}
	v, err := w.childNode(n.row, g)
	if err != nil {
		return err
	}
	if seen != nil {
		text, err := w.src.Bytes(g.start, v.start)
		if err != nil {
			return err
		}
		if known(seen, text[:skipString(text, 0)]) {
			return nil
		}
	}
	_, err = do(v)
	return err
}

// visitMembers visits the members of a run. A nil seen says that no two have one
// key.
func visitMembers(n node, walk members, seen map[string]bool, do visit) error {
	var m member
	for walk.next(&m) {
		if seen != nil && known(seen, n.text[m.key:m.keyEnd]) {
			continue
		}
		if _, err := do(n.part(m.start, m.end)); err != nil {
			return err
		}
	}
	return nil
}

// known tells whether a key was seen before, and takes note of it.
func known(seen map[string]bool, quoted []byte) bool {
	key, _ := appendUnquote(nil, quoted)
	if seen[string(key)] {
		return true
	}
	seen[string(key)] = true
	return false
}
