package engine

// Check, one record: its row, the mem id index, its segment, and with ReadData its
// payload.

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"

	"docket"
	"docket/codec"
	"docket/index"
	"docket/internal/seal"
)

// lineageCheck checks the records of one lineage.
type lineageCheck struct {
	*checker
	key                        docket.LineageKey
	mems, handles, grams, data tree
}

// feed reads the elements of a tree that is keyed like another one, in step with
// it.
type feed struct {
	next func() (*element, error, bool)
	cur  *element
}

func newFeed(t tree) (*feed, func()) {
	next, stop := iter.Pull2(t.elements())
	f := &feed{next: next}
	f.move()
	return f, stop
}

func (f *feed) move() {
	f.cur = nil
	for {
		e, err, ok := f.next()
		if !ok {
			return
		}
		if err == nil {
			f.cur = e
			return
		}
	}
}

// at returns the element at key, nil if there is none; stray gets those before it.
// A nil key is after all others.
func (f *feed) at(key []byte, stray func(key []byte)) *element {
	for f.cur != nil {
		if key != nil && bytes.Compare(f.cur.key, key) >= 0 {
			break
		}
		stray(f.cur.key)
		f.move()
	}
	if f.cur == nil || !bytes.Equal(f.cur.key, key) {
		return nil
	}
	e := f.cur
	f.move()
	return e
}

// records checks every row, with the segment and the signature at its position.
func (l *lineageCheck) records() {
	data, stopData := newFeed(l.data)
	defer stopData()
	grams, stopGrams := newFeed(l.grams)
	defer stopGrams()
	stray := func(in tree) func(key []byte) {
		return func(key []byte) { l.find(ruleState, in.place, "positions of live records", keyName(key)) }
	}
	for key, v := range l.values(l.handles, ruleRow) {
		l.report.Records++
		d, g := data.at([]byte(key), stray(l.data)), grams.at([]byte(key), stray(l.grams))
		l.record([]byte(key), v, d, g)
	}
	data.at(nil, stray(l.data))
	grams.at(nil, stray(l.grams))
}

func (l *lineageCheck) record(key, v []byte, data, grams *element) {
	seq, ok := parseSeq(key)
	r, parsed := parseRow(v)
	if !ok || !parsed || seq == 0 || uint64(seq) > l.data.seq {
		l.find(ruleRow, l.handles.place, fmt.Sprintf("checked rows at 1 to %d", l.data.seq), "position "+keyName(key))
		return
	}
	if r.state != erased {
		l.identity(seq, r.handle)
	}
	if r.state != live {
		if data != nil || grams != nil {
			l.find(ruleState, place(seq, "segment"), "none of a record that is gone", "one")
		}
		return
	}
	if data == nil {
		l.find(ruleState, place(seq, "segment"), "one of a live record", "none")
		return
	}
	err := guard(l.pager.path, place(seq, "segment"), func() error { l.segment(seq, r, data, grams); return nil })
	l.fail(err)
	if l.done += r.stored; l.opts.Progress != nil {
		l.opts.Progress(min(l.done, l.total()), l.total())
	}
}

// identity checks the mem id.
func (l *lineageCheck) identity(seq docket.Seq, h docket.Handle) {
	if want := docket.DeriveMemID(l.key, h.CallID, h.Digest); h.MemID != want {
		l.find(ruleMemID, place(seq, "mem id"), string(want), string(h.MemID))
	}
	if v, ok := valueAt(l.mems, []byte(h.MemID)); !ok || !bytes.Equal(v, seqKey(seq)) {
		l.find(ruleMems, place(seq, "mem id index"), "its position", "another or none")
	}
}

// memIndex checks that every mem id names one record.
func (l *lineageCheck) memIndex() {
	named := map[docket.Seq]bool{}
	for key, v := range l.values(l.mems, ruleMems) {
		_, err := docket.ParseMemID(key)
		seq, ok := parseSeq(v)
		r, exists := rowAt(l.handles, v)
		switch {
		case err != nil || !ok || !exists || r.state != erased && string(r.handle.MemID) != key:
			l.find(ruleMems, l.mems.place, "mem ids of records", keyName([]byte(key)))
		case r.state == erased && named[seq]:
			l.find(ruleMems, l.mems.place, "one mem id of "+place(seq, "tombstone"), "two")
		case r.state == erased:
			named[seq] = true
		}
	}
	for key, v := range l.values(l.handles, ruleRow) {
		seq, _ := parseSeq([]byte(key))
		if r, ok := parseRow(v); ok && r.state == erased && !named[seq] {
			l.find(ruleMems, place(seq, "tombstone"), "a mem id", "none")
		}
	}
}

// treeParts are the parts of a segment that has a bucket of its own.
type treeParts struct {
	tree          tree
	*codec.Packed // all but the frame groups
}

func (p treeParts) Part(id codec.PartID, group uint32) []byte {
	if id != codec.PartFrames {
		return p.Packed.Part(id, group)
	}
	v, _ := valueAt(p.tree, codec.AppendGroupKey(nil, group))
	return v
}

// sizes are the lengths of a segment's parts.
type sizes struct {
	total  int64
	groups []int64 // of the frame groups, in order
}

// segment checks the segment and the signature of a live record.
func (l *lineageCheck) segment(seq docket.Seq, r row, data, grams *element) {
	parts, size, err := l.parts(seq, data)
	if err != nil {
		l.broken(ruleSegment, seq, "segment", err)
		return
	}
	s, err := codec.Open(parts)
	if err != nil {
		l.broken(ruleSegment, seq, "segment head", err)
		return
	}
	if int64(s.Raw) != r.handle.Bytes || s.Payload != codec.PayloadOf(r.handle.Digest) {
		l.find(ruleSegment, place(seq, "segment head"), fmt.Sprintf("the handle's %d bytes of %x…", r.handle.Bytes, r.handle.Digest[:8]), fmt.Sprintf("%d of %x…", s.Raw, s.Payload))
		return
	}
	signature, beside, ok := l.signature(seq, s, grams)
	overhead, _ := codec.Size(nil)
	if stored := overhead + size.total + beside; stored != r.stored {
		l.find(ruleStored, place(seq, "stored bytes"), fmt.Sprint(stored), fmt.Sprint(r.stored))
	}
	if !l.table(seq, s, size.groups) {
		return
	}
	if l.sections(seq, r, s, signature) && ok && l.opts.ReadData && !l.stopped() {
		l.payload(seq, r, s, signature)
	}
}

// broken reports an error of a parser.
func (l *lineageCheck) broken(rule int, seq docket.Seq, what string, err error) {
	if errors.Is(err, codec.ErrDamaged) || errors.Is(err, seal.ErrDamaged) || errors.Is(err, index.ErrDamaged) {
		l.find(rule, place(seq, what), "bytes as they were written", err.Error())
	}
}

// parts opens a segment's parts, inline or in a bucket, and measures them.
func (l *lineageCheck) parts(seq docket.Seq, data *element) (codec.Parts, sizes, error) {
	var size sizes
	if !data.bucket {
		v, err := data.value()
		if err != nil {
			return nil, size, err
		}
		packed, err := size.packed(v)
		return packed, size, err
	}
	own, err := l.data.sub(data)
	if err != nil {
		return nil, size, err
	}
	parts := treeParts{tree: own}
	for e, err := range own.elements() {
		switch {
		case err != nil:
		case !e.bucket && bytes.Equal(e.key, codec.AppendGroupKey(nil, uint32(len(size.groups)))):
			size.add(codec.PartFrames, e.len)
		case !e.bucket && bytes.Equal(e.key, keyOthers) && parts.Packed == nil:
			others, err := e.value()
			if err != nil {
				return nil, size, err
			}
			if parts.Packed, err = size.packed(others); err != nil {
				return nil, size, err
			}
		default:
			l.find(ruleSegment, place(seq, "segment"), "frame groups in a row, and the other parts", keyName(e.key))
		}
	}
	if parts.Packed == nil || parts.Packed.Part(codec.PartFrames, 0) != nil {
		l.find(ruleSegment, place(seq, "segment"), "frame groups, and the other parts", "none, or frames among them")
		return nil, size, errReported
	}
	return parts, size, nil
}

// errReported ends what a finding was reported of already.
var errReported = errors.New("reported")

func (s *sizes) add(id codec.PartID, n int64) {
	s.total += n
	if id == codec.PartFrames {
		s.groups = append(s.groups, n)
	}
}

// packed takes packed parts apart and adds their lengths.
func (s *sizes) packed(b []byte) (*codec.Packed, error) {
	p, err := codec.ParsePacked(b)
	if err != nil {
		return nil, err
	}
	for _, part := range p.Parts() {
		s.add(part.ID, int64(len(part.Body)))
	}
	return p, nil
}

// table checks the frame table against the head and the sizes of the groups.
func (l *lineageCheck) table(seq docket.Seq, s codec.Segment, groups []int64) bool {
	ends, err := frameEnds(s)
	if err != nil {
		l.broken(ruleTable, seq, "frame table", err)
		return false
	}
	per := int(s.PerGroup)
	if want := (len(ends) - 1 + per - 1) / per; len(groups) != want {
		l.find(ruleTable, place(seq, "frame groups"), fmt.Sprint(want), fmt.Sprint(len(groups)))
		return false
	}
	for i := 1; i < len(ends); i++ {
		if ends[i] <= ends[i-1] {
			l.find(ruleTable, place(seq, fmt.Sprintf("frame table, frame %d", i-1)), "an end after its beginning", fmt.Sprintf("%d after %d", ends[i], ends[i-1]))
			return false
		}
	}
	if ends[0] != 0 || ends[len(ends)-1] != s.Head.Stored {
		l.find(ruleTable, place(seq, "frame table"), fmt.Sprintf("0 to %d", s.Head.Stored), fmt.Sprintf("%d to %d", ends[0], ends[len(ends)-1]))
		return false
	}
	for g, n := range groups {
		if want := ends[min((g+1)*per, len(ends)-1)] - ends[g*per]; uint64(n) != want {
			l.find(ruleTable, place(seq, fmt.Sprintf("frame group %d", g)), fmt.Sprintf("%d bytes", want), fmt.Sprint(n))
			return false
		}
	}
	return true
}

// frameEnds returns where frames begin, and the end of the last.
func frameEnds(s codec.Segment) ([]uint64, error) {
	if s.Frames <= 1 {
		return []uint64{0, s.Head.Stored}[:1+s.Frames], nil
	}
	table, err := seal.Open(s.Part(codec.PartTable))
	if err != nil {
		return nil, err
	}
	b, err := table.Read(0, 8*(int(s.Frames)+1))
	if err != nil {
		return nil, err
	}
	ends := make([]uint64, s.Frames+1)
	for i := range ends {
		ends[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return ends, nil
}

// signature reads a record's grams section, nil if it has none, and tells how many
// bytes of it lie beside the segment. A large one is a part of it, which an empty
// value says.
func (l *lineageCheck) signature(seq docket.Seq, s codec.Segment, grams *element) (section []byte, beside int64, ok bool) {
	part := s.Part(codec.PartGrams)
	var v []byte
	var err error
	if grams != nil {
		v, err = grams.value()
	}
	switch {
	case err != nil:
		return nil, 0, false
	case grams != nil && grams.bucket, (part != nil) != (grams != nil && len(v) == 0):
		l.find(ruleSections, place(seq, "grams section"), "a value, or an empty one and a part", "neither")
		return nil, 0, false
	case part != nil:
		return part, 0, true
	}
	return v, int64(len(v)), true
}

// sections checks the seals of the index sections, and what each says of the
// payload's size.
func (l *lineageCheck) sections(seq docket.Seq, r row, s codec.Segment, grams []byte) bool {
	ok := true
	check := func(what string, err error) {
		if err != nil {
			ok = false
			l.find(ruleSections, place(seq, what), "a sealed section of this payload", err.Error())
		}
	}
	check("chars section", index.CheckChars(s.Part(codec.PartChars), int(s.Frames), r.handle.Bytes, r.handle.Chars))
	if paths := s.Part(codec.PartPaths); paths != nil {
		_, err := index.ParsePaths(paths, r.handle.Bytes)
		check("paths section", errors.Join(err, verify(paths)))
	}
	if grams != nil {
		check("grams section", verify(grams))
	}
	return ok
}

func verify(sealed []byte) error {
	b, err := seal.Open(sealed)
	if err != nil {
		return err
	}
	return b.Verify()
}

// payload decodes all of a record, one frame at a time.
func (l *lineageCheck) payload(seq docket.Seq, r row, s codec.Segment, grams []byte) {
	if _, err := s.Aside(l.dec); err != nil {
		l.broken(ruleAside, seq, "aside", err)
	}
	chars, err := index.OpenChars(s.Part(codec.PartChars), int(s.Frames), r.handle.Bytes, r.handle.Chars)
	if err != nil {
		return // sections has reported it
	}
	sum := sha256.New()
	var at index.Span
	var largest uint32
	var before, frame []byte
	for n := range int(s.Frames) {
		before, frame = frame, before[:0]
		if frame, err = s.AppendFrame(frame, n, l.dec); err != nil {
			l.broken(ruleFrames, seq, fmt.Sprintf("frame %d", n), err)
			return
		}
		sum.Write(frame)
		largest = max(largest, uint32(len(frame)))
		if cutsRune(before, frame) {
			l.find(ruleFrames, place(seq, fmt.Sprintf("frame %d", n)), "to begin with a character", "the middle of one")
		}
		at = index.Span{Byte: at.Byte + at.Bytes, Char: at.Char + at.Chars, Bytes: int64(len(frame)), Chars: index.CountChars(frame)}
		if span, err := chars.Frame(n); err != nil || span != at {
			l.find(ruleChars, place(seq, fmt.Sprintf("chars section, frame %d", n)), fmt.Sprintf("%+v", at), fmt.Sprintf("%+v", span))
		}
		l.sample(seq, n, s, grams, frame)
	}
	if largest != s.MaxRaw {
		l.find(ruleFrames, place(seq, "largest frame"), fmt.Sprint(largest), fmt.Sprint(s.MaxRaw))
	}
	if docket.Digest(sum.Sum(nil)) != r.handle.Digest || at.Byte+at.Bytes != r.handle.Bytes || at.Char+at.Chars != r.handle.Chars {
		l.find(ruleDigest, place(seq, "payload"), "the handle's digest, bytes and characters", "others")
	}
	l.report.Payloads++
}

// cutsRune tells whether a character lies across the border of two frames.
func cutsRune(before, frame []byte) bool {
	for i := len(before) - 1; i >= 0 && i >= len(before)-(utf8.UTFMax-1); i-- {
		if !utf8.RuneStart(before[i]) {
			continue
		}
		joined := append(slices.Clone(before[i:]), frame[:min(len(frame), utf8.UTFMax)]...)
		_, size := utf8.DecodeRune(joined)
		return size > len(before)-i
	}
	return false
}

// sample checks for some texts of frame n that the signature does not rule it out.
func (l *lineageCheck) sample(seq docket.Seq, n int, s codec.Segment, grams, frame []byte) {
	if grams == nil {
		return
	}
	for _, part := range []int{0, 1, 2} {
		at := len(frame) * part / 3
		query := frame[at:min(at+12, len(frame))]
		if set := index.NewQuery(query, part == 1).Candidates(grams, int(s.Frames)); !set.Has(n) {
			l.find(ruleGrams, place(seq, fmt.Sprintf("grams section, frame %d", n)), "a text of the frame to be a candidate", "ruled out")
		}
	}
}
