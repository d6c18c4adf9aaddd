package index

// What a stub says about a payload. WALKING VERSION.

import (
	"fmt"
)

// Outline returns the three lines that a stub shows: what the payload is, its
// shape, and anchors.
func Outline(payload []byte, s Sections) (summary, schema, preview string) {
	return fmt.Sprintf("%v, %d characters", s.Kind, s.Chars), "", ""
}
