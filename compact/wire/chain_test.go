package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"docket"
	"docket/compact"
	"docket/compact/planner"
	"docket/engine"
)

// client is an agent that sends a growing history through one dialect, as a long-lived
// process would serve it.
type client struct {
	t       *testing.T
	dialect Anthropic
	chains  *Chains
	clock   time.Time
	history []string // its messages
	tools   string
	rounds  int
}

func newClient(t *testing.T, p compact.Policy) *client {
	l := engine.NewMemory(nil)
	c := &client{t: t, clock: time.Unix(1e9, 0), history: []string{`{"role":"user","content":"go"}`}, tools: tools}
	c.chains = &Chains{Now: func() time.Time { return c.clock }}
	c.dialect = Anthropic{Service: &compact.Service{Ledger: l, Log: l, Policy: p}, Chains: c.chains}
	return c
}

// round adds a call and its result of a number of characters.
func (c *client) round(size int) {
	c.rounds++
	c.history = append(c.history,
		fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read","input":{}}]}`, c.rounds),
		fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%d%s"}]}`, c.rounds, c.rounds, strings.Repeat(" word", size/5)))
}

// send sends the history, a minute after the last time.
func (c *client) send() ([]byte, compact.Report) {
	c.t.Helper()
	c.clock = c.clock.Add(time.Minute)
	body := `{"model":"m",` + c.tools + `,"messages":[` + strings.Join(c.history, ",") + `]}`
	view, report := c.dialect.View(c.t.Context(), "chained", []byte(body))
	if report.Err != nil {
		c.t.Fatal(report.Err)
	}
	return view, report
}

func change(r compact.Report) string {
	if r.Change == nil {
		return "none"
	}
	return fmt.Sprintf("%d %s", r.Change.Message, r.Change.Cause)
}

// costly is a policy under which an epoch in the middle of a cached conversation is
// worth nothing for a long time.
func costly() compact.Policy {
	p := compact.CostAware(planner.Options{Rates: planner.Rates{Write: 1.25, Read: 0.0001}, Rule: planner.RuleMarks})
	p.KeepLast = 1
	return p
}

// B3: each view extends the one before, or the report names where it does not and why.
func TestB3EachChangeIsNamed(t *testing.T) {
	p := compact.Default()
	p.KeepLast = 1
	c := newClient(t, p)
	want := func(want string) {
		t.Helper()
		if _, report := c.send(); change(report) != want {
			t.Errorf("the change is %q, want %q", change(report), want)
		}
	}
	c.round(5000)
	want("none") // the first request of all
	c.round(5000)
	want("2 epoch")
	want("none") // a retry
	c.round(5000)
	want("4 epoch")
	c.history[1] = strings.Replace(c.history[1], `"input":{}`, `"input":{"a":1}`, 1)
	want("1 client")
	want("none")
	c.tools = `"tools":[{"name":"read","input_schema":{}}]` // no tool, no stub
	want("2 held")
	c.tools = tools
	want("2 held")
	c.history = c.history[:5] // rewound: the model has not answered the result any more
	want("4 held")
}

// A client that moves its cache marks and turns a string into a block says the same.
func TestMarksAndBlocksAreNoChange(t *testing.T) {
	c := newClient(t, costly())
	c.round(5000)
	c.round(5000)
	c.send()
	c.round(100)
	c.history[0] = `{"role":"user","content":[{"type":"text","text":"go"}]}`
	c.history[2] = strings.Replace(c.history[2], `"type":"tool_result",`, `"type":"tool_result","cache_control":{"type":"ephemeral"},`, 1)
	if _, report := c.send(); report.Change != nil || report.Receipt != nil {
		t.Errorf("change %s, receipt %+v", change(report), report.Receipt)
	}
	c.history[2] = strings.Replace(c.history[2], `"cache_control":{"type":"ephemeral"},`, ``, 1)
	c.history[4] = strings.Replace(c.history[4], `"type":"tool_result"`, `"cache_control" : {"type":"ephemeral"} , "type":"tool_result"`, 1)
	if _, report := c.send(); report.Change != nil || report.Receipt != nil {
		t.Errorf("change %s, receipt %+v", change(report), report.Receipt)
	}
}

// Where the provider has nothing to lose the cost policy stubs at once: after its cache
// went cold, with other tools, and behind a message that the client changed.
func TestColdCacheStubsAtOnce(t *testing.T) {
	for name, spoil := range map[string]func(c *client) (cut int){
		"warm": func(c *client) int { return -1 },
		"just warm": func(c *client) int {
			c.clock = c.clock.Add(4 * time.Minute)
			return -1
		},
		"cold": func(c *client) int {
			c.clock = c.clock.Add(4*time.Minute + time.Second)
			return 2
		},
		"tools": func(c *client) int {
			c.tools = strings.Replace(c.tools, "read", "write", 1)
			return 2
		},
		"client": func(c *client) int {
			c.history[1] = strings.Replace(c.history[1], `"input":{}`, `"input":{"a":1}`, 1)
			return 2
		},
		"client, behind": func(c *client) int {
			c.history[9] = strings.Replace(c.history[9], `"input":{}`, `"input":{"a":1}`, 1)
			return 14 // the results before it stay in the cache
		},
	} {
		c := newClient(t, costly())
		for range 4 {
			c.round(5000)
		}
		c.round(100)
		c.round(100)
		c.round(5000)
		_, first := c.send()
		want := spoil(c)
		c.round(100)
		_, report := c.send()
		cut, opened := report.Cut()
		if opened != (want >= 0) || opened && cut != want || first.Receipt != nil {
			t.Errorf("%s: an epoch is opened: %t, at %d, want %d; receipt %+v, at first %+v", name, opened, cut, want, report.Receipt, first.Receipt)
		}
		if opened && report.Receipt.Rewritten != 0 {
			t.Errorf("%s: %.0f bytes are written again, of a cache that is gone", name, report.Receipt.Rewritten)
		}
	}
}

// A retry sends the bytes of the first try, whatever the memory has learned by it: nobody
// opens a second epoch.
func TestRetriesAfterAColdCache(t *testing.T) {
	for name, spoil := range map[string]func(c *client){
		"cold":   func(c *client) { c.clock = c.clock.Add(time.Hour) },
		"client": func(c *client) { c.history[9] = strings.Replace(c.history[9], `"input":{}`, `"input":{"a":1}`, 1) },
	} {
		p := costly()
		p.Cost.Insurance, p.Cost.Patience = -1, -1 // whatever may open does
		c := newClient(t, p)
		for range 8 {
			c.round(5000)
		}
		c.send()
		spoil(c)
		c.round(100)
		first, report := c.send()
		p.Cost.Read = 0.9 // and now everything pays
		again, second := c.send()
		if report.Receipt == nil || second.Receipt != nil || !bytes.Equal(first, again) {
			t.Errorf("%s: receipts %+v, %+v; the same bytes: %t", name, report.Receipt, second.Receipt, bytes.Equal(first, again))
		}
		c.round(100)
		if _, third := c.send(); name == "client" && third.Receipt == nil {
			t.Errorf("%s: the control opens nothing in the next request", name)
		}
	}
}

// Threads are forgotten, the longest unused first, and with them only accuracy is lost.
func TestChainsAreBounded(t *testing.T) {
	c := &Chains{Threads: 3}
	p := &parsed{src: []byte(`{"messages":[1]}`), spans: []span{{13, 14}}}
	for _, thread := range []docket.ThreadID{"a", "b", "c", "a", "d", "a", "e"} {
		c.look(thread, p).sent(&compact.Plan{})
	}
	for thread, want := range map[docket.ThreadID]bool{"a": true, "b": false, "c": false, "d": true, "e": true} {
		if got := c.look(thread, p).last != nil; got != want {
			t.Errorf("%s is remembered: %t", thread, got)
		}
	}
	if len(c.byID) != 3 || c.recent.Len() != 3 {
		t.Errorf("%d threads, %d in the list", len(c.byID), c.recent.Len())
	}
}

// The canonical form lacks cache marks, wherever among its members one stands.
func TestWithoutMarks(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1,"cache_control":{"type":"e"}}`:                        `{"a":1}`,
		`{"cache_control":{"type":"e"},"a":1}`:                        `{"a":1}`,
		`{ "cache_control" : null , "a":1}`:                           `{ "a":1}`,
		`{"a":1 , "cache_control":{},"b":2}`:                          `{"a":1 ,"b":2}`,
		`{"cache_control":{}}`:                                        `{}`,
		`{"cache_control":1,"prompt_cache_breakpoint":2}`:             `{}`,
		`{"x":[{"cache_control":1},{"b":{"cache_control":1,"c":2}}]}`: `{"x":[{},{"b":{"c":2}}]}`,
		`{"text":"\"cache_control\""}`:                                `{"text":"\"cache_control\""}`,
		`{"text":"cache_control"}`:                                    `{"text":"cache_control"}`,
		`{"cache_control":`:                                           `{"cache_control":`,
	} {
		if got := withoutMarks([]byte(in)); !bytes.Equal(got, []byte(want)) {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}
