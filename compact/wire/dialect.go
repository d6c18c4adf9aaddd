package wire

// What every dialect has in common: which of them a body is in, and how a view and a
// trim come from what the dialect read. A dialect only says what of a body is a
// message, a call, a result, and which bytes replace a result.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"docket"
	"docket/compact"
	"docket/compact/planner"
)

// Dialect is one provider's format of request bodies. All are plain data and safe for
// concurrent use.
type Dialect interface {
	// Name is how the dialect is called in [New] and on the command line.
	Name() string
	// View returns the wire body for thread and what was decided. When nothing
	// changes, or body is not what the dialect knows, it returns body itself.
	View(ctx context.Context, thread docket.ThreadID, body []byte) ([]byte, compact.Report)
	// Trim returns body with at most the last cap messages, as [compact.Trim] has
	// it, and how many it dropped. When it dropped none it returns body itself.
	// Errors: [ErrBody], together with body.
	Trim(body []byte, cap int) (out []byte, dropped int, err error)
	// Faults returns the calls without results and results without calls of body.
	// Errors: [ErrBody].
	Faults(body []byte) ([]compact.Fault, error)
}

// Options are what all dialects take. The zero value trims and checks; a view needs
// the service.
type Options struct {
	Service *compact.Service
	// RecallTool is a name under which the model can call the recall tool although
	// the body's tools do not show it (an MCP connector). Default: the name is
	// looked for in the body's tools, and without it no stub goes out.
	RecallTool string
	// Logger gets one debug record when a trim drops something. Default: nobody.
	Logger *slog.Logger
	// Chains, if set, remembers what was sent last: views then say where they differ from
	// the one before ([compact.Report.Change]), and a cost policy knows of a cache that
	// went cold, or that the client broke.
	Chains *Chains
}

// dialects are all of them, in the order in which [Detect] asks. None of them takes
// what an earlier one would.
var dialects = []struct {
	name string
	make func(Options) Dialect
	read func(src []byte) (*parsed, error)
	// is tells whether a body is in the dialect, by what its first members show.
	is func(t traits) bool
}{
	{"gemini", func(o Options) Dialect { return Gemini(o) }, readGemini, func(t traits) bool { return t.has["contents"] }},
	{"converse", func(o Options) Dialect { return Converse(o) }, readConverse, func(t traits) bool {
		return t.has["messages"] && (t.converse || t.has["toolConfig"] || t.has["inferenceConfig"])
	}},
	{"anthropic", func(o Options) Dialect { return Anthropic(o) }, readAnthropic, func(t traits) bool {
		return t.has["messages"] && !t.chat && (t.blocks || t.has["system"] || t.has["max_tokens"])
	}},
	{"chat", func(o Options) Dialect { return Chat(o) }, readChat, func(t traits) bool { return t.has["messages"] }},
	{"responses", func(o Options) Dialect { return Responses(o) }, readResponses, func(t traits) bool { return t.has["input"] }},
}

// Names returns the names of all dialects.
func Names() (names []string) {
	for _, d := range dialects {
		names = append(names, d.name)
	}
	return names
}

// ErrDialect says that a dialect is not known, or that a body is in none.
var ErrDialect = errors.New("wire: unknown dialect")

// New returns the dialect of the given name. Errors: [ErrDialect].
func New(name string, o Options) (Dialect, error) {
	for _, d := range dialects {
		if d.name == name {
			return d.make(o), nil
		}
	}
	return nil, fmt.Errorf("%w: %q; known are %s", ErrDialect, name, strings.Join(Names(), ", "))
}

// traits are what tells dialects apart.
type traits struct {
	has    map[string]bool // the names of the body's members
	chat   bool            // something that only Chat Completions has: a role, tool_calls
	blocks bool            // a tool_use or tool_result block
	// converse: a toolUse or toolResult block
	converse bool
}

// Detect returns the name of the dialect that body is in: by the names of its members,
// by roles and blocks of its messages. Messages that could be in either are Anthropic's
// if the body has the max_tokens or system that they need. Errors: [ErrDialect],
// [ErrBody].
func Detect(body []byte) (string, error) {
	t := traits{has: map[string]bool{}}
	r := newReader(body)
	var list span
	var doubt bool
	_, err := r.object(func(name []byte) error {
		t.has[string(name)] = true
		if string(name) == "messages" {
			return r.elements(&list, &doubt, func() error { return t.message(r) })
		}
		return r.skip()
	})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return "", bodyError(err)
	}
	for _, d := range dialects {
		if d.is(t) {
			return d.name, nil
		}
	}
	return "", fmt.Errorf("%w: the body is in none of %s", ErrDialect, strings.Join(Names(), ", "))
}

// message looks at one message.
func (t *traits) message(r *reader) error {
	var role, content span
	var doubt bool
	_, err := r.ifObject(func(name []byte) error {
		switch string(name) {
		case "role":
			return r.into(&role, &doubt)
		case "tool_calls", "tool_call_id", "function_call":
			t.chat = true
		case "content":
			return r.elements(&content, &doubt, func() error {
				s, err := r.value()
				if err == nil {
					t.block(s.of(r.src))
				}
				return err
			})
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	switch str(role.of(r.src)) {
	case "tool", "function", "developer":
		t.chat = true
	}
	return nil
}

// block looks at one block of a message.
func (t *traits) block(v []byte) {
	kind := typeOf(v)
	t.blocks = t.blocks || kind == "tool_use" || kind == "tool_result"
	if kind != "" || t.converse {
		return
	}
	r := newReader(v)
	_, _ = r.ifObject(func(name []byte) error {
		t.converse = t.converse || string(name) == "toolUse" || string(name) == "toolResult"
		return r.skip()
	})
}

// Conversation is a body taken apart, for what replays recorded ones.
type Conversation struct {
	body     []byte
	Messages []Part
}

// Part is one message of a [Conversation].
type Part struct {
	Bytes  []byte // as it stands in the body
	Answer bool   // the model said it
	end    int
}

// Request returns the body with the first n messages only.
func (c *Conversation) Request(n int) []byte {
	if n == 0 || n >= len(c.Messages) {
		return c.body
	}
	out := append([]byte(nil), c.body[:c.Messages[n-1].end]...)
	return append(out, c.body[c.Messages[len(c.Messages)-1].end:]...)
}

// Requests returns how many messages each request of the conversation had: what
// stands before each answer, or run of answers, of the model.
func (c *Conversation) Requests() (at []int) {
	for i, m := range c.Messages {
		if m.Answer && i > 0 && !c.Messages[i-1].Answer {
			at = append(at, i)
		}
	}
	return at
}

// Parse takes a body of the named dialect apart. Errors: [ErrDialect], [ErrBody].
func Parse(dialect string, body []byte) (*Conversation, error) {
	p, err := readDialect(dialect, body)
	if err != nil {
		return nil, err
	}
	c := &Conversation{body: body}
	for i, s := range p.spans {
		c.Messages = append(c.Messages, Part{s.of(body), p.messages[i].Role == compact.RoleAssistant, s.end})
	}
	return c, nil
}

// readDialect reads a body of the named dialect. Errors: [ErrDialect], [ErrBody].
func readDialect(name string, body []byte) (*parsed, error) {
	for _, d := range dialects {
		if d.name == name {
			return d.read(body)
		}
	}
	return nil, fmt.Errorf("%w: %q; known are %s", ErrDialect, name, strings.Join(Names(), ", "))
}

// parsed is a body as its dialect reads it.
type parsed struct {
	src      []byte
	messages []compact.Message
	spans    []span // of the messages: elements of one list, or runs of them, in order
	tools    []string
	hold     compact.Reason // why it gets no stub
	doubt    bool           // a name that matters stands there twice
	reader   *reader        // that read it: its arena has the payloads
	// edits returns what puts stub in the place of a result.
	edits func(message, result int, stub string) []edit
	// marks returns what sets cache marks at the ends of so many messages each, as many
	// as the request may have; nil: the dialect has no marks.
	marks func(at []int) []edit
	// strings returns the content of a message if it is a string that could as well be
	// one block of text; nil: the dialect has none.
	strings func(message int) span
}

// view makes the wire view of a body that parse reads.
func (o Options) view(ctx context.Context, thread docket.ThreadID, body []byte, parse func([]byte) (*parsed, error)) ([]byte, compact.Report) {
	p, err := parse(body)
	if err != nil {
		return body, compact.Report{Err: err}
	}
	return o.viewParsed(ctx, thread, p)
}

// viewParsed makes the wire view of a body that was read.
func (o Options) viewParsed(ctx context.Context, thread docket.ThreadID, p *parsed) ([]byte, compact.Report) {
	req := compact.Request{RecallTools: recallTools(p.tools), Hold: p.hold, Rule: new(planner.RulePrefix), Beside: int64(len(p.src))}
	for i, s := range p.spans {
		p.messages[i].Size = int64(s.end - s.start)
		req.Beside -= p.messages[i].Size
	}
	if p.marks != nil {
		req.Rule = new(planner.RuleMarks)
	}
	if o.RecallTool != "" {
		req.RecallTools = slices.Insert(req.RecallTools, 0, o.RecallTool)
	}
	seen := o.Chains.look(thread, p)
	req.Intact = seen.intact()
	plan := o.Service.Plan(ctx, thread, p.messages, req)
	seen.sent(&plan)
	var edits []edit
	for _, e := range plan.Edits {
		edits = append(edits, p.edits(e.Message, e.Result, e.Text)...)
	}
	if len(plan.Marks) > 0 && p.marks != nil {
		edits = append(edits, p.marks(plan.Marks)...)
		slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	}
	if p.reader != nil {
		p.reader.arena.release() // whoever keeps a payload has a copy
		p.reader.arena = nil
	}
	return splice(p.src, edits), plan.Report
}

// trim trims a body that parse reads.
func (o Options) trim(body []byte, cap int, parse func([]byte) (*parsed, error)) (out []byte, dropped int, err error) {
	p, err := parse(body)
	if err == nil && p.doubt {
		err = errTwice
	}
	if err != nil {
		return body, 0, err
	}
	kept := compact.Kept(p.messages, cap)
	dropped = len(p.messages) - len(kept)
	compact.LogTrim(o.Logger, dropped, cap)
	return splice(body, dropAllBut(p.spans, kept)), dropped, nil
}

// faults finds the faults of a body that parse reads.
func faults(body []byte, parse func([]byte) (*parsed, error)) ([]compact.Fault, error) {
	p, err := parse(body)
	if err != nil {
		return nil, err
	}
	return compact.Faults(p.messages), nil
}

// recallTools returns the names that are the recall tool's, exact before suffixed.
func recallTools(tools []string) (names []string) {
	for _, name := range tools {
		switch {
		case name == docket.DefaultRecallTool:
			names = slices.Insert(names, 0, name)
		case isRecallTool(name):
			names = append(names, name)
		}
	}
	return names
}

// namesIn returns the names of the tools in a list: of each element the "name" inside
// of a member that is called as one of wrappers, and may be a list itself.
func namesIn(list []byte, wrappers ...string) (names []string) {
	var all, inner span
	var doubt bool
	r := newReader(list)
	named := func() error {
		_, err := r.ifObject(func(member []byte) error {
			if string(member) != "name" {
				return r.skip()
			}
			s, err := r.value()
			if err == nil {
				names = append(names, str(s.of(list)))
			}
			return err
		})
		return err
	}
	tool := func() error {
		_, err := r.ifObject(func(member []byte) error {
			switch {
			case !slices.Contains(wrappers, string(member)):
				return r.skip()
			case r.next() == '[':
				return r.elements(&inner, &doubt, named)
			}
			return named()
		})
		return err
	}
	if err := r.elements(&all, &doubt, tool); err != nil {
		return nil
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
