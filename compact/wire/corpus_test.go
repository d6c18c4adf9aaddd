package wire

// The acceptance of the static policy on recorded conversations: request by
// request, as an agent's loop would send them, through one ledger file that is
// reopened at the end. The corpus is not part of the project: DOCKET_CORPUS names
// its folder.

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"docket"
	"docket/compact"
	"docket/engine"
)

// transcripts returns the paths of the corpus' Anthropic bodies.
func transcripts(t *testing.T) []string {
	root := os.Getenv("DOCKET_CORPUS")
	if root == "" {
		t.Log("DOCKET_CORPUS is not set: the recorded conversations are NOT tested")
		t.Skip("DOCKET_CORPUS is not set: point it at the folder that holds transcripts/anthropic")
	}
	paths, err := filepath.Glob(filepath.Join(root, "transcripts", "anthropic", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts in %q (error %v)", root, err)
	}
	return paths
}

// conversation is a transcript that can be cut into the requests that made it.
type conversation struct {
	name     string
	src      []byte
	messages []span
	roles    []string
	contents []span // of the tool results
	buf      []byte
}

// load reads a transcript and adds the recall tool to its tools.
func load(t *testing.T, path string) *conversation {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := gjson.GetBytes(src, "tools").Index
	if at == 0 {
		t.Fatalf("%s has no tools", path)
	}
	src = append(src[:at+1:at+1], append([]byte(`{"name":"recall_tool_result","input_schema":{}},`), src[at+1:]...)...)
	c := &conversation{name: filepath.Base(path), src: src, contents: contents(src)}
	for _, m := range gjson.GetBytes(src, "messages").Array() {
		c.messages = append(c.messages, span{m.Index, m.Index + len(m.Raw)})
		c.roles = append(c.roles, m.Get("role").Str)
	}
	return c
}

// body is the request with the first n messages, valid until the next call.
func (c *conversation) body(n int) []byte {
	c.buf = append(c.buf[:0], c.src[:c.messages[n-1].end]...)
	c.buf = append(c.buf, c.src[c.messages[len(c.messages)-1].end:]...)
	return c.buf
}

// tail is the length of what follows the last message of a request.
func (c *conversation) tail() int { return len(c.src) - c.messages[len(c.messages)-1].end }

// requests lists the lengths of the requests: one before each assistant message,
// and the whole.
func (c *conversation) requests() (at []int) {
	for i, role := range c.roles {
		if i > 0 && role == "assistant" {
			at = append(at, i)
		}
	}
	return append(at, len(c.messages))
}

// contents lists where the contents of the tool results of body stand.
func contents(body []byte) (spans []span) {
	gjson.GetBytes(body, "messages").ForEach(func(_, m gjson.Result) bool {
		m.Get("content").ForEach(func(_, b gjson.Result) bool {
			if c := b.Get("content"); b.Get("type").Str == "tool_result" && c.Exists() {
				spans = append(spans, span{c.Index, c.Index + len(c.Raw)})
			}
			return true
		})
		return true
	})
	return spans
}

// replay follows one conversation through its requests.
type replay struct {
	*conversation
	t      *testing.T
	sent   [][]byte       // the stub of each result, once sent; nil before
	mem    []docket.MemID // of each result, once recorded
	last   []byte         // the view before
	stubs  int
	before int
	after  int
	plain  costs // of the requests as they came
	view   costs // of the views
}

// run replays c under p on l and returns the last request and its view.
func (a *replay) run(l ledger, p compact.Policy) (in, out []byte) {
	dialect := dialect(l, p)
	for _, n := range a.requests() {
		in = a.body(n)
		copied := bytes.Clone(in)
		var r compact.Report
		out, r = dialect.View(a.t.Context(), "th", in)
		if !bytes.Equal(in, copied) || r.Err != nil {
			a.t.Fatalf("%s, request %d: the input changed, or error %v", a.name, n, r.Err)
		}
		a.check(n, in, out, r)
		a.prefix(n, out, r)
		a.before, a.after = a.before+len(in), a.after+len(out)
		a.plain.add(in, a.messages[n-1].end)
		a.view.add(out, len(out)-a.tail())
		a.last = append(a.last[:0], out...)
	}
	return in, out
}

// check compares a view with its request.
func (a *replay) check(n int, in, out []byte, r compact.Report) {
	results := 0
	for results < len(a.contents) && a.contents[results].start < a.messages[n-1].end {
		results++
	}
	if len(r.Decisions) != results {
		a.t.Fatalf("%s, request %d: %d results, %d decisions", a.name, n, results, len(r.Decisions))
	}
	from, to := 0, 0
	var is []span // only asked for when a stub is new
	for i, d := range r.Decisions {
		was := a.contents[i]
		gap := was.start - from
		if !bytes.Equal(in[from:was.start], out[to:to+gap]) {
			a.t.Fatalf("%s, request %d: bytes before result %d changed", a.name, n, i)
		}
		from, to = was.end, to+gap
		if d.Applied && (i >= len(a.sent) || a.sent[i] == nil) && is == nil {
			is = contents(out)
		}
		to += a.result(i, d, was.of(in), out[to:], is)
	}
	if !bytes.Equal(in[from:], out[to:]) {
		a.t.Fatalf("%s, request %d: bytes after the last result changed", a.name, n)
	}
}

// result compares one result's content with what the view has in its place, and
// returns the length of that. A stub that was sent must be there for ever.
func (a *replay) result(i int, d compact.Decision, was, view []byte, is []span) int {
	if i == len(a.sent) {
		a.sent, a.mem = append(a.sent, nil), append(a.mem, "")
	}
	a.mem[i] = d.MemID
	if d.Applied && a.sent[i] == nil {
		a.sent[i] = bytes.Clone(view[:is[i].end-is[i].start])
		a.stubs++
	}
	want := was
	if a.sent[i] != nil {
		want = a.sent[i]
	}
	if d.Applied != (a.sent[i] != nil) || !bytes.HasPrefix(view, want) || d.Applied && bytes.Equal(was, want) {
		a.t.Fatalf("%s, result %d: %+v: the view does not hold %.200s", a.name, i, d, want)
	}
	return len(want)
}

// prefix (B3) demands that the view before is a prefix of this one, up to the
// message that the report names.
func (a *replay) prefix(n int, out []byte, r compact.Report) {
	same := len(a.last) - a.tail()
	if cut, ok := r.Cut(); ok {
		same = min(same, int(gjson.GetBytes(out, fmt.Sprintf("messages.%d", cut)).Index))
	}
	if same > 0 && !bytes.Equal(a.last[:same], out[:same]) {
		a.t.Fatalf("%s, request %d: a message that was sent changed, and the report does not say so", a.name, n)
	}
}

// Acceptance: the static policy over every transcript, request by request (B2, B3,
// B5, B10, P2, P3, P4, P11).
func TestCorpusStaticPolicy(t *testing.T) {
	sum := replay{}
	requests := 0
	for _, path := range transcripts(t) {
		a := &replay{conversation: load(t, path), t: t}
		file := filepath.Join(t.TempDir(), "ledger")
		l := openLedger(t, file)
		in, out := a.run(l, compact.Default())
		checkPairing(t, a.name, in, out)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = openLedger(t, file)
		again, report := dialect(l, compact.Default()).View(t.Context(), "th", in)
		if !bytes.Equal(again, out) || report.Err != nil {
			t.Errorf("%s: another view after reopening, error %v", a.name, report.Err)
		}
		a.recall(l)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		requests += a.view.requests
		sum.stubs, sum.before, sum.after = sum.stubs+a.stubs, sum.before+a.before, sum.after+a.after
	}
	t.Logf("%d requests, %d results became stubs, %.1f MB in, %.1f MB out (%.3f)",
		requests, sum.stubs, float64(sum.before)/1e6, float64(sum.after)/1e6, float64(sum.after)/float64(sum.before))
	if sum.stubs < 500 {
		t.Errorf("only %d stubs: the test shows nothing", sum.stubs)
	}
}

func openLedger(t *testing.T, path string) *engine.Ledger {
	l, err := engine.Open(path, &engine.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// checkPairing demands that out has the faults of in, and its ids in their order.
func checkPairing(t *testing.T, name string, in, out []byte) {
	had, err := (Anthropic{}).Faults(in)
	if err != nil {
		t.Fatal(err)
	}
	has, err := (Anthropic{}).Faults(out)
	if err != nil || fmt.Sprint(had) != fmt.Sprint(has) {
		t.Errorf("%s: faults %v became %v, error %v", name, had, has, err)
	}
	const ids = `messages.#.content.#(type="tool_result")#.tool_use_id`
	if was, is := gjson.GetBytes(in, ids).Raw, gjson.GetBytes(out, ids).Raw; was != is || was == "" {
		t.Errorf("%s: the ids changed", name)
	}
}

// recall fetches every result that was stubbed and compares it with the request.
func (a *replay) recall(l docket.Ledger) {
	for i, s := range a.contents {
		if a.sent[i] == nil {
			continue
		}
		if got := fetch(a.t, l, "th", a.mem[i]); got != plain(gjson.ParseBytes(s.of(a.src))) {
			a.t.Errorf("%s: result %d comes back otherwise", a.name, i)
		}
	}
}

// plain is the payload of a content, by another library than the splicer's.
func plain(content gjson.Result) string {
	if !content.IsArray() {
		return content.String()
	}
	var out []byte
	for i, b := range content.Get(`#(type="text")#.text`).Array() {
		if i > 0 {
			out = append(out, '\n')
		}
		out = append(out, b.String()...)
	}
	return string(out)
}
