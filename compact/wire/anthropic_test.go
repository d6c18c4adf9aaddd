package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"docket"
	"docket/compact"
	"docket/engine"
)

const tools = `"tools":[{"name":"read","input_schema":{}},{"name":"recall_tool_result","input_schema":{}}]`

type ledger interface {
	docket.Ledger
	compact.Log
}

// dialect is the dialect on l under p.
func dialect(l ledger, p compact.Policy) Anthropic {
	return Anthropic{Service: &compact.Service{Ledger: l, Log: l, Policy: p}}
}

// request makes a body of U A[t1] T[t1] A U, with content as the result's members.
func request(head, content string) []byte {
	return []byte(`{"model":"m", ` + head + `,
 "messages":[{"role":"user","content":"hi"},
  {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{"b":1.0,"a":1e5}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"` + content + `}]},
  {"role":"assistant","content":"ok"}, {"role":"user","content":"more"}]}`)
}

// long is a JSON string of n characters.
func long(n int) string { return `"` + strings.Repeat("x", n) + `"` }

// textBlock is a text block with more members.
func textBlock(n int, more string) string { return `{"type":"text","text":` + long(n) + more + `}` }

// reasons lists "reason" of what is kept and "reason!" of what is stubbed.
func reasons(r compact.Report) string {
	var list []string
	for _, d := range r.Decisions {
		s := string(d.Reason)
		if d.Applied {
			s += "!"
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

// stub cuts out what stands in out in the place of old in in, and checks that
// everything else is the same.
func stub(t *testing.T, in, out []byte, old string) string {
	t.Helper()
	before, after, ok := strings.Cut(string(in), old)
	if !ok {
		t.Fatalf("the body does not hold %.40q", old)
	}
	s := string(out)
	if !strings.HasPrefix(s, before) || !strings.HasSuffix(s, after) || len(s) < len(before)+len(after) {
		t.Fatalf("bytes outside of the result changed:\n%.2000s", s)
	}
	return s[len(before) : len(s)-len(after)]
}

func TestB5BytesOutsideStay(t *testing.T) {
	odd := `{"zz":1.0,"b":1e5 ,"n":12345678901234567890,"dup":1,"dup":2,
	"system":"<tag>& ` + "\u2028" + `\u2028\/\u0041","unknown":{"z":[1 , 2],"a":null},` + tools + `,"messages":[
	 {"content":"<hi> &amp; \u00e9é","role":"user","extra":1.00},
	 {"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"EqQ=","x":-0.0},{"input":{"q":"<&>","n":1E+2},"name":"read","id":"t1","type":"tool_use"}]},
	 {"role":"user","content":[ {"content" : %s , "cache_control":{"type":"ephemeral"},"tool_use_id":"t1","type":"tool_result"} , {"type":"text","text":"<system-reminder>\n"}]},
	 {"role":"assistant","content":"ok"},{"role":"user","content":"\ud83c\udf89"}], "stream":true}` + "\n"
	l := engine.NewMemory(nil)
	small := []byte(fmt.Sprintf(odd, `"small"`))
	out, report := dialect(l, compact.Policy{}).View(t.Context(), "th", small)
	if &out[0] != &small[0] || reasons(report) != "below-threshold" {
		t.Errorf("nothing to compact, but another slice: %s", reasons(report))
	}
	in := []byte(fmt.Sprintf(odd, long(5000)))
	before := bytes.Clone(in)
	out, report = dialect(l, compact.Policy{}).View(t.Context(), "th", in)
	if s := stub(t, in, out, long(5000)); !strings.HasPrefix(s, `"`+docket.StubHeader+`\ntool=read call_id=t1\n`) {
		t.Errorf("%s: %s", reasons(report), s)
	}
	if !bytes.Equal(in, before) {
		t.Error("the input changed")
	}
	same, report := dialect(l, compact.Policy{}).View(t.Context(), "th", out)
	if &same[0] != &out[0] || reasons(report) != "already-stub" {
		t.Errorf("a view of the view is another one: %s", reasons(report))
	}
}

// B11: a mark is never lost, never multiplied, and C8: other parts stay in order.
func TestB11C8Contents(t *testing.T) {
	const mark = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	const image = `{"type":"image","source":{"type":"base64","data":"AAAA"}}`
	const marked = `{"type":"image","source":{},"cache_control":{"type":"ephemeral"}}`
	stubbed := func(more string) string { return `{"type":"text","text":STUB` + more + `}` }
	rest := `{"type":"text","text":"` + continued + `"` + mark + `}`
	for _, c := range []struct{ name, content, want string }{
		{"string", long(5000), `STUB`},
		{"one text", `[` + textBlock(5000, "") + `]`, `[` + stubbed("") + `]`},
		{"odd layout", `[ {"text" :` + long(5000) + `, "type":"text" } ]`, `[ {"text" :STUB, "type":"text" } ]`},
		{"two texts", `[` + textBlock(5000, "") + ` , ` + textBlock(10, "") + ` ]`, `[` + stubbed("") + ` ]`},
		{"mark on the text", `[` + textBlock(5000, mark) + `]`, `[` + stubbed(mark) + `]`},
		{"mark on a later text", `[` + textBlock(5000, "") + `,` + textBlock(9, "") + `,` + textBlock(9, mark) + `]`, `[` + stubbed(mark) + `]`},
		{"marks on both", `[` + textBlock(5000, mark) + `,` + textBlock(9, mark) + `]`, `[` + stubbed(mark) + `,` + rest + `]`},
		{"marks on two later", `[` + textBlock(5000, "") + `,` + textBlock(9, mark) + `,` + textBlock(9, mark) + `]`, `[` + stubbed(mark) + `,` + rest + `]`},
		{"null is no mark", `[` + textBlock(5000, `,"cache_control":null`) + `,` + textBlock(9, `,"cache_control":null`) + `]`, `[` + stubbed(`,"cache_control":null`) + `]`},
		{"C8 image between", `[` + textBlock(50_000, "") + `,` + image + `,` + textBlock(1000, "") + `]`, `[` + stubbed("") + `,` + image + `]`},
		{"C8 image first", `[` + image + `,` + textBlock(5000, "") + `, ` + image + `]`, `[` + image + `,` + stubbed("") + `, ` + image + `]`},
		{"mark behind an image", `[` + textBlock(5000, "") + `,` + image + `,` + textBlock(9, mark) + `]`, `[` + stubbed(mark) + `,` + image + `]`},
		{"marks in order", `[` + textBlock(5000, "") + `,` + marked + `,` + textBlock(9, mark) + `]`, `[` + stubbed("") + `,` + marked + `,` + rest + `]`},
		{"C9 unknown beside", `[{"type":"toolResult","text":"x"},` + textBlock(5000, "") + `,"bare"]`, `[{"type":"toolResult","text":"x"},` + stubbed("") + `,"bare"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := request(tools, `,"content":`+c.content+`,"cache_control":{"type":"ephemeral"}`)
			out, report := dialect(engine.NewMemory(nil), compact.Policy{}).View(t.Context(), "th", in)
			if got := reasons(report); got != "stale!" {
				t.Fatalf("got %q", got)
			}
			got := stub(t, in, out, c.content)
			text := gjson.GetBytes(out, "messages.2.content.0.content")
			if text.IsArray() {
				text = gjson.GetBytes(out, `messages.2.content.0.content.#(type="text").text`)
			}
			if got = strings.Replace(got, text.Raw, "STUB", 1); got != c.want || !strings.HasPrefix(text.String(), docket.StubHeader) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if was, is := bytes.Count(in, []byte(`cache_control":{`)), bytes.Count(out, []byte(`cache_control":{`)); was != is {
				t.Errorf("%d marks became %d", was, is)
			}
		})
	}
}

// C9, C8, D3 and what must never be touched: each has its reason, and the body goes
// out as it came.
func TestC9NeverTouched(t *testing.T) {
	text := textBlock(5000, "")
	for _, c := range []struct{ name, members, want string }{
		{"absent", ``, "empty"},
		{"null", `,"content":null`, "empty"},
		{"empty list", `,"content":[]`, "empty"},
		{"empty string", `,"content":""`, "empty"},
		{"image", `,"content":[{"type":"image","source":{}}]`, "viewable"},
		{"search result", `,"content":[{"type":"search_result","content":[` + text + `]}]`, "viewable"},
		{"unknown block", `,"content":[{"type":"toolResult","text":` + long(5000) + `}]`, "viewable"},
		{"text that is none", `,"content":[{"type":"text","text":5}]`, "viewable"},
		{"an object", `,"content":{"type":"text","text":` + long(5000) + `}`, "ambiguous"},
		{"a number", `,"content":5`, "ambiguous"},
		{"content twice", `,"content":` + long(5000) + `,"content":"x"`, "ambiguous"},
		{"id twice", `,"content":` + long(5000) + `,"tool_use_id":"t2"`, "ambiguous"},
		{"text twice", `,"content":[{"type":"text","text":"","text":` + long(5000) + `}]`, "ambiguous"},
		{"tool reference", `,"content":[{"type":"tool_reference","tool_name":"x"},` + text + `]`, "tool-reference"},
		{"lone surrogate", `,"content":"\ud83d ` + strings.Repeat("x", 5000) + `"`, "lossy"},
		{"not UTF-8", ",\"content\":\"\xff " + strings.Repeat("x", 5000) + `"`, "lossy"},
		{"lone surrogate in a block", `,"content":[` + text + `,{"type":"text","text":"\udc00"}]`, "lossy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := engine.NewMemory(nil)
			in := request(tools, c.members)
			out, report := dialect(l, compact.Policy{}).View(t.Context(), "th", in)
			if got := reasons(report); got != c.want || &out[0] != &in[0] {
				t.Errorf("got %q, want %q", got, c.want)
			}
			for h := range l.List(t.Context(), "th", 0) {
				if c.want == "lossy" || c.want == "ambiguous" {
					t.Errorf("recorded %s", h.MemID)
				}
			}
		})
	}
}

func TestD3NoID(t *testing.T) {
	for _, id := range []string{`"tool_use_id":"",`, `"tool_use_id":null,`, ``} {
		result := `{` + id + `"type":"tool_result","content":` + long(5000) + `}`
		in := []byte(`{` + tools + `,"messages":[{"role":"user","content":[` + result + `,` + result + `]},{"role":"assistant","content":"ok"}]}`)
		out, report := dialect(engine.NewMemory(nil), compact.Policy{}).View(t.Context(), "th", in)
		if got := reasons(report); got != "no-id no-id" || &out[0] != &in[0] {
			t.Errorf("%s: got %q", id, got)
		}
	}
}

// D1: one id for different results, in one message and across messages.
func TestD1OneID(t *testing.T) {
	l := engine.NewMemory(nil)
	var b strings.Builder
	b.WriteString(`{` + tools + `,"messages":[{"role":"user","content":"go"}`)
	for i := range 4 {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"%d%s"}]}`, i%3, strings.Repeat("y", 5000))
	}
	b.WriteString(`,{"role":"assistant","content":"ok"}]}`)
	out, report := dialect(l, compact.Policy{}).View(t.Context(), "th", []byte(b.String()))
	for i, d := range report.Decisions {
		want := fmt.Sprint(i%3, strings.Repeat("y", 5000))
		if got := fetch(t, l, "th", d.MemID); !d.Applied || got != want {
			t.Errorf("result %d: %+v fetches %.10q", i, d, got)
		}
	}
	if a, b := report.Decisions[0].MemID, report.Decisions[3].MemID; a != b {
		t.Errorf("the same result is %s and %s", a, b)
	}
	again, _ := dialect(l, compact.Policy{}).View(t.Context(), "th", []byte(b.String()))
	if !bytes.Equal(out, again) {
		t.Error("the stubs are not stable")
	}
}

// fetch returns the payload of a record.
func fetch(t *testing.T, l docket.Ledger, thread docket.ThreadID, id docket.MemID) string {
	t.Helper()
	var out []byte
	err := l.View(t.Context(), thread, id, func(r docket.Record) (err error) {
		for n := range r.Frames() {
			if out, err = r.AppendFrame(out, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("view %q: %v", id, err)
	}
	return string(out)
}

// C3, and the bodies that get no stub: recorded all the same.
func TestC3HeldBodies(t *testing.T) {
	clears := `,"context_management":{"edits":[{"type":"compact_x"},{"type":"clear_tool_uses_20250919","keep":{"value":3}}]}`
	for _, c := range []struct{ name, head, recallTool, want string }{
		{"no tools", `"stream":true`, "", "no-recall-tool"},
		{"other tools", `"tools":[{"name":"read"},{"name":"norecall_tool_result"},{"type":"mcp_toolset"}]`, "", "no-recall-tool"},
		{"tools are no list", `"tools":{"name":"recall_tool_result"}`, "", "no-recall-tool"},
		{"said to be there", `"stream":true`, "x_recall", "stale!"},
		{"a suffix", `"tools":[{"name":"mcp__docket__recall_tool_result"}]`, "", "stale!"},
		{"provider clears", tools + clears, "", "provider-clears"},
		{"provider edits otherwise", tools + `,"context_management":{"edits":[{"type":"clear_thinking_20251015"}]}`, "", "stale!"},
		{"a thread goes on", tools + `,"thread":{"type":"continue","id":"th_1"}`, "", "record-only"},
		{"a thread begins", tools + `,"thread":{"type":"create"}`, "", "stale!"},
		{"tools twice", tools + `,` + tools, "", "ambiguous"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := engine.NewMemory(nil)
			a := dialect(l, compact.Policy{})
			a.RecallTool = c.recallTool
			in := request(c.head, `,"content":`+long(5000))
			out, report := a.View(t.Context(), "th", in)
			if got := reasons(report); got != c.want || (&out[0] == &in[0]) != !report.Decisions[0].Applied {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if fetch(t, l, "th", report.Decisions[0].MemID) != strings.Repeat("x", 5000) {
				t.Error("it was not recorded")
			}
		})
	}
}

// The name that the first epoch froze is the one that a stub may name.
func TestC3FrozenName(t *testing.T) {
	l := engine.NewMemory(nil)
	suffixed := `"tools":[{"name":"mcp__docket__recall_tool_result"}]`
	a := dialect(l, compact.Policy{})
	out, _ := a.View(t.Context(), "th", request(suffixed, `,"content":`+long(5000)))
	if !bytes.Contains(out, []byte(`Re-expand with mcp__docket__recall_tool_result(`)) {
		t.Errorf("the stub names another tool: %s", out)
	}
	_, report := a.View(t.Context(), "th", request(tools, `,"content":`+long(5000)))
	if got := reasons(report); got != "no-recall-tool" {
		t.Errorf("without the tool that the stub names: %q", got)
	}
	both := `"tools":[{"name":"recall_tool_result"},{"name":"mcp__docket__recall_tool_result"}]`
	again, _ := a.View(t.Context(), "th", request(both, `,"content":`+long(5000)))
	if !bytes.Contains(again, []byte(`Re-expand with mcp__docket__recall_tool_result(`)) {
		t.Errorf("the frozen name is gone: %s", again)
	}
}

// Assistant messages, signed or not, go out to the byte; so do the two recorded
// conversations with signatures (TestCorpusStaticPolicy).
func TestB10AssistantMessagesStay(t *testing.T) {
	said := `{"content" : [{"signature":"EqQBCgI=", "thinking":"hm\u2026 \/","type":"thinking"},{"type":"redacted_thinking","data":"Em=="},
	 {"type":"text","text":"` + "\u2028" + `<b>"},{"type":"tool_use","id":"t1","name":"read","input":{"n":1.50,"content":` + long(5000) + `}}],"role":"assistant"}`
	in := []byte(`{` + tools + `,"messages":[{"role":"user","content":"go"},` + said + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":` + long(6000) + `}]},` + strings.Replace(said, "t1", "t2", 1) + `]}`)
	out, report := dialect(engine.NewMemory(nil), compact.Policy{}).View(t.Context(), "th", in)
	if reasons(report) != "stale!" {
		t.Fatalf("got %q", reasons(report))
	}
	stub(t, in, out, long(6000))
}

// Results that code asked for are not in the model's context; those of servers
// stand in assistant messages.
func TestB10CodeExecutionAndServerTools(t *testing.T) {
	body := func(caller string) []byte {
		return []byte(`{` + tools + `,"messages":[{"role":"user","content":"go"},
		{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},
		 {"type":"tool_result","tool_use_id":"t1","content":` + long(7000) + `},
		 {"type":"web_search_tool_result","tool_use_id":"s1","content":[` + textBlock(9000, "") + `]},
		 {"type":"tool_use","id":"t1","name":"read","input":{}` + caller + `}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":` + long(5000) + `}]},
		{"role":"assistant","content":"ok"}]}`)
	}
	for caller, want := range map[string]string{
		``:                            "stale!",
		`,"caller":{"type":"direct"}`: "stale!",
		`,"caller":null`:              "stale!",
		`,"caller":{"type":"code_execution_20250825","tool_id":"s1"}`: "code-execution",
	} {
		in := body(caller)
		out, report := dialect(engine.NewMemory(nil), compact.Policy{}).View(t.Context(), "th", in)
		if got := reasons(report); got != want {
			t.Errorf("%s: got %q, want %q", caller, got, want)
		}
		if !bytes.Contains(out, []byte(textBlock(9000, ""))) || !bytes.Contains(out, []byte(long(7000))) {
			t.Error("a server's result changed")
		}
	}
}

func TestPayloadDerivation(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{`"a\nb\u00e9\ud83c\udf89\/\u0000é"`, "a\nbé🎉/\x00é"},
		{`[{"type":"text","text":"a\n"},{"type":"text","text":"b"}]`, "a\n\nb"},
		{`[{"type":"text","text":"a"},{"type":"image"},{"text":"b","type":"text"},{"type":"text","text":"c"}]`, "a\nb\nc"},
		{`[{"type":"text","text":"","cache_control":{"type":"ephemeral"}},{"type":"text","text":""}]`, "\n"},
		{`[{"type":"document","text":"x"}]`, ""},
	} {
		b, err := parseAnthropic(request(tools, `,"content":`+c.content))
		if err != nil {
			t.Fatal(err)
		}
		if got := b.read()[2].Results[0]; string(got.Payload) != c.want {
			t.Errorf("%s: payload %q, want %q", c.content, got.Payload, c.want)
		}
	}
}

func TestReading(t *testing.T) {
	b, err := parseAnthropic([]byte(`{"messages":[
		{"role":"system","content":"be brief"},
		{"role":"user","content":"<system-reminder>\nx\n</system-reminder>\n"},
		{"role":"user","content":[{"type":"text","text":"  <system-reminder>x</system-reminder>"}]},
		{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder> and I say"}]},
		{"role":"user","content":[{"type":"image"}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","is_error":true}]},
		{"role":"tool"},
		{"role":"assistant","content":[{"type":"tool_use","id":"\u0074","name":"n","input":{"a":[1]}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range b.read() {
		got = append(got, fmt.Sprintf("%d%v", m.Role, m.Speaks))
	}
	if s, want := strings.Join(got, " "), "3true 1false 1false 1true 1true 1false 0false 2false"; s != want {
		t.Errorf("got %s, want %s", s, want)
	}
	if c := b.read()[7].Calls[0]; c.ID != "t" || c.Tool != "n" || string(c.Args) != `{"a":[1]}` {
		t.Errorf("call %+v", c)
	}
	if !b.read()[5].Results[0].IsError {
		t.Error("is_error was not read")
	}
}

// Offload mode on the wire: the boundary is the last message in which a user
// speaks, reminders aside.
func TestP8BoundaryOnTheWire(t *testing.T) {
	result := func(id string) string {
		return `{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"read","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":` + long(5000) + `},{"type":"text","text":"<system-reminder>r</system-reminder>"}]}`
	}
	in := `{` + tools + `,"messages":[{"role":"user","content":"one"},` + result("a") + `,{"role":"user","content":"two"},` + result("b") + `,{"role":"system","content":"s"},{"role":"assistant","content":"ok"}]}`
	_, report := dialect(engine.NewMemory(nil), compact.Policy{Mode: compact.ModeOffload}).View(t.Context(), "th", []byte(in))
	if got, want := reasons(report), "offload! current-turn"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The words for what is wrong: a place, never what stands there.
func TestBodyErrors(t *testing.T) {
	for body, want := range map[string]string{
		"":                                   "it is empty",
		" \n":                                "it is empty",
		"{":                                  "it is not valid JSON at byte 1",
		`{"messages":[{"secret":{"x":tru`:    "it is not valid JSON at byte 31",
		`{"messages":[{"secret" "content"}]`: "it is not valid JSON at byte 23",
		`{"messages":[]} {}`:                 "something follows the object",
		`[]`:                                 "it wants an object whose messages are a list of objects",
		`{"messages":5}`:                     "it wants an object whose messages are a list of objects",
	} {
		if _, err := (Anthropic{}).Faults([]byte(body)); fmt.Sprint(err) != ErrBody.Error()+": "+want {
			t.Errorf("%s: got %v, want …%s", body, err, want)
		}
	}
	_, _, err := Anthropic{}.Trim([]byte(`{"messages":[],"messages":[]}`), 1)
	if fmt.Sprint(err) != ErrBody.Error()+": a name that matters comes twice" {
		t.Errorf("got %v", err)
	}
}

func TestBadBodies(t *testing.T) {
	for _, body := range []string{
		"", " ", "null", "5", `"x"`, "[]", "{", "{}", `{"messages":null}`, `{"messages":{}}`, `{"messages":"x"}`, `{"messages":[5]}`,
		`{"messages":[null]}`, `{"messages":[]} x`, `{"messages":[]}{}`, `{"messages":[{"role":"user","content":[{"type":"tool_result","content":"` + strings.Repeat("x", 5000) + `"`,
		`{"messages":[{"role":"user" "content":""}]}`, "{\"messages\":[{\"role\":\"user\",\"content\":\"a\nb\"}]}", "\xef\xbb\xbf{}",
		strings.Repeat("[", 1_000_000), strings.Repeat(`{"a":`, 1_000_000), `{"messages":[{"content":` + strings.Repeat("[", 1_000_000), "\x00", "{\"\x00",
	} {
		l := engine.NewMemory(nil)
		in := []byte(body)
		out, report := dialect(l, compact.Policy{}).View(t.Context(), "th", in)
		if !bytes.Equal(out, in) || len(in) > 0 && &out[0] != &in[0] || len(report.Decisions) > 0 || !errors.Is(report.Err, ErrBody) {
			t.Errorf("%.40q: %d bytes out, %v", body, len(out), report.Err)
		}
		if out, n, err := (Anthropic{}).Trim(in, 1); !errors.Is(err, ErrBody) || n != 0 || !bytes.Equal(out, in) {
			t.Errorf("%.40q: trim gives %v", body, err)
		}
		if s := fmt.Sprint(report.Err); len(s) > 300 || strings.Contains(s, "\n") {
			t.Errorf("%.40q: a strange error: %q", body, s)
		}
	}
}

// A strange member that does not matter is no reason to leave a body alone.
func TestStrangeMessages(t *testing.T) {
	in := []byte(`{` + tools + `,"messages":[{}, {"role":5,"content":7},{"role":"user","content":[5,null,[],{"type":[]},{"type":"text"}]},` +
		`{"role":"assistant","content":[{"type":"tool_use"},{"type":"tool_use","id":"t1","name":5,"caller":7}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":"yes","content":` + long(5000) + `}]},{"role":"assistant"}]}`)
	out, report := dialect(engine.NewMemory(nil), compact.Policy{}).View(t.Context(), "th", in)
	if got := reasons(report); got != "stale!" || !json.Valid(out) || report.Decisions[0].Tool != docket.UnknownTool {
		t.Errorf("got %q: %+v", got, report)
	}
}

// The escaping is fixed: these bytes are in views that were sent.
func TestStringEscapes(t *testing.T) {
	in := "\"\\/\n\r\t\b\f\x00\x1f\x7f<>&é\u2028🎉\xff"
	want := `"\"\\/\n\r\t\u0008\u000c\u0000\u001f` + "\x7f<>&é\u2028🎉\ufffd" + `"`
	got := appendString(nil, in)
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var back string
	if err := json.Unmarshal(got, &back); err != nil || back != strings.ToValidUTF8(in, "\ufffd") {
		t.Errorf("decodes to %q, error %v", back, err)
	}
}
