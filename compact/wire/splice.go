package wire

// The splicer: edits on spans of a body. What is outside of the edited spans is
// copied as it stands, so output minus edits equals input minus edits.

import "unicode/utf8"

// edit replaces a span by text.
type edit struct {
	span
	text []byte
}

// splice applies edits, which ascend and do not overlap. Without any it returns
// src itself.
func splice(src []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return src
	}
	size := len(src)
	for _, e := range edits {
		size += len(e.text) - (e.end - e.start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range edits {
		out = append(out, src[at:e.start]...)
		out = append(out, e.text...)
		at = e.end
	}
	return append(out, src[at:]...)
}

// appendString appends s as a JSON string. The escaping is fixed for ever: a quote,
// a backslash and what is below U+0020 is escaped (\n, \r, \t, otherwise \u00xx),
// everything else stands as it is; bytes that are not UTF-8 become U+FFFD.
// encoding/json was decided against: its escaping depends on options and release.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
