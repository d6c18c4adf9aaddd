package recall

// What a model gets. The first line is the head with its tag (docket.AppendAnswer)
// and says what follows: the unit, the covered range of how many characters, the
// matches shown of how many, and the cursor only when there is more. FORMAT.md
// ("Answer") is normative for the head; the sentences after it may change between
// releases, since an answer is never looked up again.

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"docket"
)

// headBound is how many characters an answer may have beyond its limit: the head
// and the line after it, in which what was asked is quoted.
const headBound = 1280

// quoteChars is how much of what was asked an answer quotes.
const quoteChars = 80

// appendAnswer appends the answer a to req, during the view of rec.
func appendAnswer(dst []byte, rec docket.Record, req Request, a Answer) []byte {
	rest := []byte{' '}
	switch {
	case a.Stub:
		rest = fmt.Appendf(rest, "summary; the payload has %d characters", a.TotalChars)
	case a.TotalChars == 0:
		rest = append(rest, emptyText(req)...)
	case req.Query != "":
		rest = appendQueryLine(rest, req, a)
	case a.Start == a.TotalChars:
		rest = append(rest, pastEnd(req, a)...)
	default:
		rest = appendRangeLine(rest, req, a)
	}
	text := a.AppendText(nil)
	if !utf8.Valid(text) {
		rest = append(rest, "; bytes that are not UTF-8 are shown as \uFFFD, one character each"...)
	}
	if len(text) > 0 {
		rest = appendValid(append(rest, '\n'), text)
	}
	return docket.AppendAnswer(dst, rec, rest)
}

func appendRangeLine(dst []byte, req Request, a Answer) []byte {
	dst = appendOf(dst, req, "characters", a)
	if a.NextOffset >= 0 {
		dst = appendMore(dst, a, "json_path", req.Path != "")
	} else {
		dst = append(dst, "; this is the end"...)
	}
	return dst
}

func appendQueryLine(dst []byte, req Request, a Answer) []byte {
	if a.MatchCount == 0 {
		return appendNoMatch(dst, req, a)
	}
	dst = append(dst, countText(a)...)
	dst = append(append(dst, " for "...), quote(req.Query)...)
	if a.Escaped != "" {
		dst = append(append(dst, ", found in its JSON-escaped form "...), visible(a.Escaped, quoteChars)...)
	}
	dst = appendOf(append(dst, ", "...), req, "searched characters", a)
	if a.NextOffset >= 0 {
		dst = appendMore(dst, a, "query", true)
	}
	return dst
}

// countText says how many of the matches are shown.
func countText(a Answer) string {
	switch {
	case a.MatchCount == 1 && a.MatchCountExact:
		return "1 match"
	case a.MatchCount == len(a.Matches) && a.MatchCountExact:
		return fmt.Sprintf("all %d matches", a.MatchCount)
	case a.MatchCountExact:
		return fmt.Sprintf("first %d of %s", len(a.Matches), counted(a.MatchCount, "match"))
	}
	return fmt.Sprintf("first %d of at least %s", len(a.Matches), counted(a.MatchCount, "match"))
}

// counted returns "1 match", "2 matches", "1 result", "2 results".
func counted(n int, what string) string {
	switch {
	case n == 1:
	case what == "match":
		what += "es"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// appendOf appends the covered range, and of what.
func appendOf(dst []byte, req Request, what string, a Answer) []byte {
	dst = fmt.Appendf(dst, "%s %d–%d of %d", what, a.Start, a.End, a.TotalChars)
	if req.Path != "" {
		dst = append(append(dst, " at json_path "...), quote(req.Path)...)
	}
	return dst
}

// appendMore appends the cursor.
func appendMore(dst []byte, a Answer, same string, needed bool) []byte {
	dst = append(dst, "; more: offset="...)
	dst = strconv.AppendInt(dst, a.NextOffset, 10)
	if needed {
		dst = append(append(dst, " with the same "...), same...)
	}
	return dst
}

// appendValid appends text, every byte that is not UTF-8 as U+FFFD, so that
// characters keep their number.
func appendValid(dst, text []byte) []byte {
	if utf8.Valid(text) {
		return append(dst, text...)
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		dst = utf8.AppendRune(dst, r)
		text = text[size:]
	}
	return dst
}

// quote quotes what was asked, cut to a bounded length.
func quote(s string) string {
	return clip(strconv.Quote(clip(s, quoteChars)), quoteChars*3/2) // escapes make it longer
}

// clip cuts s to at most n characters, the last an ellipsis.
func clip(s string, n int) string {
	for i := range s {
		if n--; n == 0 {
			if _, size := utf8.DecodeRuneInString(s[i:]); i+size == len(s) {
				return s
			}
			return s[:i] + "…"
		}
	}
	return s
}

// visible returns s as part of one line, at most n characters: what a reader cannot
// see is escaped.
func visible(s string, n int) string {
	q := strconv.Quote(clip(s, n))
	return clip(strings.ReplaceAll(strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`), `\\`, `\`), n)
}
