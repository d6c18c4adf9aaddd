package ledgertest

// What a handle says of its result, and whose its mem id is.

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"docket"
)

func checkHandle(p *probe) error {
	for _, r := range varied() {
		h, err := p.record1(thread, r)
		if err != nil {
			return err
		}
		if err := tells(h, r); err != nil {
			return failf("handle of the payload %q: %w", r.Tool, err)
		}
	}
	return nil
}

// tells compares the fields of h that do not depend on how a ledger describes.
func tells(h docket.Handle, r docket.Result) error {
	if _, err := docket.ParseMemID(string(h.MemID)); err != nil {
		return failf("MemID %q: %w", h.MemID, err)
	}
	want := docket.Handle{
		MemID: h.MemID, Thread: thread, CallID: r.ID, Tool: r.Tool, Chars: charCount(r.Payload), Bytes: int64(len(r.Payload)),
		Digest: docket.DigestOf(r.Payload), Seq: h.Seq, Kind: h.Kind, IsError: r.IsError,
		Summary: h.Summary, Schema: h.Schema, Preview: h.Preview, Created: h.Created,
	}
	if h.Seq == 0 || h.Created.IsZero() {
		return failf("Seq %d, Created %v: want a position and an instant", h.Seq, h.Created)
	}
	if kind, known := kinds()[r.Tool]; known && kind != h.Kind {
		return failf("Kind %v, want %v", h.Kind, kind)
	}
	return sameHandle(h, want)
}

// kinds are those of the payloads about which there is no doubt.
func kinds() map[string]docket.Kind {
	return map[string]docket.Kind{
		"text": docket.KindText, "stub of another": docket.KindText, "long line": docket.KindText,
		"json": docket.KindJSON, "json number": docket.KindJSON, "duplicate keys": docket.KindJSON, "long json": docket.KindJSON,
		"ndjson": docket.KindNDJSON, "no UTF-8": docket.KindBinary, "random bytes": docket.KindBinary,
	}
}

func checkLines(p *probe) error {
	for _, r := range varied() {
		h, err := p.record1(thread, r)
		if err != nil {
			return err
		}
		if len(r.Payload) > 0 && h.Summary == "" {
			return failf("the payload %q has no summary", r.Tool)
		}
		for name, line := range map[string]string{"Summary": h.Summary, "Schema": h.Schema, "Preview": h.Preview} {
			if strings.ContainsAny(line, "\n\r") {
				return failf("the %s of the payload %q is more than one line", name, r.Tool)
			}
		}
		if stub := h.AppendStub(nil, docket.Form{}); !utf8.Valid(stub) {
			return failf("the stub of the payload %q is not UTF-8", r.Tool)
		}
	}
	return nil
}

func checkChars(p *probe) error {
	cases := map[string]int64{"": 0, "a": 1, "é": 1, "日本": 2, "😀": 1, "e\u0301": 2, "\xff": 1, "\xe2\x82": 2, "a\xed\xa0\x80": 4, "\x00": 1, "\r\n": 2}
	for payload, want := range cases {
		h, err := p.record1(thread, result(docket.CallID("chars "+payload), payload))
		if err != nil {
			return err
		}
		if h.Chars != want || h.Bytes != int64(len(payload)) {
			return failf("%q has %d characters in %d bytes, want %d in %d", payload, h.Chars, h.Bytes, want, len(payload))
		}
	}
	return nil
}

// checkDerived: within a thread the same result has one mem id, in another thread
// (of another lineage) it has another, and so has its tag; else a leaked mem id
// would open a stranger's record and a copied answer would pass for one's own.
func checkDerived(p *probe) error {
	r := result("call_1", "the same payload")
	a, err := p.record1("thread a", r)
	if err != nil {
		return err
	}
	b, err := p.record1("thread b", r)
	if err != nil {
		return err
	}
	if a.MemID == b.MemID {
		return failf("two threads give one result one mem id, %s", a.MemID)
	}
	tags := map[string]string{}
	for _, c := range []struct {
		thread docket.ThreadID
		mem    docket.MemID
		text   string
	}{{"thread a", a.MemID, "x"}, {"thread a", a.MemID, "y"}, {"thread b", b.MemID, "x"}, {"thread a", a.MemID, "x"}} {
		tag, err := p.tag(c.thread, c.mem, c.text)
		if err != nil {
			return err
		}
		what := fmt.Sprintf("%q in %q", c.text, c.thread)
		if before, seen := tags[tag]; seen && before != what {
			return failf("the tags of %s and %s are the same", before, what)
		}
		tags[tag] = what
	}
	if len(tags) != 3 {
		return failf("three texts have %d tags: a tag changed between two views", len(tags))
	}
	return nil
}

func (p *probe) tag(thread docket.ThreadID, id docket.MemID, text string) (tag string, err error) {
	err = p.ledger.View(p.ctx, thread, id, func(rec docket.Record) error {
		tag = rec.Tag([]byte(text))
		return nil
	})
	if err == nil && tag == "" {
		err = failf("the tag of %q is empty", text)
	}
	return tag, err
}
