package wire

// Trimming a body, and finding what a provider would answer 400 to; mending it is in
// anthropic_mend.go. The messages that stay keep their own bytes; which stay is
// decided in package compact.

import "docket/compact"

// Trim returns body with at most the last cap messages, as [compact.Trim] has it,
// and how many it dropped. When it dropped none it returns body itself. Errors:
// [ErrBody], together with body.
func (a Anthropic) Trim(body []byte, cap int) (out []byte, dropped int, err error) {
	b, err := parseCertain(body)
	if err != nil {
		return body, 0, err
	}
	kept := compact.Kept(b.read(), cap)
	dropped = len(b.messages) - len(kept)
	compact.LogTrim(a.Logger, dropped, cap)
	return splice(body, dropAllBut(b.spans(), kept)), dropped, nil
}

// Faults returns the calls without results and results without calls of body.
// Errors: [ErrBody].
func (a Anthropic) Faults(body []byte) ([]compact.Fault, error) {
	b, err := parseAnthropic(body)
	if err != nil {
		return nil, err
	}
	return compact.Faults(b.read()), nil
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

// dropAllBut cuts those of spans, which a list holds, that are not in kept, each
// with the comma that parts it from a neighbour that stays.
func dropAllBut(spans []span, kept []int) (edits []edit) {
	cut := func(start, end int) { edits = append(edits, edit{span: span{start, end}}) }
	last := len(spans) - 1
	if len(kept) == 0 && last >= 0 {
		cut(spans[0].start, spans[last].end)
		return edits
	}
	next := 0
	for _, k := range kept {
		switch {
		case k == next:
		case next == 0:
			cut(spans[0].start, spans[k].start)
		default:
			cut(spans[next-1].end, spans[k-1].end)
		}
		next = k + 1
	}
	if next <= last {
		cut(spans[next-1].end, spans[last].end)
	}
	return edits
}
