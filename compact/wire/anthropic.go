package wire

// Anthropic Messages: what of a request body is a call, a result, a payload. How
// a result's content is replaced is in content.go, mending in
// anthropic_mend.go. Only tool_result blocks of messages that are not the
// assistant's are ever edited; everything signed, every server tool's result and
// every call lies outside.

import (
	"bytes"
	"context"
	"strings"

	"docket"
	"docket/compact"
)

// Anthropic is the dialect of POST /v1/messages and /v1/messages/count_tokens.
// The zero value trims and checks; a view needs the service. It is safe for
// concurrent use.
type Anthropic Options

// Name returns "anthropic".
func (a Anthropic) Name() string { return "anthropic" }

// View returns the wire body for thread and what was decided; see [Dialect].
func (a Anthropic) View(ctx context.Context, thread docket.ThreadID, body []byte) ([]byte, compact.Report) {
	return Options(a).view(ctx, thread, body, readAnthropic)
}

// Trim returns body with at most the last cap messages; see [Dialect].
func (a Anthropic) Trim(body []byte, cap int) (out []byte, dropped int, err error) {
	return Options(a).trim(body, cap, readAnthropic)
}

// Faults returns the calls without results and results without calls of body; see
// [Dialect].
func (a Anthropic) Faults(body []byte) ([]compact.Fault, error) {
	return faults(body, readAnthropic)
}

// readAnthropic reads a body.
func readAnthropic(src []byte) (*parsed, error) {
	b, err := parseAnthropic(src)
	if err != nil {
		return nil, err
	}
	return &parsed{
		src: src, messages: b.read(), spans: b.spans(), tools: b.tools, hold: b.hold, doubt: b.doubt, reader: b.reader,
		edits: func(message, result int, stub string) []edit {
			return b.messages[message].results[result].edits(src, stub)
		},
		marks: b.marks,
		strings: func(message int) span {
			if c := b.messages[message].content; isString(c.of(src)) {
				return c
			}
			return span{}
		},
	}, nil
}

// anthropicBody is a parsed body: spans of src.
type anthropicBody struct {
	src      []byte
	reader   *reader
	array    span // the value of "messages"
	messages []anthropicMessage
	tools    []string
	doubt    bool           // a name that matters stands there twice
	hold     compact.Reason // why it gets no stub
}

// anthropicMessage is one message.
type anthropicMessage struct {
	span
	role    string
	content span
	speaks  bool
	blocks  []span // of a content that is a list
	calls   []anthropicCall
	results []anthropicResult
}

// anthropicCall is a tool_use block.
type anthropicCall struct {
	docket.Call
	lit    span // of its id
	byCode bool // code execution called the tool: the result is not in the model's context
}

// anthropicResult is a tool_result block.
type anthropicResult struct {
	block   int // position in the message's blocks
	id      string
	isError bool
	content
}

// parseAnthropic reads a body. An error, which is an [ErrBody], means that it is
// to be left alone.
func parseAnthropic(src []byte) (*anthropicBody, error) {
	b := &anthropicBody{src: src, reader: newBodyReader(src)}
	r := b.reader
	var tools, management, thread span
	_, err := r.object(func(name []byte) error {
		switch string(name) {
		case "messages":
			return r.elements(&b.array, &b.doubt, func() error { return b.parseMessage(r) })
		case "tools":
			return r.elements(&tools, &b.doubt, func() error { return b.parseTool(r) })
		case "context_management":
			return r.into(&management, &b.doubt)
		case "thread":
			return r.into(&thread, &b.doubt)
		}
		return r.skip()
	})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, bodyError(err)
	}
	if b.array.absent() || src[b.array.start] != '[' {
		return nil, errShape
	}
	b.hold = holdOf(src, management, thread, b.doubt)
	return b, nil
}

// holdOf says why a body gets no stub.
func holdOf(src []byte, management, thread span, doubt bool) compact.Reason {
	switch {
	case doubt:
		return compact.ReasonAmbiguous
	case clearsToolUses(management.of(src)):
		return compact.ReasonProviderClears
	case typeOf(thread.of(src)) == "continue":
		return compact.ReasonRecordOnly
	}
	return ""
}

// typeOf returns the "type" of an object, empty for anything else.
func typeOf(v []byte) string {
	var kind span
	var doubt bool
	r := newReader(v)
	_, err := r.object(func(name []byte) error {
		if string(name) == "type" {
			return r.into(&kind, &doubt)
		}
		return r.skip()
	})
	if err != nil {
		return ""
	}
	return str(kind.of(v))
}

// clearsToolUses tells whether context management asks the provider to clear
// results itself.
func clearsToolUses(v []byte) (clears bool) {
	var edits span
	var doubt bool
	r := newReader(v)
	_, err := r.object(func(name []byte) error {
		if string(name) != "edits" {
			return r.skip()
		}
		return r.elements(&edits, &doubt, func() error {
			s, err := r.value()
			clears = clears || err == nil && strings.HasPrefix(typeOf(s.of(v)), "clear_tool_uses")
			return err
		})
	})
	return clears && err == nil
}

func (b *anthropicBody) parseTool(r *reader) error {
	var tool span
	_, err := r.ifObject(func(name []byte) error {
		if string(name) == "name" {
			return r.into(&tool, &b.doubt)
		}
		return r.skip()
	})
	if err == nil && !tool.absent() {
		b.tools = append(b.tools, str(tool.of(b.src)))
	}
	return err
}

func (b *anthropicBody) parseMessage(r *reader) (err error) {
	var m anthropicMessage
	var role span
	m.span, err = r.object(func(name []byte) error {
		switch string(name) {
		case "role":
			return r.into(&role, &b.doubt)
		case "content":
			return r.elements(&m.content, &b.doubt, func() error { return b.parseBlock(r, &m) })
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	m.role = str(role.of(b.src))
	if m.role != "assistant" {
		m.calls = nil
	}
	if m.role != "user" { // never touched, whatever they hold
		m.results = nil
	}
	if c := m.content.of(b.src); isString(c) {
		m.speaks = !isReminder(c[1 : len(c)-1])
	}
	b.messages = append(b.messages, m)
	return nil
}

// anthropicBlock is a block of a message's content: its members that matter.
type anthropicBlock struct {
	kind, id, callID, name, input, caller, words, isError span
	result                                                anthropicResult
}

// parseBlock reads one block of a message's content.
func (b *anthropicBody) parseBlock(r *reader, m *anthropicMessage) error {
	k := anthropicBlock{result: anthropicResult{block: len(m.blocks)}}
	doubt := &k.result.doubt
	s, err := r.ifObject(func(name []byte) error {
		switch string(name) {
		case "type":
			return r.into(&k.kind, doubt)
		case "id":
			return r.into(&k.id, doubt)
		case "tool_use_id":
			return r.into(&k.callID, doubt)
		case "name":
			return r.into(&k.name, doubt)
		case "input":
			return r.into(&k.input, doubt)
		case "caller":
			return r.into(&k.caller, doubt)
		case "text":
			return r.into(&k.words, doubt)
		case "is_error":
			return r.into(&k.isError, doubt)
		case "content":
			return k.result.parse(r)
		}
		return r.skip()
	})
	if err == nil {
		m.blocks = append(m.blocks, s)
		m.add(b.src, &k)
	}
	return err
}

// add takes block k up into m.
func (m *anthropicMessage) add(src []byte, k *anthropicBlock) {
	switch kind := k.kind.of(src); string(kind) {
	case `"tool_use"`:
		call := docket.Call{ID: docket.CallID(str(k.id.of(src))), Tool: str(k.name.of(src)), Args: k.input.of(src)}
		by := typeOf(k.caller.of(src))
		m.calls = append(m.calls, anthropicCall{call, k.id, by != "" && by != "direct"})
	case `"tool_result"`:
		res := k.result
		res.id, res.isError = str(k.callID.of(src)), string(k.isError.of(src)) == "true"
		m.results = append(m.results, res)
	case `"text"`:
		words := k.words.of(src)
		m.speaks = m.speaks || !isString(words) || !isReminder(words[1:len(words)-1])
	default:
		m.speaks = true
	}
}

// isReminder tells whether a text, as it stands between quotes, is nothing but a
// client's note to the model.
func isReminder(raw []byte) bool {
	const opened, closed = "<system-reminder>", "</system-reminder>"
	for _, space := range []string{" ", `\n`, `\r`, `\t`} {
		for bytes.HasPrefix(raw, []byte(space)) {
			raw = raw[len(space):]
		}
		for bytes.HasSuffix(raw, []byte(space)) {
			raw = raw[:len(raw)-len(space)]
		}
	}
	return bytes.HasPrefix(raw, []byte(opened)) && bytes.HasSuffix(raw, []byte(closed))
}

// read gives the core its view of b.
func (b *anthropicBody) read() []compact.Message {
	messages := make([]compact.Message, len(b.messages))
	byCode := map[string]bool{}
	for i, m := range b.messages {
		out := compact.Message{Role: roleOf(m.role), Speaks: m.speaks}
		for _, c := range m.calls {
			byCode[string(c.ID)] = c.byCode
			out.Calls = append(out.Calls, c.Call)
		}
		for _, res := range m.results {
			r := res.read(b.src)
			if r.Hold == "" && byCode[res.id] {
				r.Hold = compact.ReasonCode
			}
			out.Results = append(out.Results, r)
		}
		messages[i] = out
	}
	return messages
}

func roleOf(role string) compact.Role {
	switch role {
	case "user":
		return compact.RoleUser
	case "assistant":
		return compact.RoleAssistant
	case "system":
		return compact.RoleSystem
	}
	return compact.RoleOther
}

// read derives the payload of a result.
func (res anthropicResult) read(src []byte) compact.Result {
	r := res.content.read(src)
	r.ID, r.IsError = docket.CallID(res.id), res.isError
	return r
}
