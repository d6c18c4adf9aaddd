package wire

// Mending: what makes a body that a provider would answer 400 to acceptable again.
// An interrupted call gets an error result that says so, where the provider looks
// for it; a result that nobody asked for goes. Dropping the call instead was
// decided against: an assistant message is never touched.

import (
	"cmp"
	"slices"

	"docket/compact"
)

// What stands in the place of what is missing.
const (
	noResult = `No result was recorded for this call: it was interrupted.`
	noCall   = `{"type":"text","text":"(a tool result without its call stood here)"}`
)

// maxMends bounds the passes of [Anthropic.Mend]: where a result without its call
// goes, what stands behind it may lose its own; two passes mend all that is known.
const maxMends = 4

// Mend returns body with its faults repaired, and what they were. Without any it
// returns body itself. A call without an id cannot be answered and stays. Errors:
// [ErrBody], together with body.
func (a Anthropic) Mend(body []byte) (mended []byte, faults []compact.Fault, err error) {
	b, err := parseCertain(body)
	if err != nil {
		return body, nil, err
	}
	faults = compact.Faults(b.read())
	mended = body
	left := faults
	for pass := 0; pass < maxMends && len(left) > 0; pass++ {
		mended = b.mend(left)
		if b, err = parseCertain(mended); err != nil {
			return body, faults, err
		}
		left = compact.Faults(b.read())
	}
	return mended, faults, nil
}

// mend is one pass over b.
func (b *anthropicBody) mend(faults []compact.Fault) []byte {
	m := mending{body: b, into: make([][]span, len(b.messages)), after: make([][]span, len(b.messages))}
	for _, f := range faults {
		if f.Kind == compact.Unanswered {
			m.place(f)
		}
	}
	edits, kept := m.edits(faults)
	edits = append(edits, dropAllBut(b.spans(), kept)...)
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	return splice(b.src, edits)
}

// mending knows, for each message, the calls that it must answer and those that a
// new message after it must answer: the spans of their ids.
type mending struct {
	body        *anthropicBody
	into, after [][]span
}

// place decides where the result of an unanswered call goes: into the user message
// that follows its run of assistant messages, or into a new one.
func (m *mending) place(f compact.Fault) {
	messages := m.body.messages
	lit := messages[f.Message].lit(f)
	if lit.absent() {
		return // a call without an id cannot be answered
	}
	end, next := f.Message, f.Message+1
	for ; next < len(messages) && (messages[next].role == "assistant" || messages[next].role == "system"); next++ {
		if messages[next].role == "assistant" {
			end = next
		}
	}
	if next < len(messages) && messages[next].role == "user" && m.body.canAnswer(next) {
		m.into[next] = append(m.into[next], lit)
		return
	}
	m.after[end] = append(m.after[end], lit)
}

// lit returns the span of the id of the call of fault f.
func (m anthropicMessage) lit(f compact.Fault) span {
	for _, c := range m.calls {
		if c.ID == f.ID && f.ID != "" {
			return c.lit
		}
	}
	return span{}
}

// canAnswer tells whether results can be put in front of message i's content.
func (b *anthropicBody) canAnswer(i int) bool {
	c := b.messages[i].content.of(b.src)
	return len(c) > 2 && (c[0] == '"' || c[0] == '[' && len(b.messages[i].blocks) > 0)
}

// edits repairs the messages, and lists those that stay: one that held nothing but
// results without a call goes if another user message stands beside it.
func (m *mending) edits(faults []compact.Fault) (edits []edit, kept []int) {
	orphans := make([][]int, len(m.body.messages))
	empty := make([]bool, len(m.body.messages))
	for i, msg := range m.body.messages {
		n := 0
		for n < len(faults) && faults[n].Message == i {
			n++
		}
		orphans[i] = m.body.orphans(i, faults[:n])
		faults = faults[n:]
		empty[i] = len(msg.blocks) > 0 && len(orphans[i]) == len(msg.blocks) && len(m.into[i]) == 0
	}
	beside := m.body.besideUser(empty)
	for i := range m.body.messages {
		if empty[i] && beside[i] {
			continue
		}
		kept = append(kept, i)
		edits = append(edits, m.repair(i, orphans[i], empty[i])...)
	}
	return edits, kept
}

// besideUser tells of each message whether the next one on either side,
// instructions and empty ones aside, is a user's.
func (b *anthropicBody) besideUser(empty []bool) []bool {
	beside := make([]bool, len(b.messages))
	look := func(i int, user bool) bool {
		beside[i] = beside[i] || user
		if empty[i] || b.messages[i].role == "system" {
			return user
		}
		return b.messages[i].role == "user"
	}
	user := false
	for i := range b.messages {
		user = look(i, user)
	}
	user = false
	for i := len(b.messages) - 1; i >= 0; i-- {
		user = look(i, user)
	}
	return beside
}

// repair repairs message i, which stays.
func (m *mending) repair(i int, orphans []int, empty bool) (edits []edit) {
	msg := &m.body.messages[i]
	edits = m.answer(msg, i)
	var kept []int
	for k := range msg.blocks {
		if !slices.Contains(orphans, k) {
			kept = append(kept, k)
		}
	}
	switch {
	case empty:
		edits = append(edits, edit{span{msg.blocks[0].start, msg.blocks[len(msg.blocks)-1].end}, []byte(noCall)})
	case len(kept) == 0 && len(edits) == 1: // the answers that stand in front need no comma
		edits[0].text = edits[0].text[:len(edits[0].text)-1]
		fallthrough
	default:
		edits = append(edits, dropAllBut(msg.blocks, kept)...)
	}
	if lits := m.after[i]; len(lits) > 0 {
		text := append([]byte(`,{"role":"user","content":[`), m.results(lits)...)
		edits = append(edits, edit{span{msg.end, msg.end}, append(text, "]}"...)})
	}
	return edits
}

// answer puts results in front of the content of msg.
func (m *mending) answer(msg *anthropicMessage, i int) []edit {
	if len(m.into[i]) == 0 {
		return nil
	}
	results := append(m.results(m.into[i]), ',')
	start, end := msg.content.start, msg.content.end
	if len(msg.blocks) > 0 {
		return []edit{{span{start + 1, start + 1}, results}}
	}
	open := append(append([]byte{'['}, results...), `{"type":"text","text":`...)
	return []edit{{span{start, start}, open}, {span{end, end}, []byte("}]")}}
}

// results returns error results for calls, with commas between.
func (m *mending) results(ids []span) (text []byte) {
	for i, id := range ids {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, `{"type":"tool_result","tool_use_id":`...)
		text = append(text, id.of(m.body.src)...)
		text = append(text, `,"is_error":true,"content":`...)
		text = append(appendString(text, noResult), '}')
	}
	return text
}

// orphans returns the blocks of message i, whose faults are given, that are results
// without a call: of several with one id the last ones.
func (b *anthropicBody) orphans(i int, faults []compact.Fault) (blocks []int) {
	results := b.messages[i].results
	for _, f := range faults {
		if f.Kind != compact.Orphan {
			continue
		}
		for k := len(results) - 1; k >= 0; k-- {
			if results[k].id == string(f.ID) && !slices.Contains(blocks, results[k].block) {
				blocks = append(blocks, results[k].block)
				break
			}
		}
	}
	return blocks
}

// parseCertain is parseAnthropic for what must not guess.
func parseCertain(body []byte) (*anthropicBody, error) {
	b, err := parseAnthropic(body)
	if err == nil && b.doubt {
		return nil, errTwice
	}
	return b, err
}

// spans returns the spans of the messages.
func (b *anthropicBody) spans() []span {
	s := make([]span, len(b.messages))
	for i, m := range b.messages {
		s[i] = m.span
	}
	return s
}
