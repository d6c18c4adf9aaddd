package recall

// What an answer shows around its matches. Text is appended as the search goes,
// while the frame of the match is at hand: a window that a later match reaches
// only grows at its end.

import (
	"strconv"
	"unicode/utf8"

	"docket/index"
)

// Window is a stretch of the selected text around one match or more.
type Window struct {
	Span
	Match   int64  // offset of its first match
	Matches int    // how many it shows
	Text    []byte // aliases the Text of its answer
}

// windows collects the windows of a search.
type windows struct {
	slice      slice
	window     int64 // characters either side
	maxMatches int
	maxChars   int64 // of all windows with their heads; 0: no limit
	spans      []Span
	list       []Window // Text is set at the end
	closed     int64    // characters of all windows but the last, with their heads
	endByte    int64    // where the last window ends
	text       []byte
	ends       []int // where each window ends in text
}

// add shows m, which begins where the match before it ends, or later. It returns
// false, and shows nothing, if that would be too many characters. The first match
// is always shown, at least its first character.
func (w *windows) add(m match) (bool, error) {
	show, before, after := m, w.window, w.window
	first := len(w.spans) == 0
	if first && w.maxChars > 0 {
		room := max(1, w.maxChars-headChars(Window{Span{m.span.end(), 2*w.window + m.span.Chars}, m.span.Offset, 1, nil}))
		show.span.Chars = min(m.span.Chars, room)
		before = min(before, (room-show.span.Chars)/2)
		after = min(after, room-show.span.Chars-before)
		var err error
		if show.end, _, err = w.slice.forward(m.start, show.span.Chars); err != nil {
			return false, err
		}
	}
	fits, err := w.place(show, before, after, first)
	if fits {
		w.spans = append(w.spans, m.span)
	}
	return fits, err
}

// place appends the window of m, or extends the last window, if the limit allows
// or force is set.
func (w *windows) place(m match, before, after int64, force bool) (bool, error) {
	from, back, err := w.slice.back(m.start, before)
	if err != nil {
		return false, err
	}
	to, forward, err := w.slice.forward(m.end, after)
	if err != nil {
		return false, err
	}
	win := Window{Span{m.span.Offset - back, back + m.span.Chars + forward}, m.span.Offset, 1, nil}
	last, closed := len(w.list)-1, w.closed
	merge := last >= 0 && w.list[last].end() >= win.Offset
	switch {
	case merge:
		win = w.list[last].joined(win)
		from = min(w.endByte, to)
	case last >= 0:
		closed += w.list[last].cost()
	}
	if !force && w.maxChars > 0 && closed+win.cost() > w.maxChars {
		return false, nil
	}
	if w.text, err = w.slice.r.appendBytes(w.text, from, to); err != nil {
		return false, err
	}
	if merge {
		w.list[last], w.ends[last] = win, len(w.text)
	} else {
		w.list, w.ends = append(w.list, win), append(w.ends, len(w.text))
	}
	w.closed, w.endByte = closed, max(w.endByte, to)
	return true, nil
}

// joined returns the window that shows w and next, which begins before w ends or
// there.
func (w Window) joined(next Window) Window {
	w.Chars = max(w.end(), next.end()) - w.Offset
	w.Matches += next.Matches
	return w
}

// cost is what a window takes of the limit of characters.
func (w Window) cost() int64 { return headChars(w) + w.Chars }

// answer hands over what was collected.
func (w *windows) answer(a *Answer) {
	a.Text, a.Windows, a.Matches = w.text, w.list, w.spans
	start := 0
	for i, end := range w.ends {
		a.Windows[i].Text = a.Text[start:end:end]
		start = end
	}
}

// appendWindowHead appends the line that heads a window.
func appendWindowHead(dst []byte, w Window) []byte {
	dst = append(dst, "[characters "...)
	dst = strconv.AppendInt(dst, w.Offset, 10)
	dst = append(dst, "–"...)
	dst = strconv.AppendInt(dst, w.end(), 10)
	if w.Matches == 1 {
		dst = append(dst, ", match at "...)
	} else {
		dst = append(dst, ", "...)
		dst = strconv.AppendInt(dst, int64(w.Matches), 10)
		dst = append(dst, " matches from "...)
	}
	dst = strconv.AppendInt(dst, w.Match, 10)
	return append(dst, "]"...)
}

// headChars is the length of a window's head with the line breaks around it.
func headChars(w Window) int64 {
	return int64(utf8.RuneCount(appendWindowHead(nil, w))) + 2
}

func (s Span) end() int64 { return s.Offset + s.Chars }

// back returns the byte of the reader's text that lies n characters before the
// border at off, and how many characters that is: fewer at the slice's beginning.
func (s slice) back(off, n int64) (at, stepped int64, err error) {
	for stepped < n && off > s.start {
		k, span, err := s.r.atByte(off - 1)
		if err != nil {
			return off, stepped, err
		}
		lo := max(span.Byte, s.start)
		if span.ASCII() {
			step := min(n-stepped, off-lo)
			off, stepped = off-step, stepped+step
			continue
		}
		p, err := s.r.part(k, span, lo, off)
		if err != nil {
			return off, stepped, err
		}
		for len(p) > 0 && stepped < n {
			_, size := utf8.DecodeLastRune(p)
			p = p[:len(p)-size]
			stepped++
		}
		off = lo + int64(len(p))
	}
	return off, stepped, nil
}

// forward returns the byte of the reader's text that lies n characters after the
// border at off, and how many characters that is: fewer at the slice's end.
func (s slice) forward(off, n int64) (at, stepped int64, err error) {
	for stepped < n && off < s.end {
		k, span, err := s.r.atByte(off)
		if err != nil {
			return off, stepped, err
		}
		hi := min(span.Byte+span.Bytes, s.end)
		if span.ASCII() {
			step := min(n-stepped, hi-off)
			off, stepped = off+step, stepped+step
			continue
		}
		p, err := s.r.part(k, span, off, hi)
		if err != nil {
			return off, stepped, err
		}
		i := index.ByteOfChar(p, n-stepped)
		off, stepped = off+int64(i), stepped+index.CountChars(p[:i])
	}
	return off, stepped, nil
}
