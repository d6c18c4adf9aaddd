package wire

// Bedrock Converse: blocks without a type, named by their only member. Results stand in
// the user message behind the calls. A result's texts are its payload; a lone json
// block is one too, as its source bytes.

import (
	"context"

	"docket"
	"docket/compact"
)

// Converse is the dialect of Bedrock's POST /model/{id}/converse and converse-stream.
// The zero value trims and checks; a view needs the service. It is safe for concurrent
// use.
type Converse Options

// Name returns "converse".
func (d Converse) Name() string { return "converse" }

// View returns the wire body for thread and what was decided; see [Dialect].
func (d Converse) View(ctx context.Context, thread docket.ThreadID, body []byte) ([]byte, compact.Report) {
	return Options(d).view(ctx, thread, body, readConverse)
}

// Trim returns body with at most the last cap messages; see [Dialect].
func (d Converse) Trim(body []byte, cap int) (out []byte, dropped int, err error) {
	return Options(d).trim(body, cap, readConverse)
}

// Faults returns the calls without results and results without calls of body; see
// [Dialect].
func (d Converse) Faults(body []byte) ([]compact.Fault, error) { return faults(body, readConverse) }

// converseBody is a body on its way through the reader.
type converseBody struct {
	parsed
	results [][]converseResult // of each message
}

// converseResult is a toolResult block.
type converseResult struct {
	content
	json span // the value of a json block, where it is the only block
}

// readConverse reads a body.
func readConverse(src []byte) (*parsed, error) {
	b := &converseBody{parsed: parsed{src: src}}
	b.reader = newBodyReader(src)
	r := b.reader
	var list, tools span
	_, err := r.object(func(name []byte) error {
		switch string(name) {
		case "messages":
			return r.elements(&list, &b.doubt, func() error { return b.parseMessage(r) })
		case "toolConfig":
			_, err := r.ifObject(func(member []byte) error {
				if string(member) == "tools" {
					return r.into(&tools, &b.doubt)
				}
				return r.skip()
			})
			return err
		}
		return r.skip()
	})
	if err == nil {
		err = r.end()
	}
	switch {
	case err != nil:
		return nil, bodyError(err)
	case list.absent() || src[list.start] != '[':
		return nil, errShape
	case b.doubt:
		b.hold = compact.ReasonAmbiguous
	}
	b.tools = namesIn(tools.of(src), "toolSpec")
	b.edits = func(message, result int, stub string) []edit { return b.results[message][result].edits(src, stub) }
	return &b.parsed, nil
}

// parseMessage reads one message.
func (b *converseBody) parseMessage(r *reader) error {
	var role, list span
	var m compact.Message
	var results []converseResult
	s, err := r.object(func(name []byte) error {
		switch string(name) {
		case "role":
			return r.into(&role, &b.doubt)
		case "content":
			return r.elements(&list, &b.doubt, func() error { return b.parseBlock(r, &m, &results) })
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	m.Role = roleOf(str(role.of(b.src)))
	if m.Role != compact.RoleAssistant {
		m.Calls = nil
	}
	if m.Role != compact.RoleUser {
		m.Results, results = nil, nil
	}
	b.messages, b.spans, b.results = append(b.messages, m), append(b.spans, s), append(b.results, results)
	return nil
}

// parseBlock reads one block of a message. It has one member: of a call or a result
// beside another nobody knows which the provider takes.
func (b *converseBody) parseBlock(r *reader, m *compact.Message, results *[]converseResult) error {
	members, tool := 0, false
	_, err := r.ifObject(func(name []byte) error {
		members++
		tool = tool || string(name) == "toolUse" || string(name) == "toolResult"
		b.doubt = b.doubt || tool && members > 1
		switch string(name) {
		case "toolUse":
			return b.parseCall(r, m)
		case "toolResult":
			return b.parseResult(r, m, results)
		case "text":
			var words span
			err := r.into(&words, &b.doubt)
			v := words.of(b.src)
			m.Speaks = m.Speaks || !isString(v) || !isReminder(v[1:len(v)-1])
			return err
		case "cachePoint":
			return r.skip()
		}
		m.Speaks = true
		return r.skip()
	})
	return err
}

func (b *converseBody) parseCall(r *reader, m *compact.Message) error {
	var id, name, input span
	_, err := r.ifObject(func(member []byte) error {
		switch string(member) {
		case "toolUseId":
			return r.into(&id, &b.doubt)
		case "name":
			return r.into(&name, &b.doubt)
		case "input":
			return r.into(&input, &b.doubt)
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	m.Speaks = true
	m.Calls = append(m.Calls, docket.Call{ID: docket.CallID(str(id.of(b.src))), Tool: str(name.of(b.src)), Args: input.of(b.src)})
	return nil
}

func (b *converseBody) parseResult(r *reader, m *compact.Message, results *[]converseResult) error {
	var id, status span
	var res converseResult
	_, err := r.ifObject(func(member []byte) error {
		switch string(member) {
		case "toolUseId":
			return r.into(&id, &res.doubt)
		case "status":
			return r.into(&status, &res.doubt)
		case "content":
			return r.elements(&res.value, &res.doubt, func() error { return res.parsePart(r) })
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	out := res.read(b.src)
	if len(res.parts) == 1 && !res.json.absent() && !res.doubt {
		out = compact.Result{}
		out.Payload = res.json.of(b.src)
		out.Size = int64(len(out.Payload))
	}
	out.ID, out.IsError = docket.CallID(str(id.of(b.src))), str(status.of(b.src)) == "error"
	m.Results, *results = append(m.Results, out), append(*results, res)
	return nil
}

// parsePart reads one block of a result, which has one member.
func (res *converseResult) parsePart(r *reader) (err error) {
	var p part
	p.span, err = r.ifObject(func(name []byte) error {
		res.doubt = res.doubt || p.kind != ""
		p.kind = string(name)
		switch p.kind {
		case "text":
			return r.into(&p.text, &res.doubt)
		case "json":
			res.json, err = r.value()
			return err
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	p.isText = p.kind == "text" && isString(p.text.of(r.src))
	res.parts = append(res.parts, p)
	return nil
}

// edits returns what puts stub in the place of the payload.
func (res converseResult) edits(src []byte, stub string) []edit {
	if len(res.parts) == 1 && !res.json.absent() {
		return []edit{{res.parts[0].span, append(appendString([]byte(`{"text":`), stub), '}')}}
	}
	return res.content.edits(src, stub)
}
