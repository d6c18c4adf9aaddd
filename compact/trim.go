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
//   - what is kept begins with a user message that says something, if one was
//     dropped: else the first such message is put in front, and counts; what is
//     then too many gives way, but the last call with its results.
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
	t := newTrimmer(messages)
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
	lead  int   // leading system messages
	reach []int // the earliest message that this one or a later one answers
}

func newTrimmer(messages []Message) *trimmer {
	t := &trimmer{messages: messages, pairing: pair(messages)}
	for t.lead < len(messages) && messages[t.lead].Role == RoleSystem {
		t.lead++
	}
	t.reach = slices.Clone(t.first)
	for i := len(t.reach) - 2; i >= 0; i-- {
		t.reach[i] = min(t.reach[i], t.reach[i+1])
	}
	return t
}

// cut returns the message to put in front, -1 for none, and the start of the tail.
// A front counts in size. What is then too many gives way, oldest first, but the
// last round: a call with its results is worth more than the cap.
func (t *trimmer) cut(size int) (front, start int) {
	start = t.tail(size)
	front = t.firstReal()
	if front < 0 || front >= start || t.beginsReal(start) {
		return -1, start
	}
	for 1+len(t.messages)-start > size && start < len(t.messages) && !t.beginsReal(start) {
		next := t.whole(start + 1)
		if t.rounds(start) > 0 && t.rounds(next) == 0 {
			break
		}
		start = next
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
	for start < len(t.messages) && t.reach[start] < start {
		start = t.reach[start]
	}
	return t.whole(start)
}

// whole returns the first start from the given one on at which no call and no
// result loses its other half.
func (t *trimmer) whole(start int) int {
	for start < len(t.messages) && (t.reach[start] < start || t.faulty(start)) {
		start++
	}
	return start
}

// rounds counts the messages from start on that answer calls.
func (t *trimmer) rounds(start int) (n int) {
	for i := start; i < len(t.messages); i++ {
		if t.first[i] < i {
			n++
		}
	}
	return n
}

// faulty tells whether message i holds a call without its result or a result
// without its call.
func (t *trimmer) faulty(i int) bool {
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
