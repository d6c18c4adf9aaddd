package wire

// Replacing one result's content by a stub. A string stays a string; of a list the
// first text becomes the stub, later texts go, everything else stays in its order.
// A cache mark is never lost and never multiplied: four are allowed and a fifth is
// a 400, a missing one a cache that is not read.

import (
	"bytes"
	"slices"
)

// continued is what a later text leaves when it must stay for its cache mark.
const continued = "(part of the result above)"

// edits returns what puts stub in the place of the texts of res.
func (res anthropicResult) edits(src []byte, stub string) []edit {
	if isString(res.content.of(src)) {
		return []edit{{res.content, appendString(nil, stub)}}
	}
	first := res.firstText(src)
	hoist := res.hoistable(src, first)
	var edits []edit
	for i := first; i < len(res.parts); i++ {
		p := res.parts[i]
		switch {
		case i == first:
			edits = append(edits, edit{p.text, appendString(nil, stub)})
			if hoist > 0 {
				mark := append([]byte(`,"cache_control":`), res.parts[hoist].mark.of(src)...)
				edits = append(edits, edit{span{p.end - 1, p.end - 1}, mark})
			}
		case !p.isText(src):
		case p.mark.absent() || i == hoist:
			// from the end of the block before, so that its comma goes too
			edits = append(edits, edit{span: span{res.parts[i-1].end, p.end}})
		default:
			edits = append(edits, edit{p.text, appendString(nil, continued)})
		}
	}
	return edits
}

// firstText is the part that becomes the stub: a result that is stubbed has one.
func (res anthropicResult) firstText(src []byte) int {
	for i, p := range res.parts {
		if p.isText(src) {
			return i
		}
	}
	return len(res.parts)
}

// hoistable returns the later text whose mark can move to the stub's block: the
// first marked part after it, if it is a text and the stub's block has no mark;
// otherwise 0. Clients move their marks from request to request; with the mark on
// the stub's own block the texts are the same bytes with and without it.
func (res anthropicResult) hoistable(src []byte, first int) int {
	if first >= len(res.parts) || !res.parts[first].mark.absent() {
		return 0
	}
	for i := first + 1; i < len(res.parts); i++ {
		if p := res.parts[i]; !p.mark.absent() {
			if p.isText(src) {
				return i
			}
			return 0
		}
	}
	return 0
}

// maxMarks is how many cache marks a request may have.
const maxMarks = 4

// marks sets cache marks at the ends of so many messages each, the first first, while
// the request has fewer than it may have and the last block can have one.
func (b *anthropicBody) marks(at []int) (edits []edit) {
	free := maxMarks - bytes.Count(b.src, []byte(`"cache_control"`))
	for i, n := range at {
		if free <= 0 || n <= 0 || n > len(b.messages) || slices.Contains(at[:i], n) {
			continue
		}
		blocks := b.messages[n-1].blocks
		if len(blocks) == 0 {
			continue
		}
		last := blocks[len(blocks)-1]
		block := last.of(b.src)
		if len(block) < 3 || block[0] != '{' || bytes.Contains(block, []byte(`"cache_control"`)) {
			continue
		}
		edits = append(edits, edit{span{last.end - 1, last.end - 1}, []byte(`,"cache_control":{"type":"ephemeral"}`)})
		free--
	}
	return edits
}
