package docket

// The handle and the stub that is made from it. A stub's bytes are a pure
// function of the handle and the form; FORMAT.md ("Stub") is their normative
// description. What the descriptive lines say is decided once, at record time,
// by index.Outline.

import (
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Kind is what a payload was recognised as when it was recorded.
type Kind uint8

// The kinds. Their numbers are part of the format, their names of the JSON that
// commands print.
const (
	KindText   Kind = 0 // valid UTF-8, not JSON
	KindJSON   Kind = 1 // one JSON value
	KindNDJSON Kind = 2 // two or more JSON values: lines, or concatenated
	KindBinary Kind = 3 // not valid UTF-8, not JSON
)

var kindNames = [...]string{"text", "json", "ndjson", "binary"}

// String returns "text", "json", "ndjson" or "binary".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// MarshalText returns [Kind.String].
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse of [Kind.MarshalText].
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("docket: no kind is named %q", text)
	}
	*k = Kind(i)
	return nil
}

// Handle is the compact descriptor of a record. Summary, Schema and Preview are
// single lines; they may quote the payload, so they can hold what it holds.
type Handle struct {
	MemID   MemID     `json:"mem_id"`
	Thread  ThreadID  `json:"thread"`
	CallID  CallID    `json:"call_id"`
	Tool    string    `json:"tool"`
	Chars   int64     `json:"size_chars"`
	Bytes   int64     `json:"size_bytes"`
	Digest  Digest    `json:"digest"`
	Seq     Seq       `json:"seq"`
	Kind    Kind      `json:"kind"`
	IsError bool      `json:"is_error"`
	Summary string    `json:"summary"`
	Schema  string    `json:"schema"`
	Preview string    `json:"preview"`
	Created time.Time `json:"created"`
}

// DefaultRecallTool is the name of the recall tool when nothing else is said.
const DefaultRecallTool = "recall_tool_result"

// StubVersion is the version of the stub that this release writes.
const StubVersion = 1

// StubHeader is the first line of every stub of version 1.
const StubHeader = "[docket.tool_memory v1]"

// UnknownTool stands for the name of a tool that nobody gave.
const UnknownTool = "<unknown_tool>"

// Form fixes the bytes of a thread's stubs. It is frozen with the thread's first
// epoch: an upgrade never changes a stub that was sent. The zero value means the
// current version and [DefaultRecallTool].
type Form struct {
	Version    int    `json:"version"`     // 0: StubVersion
	RecallTool string `json:"recall_tool"` // the recall tool's name as the model sees it
}

// Filled returns f with defaults in the place of zero values.
func (f Form) Filled() Form {
	if f.Version == 0 {
		f.Version = StubVersion
	}
	if f.RecallTool == "" {
		f.RecallTool = DefaultRecallTool
	}
	return f
}

// Caps of what a stub shows of each field, in characters. A longer value is cut
// and ends in an ellipsis.
const (
	maxStubTool    = 128
	maxStubCallID  = 128
	maxStubSchema  = 320
	maxStubSummary = 200
	maxStubPreview = 480
)

// AppendStub appends the stub of the record to dst. Lines, joined by '\n':
//
//	[docket.tool_memory v1]
//	tool=<name> call_id=<id>
//	size_original=<n> chars, archived as mem=<mem id>
//	schema: <schema>          if the handle has one
//	summary: <summary>
//	preview: <preview>        if the handle has one
//	<how to re-expand, with the recall tool's name>
//
// A stub is kept to half of the payload's characters by leaving out the preview,
// then the schema; a payload of less than about 800 characters gains nothing
// ([Handle.StubGains]). Control, bidi, zero-width and tag characters of any field
// are escaped, so that no field can imitate a line of the stub.
func (h Handle) AppendStub(dst []byte, form Form) []byte {
	start := len(dst)
	for _, drop := range []int{0, 1, 2} {
		dst = h.appendStub(dst[:start], form.Filled(), drop)
		if h.StubGains(dst[start:]) {
			break
		}
	}
	return dst
}

// StubGains tells whether stub is at most half as long, in characters, as the
// payload that it would replace.
func (h Handle) StubGains(stub []byte) bool {
	return 2*int64(utf8.RuneCount(stub)) <= h.Chars
}

func (h Handle) appendStub(dst []byte, form Form, drop int) []byte {
	tool := h.Tool
	if tool == "" {
		tool = UnknownTool
	}
	dst = append(dst, StubHeader+"\ntool="...)
	dst = appendLine(dst, tool, maxStubTool)
	dst = append(dst, " call_id="...)
	dst = appendLine(dst, string(h.CallID), maxStubCallID)
	dst = append(dst, "\nsize_original="...)
	dst = strconv.AppendInt(dst, h.Chars, 10)
	dst = append(dst, " chars, archived as mem="...)
	dst = append(dst, h.MemID...)
	if h.Schema != "" && drop < 2 {
		dst = append(dst, "\nschema: "...)
		dst = appendLine(dst, h.Schema, maxStubSchema)
	}
	dst = append(dst, "\nsummary: "...)
	dst = appendLine(dst, h.Summary, maxStubSummary)
	if h.Preview != "" && drop < 1 {
		dst = append(dst, "\npreview: "...)
		dst = appendLine(dst, h.Preview, maxStubPreview)
	}
	return h.appendRecallLine(append(dst, '\n'), form)
}

// appendRecallLine says that the call went through and how to read its output. A
// line that read like a failure would make the model repeat the call and its side
// effects.
func (h Handle) appendRecallLine(dst []byte, form Form) []byte {
	if h.IsError {
		dst = append(dst, "The call ran and returned an error; its full output is kept. "...)
	} else {
		dst = append(dst, "The call succeeded and its full output is kept. "...)
	}
	dst = append(dst, "Re-expand with "...)
	dst = appendLine(dst, form.RecallTool, maxStubTool)
	dst = append(dst, `(mem_id="`...)
	dst = append(dst, h.MemID...)
	return append(dst, `", format="full"); for a slice pass query=<substring>, offset/max_chars=<range> or json_path=<path> instead.`...)
}

// appendLine appends s as part of one line: at most max characters, escaped by
// [appendVisible].
func appendLine(dst []byte, s string, max int) []byte {
	for i, n := 0, 0; i < len(s); n++ {
		r, size := utf8.DecodeRuneInString(s[i:])
		if n == max-1 && i+size < len(s) {
			return append(dst, "…"...)
		}
		dst = appendVisible(dst, r, size, s[i])
		i += size
	}
	return dst
}

// appendVisible appends r as it is when a reader can see it, else as \u{hex}, a
// byte that is no UTF-8 as \x hex: what breaks a line, reverses text, or hides in
// it (Unicode general categories Cc, Zl, Zp, bidi controls, zero-width and tag
// characters, variation selectors of the supplement) cannot pass.
func appendVisible(dst []byte, r rune, size int, b byte) []byte {
	switch {
	case r == utf8.RuneError && size == 1:
		dst = append(dst, `\x`...)
		return append(dst, hexDigit(b>>4), hexDigit(b&15))
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r == '\r':
		return append(dst, `\r`...)
	case hidden(r):
		dst = append(dst, `\u{`...)
		dst = strconv.AppendInt(dst, int64(r), 16)
		return append(dst, '}')
	}
	return utf8.AppendRune(dst, r)
}

func hexDigit(b byte) byte { return "0123456789abcdef"[b] }

// hidden lists, as ranges fixed for version 1 of the stub (the standard library's
// tables change with Unicode), the characters that a reader cannot see or that
// rearrange what they see.
func hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e:
		return true
	case r >= 0x2060 && r <= 0x206f, r == 0x3164, r == 0xfeff, r == 0xffa0, r >= 0xfff9 && r <= 0xfffb:
		return true
	case r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}
