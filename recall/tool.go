package recall

// The tools as a model calls them: arguments in, always a text out. The library's
// functions (Fetch, Search) are beneath; what a host pastes into its request so
// that the model knows the tools is in spec.go.

import (
	"context"
	"errors"
	"strings"

	"docket"
	"docket/index"
)

// Defaults of a [Tool].
const (
	DefaultMaxChars   = 16000 // about 4,000 tokens of English, well below what clients cut
	DefaultSearchTool = "search_tool_results"
)

// Tool configures the tools. The zero value is usable; a Tool is immutable and
// safe for concurrent use.
type Tool struct {
	// Name is the recall tool's name in its specification. Empty:
	// docket.DefaultRecallTool.
	Name string
	// SearchName is the search tool's name. Empty: DefaultSearchTool.
	SearchName string
	// Form fixes the bytes of the stub that a summary shows: the thread's frozen
	// form. Its zero value is the current version with Name.
	Form docket.Form
	// MaxChars is the most characters that an answer shows of a payload, whatever
	// a model asks for. 0: DefaultMaxChars.
	MaxChars int64
	// Window and MaxMatches are the defaults for queries. 0: DefaultWindow,
	// DefaultMaxMatches.
	Window, MaxMatches int
	// Report is told of what went wrong beneath a text that only says so: a
	// damaged record, a ledger that cannot be read. nil: nobody is told.
	Report func(error)
}

func (t Tool) filled() Tool {
	if t.Name == "" {
		t.Name = docket.DefaultRecallTool
	}
	if t.SearchName == "" {
		t.SearchName = DefaultSearchTool
	}
	if t.Form.RecallTool == "" {
		t.Form.RecallTool = t.Name
	}
	if t.MaxChars <= 0 {
		t.MaxChars = DefaultMaxChars
	}
	if t.Window == 0 {
		t.Window = DefaultWindow
	}
	if t.MaxMatches <= 0 {
		t.MaxMatches = DefaultMaxMatches
	}
	return t
}

// Call answers the recall tool with its default configuration.
func Call(ctx context.Context, l docket.Ledger, thread docket.ThreadID, args []byte) string {
	return Tool{}.Call(ctx, l, thread, args)
}

// Call answers a call of the recall tool: whatever args holds, a text of at most
// MaxChars characters and a head of bounded length. The thread comes from the
// host, never from args.
func (t Tool) Call(ctx context.Context, l docket.Ledger, thread docket.ThreadID, args []byte) string {
	t = t.filled()
	given := parseArguments(args, "mem_id")
	asked := given.text("mem_id")
	id, err := docket.ParseMemID(string(cleanID(asked)))
	if err != nil {
		return t.miss(asked, docket.ErrNotFound)
	}
	req, problem := t.request(id, given)
	text, err := t.view(ctx, l, thread, req, problem)
	if err != nil {
		t.report(err)
		return t.miss(asked, err)
	}
	return text
}

// view answers req, or says what is wrong with it.
func (t Tool) view(ctx context.Context, l docket.Ledger, thread docket.ThreadID, req Request, problem error) (string, error) {
	var text []byte
	err := l.View(ctx, thread, req.MemID, func(rec docket.Record) error {
		var err error
		text, err = t.answer(ctx, rec, req, problem)
		return err
	})
	return string(text), err
}

// report passes on what the host should know: not what a model did.
func (t Tool) report(err error) {
	var expired *docket.ExpiredError
	if t.Report != nil && !errors.Is(err, docket.ErrNotFound) && !errors.Is(err, docket.ErrErased) && !errors.As(err, &expired) {
		t.Report(err)
	}
}

// answer answers req from rec, or says what is wrong with it.
func (t Tool) answer(ctx context.Context, rec docket.Record, req Request, problem error) ([]byte, error) {
	err := problem
	if err == nil {
		req, err = req.checked()
	}
	var a Answer
	if err == nil {
		a, err = fetch(ctx, rec, req)
	}
	var bad *RequestError
	var nowhere *index.MissError
	switch {
	case errors.As(err, &bad):
		return docket.AppendAnswer(nil, rec, []byte(problemText(bad, rec.Handle()))), nil
	case errors.As(err, &nowhere):
		return docket.AppendAnswer(nil, rec, []byte(pathText(req.Path, nowhere))), nil
	case err != nil:
		return nil, err
	}
	if a.Stub {
		a.Text = []byte(clip(string(a.Text), int(t.MaxChars)))
	}
	return appendAnswer(nil, rec, req, a), nil
}

// request makes a request of the arguments. The error is a [*RequestError].
func (t Tool) request(id docket.MemID, given arguments) (Request, error) {
	req := Request{
		MemID: id, Path: given.text("json_path"), Query: given.text("query"), IgnoreCase: given.flag("ignore_case"),
		Window:     given.window(t.Window, t.MaxChars),
		MaxMatches: given.limit("max_matches", t.MaxMatches, t.MaxChars),
		MaxChars:   int64(given.limit("max_chars", 0, t.MaxChars)),
		Form:       t.Form,
	}
	if offset, has := given.number("offset"); has {
		req.Offset = &offset
	}
	if given.err != nil {
		return req, given.err
	}
	req.Format = strings.ToLower(strings.TrimSpace(given.text("format")))
	if req.keyed() { // a format says nothing then
		req.Format = FormatSummary
	}
	if _, err := req.checked(); err != nil {
		return req, err
	}
	return t.limited(req), nil
}

// limited returns the request with the tool's limit of characters.
func (t Tool) limited(req Request) Request {
	if (req.keyed() || req.Format == FormatFull) && (req.MaxChars <= 0 || req.MaxChars > t.MaxChars) {
		req.MaxChars = t.MaxChars
	}
	return req
}
