package compact

// Recognising our own output in a history: stubs that a client persisted, and
// answers of the recall tool. Neither is believed by its looks: a stub is made
// again from its record and compared, an answer's tag is verified. What fails is
// an ordinary result.

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"docket"
)

// recognise sets the state of what is our own. Results before the start index are
// left alone like everything else about them.
func (r *run) recognise(ctx context.Context) {
	for i := range r.list {
		o := &r.list[i]
		if o.Message < r.policy.StartIndex || o.hold != "" {
			continue
		}
		switch {
		case bytes.HasPrefix(o.result.Payload, []byte(docket.StubHeader+"\n")):
			r.recogniseStub(ctx, o)
		default:
			r.recogniseAnswer(ctx, o)
		}
	}
}

// recogniseStub compares the payload with the stub of the record that it names. A
// stub of an answer names the record that the answer was about: it differs in
// what belongs to the call, which is therefore taken from the call.
func (r *run) recogniseStub(ctx context.Context, o *occurrence) {
	f, ok := parseStub(string(o.result.Payload))
	if !ok {
		return
	}
	h, err := r.handle(ctx, f.mem)
	if err != nil {
		return
	}
	of := docket.Handle{MemID: f.mem, CallID: o.CallID, Tool: o.Tool, Chars: f.chars, Summary: f.summary}
	form := docket.Form{Version: docket.StubVersion, RecallTool: f.recallTool}
	for _, h := range []docket.Handle{h, of} {
		if bytes.Equal(h.AppendStub(nil, form), o.result.Payload) {
			o.state, o.MemID = stateStub, f.mem
			return
		}
	}
}

// stubFields are the fields of a stub that the record does not tell.
type stubFields struct {
	mem        docket.MemID
	chars      int64
	summary    string
	recallTool string
}

// parseStub reads what has the shape of a stub of version 1.
func parseStub(text string) (f stubFields, ok bool) {
	lines := strings.Split(text, "\n")
	if len(lines) < 5 {
		return f, false
	}
	size, mem, _ := strings.Cut(strings.TrimPrefix(lines[2], "size_original="), " chars, archived as mem=")
	id, err := docket.ParseMemID(mem)
	n, err2 := strconv.ParseInt(size, 10, 64)
	if err != nil || err2 != nil {
		return f, false
	}
	_, tool, _ := strings.Cut(lines[len(lines)-1], "Re-expand with ")
	tool, _, ok = strings.Cut(tool, `(mem_id="`)
	return stubFields{id, n, strings.TrimPrefix(lines[3], "summary: "), tool}, ok
}

// recogniseAnswer verifies the tag of what looks like an answer. What the recall
// tool itself returned counts as one even where a wrapper cut it or it is about no
// record; it is never archived, so without a record to point at it stays whole.
func (r *run) recogniseAnswer(ctx context.Context, o *occurrence) {
	named := slices.Contains(r.request.RecallTools, o.Tool) || len(r.decided.Epochs) > 0 && o.Tool == r.form().RecallTool
	id, _, ok := docket.ParseAnswerHead(o.result.Payload)
	if named {
		o.state = stateAnswer
	}
	if !ok {
		return
	}
	h, err := r.handle(ctx, id)
	if errors.Is(err, docket.ErrErased) { // an erased payload must not come back through a slice of it
		o.state = stateAnswer
	}
	if err != nil {
		return
	}
	key := docket.DeriveMemID(docket.LineageKey{}, o.CallID, docket.DigestOf(o.result.Payload))
	_, known := r.decided.Epochs[key] // of an expired record no tag can be verified any more
	if !named && !known {
		if _, ok = docket.VerifyAnswer(ctx, r.service.Ledger, r.thread, o.result.Payload); !ok {
			return
		}
	}
	o.state, o.key, o.MemID, o.handle = stateAnswer, key, id, answerHandle(o, h)
}

// answerHandle is what the stub of an answer is made from: it points at the record
// that the answer was about and says which slice it was. It is a pure function of
// the answer, its call, and that record's handle. The log knows it by the mem id
// that its call id and digest give under the zero key, which no record has.
func answerHandle(o *occurrence, about docket.Handle) docket.Handle {
	tool := about.Tool
	if tool == "" {
		tool = docket.UnknownTool
	}
	return docket.Handle{
		MemID: about.MemID, CallID: o.CallID, Tool: o.Tool, Chars: o.Size,
		Summary: "a slice of the " + tool + " result mem=" + string(about.MemID) + ", asked for with " + string(o.result.Args),
	}
}

// handle returns the handle of a record, also of one that has expired.
func (r *run) handle(ctx context.Context, id docket.MemID) (h docket.Handle, err error) {
	err = r.service.Ledger.View(ctx, r.thread, id, func(rec docket.Record) error {
		h = rec.Handle()
		return nil
	})
	if gone := (*docket.ExpiredError)(nil); errors.As(err, &gone) {
		return gone.Handle, nil
	}
	return h, err
}
