package wire

// Cache marks of our own: when an epoch opens under a cost policy, where the provider
// can read its cache and where the next epoch will want to.

import (
	"bytes"
	"slices"
)

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
