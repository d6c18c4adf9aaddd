package bench

// What a fetch cuts from a payload that lies in memory whole. The naive ledger
// answers with it, and it is the truth that docket's answers are held against,
// so it is written to be obviously right first and then not wasteful: no copy of
// the payload, runes counted four kilobytes at a time.

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// The defaults of a query: as recall has them.
const (
	window     = 200 // characters either side of a match
	maxMatches = 20
	maxChars   = 16_000 // of an answer
)

// Found is the answer to a query: where the matches are, and the windows around
// them, overlapping ones merged.
type Found struct {
	Offsets []int64  // of the matches, in characters
	Windows [][]byte // copies
}

func (f Found) equal(g Found) bool {
	return slices.Equal(f.Offsets, g.Offsets) && slices.EqualFunc(f.Windows, g.Windows, bytes.Equal)
}

// cutPath returns a copy of the value at a gjson path, nil if there is none.
func cutPath(payload []byte, path string) []byte {
	if r := gjson.GetBytes(payload, path); r.Exists() {
		return []byte(r.Raw)
	}
	return nil
}

// cutRange returns the characters [offset, offset+chars) of payload: a part of
// it, not a copy.
func cutRange(payload []byte, offset, chars int64) []byte {
	from := skipChars(payload, offset)
	return payload[from : from+skipChars(payload[from:], chars)]
}

// cutQuery finds the first maxMatches matches of query that do not overlap.
func cutQuery(payload []byte, query string) Found {
	var f Found
	var chars int64
	at, shown := 0, 0 // bytes: counted in chars; the end of the last window
	for range maxMatches {
		i := bytes.Index(payload[max(at, 0):], []byte(query))
		if i < 0 {
			break
		}
		chars += int64(utf8.RuneCount(payload[at : at+i]))
		at += i
		f.Offsets = append(f.Offsets, chars)
		from, to := windowAround(payload, at, len(query))
		if n := len(f.Windows); n > 0 && from <= shown {
			f.Windows[n-1] = append(f.Windows[n-1], payload[shown:to]...)
		} else {
			f.Windows = append(f.Windows, bytes.Clone(payload[from:to]))
		}
		shown = to
		chars += int64(utf8.RuneCountInString(query))
		at += len(query)
	}
	return f
}

// windowAround returns the bytes from window characters before the match to
// window characters after it.
func windowAround(payload []byte, at, length int) (from, to int) {
	from = at
	for range window {
		_, size := utf8.DecodeLastRune(payload[:from])
		from -= size
	}
	return from, at + length + skipChars(payload[at+length:], window)
}

// skipChars returns the number of bytes that the first n characters take, all of
// them when there are fewer.
func skipChars(b []byte, n int64) int {
	const step = 4096
	at := 0
	for len(b)-at > step {
		k := charStart(b, at+step)
		count := int64(utf8.RuneCount(b[at:k]))
		if count > n {
			break
		}
		at, n = k, n-count
	}
	for ; n > 0 && at < len(b); n-- {
		_, size := utf8.DecodeRune(b[at:])
		at += size
	}
	return at
}

// charStart moves i back to where a character begins, by three bytes at most:
// further back no character can begin that reaches i.
func charStart(b []byte, i int) int {
	for k := i; k > i-utf8.UTFMax && k >= 0; k-- {
		if k == len(b) || utf8.RuneStart(b[k]) {
			return k
		}
	}
	return i
}
