package compact

// History trim: the most recent messages without separating a call from its
// result. Chosen by position only; what a message costs in tokens is not known
// here. Results that are trimmed away stay in the ledger: [docket.Ledger.List]
// names them, and the recall tool still reads them.

import (
	"cmp"
	"log/slog"
	"slices"
)

// Trim returns the last cap messages, at most, except that
//   - leading system messages stay, and count;
//   - a call and its results stay together even if that makes more than cap;
//   - leading calls without all results go, and leading results without their call,
//     also when cap is not less than the length: the input may be malformed;
//   - what is kept begins with a user message that says something, if the input has
//     one: else the first such message is put in front, and counts.
//
// cap ≤ 0 gives an empty history. Whatever was well paired stays well paired. When
// messages are dropped, log (nil: nobody) gets one record at debug level. The
// messages themselves are shared; when nothing is dropped it is the argument that
// comes back.
func Trim[M any](messages []M, read func(M) Message, cap int, log *slog.Logger) []M {
	seen := make([]Message, len(messages))
	for i, m := range messages {
		seen[i] = read(m)
	}
	kept := Kept(seen, cap)
	if len(kept) == len(messages) {
		return messages
	}
	LogTrim(log, len(messages)-len(kept), cap)
	out := make([]M, len(kept))
	for i, k := range kept {
		out[i] = messages[k]
	}
	return out
}

// LogTrim writes the one debug record of a trim; it is silent if nothing was
// dropped (H4).
func LogTrim(log *slog.Logger, dropped, cap int) {
	if log != nil && dropped > 0 {
		log.Debug("history trimmed", "dropped", dropped, "cap", cap)
	}
}

// Kept is [Trim] for who holds messages in another shape: the ascending indexes of
// those that stay.
func Kept(messages []Message, cap int) []int {
	if cap <= 0 || len(messages) == 0 {
		return nil
	}
	t := trimmer{messages: messages, pairing: pair(messages)}
	for t.lead < len(messages) && messages[t.lead].Role == RoleSystem {
		t.lead++
	}
	front, start := t.cut(max(cap-t.lead, 1))
	var kept []int
	for i := range messages {
		if i < t.lead || i == front || i >= start {
			kept = append(kept, i)
		}
	}
	return kept
}

// trimmer finds where the kept tail begins.
type trimmer struct {
	messages []Message
	pairing
	lead int // leading system messages
}

// cut returns the message to put in front, -1 for none, and the start of the tail,
// so that both have size messages where pairs allow it.
func (t *trimmer) cut(size int) (front, start int) {
	start = t.tail(size)
	front = t.firstReal()
	if front < 0 || front >= start || t.beginsReal(start) {
		return -1, start
	}
	end := len(t.messages)
	switch {
	case size > 1:
		start = t.tail(size - 1)
	case len(t.messages[end-1].Results) == 0: // no room but for the front, and no pair to keep
		start = end
	}
	if t.beginsReal(start) {
		return -1, start
	}
	return front, start
}

// tail returns the start of the last size messages, moved back over the calls that
// they answer (H2) and then forward over what stands alone (H3).
func (t *trimmer) tail(size int) int {
	start := max(len(t.messages)-size, t.lead)
	for i := start; i < len(t.messages); i++ {
		start = min(start, max(t.first[i], t.lead))
	}
	for start < len(t.messages) && t.alone(start) {
		start++
	}
	return start
}

// alone tells whether message i, as the first of a tail, holds a call without its
// result or a result without its call.
func (t *trimmer) alone(i int) bool {
	if len(t.messages[i].Results) > 0 && t.first[i] < i {
		return true
	}
	_, faulty := slices.BinarySearchFunc(t.faults, i, func(f Fault, i int) int { return cmp.Compare(f.Message, i) })
	return faulty
}

// real tells whether message i can begin a request: a user who says something.
func (t *trimmer) real(i int) bool {
	m := t.messages[i]
	return m.Role == RoleUser && m.Speaks && len(m.Results) == 0
}

func (t *trimmer) firstReal() int {
	for i := range t.messages {
		if t.real(i) {
			return i
		}
	}
	return -1
}

// beginsReal tells whether the tail begins with a real user message, after
// instructions.
func (t *trimmer) beginsReal(start int) bool {
	for i := start; i < len(t.messages); i++ {
		if t.messages[i].Role != RoleSystem {
			return t.real(i)
		}
	}
	return false
}
