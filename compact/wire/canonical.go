package wire

// The canonical form of a message: without its cache marks, which clients move from
// request to request, and with a string as the one block of text that clients turn it
// into. It is compared, never sent.

import (
	"bytes"
	"slices"
)

// canonical returns message i in its canonical form: a span of the body where it has it.
func (p *parsed) canonical(i int) []byte {
	s := p.spans[i]
	m := s.of(p.src)
	if p.strings != nil {
		if c := p.strings(i); !c.absent() {
			m = slices.Concat(p.src[s.start:c.start], []byte(`[{"type":"text","text":`), c.of(p.src), []byte(`}]`), p.src[c.end:s.end])
		}
	}
	if !p.marked(s) {
		return m
	}
	return withoutMarks(m)
}

// marked tells whether a cache mark is in a span of the body.
func (p *parsed) marked(s span) bool {
	if p.reader == nil {
		return true // nobody has looked
	}
	at, _ := slices.BinarySearch(p.reader.markEnds, s.start)
	return at < len(p.reader.markEnds) && p.reader.markEnds[at] <= s.end
}

// headNames are the members that providers cache in front of the messages, in any dialect.
var headNames = []string{"model", "tools", "toolConfig", "system", "systemInstruction", "system_instruction", "instructions"}

// head returns what of the body the provider caches in front of the messages.
func (p *parsed) head() (head []byte) {
	p.around(func(r *reader, name []byte) error {
		if !slices.Contains(headNames, string(name)) {
			return r.skip()
		}
		head = append(append(head, name...), 0)
		s, err := r.value()
		head = append(append(head, withoutMarks(s.of(r.src))...), 0)
		return err
	})
	return head
}

// around calls member for each member of the body, with an empty list in the messages'
// place: a walk over them would cost as much as all else.
func (p *parsed) around(member func(r *reader, name []byte) error) {
	body := p.src
	if n := len(p.spans); n > 0 {
		body = slices.Concat(p.src[:p.spans[0].start], p.src[p.spans[n-1].end:])
	}
	r := newReader(body)
	_, _ = r.object(func(name []byte) error { return member(r, name) })
}

// withoutMarks returns a message without the members that are cache marks.
func withoutMarks(m []byte) []byte {
	if !bytes.Contains(m, []byte("cache_")) || !slices.ContainsFunc(markNames, func(name string) bool { return bytes.Contains(m, []byte(`"`+name+`"`)) }) {
		return m
	}
	r := newReader(m)
	var cuts []edit
	if err := r.marks(&cuts); err != nil {
		return m
	}
	return splice(m, cuts)
}

// marks consumes the next value and adds cuts of the members in it that are cache marks.
func (r *reader) marks(cuts *[]edit) error {
	switch r.next() {
	case '{':
		_, err := r.object(func(name []byte) error {
			if !slices.Contains(markNames, string(name)) {
				return r.marks(cuts)
			}
			s, err := r.value()
			if err == nil {
				*cuts = append(*cuts, edit{span: r.member(string(name), s, *cuts)})
			}
			return err
		})
		return err
	case '[':
		var all span
		var doubt bool
		return r.elements(&all, &doubt, func() error { return r.marks(cuts) })
	}
	return r.skip()
}

// member returns the span of a member whose value is s, with the comma before it or, of
// the first one, after it; without what cuts has of it already. An escape in its name makes
// it the value's alone.
func (r *reader) member(name string, s span, cuts []edit) span {
	const space = " \t\r\n"
	before := bytes.TrimRight(r.src[:s.start], space)
	before = bytes.TrimRight(bytes.TrimSuffix(before, []byte(":")), space)
	before, ok := bytes.CutSuffix(before, []byte(`"`+name+`"`))
	if !ok {
		return s
	}
	from := len(before)
	if before = bytes.TrimRight(before, space); bytes.HasSuffix(before, []byte(",")) {
		from = len(before) - 1
	} else if after, comma := bytes.CutPrefix(bytes.TrimLeft(r.src[s.end:], space), []byte(",")); comma {
		s.end = len(r.src) - len(bytes.TrimLeft(after, space))
	}
	if n := len(cuts); n > 0 {
		from = max(from, cuts[n-1].end)
	}
	return span{from, s.end}
}
