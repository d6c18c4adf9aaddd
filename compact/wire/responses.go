package wire

// OpenAI Responses: a history of items. What the model made (reasoning, messages,
// calls) stands in runs, and so do the outputs of its calls: a run is what other
// dialects have as one message. A reasoning item so never loses what follows it. Only
// outputs of functions and custom tools are ever edited; those of shells, browsers and
// the provider's own tools are recorded by nobody and stay.

import (
	"context"
	"strings"

	"docket"
	"docket/compact"
)

// Responses is the dialect of POST /v1/responses. The zero value trims and checks; a
// view needs the service. It is safe for concurrent use.
type Responses Options

// Name returns "responses".
func (d Responses) Name() string { return "responses" }

// View returns the wire body for thread and what was decided; see [Dialect]. A body
// that continues a history of the provider's is recorded and stays.
func (d Responses) View(ctx context.Context, thread docket.ThreadID, body []byte) ([]byte, compact.Report) {
	return Options(d).view(ctx, thread, body, readResponses)
}

// Trim returns body with at most the last cap messages, where a run of items counts as
// one; see [Dialect].
func (d Responses) Trim(body []byte, cap int) (out []byte, dropped int, err error) {
	return Options(d).trim(body, cap, readResponses)
}

// Faults returns the calls without results and results without calls of body; see
// [Dialect].
func (d Responses) Faults(body []byte) ([]compact.Fault, error) { return faults(body, readResponses) }

// responsesBody is a body on its way through the reader.
type responsesBody struct {
	parsed
	results [][]content // of each message
	last    itemClass   // of the last message
}

// itemClass says which items make a run.
type itemClass uint8

const (
	itemAlone  itemClass = iota // a user's message, instructions
	itemModel                   // what the model made
	itemOutput                  // what came back
)

// readResponses reads a body.
func readResponses(src []byte) (*parsed, error) {
	b := &responsesBody{parsed: parsed{src: src}}
	b.reader = newBodyReader(src)
	r := b.reader
	var list, tools, previous, conversation span
	_, err := r.object(func(name []byte) error {
		switch string(name) {
		case "input":
			return r.elements(&list, &b.doubt, func() error { return b.parseItem(r) })
		case "tools":
			return r.elements(&tools, &b.doubt, func() error { return b.parseName(r) })
		case "previous_response_id":
			return r.into(&previous, &b.doubt)
		case "conversation":
			return r.into(&conversation, &b.doubt)
		}
		return r.skip()
	})
	if err == nil {
		err = r.end()
	}
	given := func(s span) bool { return !s.absent() && string(s.of(src)) != "null" }
	switch {
	case err != nil:
		return nil, bodyError(err)
	case list.absent() || src[list.start] != '[' && src[list.start] != '"':
		return nil, errShape
	case b.doubt:
		b.hold = compact.ReasonAmbiguous
	case given(previous) || given(conversation):
		b.hold = compact.ReasonRecordOnly
	}
	b.edits = func(message, result int, stub string) []edit { return b.results[message][result].edits(src, stub) }
	return &b.parsed, nil
}

// parseName reads a tool that has its name at the top.
func (b *responsesBody) parseName(r *reader) error {
	var name span
	_, err := r.ifObject(func(member []byte) error {
		if string(member) == "name" {
			return r.into(&name, &b.doubt)
		}
		return r.skip()
	})
	if err == nil && !name.absent() {
		b.tools = append(b.tools, str(name.of(b.src)))
	}
	return err
}

// item is one item: its members that matter.
type item struct {
	span
	kind, role, id, name, args span
	output                     content
}

// parseItem reads one item into the run that it belongs to.
func (b *responsesBody) parseItem(r *reader) (err error) {
	var it item
	it.span, err = r.object(func(name []byte) error {
		switch string(name) {
		case "type":
			return r.into(&it.kind, &b.doubt)
		case "role":
			return r.into(&it.role, &b.doubt)
		case "call_id":
			return r.into(&it.id, &it.output.doubt)
		case "name":
			return r.into(&it.name, &it.output.doubt)
		case "arguments", "input":
			return r.into(&it.args, &it.output.doubt)
		case "output":
			return it.output.parse(r)
		}
		return r.skip()
	})
	if err == nil {
		b.add(it)
	}
	return err
}

func (b *responsesBody) add(it item) {
	kind, role := str(it.kind.of(b.src)), str(it.role.of(b.src))
	switch {
	case strings.HasSuffix(kind, "_output"):
		m, contents := b.run(itemOutput, it.span)
		res := compact.Result{Hold: compact.ReasonViewable}
		if kind == "function_call_output" || kind == "custom_tool_call_output" {
			res = it.output.read(b.src)
		}
		res.ID = docket.CallID(str(it.id.of(b.src)))
		m.Results, *contents = append(m.Results, res), append(*contents, it.output)
	case role == "" || role == "assistant":
		m, _ := b.run(itemModel, it.span)
		m.Role, m.Speaks = compact.RoleAssistant, true
		if !it.id.absent() {
			call := docket.Call{ID: docket.CallID(str(it.id.of(b.src))), Tool: str(it.name.of(b.src))}
			if isString(it.args.of(b.src)) {
				call.Args, _ = text(it.args.of(b.src), nil)
			}
			m.Calls = append(m.Calls, call)
		}
	default:
		m, _ := b.run(itemAlone, it.span)
		m.Role, m.Speaks = compact.RoleUser, true
		if role == "system" || role == "developer" {
			m.Role = compact.RoleSystem
		}
	}
}

// run returns the message that an item of a class belongs to: the last one, or a new
// one.
func (b *responsesBody) run(class itemClass, s span) (*compact.Message, *[]content) {
	if n := len(b.messages); n == 0 || class == itemAlone || class != b.last {
		b.messages, b.spans, b.results = append(b.messages, compact.Message{}), append(b.spans, s), append(b.results, nil)
	}
	n := len(b.messages) - 1
	b.last, b.spans[n].end = class, s.end
	return &b.messages[n], &b.results[n]
}
