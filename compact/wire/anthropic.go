package wire

// Anthropic Messages: what of a request body is a call, a result, a payload. How
// a result's content is replaced is in anthropic_edit.go, trimming in
// anthropic_trim.go. Only tool_result blocks of messages that are not the
// assistant's are ever edited; everything signed, every server tool's result and
// every call lies outside.

import (
	"context"
	"slices"
	"strings"

	"docket"
	"docket/compact"
)

// Anthropic is the dialect of POST /v1/messages and /v1/messages/count_tokens.
// The zero value trims and checks; a view needs the service. It is safe for
// concurrent use.
type Anthropic struct {
	Service *compact.Service
	// RecallTool is a name under which the model can call the recall tool although
	// the body's tools do not show it (an MCP connector). Default: the name is
	// looked for in the body's tools, and without it no stub goes out.
	RecallTool string
}

// View returns the wire body for thread and what was decided. When nothing
// changes, or body is not what this dialect knows, it returns body itself.
func (a Anthropic) View(ctx context.Context, thread docket.ThreadID, body []byte) ([]byte, compact.Report) {
	b, err := parseAnthropic(body)
	if err != nil {
		return body, compact.Report{Err: err}
	}
	plan := a.Service.Plan(ctx, thread, b.read(), a.request(b))
	var edits []edit
	for _, e := range plan.Edits {
		edits = append(edits, b.messages[e.Message].results[e.Result].edits(body, e.Text)...)
	}
	return splice(body, edits), plan.Report
}

// request says what of b, beside its messages, matters for a plan.
func (a Anthropic) request(b *anthropicBody) compact.Request {
	req := compact.Request{RecallTools: b.recallTools(), Hold: b.hold}
	if a.RecallTool != "" {
		req.RecallTools = slices.Insert(req.RecallTools, 0, a.RecallTool)
	}
	return req
}

// anthropicBody is a parsed body: spans of src.
type anthropicBody struct {
	src      []byte
	array    span // the value of "messages"
	messages []anthropicMessage
	tools    []string
	hold     compact.Reason
}

// anthropicMessage is one message.
type anthropicMessage struct {
	span
	role    string
	content span
	speaks  bool
	calls   []anthropicCall
	results []anthropicResult
}

// anthropicCall is a tool_use block.
type anthropicCall struct {
	docket.Call
	byCode bool // code execution called the tool: the result is not in the model's context
}

// anthropicResult is a tool_result block.
type anthropicResult struct {
	span
	id      string
	isError bool
	content span            // absent, or the value
	parts   []anthropicPart // of a content that is a list
	doubt   bool            // a member that matters stands there twice, or has a strange type
}

// anthropicPart is a block inside a tool_result's content.
type anthropicPart struct {
	span
	kind string
	text span // of a text block: the value of "text"
	mark span // the value of "cache_control"
}

// members reads an object and gives each value of interest to the function of its
// name, which consumes it; others are skipped. It tells whether one of them came
// twice.
func (r *reader) members(want map[string]func() error) (s span, twice bool, err error) {
	var seen []string
	s, err = r.object(func(name string) error {
		read, ok := want[name]
		if !ok {
			_, err := r.value()
			return err
		}
		twice = twice || slices.Contains(seen, name)
		seen = append(seen, name)
		return read()
	})
	return s, twice, err
}

// into returns a member function that keeps the value's span.
func (r *reader) into(s *span) func() error {
	return func() (err error) {
		*s, err = r.value()
		return err
	}
}

// elements returns a member function that reads an array of anything by element;
// a value that is no array is kept out.
func (r *reader) elements(s *span, element func() error) func() error {
	return func() (err error) {
		if r.next() != '[' {
			*s, err = r.value()
			return err
		}
		*s, err = r.array(element)
		return err
	}
}

// ifObject runs read on an object and skips anything else.
func (r *reader) ifObject(read func() error) error {
	if r.next() != '{' {
		_, err := r.value()
		return err
	}
	return read()
}

// parseAnthropic reads a body. An error means that it is to be left alone.
func parseAnthropic(src []byte) (*anthropicBody, error) {
	b := &anthropicBody{src: src}
	r := newReader(src)
	var tools, management, thread span
	_, twice, err := r.members(map[string]func() error{
		"messages":           r.elements(&b.array, func() error { return b.parseMessage(r) }),
		"tools":              r.elements(&tools, func() error { return b.parseTool(r) }),
		"context_management": r.into(&management),
		"thread":             r.into(&thread),
	})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, err
	}
	if b.array.absent() || src[b.array.start] != '[' {
		return nil, errShape
	}
	b.hold = holdOf(src, management, thread, twice || b.hold != "")
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
	r := newReader(v)
	_, _, err := r.members(map[string]func() error{"type": r.into(&kind)})
	if err != nil {
		return ""
	}
	return str(kind.of(v))
}

// clearsToolUses tells whether context management asks the provider to clear
// results itself.
func clearsToolUses(v []byte) (clears bool) {
	if len(v) == 0 {
		return false
	}
	r := newReader(v)
	var edits span
	_, _, err := r.members(map[string]func() error{"edits": r.elements(&edits, func() error {
		s, err := r.value()
		clears = clears || err == nil && strings.HasPrefix(typeOf(s.of(v)), "clear_tool_uses")
		return err
	})})
	return clears && err == nil
}

func (b *anthropicBody) parseTool(r *reader) error {
	return r.ifObject(func() error {
		var name span
		_, _, err := r.members(map[string]func() error{"name": r.into(&name)})
		if err == nil {
			b.tools = append(b.tools, str(name.of(b.src)))
		}
		return err
	})
}

// recallTools returns the names of b's tools that are the recall tool's, exact
// before suffixed.
func (b *anthropicBody) recallTools() (names []string) {
	for _, name := range b.tools {
		switch {
		case name == docket.DefaultRecallTool:
			names = slices.Insert(names, 0, name)
		case isRecallTool(name):
			names = append(names, name)
		}
	}
	return names
}

// isRecallTool accepts what wrappers make of the name: a prefix that ends in
// something other than a letter or digit, as in mcp__docket__recall_tool_result.
func isRecallTool(name string) bool {
	prefix, ok := strings.CutSuffix(name, docket.DefaultRecallTool)
	if !ok || prefix == "" {
		return ok
	}
	c := prefix[len(prefix)-1]
	return c < 0x80 && !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z')
}

func (b *anthropicBody) parseMessage(r *reader) error {
	if r.next() != '{' {
		return errShape
	}
	var m anthropicMessage
	var role span
	s, twice, err := r.members(map[string]func() error{
		"role":    r.into(&role),
		"content": r.elements(&m.content, func() error { return b.parseBlock(r, &m) }),
	})
	if err != nil {
		return err
	}
	m.span, m.role = s, str(role.of(b.src))
	if c := m.content.of(b.src); isString(c) {
		m.speaks = !isReminder(str(c))
	}
	if twice {
		b.hold = compact.ReasonAmbiguous
	}
	b.messages = append(b.messages, m)
	return nil
}

// parseBlock reads one block of a message's content.
func (b *anthropicBody) parseBlock(r *reader, m *anthropicMessage) error {
	return r.ifObject(func() error {
		var kind, id, callID, name, input, caller, words, isError span
		var res anthropicResult
		s, twice, err := r.members(map[string]func() error{
			"type":        r.into(&kind),
			"id":          r.into(&id),
			"tool_use_id": r.into(&callID),
			"name":        r.into(&name),
			"input":       r.into(&input),
			"caller":      r.into(&caller),
			"text":        r.into(&words),
			"is_error":    r.into(&isError),
			"content":     r.elements(&res.content, func() error { return b.parsePart(r, &res) }),
		})
		if err != nil {
			return err
		}
		src := b.src
		switch str(kind.of(src)) {
		case "tool_use":
			call := docket.Call{ID: docket.CallID(str(id.of(src))), Tool: str(name.of(src)), Args: input.of(src)}
			by := typeOf(caller.of(src))
			m.calls = append(m.calls, anthropicCall{call, by != "" && by != "direct"})
		case "tool_result":
			res.span, res.id, res.isError = s, str(callID.of(src)), string(isError.of(src)) == "true"
			res.doubt = res.doubt || twice
			m.results = append(m.results, res)
		case "text":
			m.speaks = m.speaks || !isReminder(str(words.of(src)))
		default:
			m.speaks = true
		}
		return nil
	})
}

// isReminder tells whether text is nothing but a client's note to the model.
func isReminder(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "<system-reminder>") && strings.HasSuffix(s, "</system-reminder>")
}

// parsePart reads one block of a tool_result's content.
func (b *anthropicBody) parsePart(r *reader, res *anthropicResult) error {
	if r.next() != '{' {
		s, err := r.value()
		res.parts = append(res.parts, anthropicPart{span: s})
		return err
	}
	var p anthropicPart
	var kind span
	s, twice, err := r.members(map[string]func() error{
		"type": r.into(&kind), "text": r.into(&p.text), "cache_control": r.into(&p.mark),
	})
	if err != nil {
		return err
	}
	p.span, p.kind = s, str(kind.of(b.src))
	if string(p.mark.of(b.src)) == "null" {
		p.mark = span{}
	}
	res.doubt = res.doubt || twice
	res.parts = append(res.parts, p)
	return nil
}

// isText tells whether p is a text block with a text.
func (p anthropicPart) isText(src []byte) bool { return p.kind == "text" && isString(p.text.of(src)) }

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

// read derives the payload of a result: a string as it is; of blocks the texts,
// joined by a newline, other blocks as attachments.
func (res anthropicResult) read(src []byte) compact.Result {
	r := compact.Result{Result: docket.Result{Call: docket.Call{ID: docket.CallID(res.id)}, IsError: res.isError}}
	content := res.content.of(src)
	lossy := false
	switch {
	case isString(content):
		r.Payload, lossy = text(content)
	case len(content) > 0 && content[0] == '[':
		lossy = res.readParts(src, &r)
	case len(content) > 0 && string(content) != "null":
		res.doubt = true
	}
	switch {
	case res.doubt:
		r.Hold = compact.ReasonAmbiguous
	case lossy:
		r.Hold = compact.ReasonLossy
	case r.Hold == "" && len(r.Payload) == 0 && len(r.Attachments) > 0:
		r.Hold = compact.ReasonViewable
	}
	return r
}

// readParts reads a list of blocks into r and tells whether a text was lossy.
func (res anthropicResult) readParts(src []byte, r *compact.Result) (lossy bool) {
	texts := 0
	for _, p := range res.parts {
		if !p.isText(src) {
			r.Attachments = append(r.Attachments, docket.Attachment{Kind: p.kind, Data: p.of(src)})
			if p.kind == "tool_reference" {
				r.Hold = compact.ReasonReference
			}
			continue
		}
		s, bad := text(p.text.of(src))
		lossy = lossy || bad
		switch texts++; texts {
		case 1:
			r.Payload = s[:len(s):len(s)] // appending copies: s may alias the body
		case 2:
			r.Payload = append(append(append([]byte(nil), r.Payload...), '\n'), s...)
		default:
			r.Payload = append(append(r.Payload, '\n'), s...)
		}
	}
	return lossy
}
