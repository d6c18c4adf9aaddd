package recall

// Every miss has its own text. A model retries what reads like a failure and makes
// up what is not explained, so each says what was looked for, what is there, and
// what to do next. None is an error in the tool's path. What the model sent is
// quoted, cut and stripped of what cannot be seen.

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"docket"
	"docket/index"
)

// missChars caps an id, or what is known about a path, in a text.
const (
	missIDChars   = 64
	missPathChars = 600
)

// miss returns the text for a record that could not be read. id is what the model
// sent.
func (t Tool) miss(id string, err error) string {
	var expired *docket.ExpiredError
	var damaged *docket.CorruptError
	shown := visible(id, missIDChars)
	switch {
	case errors.Is(err, docket.ErrNotFound):
		return "[tool_memory not found: " + shown + "]\n" +
			"A valid id is the 16 characters after \"mem=\" in a stub of this conversation; " + t.SearchName + " lists all ids and searches their results."
	case errors.As(err, &expired):
		return "[tool_memory expired: " + shown + "]\n" + expiredText(expired)
	case errors.Is(err, docket.ErrErased):
		return "[tool_memory erased: " + shown + "]\n" +
			"The result was erased on purpose and cannot be read again. Asking again does not help."
	case errors.As(err, &damaged):
		return "[tool_memory damaged: " + shown + "]\n" +
			"What is stored of this slice does not pass its checksum, so it is not shown. Other slices may be readable; else call the original tool again with the same arguments."
	}
	return "[tool_memory unavailable: " + shown + "]\n" +
		"The ledger cannot be read at the moment; the result is not lost. Try again later, or call the original tool again with the same arguments."
}

func expiredText(e *docket.ExpiredError) string {
	h := e.Handle
	tool := h.Tool
	if tool == "" {
		tool = "the original tool"
	}
	return fmt.Sprintf("The result of %s (%d characters; %s), recorded on %s, expired on %s and is gone. Asking again does not help: call %s again with the same arguments to get it.",
		visible(tool, missIDChars), h.Chars, visible(h.Summary, missPathChars),
		date(h.Created), date(e.Expired), visible(tool, missIDChars))
}

func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// pathText says where a path ends, and what is there.
func pathText(path string, e *index.MissError) string {
	text := " json_path " + quote(path) + " selects nothing: " + quote(e.Path[:e.At].String()) + " is " + e.What
	switch e.Reason {
	case index.NoKey:
		text += fmt.Sprintf(" with %d keys, none of them %s", e.Count, quote(e.Path[e.At].Key))
	case index.OutOfRange:
		text += fmt.Sprintf(" of length %d, indexes 0 to %d", e.Count, e.Count-1)
	case index.NeedsIndex:
		text += fmt.Sprintf(" of length %d: go on with [0], [-1], [20:40] or [*]", e.Count)
	case index.NeedsArray:
		text += ", and a slice or query needs an array"
	case index.NoMatch:
		text += fmt.Sprintf(" of length %d, of which no element matches", e.Count)
	case index.TooDeep:
		text += " too many strings deep: fetch it"
	default:
		text += ", which has no members"
	}
	if len(e.Keys) == 0 {
		return text
	}
	keys := make([]string, len(e.Keys))
	for i, k := range e.Keys {
		keys[i] = strconv.Quote(k)
	}
	return text + "; keys there: " + clip(strings.Join(keys, ", "), missPathChars)
}

// problemText says what is wrong with an argument, and how long the payload is.
func problemText(e *RequestError, h docket.Handle) string {
	field := e.Field
	if field == "path" {
		field = "json_path"
	}
	return fmt.Sprintf(" cannot use %s: %s. The payload has %d characters, numbered from 0", field, clip(e.Msg, missPathChars), h.Chars)
}

func emptyText(req Request) string {
	if req.Path != "" {
		return "the value at json_path " + quote(req.Path) + " is empty: characters 0–0 of 0"
	}
	return "the payload is empty, the tool returned no text: characters 0–0 of 0"
}

func pastEnd(req Request, a Answer) string {
	text := fmt.Sprintf("nothing at offset %d: there are %d characters, 0–%d", *req.Offset, a.TotalChars, a.TotalChars)
	if req.Path != "" {
		text += " at json_path " + quote(req.Path)
	}
	return text
}

// appendNoMatch says what was searched in vain, and what may help.
func appendNoMatch(dst []byte, req Request, a Answer) []byte {
	dst = append(append(dst, "no match for "...), quote(req.Query)...)
	dst = appendOf(append(dst, ", "...), req, "searched characters", a)
	for _, hint := range hints(req, a) {
		dst = append(append(dst, "; "...), hint...)
	}
	return dst
}

// hints lists what a query that found nothing may have missed.
func hints(req Request, a Answer) []string {
	var out []string
	if a.Start > 0 {
		out = append(out, "what is before offset was not searched")
	}
	if !req.IgnoreCase && strings.IndexFunc(req.Query, cased) >= 0 {
		out = append(out, "upper and lower case differ: ignore_case=true finds both")
	}
	if combines(req.Query) {
		out = append(out, "matching is on exact code points: an accent may be written as one character or as two")
	}
	if strings.ContainsAny(req.Query, "*?|^$") {
		out = append(out, "a query is a plain substring, no pattern")
	} else if len(strings.Fields(req.Query)) > 2 {
		out = append(out, "a query is one substring, not words: try the rarest word alone")
	}
	return out
}

func cased(r rune) bool { return unicode.SimpleFold(r) != r }

// combines tells whether s holds a character that can be written in more than one
// way: a combining mark, or anything beyond ASCII.
func combines(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
}
