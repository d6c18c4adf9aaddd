package recall

// Finding a query in a slice: candidate frames in ascending order, each searched
// together with as much of what follows as a match that begins in it may need. A
// search stops after its last match; what is left is counted only in the frame in
// hand, since counting it all would decode the whole payload. What is shown around
// a match is in window.go, the matching itself in the index package.

import (
	"bytes"
	"context"
	"unicode/utf8"

	"docket"
	"docket/index"
)

// match is one occurrence of a query.
type match struct {
	start, end int64 // bytes of the reader's text
	span       Span  // characters of the slice
}

// scan is one pass of a search.
type scan struct {
	slice   slice
	text    []byte // the query
	fold    bool
	long    *folded // a long query under case folding, else nil
	query   *index.Query
	frames  index.FrameSet // candidates
	pos     int64          // byte: no match that was not found begins before it
	found   []match        // of the frame in hand, not yet shown
	count   int            // matches found
	more    bool           // a candidate is left
	shown   windows
	reading bool // matches are still shown
}

// search looks for the request's query in s, then for its JSON-escaped forms.
func search(ctx context.Context, s slice, req Request) (Answer, error) {
	a, err := s.search(ctx, req.Query, req)
	if err != nil || a.MatchCount > 0 || !s.json {
		return a, err
	}
	for _, form := range escapedForms(req.Query, req.IgnoreCase) {
		b, err := s.search(ctx, form, req)
		if err != nil {
			return a, err
		}
		if b.MatchCount > 0 {
			b.Escaped = form
			return b, nil
		}
	}
	return a, nil
}

// search looks for text alone.
func (s slice) search(ctx context.Context, text string, req Request) (Answer, error) {
	c := scan{slice: s, text: []byte(text), fold: req.IgnoreCase, reading: true}
	c.query = index.NewQuery(c.text, req.IgnoreCase)
	if c.fold {
		c.long = newFolded(c.text)
	}
	c.frames = c.query.Candidates(s.r.grams(), s.r.frames)
	start, _ := req.span(s.chars)
	var err error
	if c.pos, err = s.byteOf(start); err != nil {
		return Answer{}, err
	}
	c.shown = windows{slice: s, window: int64(req.Window), maxMatches: req.MaxMatches, maxChars: req.MaxChars}
	if err := c.run(ctx); err != nil {
		return Answer{}, err
	}
	a := Answer{Start: start, End: s.chars, NextOffset: -1, MatchCount: c.count, MatchCountExact: !c.more}
	c.shown.answer(&a)
	if c.more || c.count > len(a.Matches) {
		last := a.Matches[len(a.Matches)-1]
		a.NextOffset = last.Offset + last.Chars
		a.End = a.NextOffset
	}
	return a, nil
}

// grams returns the section that narrows a search, nil if there is none.
func (r *reader) grams() []byte {
	if r.rec == nil {
		return nil
	}
	return r.rec.Section(docket.SectionGrams)
}

// run searches the candidates in order, until the slice ends or the last match
// was found that is to be shown.
func (c *scan) run(ctx context.Context) error {
	if c.pos >= c.slice.end {
		return nil
	}
	n, _, err := c.slice.r.atByte(c.pos)
	if err != nil {
		return err
	}
	for n = c.frames.Next(n); n >= 0; n = c.frames.Next(n) {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := c.slice.r.span(n)
		if err != nil {
			return err
		}
		if s.Byte >= c.slice.end {
			return nil
		}
		if !c.reading {
			c.more = true
			return nil
		}
		if n, err = c.frame(n, s); err != nil {
			return err
		}
	}
	return nil
}

// frame finds and shows the matches that begin in frame n, which lies at s; of a
// query longer than that, also in frames after it, so that no byte is decoded
// many times. It returns the first frame that was not searched.
func (c *scan) frame(n int, s index.Span) (int, error) {
	lo, hi := max(c.pos, s.Byte), s.Byte+s.Bytes
	reach := int64(c.query.MaxBytes())
	for n++; hi-lo < reach && hi < c.slice.end && n < c.slice.r.frames; n++ {
		s, err := c.slice.r.span(n)
		if err != nil {
			return n, err
		}
		hi = s.Byte + s.Bytes
	}
	hi = min(hi, c.slice.end)
	if lo >= hi {
		return n, nil
	}
	char, err := c.slice.r.charOffset(lo)
	if err != nil {
		return n, err
	}
	text, err := c.reach(lo, hi)
	if err != nil {
		return n, err
	}
	c.matches(text, lo, hi, char-c.slice.charStart)
	return n, c.show()
}

// reach returns the bytes from lo on that hold every match that begins before hi.
// What lies after hi is decoded only if a match may begin before it.
func (c *scan) reach(lo, hi int64) ([]byte, error) {
	const tail = 255 // longer queries are rare, and comparing each suffix of a tail is quadratic
	over := int64(c.query.MaxBytes()) - 1
	if !utf8.Valid(c.text) {
		over += utf8.UTFMax - 1 // to see whether a match ends inside of a character
	} else if over <= tail {
		text, err := c.slice.r.bytes(lo, hi)
		if err != nil || hi == c.slice.end || !c.mayBegin(text[max(0, int64(len(text))-over):]) {
			return text, err
		}
	}
	return c.slice.r.bytes(lo, min(hi+over, c.slice.end))
}

// mayBegin tells whether a match may begin in tail and end after it.
func (c *scan) mayBegin(tail []byte) bool {
	for i := range tail {
		if c.fold && utf8.RuneStart(tail[i]) && foldedPrefix(tail[i:], c.text) || !c.fold && bytes.HasPrefix(c.text, tail[i:]) {
			return true
		}
	}
	return false
}

// foldedPrefix tells whether query begins with text under simple case folding. It
// may say so wrongly of bytes that are not UTF-8.
func foldedPrefix(text, query []byte) bool {
	for len(text) > 0 && len(query) > 0 {
		a, n := utf8.DecodeRune(text)
		b, m := utf8.DecodeRune(query)
		if a != b && index.FoldRune(a) != index.FoldRune(b) {
			return false
		}
		text, query = text[n:], query[m:]
	}
	return true
}

// matches finds the matches in text, which lies at lo and begins with the given
// character of the slice, that begin before hi.
func (c *scan) matches(text []byte, lo, hi, char int64) {
	c.found = c.found[:0]
	at, counted := 0, 0
	for {
		i, j := c.find(text, at)
		if i < 0 || lo+int64(i) >= hi {
			break
		}
		c.count++
		if room := c.shown.maxMatches - len(c.shown.spans); len(c.found) < room {
			char += index.CountChars(text[counted:i])
			counted = i
			span := Span{char, index.CountChars(text[i:j])}
			c.found = append(c.found, match{lo + int64(i), lo + int64(j), span})
		}
		at = j
	}
	c.pos = max(hi, lo+int64(at))
}

// find returns the next match in text at or after from; start is -1 if there is
// none.
func (c *scan) find(text []byte, from int) (start, end int) {
	if c.long != nil {
		return c.long.find(text, from)
	}
	return c.query.Find(text, from)
}

// show hands what was found to the windows, until they are full.
func (c *scan) show() error {
	for _, m := range c.found {
		fits, err := c.shown.add(m)
		if err != nil {
			return err
		}
		if !fits {
			c.reading = false
			return nil
		}
	}
	c.reading = len(c.shown.spans) < c.shown.maxMatches
	return nil
}
