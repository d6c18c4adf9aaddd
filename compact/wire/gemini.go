package wire

// Gemini generateContent: functionResponse parts answer the functionCall parts of the
// content before, in number and order; ids are optional. A response stays an object:
// the stub goes in as its output.

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"

	"docket"
	"docket/compact"
)

// Gemini is the dialect of POST /v1beta/models/{model}:generateContent and
// :streamGenerateContent. The zero value trims and checks; a view needs the service. It
// is safe for concurrent use.
//
// The payload of a response is its output or result, if that is a string and all of it,
// else the object's source bytes. A call without an id is known by its name and a hash of
// its arguments, so that it keeps its mem id when the client drops the beginning of its
// history; by the id of its response, if that has one. With a cachedContent the
// beginning of the history is the server's: it is recorded, and nothing is stubbed.
type Gemini Options

// Name returns "gemini".
func (d Gemini) Name() string { return "gemini" }

// View returns the wire body for thread and what was decided; see [Dialect].
func (d Gemini) View(ctx context.Context, thread docket.ThreadID, body []byte) ([]byte, compact.Report) {
	return Options(d).view(ctx, thread, body, readGemini)
}

// Trim returns body with at most the last cap contents; see [Dialect].
func (d Gemini) Trim(body []byte, cap int) (out []byte, dropped int, err error) {
	return Options(d).trim(body, cap, readGemini)
}

// Faults returns the calls without results and results without calls of body; see
// [Dialect].
func (d Gemini) Faults(body []byte) ([]compact.Fault, error) { return faults(body, readGemini) }

// geminiBody is a body on its way through the reader.
type geminiBody struct {
	parsed
	responses [][]span     // of each content: the response objects
	open      []geminiCall // of the last run of model contents, not answered yet
}

// geminiCall is where a call stands, and whether its id is its own.
type geminiCall struct {
	message, call int
	named         bool
}

// readGemini reads a body.
func readGemini(src []byte) (*parsed, error) {
	b := &geminiBody{parsed: parsed{src: src}}
	b.reader = newBodyReader(src)
	r := b.reader
	var list, tools span
	_, err := r.object(func(name []byte) error {
		switch string(name) {
		case "contents":
			return r.elements(&list, &b.doubt, func() error { return b.parseContent(r) })
		case "tools":
			return r.into(&tools, &b.doubt)
		case "cachedContent", "cached_content":
			if r.next() != 'n' {
				b.hold = compact.ReasonRecordOnly
			}
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
	b.tools = namesIn(tools.of(src), "functionDeclarations", "function_declarations")
	b.edits = func(message, result int, stub string) []edit {
		return []edit{{b.responses[message][result], append(appendString([]byte(`{"output":`), stub), '}')}}
	}
	return &b.parsed, nil
}

// parseContent reads one content.
func (b *geminiBody) parseContent(r *reader) error {
	var role, list span
	var m compact.Message
	var responses []span
	var named []bool // of each call: the id is its own
	s, err := r.object(func(name []byte) error {
		switch string(name) {
		case "role":
			return r.into(&role, &b.doubt)
		case "parts":
			return r.elements(&list, &b.doubt, func() error { return b.parsePart(r, &m, &responses, &named) })
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	switch str(role.of(b.src)) {
	case "model":
		m.Role = compact.RoleAssistant
		m.Results, responses = nil, nil
		b.await(named)
	case "user", "":
		m.Role, m.Calls = compact.RoleUser, nil
	default:
		m.Calls = nil
	}
	b.messages, b.spans, b.responses = append(b.messages, m), append(b.spans, s), append(b.responses, responses)
	return nil
}

// await opens the calls of a model content, which is about to be the last message.
func (b *geminiBody) await(named []bool) {
	last := len(b.messages)
	if last == 0 || b.messages[last-1].Role != compact.RoleAssistant {
		b.open = b.open[:0]
	}
	for i, own := range named {
		b.open = append(b.open, geminiCall{last, i, own})
	}
}

// parsePart reads one part. Of two calls or responses in one nobody knows which the
// provider takes.
func (b *geminiBody) parsePart(r *reader, m *compact.Message, responses *[]span, named *[]bool) error {
	function := false
	_, err := r.ifObject(func(name []byte) error {
		switch string(name) {
		case "functionCall", "function_call":
			b.doubt, function = b.doubt || function, true
			return b.parseCall(r, m, named)
		case "functionResponse", "function_response":
			b.doubt, function = b.doubt || function, true
			return b.parseResponse(r, m, responses)
		case "thoughtSignature", "thought_signature", "thought":
			return r.skip()
		case "text":
			var words span
			err := r.into(&words, &b.doubt)
			v := words.of(b.src)
			m.Speaks = m.Speaks || !isString(v) || !isReminder(v[1:len(v)-1])
			return err
		}
		m.Speaks = true
		return r.skip()
	})
	return err
}

func (b *geminiBody) parseCall(r *reader, m *compact.Message, named *[]bool) error {
	var id, name, args span
	_, err := r.ifObject(func(member []byte) error {
		switch string(member) {
		case "id":
			return r.into(&id, &b.doubt)
		case "name":
			return r.into(&name, &b.doubt)
		case "args":
			return r.into(&args, &b.doubt)
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	call := docket.Call{ID: docket.CallID(str(id.of(b.src))), Tool: str(name.of(b.src)), Args: args.of(b.src)}
	*named = append(*named, call.ID != "")
	if call.ID == "" {
		sum := sha256.Sum256(append([]byte(call.Tool+"\x00"), call.Args...))
		call.ID = docket.CallID(call.Tool + "#" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10])))
	}
	m.Speaks, m.Calls = true, append(m.Calls, call)
	return nil
}

func (b *geminiBody) parseResponse(r *reader, m *compact.Message, responses *[]span) error {
	var id, name, response span
	var doubt bool
	_, err := r.ifObject(func(member []byte) error {
		switch string(member) {
		case "id":
			return r.into(&id, &doubt)
		case "name":
			return r.into(&name, &doubt)
		case "response":
			return r.into(&response, &doubt)
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	res := geminiResult(response.of(b.src), doubt, b.reader.arena)
	res.Tool = str(name.of(b.src))
	res.ID = b.answered(docket.CallID(str(id.of(b.src))), res.Tool)
	m.Results, *responses = append(m.Results, res), append(*responses, response)
	return nil
}

// answered returns the id of the call that a response answers: the open one with its
// id, else the first open one of its name of which either has no id. A response's own id
// stays as it is: the call gets it.
func (b *geminiBody) answered(id docket.CallID, name string) docket.CallID {
	at := slices.IndexFunc(b.open, func(c geminiCall) bool { return id != "" && c.named && b.call(c).ID == id })
	if at < 0 {
		at = slices.IndexFunc(b.open, func(c geminiCall) bool { return (id == "" || !c.named) && b.call(c).Tool == name })
	}
	if at < 0 {
		return id
	}
	call := b.call(b.open[at])
	b.open = slices.Delete(b.open, at, at+1)
	if id != "" {
		call.ID = id
	}
	return call.ID
}

func (b *geminiBody) call(c geminiCall) *docket.Call { return &b.messages[c.message].Calls[c.call] }

// geminiResult derives the payload of a response.
func geminiResult(response []byte, doubt bool, a *arena) (res compact.Result) {
	switch {
	case len(response) == 0:
		return res
	case doubt || response[0] != '{':
		res.Hold = compact.ReasonAmbiguous
		return res
	}
	res.Payload, res.Size = response, int64(len(response))
	var only span
	members := 0
	r := newReader(response)
	if _, err := r.object(func(name []byte) error {
		members++
		if k := string(name); k == "output" || k == "result" {
			return r.into(&only, &doubt)
		}
		return r.skip()
	}); err != nil || members != 1 || !isString(only.of(response)) {
		return res
	}
	s, lossy := text(only.of(response), a)
	if res.Payload = s; lossy {
		res.Hold = compact.ReasonLossy
	}
	return res
}
