package docket

// The head of an answer: how the service knows the output of its own recall tool,
// whatever a wrapper called the tool, and why nothing can imitate it. FORMAT.md
// ("Answer") is normative. What an answer says after the head is decided in the
// recall package.

import (
	"bytes"
	"context"
	"crypto/hmac"
)

// The fixed parts of an answer's head.
const (
	answerOpen  = "[docket.tool_memory answer v1 mem="
	answerTag   = " tag="
	answerClose = "]"
	answerHead  = len(answerOpen) + MemIDLen + len(answerTag) + MemIDLen + len(answerClose)
)

// AppendAnswerHead appends the head of an answer about the record id to dst:
//
//	[docket.tool_memory answer v1 mem=<mem id> tag=<tag>]
func AppendAnswerHead(dst []byte, id MemID, tag string) []byte {
	dst = append(dst, answerOpen...)
	dst = append(dst, id...)
	dst = append(dst, answerTag...)
	dst = append(dst, tag...)
	return append(dst, answerClose...)
}

// ParseAnswerHead returns the mem id and the tag of the head that text begins
// with. It verifies nothing: [VerifyAnswer] does.
func ParseAnswerHead(text []byte) (id MemID, tag string, ok bool) {
	if len(text) < answerHead || string(text[:len(answerOpen)]) != answerOpen {
		return "", "", false
	}
	id, err := ParseMemID(string(text[len(answerOpen) : len(answerOpen)+MemIDLen]))
	rest := text[len(answerOpen)+MemIDLen : answerHead]
	if err != nil || string(rest[:len(answerTag)]) != answerTag || rest[len(rest)-1] != answerClose[0] {
		return "", "", false
	}
	tag = string(rest[len(answerTag) : len(rest)-1])
	if !IsMemIDPrefix(tag) { // a tag has the alphabet and the length of a mem id
		return "", "", false
	}
	return id, tag, true
}

// AppendAnswer appends to dst the answer that says rest about rec: the head with
// its tag, then rest. It may be called during the view of rec only.
func AppendAnswer(dst []byte, rec Record, rest []byte) []byte {
	id := rec.Handle().MemID
	tag := rec.Tag(appendUntagged(nil, id, rest))
	return append(AppendAnswerHead(dst, id, tag), rest...)
}

// appendUntagged appends what a tag is made of: the answer without " tag=<tag>"
// and without white space at its end, which some clients trim.
func appendUntagged(dst []byte, id MemID, rest []byte) []byte {
	dst = append(dst, answerOpen...)
	dst = append(dst, id...)
	dst = append(dst, answerClose...)
	return append(dst, bytes.TrimRight(rest, " \t\r\n")...)
}

// VerifyAnswer tells whether text is, byte for byte, an answer of this ledger to
// thread (or to a thread of its lineage), and about which record. White space at
// the end does not matter. The tag is compared in constant time. An answer about
// a record that has since expired or been erased verifies no more.
func VerifyAnswer(ctx context.Context, l Ledger, thread ThreadID, text []byte) (MemID, bool) {
	id, tag, ok := ParseAnswerHead(text)
	if !ok {
		return "", false
	}
	same := false
	err := l.View(ctx, thread, id, func(rec Record) error {
		same = hmac.Equal([]byte(tag), []byte(rec.Tag(appendUntagged(nil, id, text[answerHead:]))))
		return nil
	})
	if err != nil || !same {
		return "", false
	}
	return id, true
}
