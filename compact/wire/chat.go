package wire

// OpenAI Chat Completions: an assistant's message has tool_calls, and each result is
// a message of its own, in the order of the calls or not. Call ids repeat in practice;
// a result answers the nearest call before it that has its id. The older function_call
// and role "function" have no ids: such results are read, recorded by nobody, and stay.

import (
	"context"

	"docket"
	"docket/compact"
)

// Chat is the dialect of POST /v1/chat/completions. The zero value trims and checks; a
// view needs the service. It is safe for concurrent use.
type Chat Options

// Name returns "chat".
func (c Chat) Name() string { return "chat" }

// View returns the wire body for thread and what was decided; see [Dialect].
func (c Chat) View(ctx context.Context, thread docket.ThreadID, body []byte) ([]byte, compact.Report) {
	return Options(c).view(ctx, thread, body, readChat)
}

// Trim returns body with at most the last cap messages; see [Dialect].
func (c Chat) Trim(body []byte, cap int) (out []byte, dropped int, err error) {
	return Options(c).trim(body, cap, readChat)
}

// Faults returns the calls without results and results without calls of body; see
// [Dialect].
func (c Chat) Faults(body []byte) ([]compact.Fault, error) { return faults(body, readChat) }

// chatBody is a body on its way through the reader.
type chatBody struct {
	parsed
	list    span      // the value of "messages"
	results []content // of each message: that of a result, or nothing
}

// readChat reads a body.
func readChat(src []byte) (*parsed, error) {
	b := &chatBody{parsed: parsed{src: src}}
	b.reader = newBodyReader(src)
	r := b.reader
	var tools span
	_, err := r.object(func(name []byte) error {
		switch string(name) {
		case "messages":
			return r.elements(&b.list, &b.doubt, func() error { return b.parseMessage(r) })
		case "tools":
			return r.elements(&tools, &b.doubt, func() error { return b.parseTool(r) })
		}
		return r.skip()
	})
	if err == nil {
		err = r.end()
	}
	switch {
	case err != nil:
		return nil, bodyError(err)
	case b.list.absent() || src[b.list.start] != '[':
		return nil, errShape
	case b.doubt:
		b.hold = compact.ReasonAmbiguous
	}
	b.edits = func(message, _ int, stub string) []edit { return b.results[message].edits(src, stub) }
	return &b.parsed, nil
}

// parseTool reads a tool: {"type":"function","function":{"name":…}}, or "custom".
func (b *chatBody) parseTool(r *reader) error {
	var name span
	_, err := r.ifObject(func(member []byte) error {
		if k := string(member); k != "function" && k != "custom" {
			return r.skip()
		}
		_, err := r.ifObject(func(member []byte) error {
			if string(member) == "name" {
				return r.into(&name, &b.doubt)
			}
			return r.skip()
		})
		return err
	})
	if err == nil && !name.absent() {
		b.tools = append(b.tools, str(name.of(b.src)))
	}
	return err
}

// parseMessage reads one message.
func (b *chatBody) parseMessage(r *reader) error {
	var role, id, tool, calls span
	var c content
	m := compact.Message{Speaks: true}
	s, err := r.object(func(name []byte) error {
		switch string(name) {
		case "role":
			return r.into(&role, &b.doubt)
		case "tool_call_id":
			return r.into(&id, &c.doubt)
		case "name":
			return r.into(&tool, &c.doubt)
		case "content":
			return c.parse(r)
		case "tool_calls":
			return r.elements(&calls, &b.doubt, func() error { return b.parseCall(r, &m) })
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	switch str(role.of(b.src)) {
	case "system", "developer":
		m.Role = compact.RoleSystem
	case "user":
		m.Role = compact.RoleUser
		if v := c.value.of(b.src); isString(v) {
			m.Speaks = !isReminder(v[1 : len(v)-1])
		}
	case "assistant":
		m.Role = compact.RoleAssistant
	case "tool":
		res := c.read(b.src)
		res.ID, res.Tool = docket.CallID(str(id.of(b.src))), str(tool.of(b.src))
		m.Results, m.Speaks = []compact.Result{res}, false
	}
	if m.Role != compact.RoleAssistant {
		m.Calls = nil
	}
	b.messages, b.spans, b.results = append(b.messages, m), append(b.spans, s), append(b.results, c)
	return nil
}

// parseCall reads one of an assistant's tool_calls.
func (b *chatBody) parseCall(r *reader, m *compact.Message) error {
	var id, name, args span
	inner := func(member []byte) error {
		switch string(member) {
		case "name":
			return r.into(&name, &b.doubt)
		case "arguments", "input":
			return r.into(&args, &b.doubt)
		}
		return r.skip()
	}
	_, err := r.ifObject(func(member []byte) error {
		switch string(member) {
		case "id":
			return r.into(&id, &b.doubt)
		case "function", "custom":
			_, err := r.ifObject(inner)
			return err
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	call := docket.Call{ID: docket.CallID(str(id.of(b.src))), Tool: str(name.of(b.src))}
	if isString(args.of(b.src)) {
		call.Args, _ = text(args.of(b.src), nil)
	}
	m.Calls = append(m.Calls, call)
	return nil
}
