package ledgertest

// What narrows a search: the index sections of a record and [docket.Narrower]. An
// index may pass a record in vain; it may never leave out one that matches.

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"unicode"
	"unicode/utf8"

	"docket"
	"docket/index"
)

// errSkipped says that the ledger does not implement what a check is about.
var errSkipped = errors.New("ledgertest: not implemented by the ledger")

func checkSections(p *probe) error {
	for _, r := range varied() {
		h, err := p.record1(thread, r)
		if err != nil {
			return err
		}
		err = p.ledger.View(p.ctx, thread, h.MemID, func(rec docket.Record) error { return sections(rec) })
		if err != nil {
			return failf("payload %q: %w", r.Tool, err)
		}
	}
	return nil
}

// sections demands of each section that it says of the frames what they are.
func sections(rec docket.Record) error {
	if got := rec.Section(0); got != nil {
		return failf("section 0, which is none, has %d bytes", len(got))
	}
	h := rec.Handle()
	if paths := rec.Section(docket.SectionPaths); paths != nil {
		if _, err := index.ParsePaths(paths, h.Bytes); err != nil {
			return failf("paths section: %w", err)
		}
	}
	section, grams := rec.Section(docket.SectionChars), rec.Section(docket.SectionGrams)
	if section == nil && rec.Frames() > 1 {
		return gramsOf(rec, grams)
	}
	chars, err := index.OpenChars(section, rec.Frames(), h.Bytes, h.Chars)
	if err != nil {
		return failf("chars section: %w", err)
	}
	var at index.Span
	for n := range rec.Frames() {
		frame, err := rec.AppendFrame(nil, n)
		if err != nil {
			return err
		}
		at = index.Span{Byte: at.Byte + at.Bytes, Char: at.Char + at.Chars, Bytes: int64(len(frame)), Chars: charCount(frame)}
		if got, err := chars.Frame(n); err != nil || got != at {
			return failf("chars section: frame %d is at %+v, error %v; it is at %+v", n, got, err, at)
		}
	}
	return gramsOf(rec, grams)
}

// gramsOf demands that a signature does not rule out what a frame contains.
func gramsOf(rec docket.Record, grams []byte) error {
	if grams == nil {
		return nil
	}
	for n := range rec.Frames() {
		frame, err := rec.AppendFrame(nil, n)
		if err != nil {
			return err
		}
		for _, query := range samples(frame) {
			if set := index.NewQuery(query, false).Candidates(grams, rec.Frames()); !set.Has(n) {
				return failf("grams section: a query of %d bytes rules out frame %d, which contains it", len(query), n)
			}
		}
	}
	return nil
}

func checkNarrow(p *probe) error {
	n, ok := p.ledger.(docket.Narrower)
	if !ok {
		return errSkipped
	}
	rs := varied()
	hs, err := p.record(thread, rs...)
	if err != nil {
		return err
	}
	stranger, err := p.record1("somebody else", result("call_1", "the quick brown fox"))
	if err != nil {
		return err
	}
	all := narrowing{n, p.ctx, hs, stranger}
	if err := all.everything(); err != nil {
		return err
	}
	for i, r := range rs {
		for _, query := range samples(r.Payload) {
			if err := all.keeps(i, query, false); err != nil {
				return err
			}
			if !utf8.Valid(query) {
				continue // what folding does to the halves of characters is nobody's business
			}
			if err := all.keeps(i, otherCase(query), true); err != nil {
				return err
			}
		}
	}
	return nil
}

// narrowing is a thread with records and a stranger's record.
type narrowing struct {
	ledger   docket.Narrower
	ctx      context.Context
	handles  []docket.Handle
	stranger docket.Handle
}

// keeps demands that query, which occurs in record i, does not rule it out.
func (n narrowing) keeps(i int, query []byte, fold bool) error {
	ids, err := n.narrow(thread, query, fold)
	if err != nil {
		return err
	}
	if !slices.Contains(ids, n.handles[i].MemID) {
		return failf("Narrow with a query of %d bytes (fold: %t) leaves out %q, which contains it", len(query), fold, n.handles[i].Tool)
	}
	return nil
}

// narrow returns what Narrow yields, after checking its order and its thread.
func (n narrowing) narrow(thread docket.ThreadID, query []byte, fold bool) ([]docket.MemID, error) {
	var ids []docket.MemID
	last := -1
	for id, err := range n.ledger.Narrow(n.ctx, thread, query, fold) {
		if err != nil {
			return nil, failf("Narrow: %w", err)
		}
		at := slices.IndexFunc(n.handles, func(h docket.Handle) bool { return h.MemID == id })
		if at <= last {
			return nil, failf("Narrow yields record %d after record %d (-1: none of the thread's)", at, last)
		}
		ids, last = append(ids, id), at
	}
	return ids, nil
}

// everything: an empty query yields all, a thread that never was nothing, and a
// loop may break.
func (n narrowing) everything() error {
	ids, err := n.narrow(thread, nil, false)
	if err != nil {
		return err
	}
	if len(ids) != len(n.handles) {
		return failf("Narrow with an empty query yields %d of %d records", len(ids), len(n.handles))
	}
	if ids, err = n.narrow("a thread that never was", nil, true); err != nil || len(ids) > 0 {
		return failf("Narrow of a thread that never was yields %d records, error %v", len(ids), err)
	}
	for range n.ledger.Narrow(n.ctx, thread, nil, false) {
		break
	}
	ids, err = n.narrow(thread, nil, false)
	if err == nil && len(ids) != len(n.handles) {
		err = failf("Narrow yields %d of %d records after a loop that broke off", len(ids), len(n.handles))
	}
	return err
}

// samples cuts queries out of payload: of every short length and around the sizes
// at which an index may change its ways, from everywhere in it.
func samples(payload []byte) [][]byte {
	var out [][]byte
	for _, size := range []int{1, 2, 3, 4, 5, 7, 12, 40, 255, 256, 300, 5000} {
		if size > len(payload) {
			break
		}
		for _, part := range []int{0, 1, 3, 4} {
			query := payload[(len(payload)-size)*part/4:][:size]
			out = append(out, query, whole(query))
		}
	}
	return out
}

// whole leaves out what is cut of a character at either end of s.
func whole(s []byte) []byte {
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 {
		if r, size := utf8.DecodeLastRune(s); r != utf8.RuneError || size > 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s
}

// otherCase replaces each character by the next of its simple folding orbit.
func otherCase(s []byte) []byte { return bytes.Map(unicode.SimpleFold, s) }
