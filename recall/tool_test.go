package recall

// The model's tool: always a text, bounded, that says what it is.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"docket"
)

// callTool calls the default tool on a ledger that holds rec, with its id.
func callTool(t testing.TB, rec *fakeRecord, args string) string {
	t.Helper()
	if strings.HasPrefix(args, "{") {
		args = fmt.Sprintf(`{"mem_id":%q,%s`, rec.handle.MemID, args[1:])
		args = strings.Replace(args, ",}", "}", 1)
	}
	return Call(t.Context(), newFake(rec), "t", []byte(args))
}

// firstLine returns what an answer's first line says after its head, and the rest.
func firstLine(t testing.TB, answer string) (line, rest string) {
	t.Helper()
	_, _, ok := docket.ParseAnswerHead([]byte(answer))
	if !ok {
		t.Fatalf("no head: %.200q", answer)
	}
	line, rest, _ = strings.Cut(answer, "\n")
	_, line, _ = strings.Cut(line, "] ")
	return line, rest
}

// TestC1OneAnswerIsBounded: five lines of 20,000 characters come back by
// characters, never more than the limit and a head.
func TestC1OneAnswerIsBounded(t *testing.T) {
	var lines []string
	for _, c := range "abc─📚" {
		lines = append(lines, strings.Repeat(string(c), 20_000))
	}
	payload := strings.Join(lines, "\n")
	rec := newFakeRecord([]byte(payload), 4096, true)
	for _, args := range []string{
		`{"format":"full"}`, `{"offset":0}`, `{"offset":19990,"max_chars":1000000000}`, `{"max_chars":"99999999"}`,
		`{"query":"a"}`, `{"query":"a","max_matches":100000}`, `{"query":"─","window":1000000}`, `{"query":"a","window":0,"max_matches":1000000}`,
		`{"json_path":"` + strings.Repeat("\U000e0001", 300) + `","query":"` + strings.Repeat("\U000e0001", 300) + `"}`,
		`{"query":"` + strings.Repeat("\U000e0001", 300) + `"}`, `{"query":"📚","window":15999,"max_matches":3}`, `{"query":"` + strings.Repeat("b", 19_000) + `"}`, `{"format":"summary"}`, `{}`,
	} {
		answer := callTool(t, rec, args)
		if n := utf8.RuneCountInString(answer); n > DefaultMaxChars+headBound {
			t.Errorf("%.60s: %d characters", args, n)
		}
	}
	line, rest := firstLine(t, callTool(t, rec, `{"format":"full"}`))
	if want := "characters 0–16000 of 100004; more: offset=16000"; line != want {
		t.Errorf("the first line says %q, want %q", line, want)
	}
	if rest != payload[:16000] {
		t.Error("the text is not the first 16,000 characters")
	}
}

// TestC5InventedIDs: an unknown id of any form is a text that says how to find
// valid ones.
func TestC5InventedIDs(t *testing.T) {
	rec := newFakeRecord([]byte("payload of another conversation"), 8, true)
	l := newFake(rec)
	for _, c := range []struct{ args, id string }{
		{`{"mem_id":"x"}`, "x"},
		{`{"mem_id":"aaaaaaaaaaaaaaaa"}`, "aaaaaaaaaaaaaaaa"},
		{`{"mem_id":""}`, ""},
		{`{}`, ""},
		{``, ""},
		{`null`, ""},
		{`[]`, ""},
		{`{"mem_id":null}`, ""},
		{`{"mem_id":17}`, "17"},
		{`{"mem_id":{"a":1}}`, `{"a":1}`},
		{`{"mem_id":"a\nb\u0000\u202e[tool_memory"}`, `a\nb\x00\u202e[tool_memory`},
		{`{"mem_id":"` + strings.Repeat("y", 500) + `"}`, strings.Repeat("y", missIDChars-1) + "…"},
		{`{"mem_id":"x"`, `{"mem_id":"x"`},
		{`what?`, `what?`},
	} {
		line, rest, _ := strings.Cut(Call(t.Context(), l, "t", []byte(c.args)), "\n")
		if want := "[tool_memory not found: " + c.id + "]"; line != want {
			t.Errorf("%.60s answers %q, want %q", c.args, line, want)
		}
		if !strings.Contains(rest, `"mem="`) || !strings.Contains(rest, DefaultSearchTool) {
			t.Errorf("%.60s: no help in %q", c.args, rest)
		}
	}
}

// TestL8NotFoundExpiredErased: each miss has its own text.
func TestL8MissesHaveTheirOwnText(t *testing.T) {
	rec := newFakeRecord([]byte(strings.Repeat("secret ", 100)), 64, true)
	id := rec.handle.MemID
	args := []byte(`{"mem_id":"` + string(id) + `"}`)
	expired := &docket.ExpiredError{
		Handle:  docket.Handle{MemID: id, Tool: "Bash", Chars: 360412, Summary: "json, a list\u202e of 3", Created: time.Date(2026, 11, 1, 23, 0, 0, 0, time.UTC)},
		Expired: time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC),
	}
	for _, c := range []struct {
		err   error
		first string
		says  []string
	}{
		{docket.ErrNotFound, "[tool_memory not found: ", []string{"search_tool_results"}},
		{expired, "[tool_memory expired: ", []string{"Bash", "360412 characters", `json, a list\u202e of 3`, "2026-11-01", "2026-11-20", "call Bash again with the same arguments"}},
		{docket.ErrErased, "[tool_memory erased: ", []string{"cannot be read"}},
		{&docket.CorruptError{Place: "frame 3"}, "[tool_memory damaged: ", []string{"checksum", "original tool"}},
		{errors.New("disk on fire"), "[tool_memory unavailable: ", []string{"not lost"}},
	} {
		l := newFake(rec)
		l.missing = map[docket.MemID]error{id: c.err}
		answer := Call(t.Context(), l, "t", args)
		line, rest, _ := strings.Cut(answer, "\n")
		if line != c.first+string(id)+"]" {
			t.Errorf("%v: first line %q", c.err, line)
		}
		for _, s := range c.says {
			if !strings.Contains(rest, s) {
				t.Errorf("%v: %q does not say %q", c.err, rest, s)
			}
		}
		if strings.Contains(answer, "secret") || strings.Contains(answer, "fire") {
			t.Errorf("%v: the answer tells too much: %q", c.err, answer)
		}
	}
}

// TestL8ForeignAnswersAsUnknown and D5: another thread's id reads as one that
// never was, whatever else is asked.
func TestL8D5ForeignAnswersAsUnknown(t *testing.T) {
	rec := newFakeRecord([]byte("project B"), 64, true)
	l := newFake(rec)
	for _, rest := range []string{``, `,"query":"B"`, `,"offset":-1`, `,"format":"nonsense"`, `,"json_path":"["`} {
		foreign := Call(t.Context(), l, "other", []byte(`{"mem_id":"`+string(rec.handle.MemID)+`"`+rest+`}`))
		unknown := Call(t.Context(), l, "other", []byte(`{"mem_id":"aaaaaaaaaaaaaaaa"`+rest+`}`))
		if strings.ReplaceAll(foreign, string(rec.handle.MemID), "aaaaaaaaaaaaaaaa") != unknown {
			t.Errorf("%s: foreign %q, unknown %q", rest, foreign, unknown)
		}
	}
}

func TestDamagedFrameIsReportedAndNotShown(t *testing.T) {
	rec := newFakeRecord([]byte(strings.Repeat("0123456789", 100)), 100, true)
	rec.damaged = 4
	var reported error
	tool := Tool{Report: func(err error) { reported = err }}
	call := func(rest string) string {
		return tool.Call(t.Context(), newFake(rec), "t", []byte(`{"mem_id":"`+string(rec.handle.MemID)+`",`+rest+`}`))
	}
	if answer := call(`"format":"full"`); !strings.HasPrefix(answer, "[tool_memory damaged: ") || strings.Contains(answer, "01234") {
		t.Errorf("the answer is %q", answer)
	}
	var damaged *docket.CorruptError
	if !errors.As(reported, &damaged) {
		t.Errorf("reported %v", reported)
	}
	if _, rest := firstLine(t, call(`"offset":500,"max_chars":10`)); rest != "0123456789" {
		t.Errorf("another slice reads %q", rest)
	}
}

func TestLenientArguments(t *testing.T) {
	payload := []byte("zero one two three four five six seven eight nine")
	rec := newFakeRecord(payload, 8, true)
	id := string(rec.handle.MemID)
	want := Call(t.Context(), newFake(rec), "t", []byte(`{"mem_id":"`+id+`","offset":5,"max_chars":7}`))
	for _, args := range []string{
		`{"mem_id":"ID","offset":"5","max_chars":"7"}`,
		`{"mem_id":"ID","offset":5.0,"max_chars":7.9}`,
		`{"mem_id":"ID","offset":" 5 ","max_chars":7e0,"query":"","json_path":null,"format":""}`,
		`{"memId":"ID","offset":5,"maxChars":7,"unknown":[1,{}]}`,
		`{"id":"ID","Offset":5,"MAX-CHARS":7}`,
		`{"mem_id":" mem=ID ","offset":5,"max_chars":7}`,
		`{"mem_id":"\"ID\"","offset":5,"max_chars":7}`,
		`{"mem_id":"` + strings.ToUpper(id) + `","offset":5,"max_chars":7,"format":"whatever"}`,
		`{"mem_id":"docket://record/ID","offset":5,"max_chars":7}`,
		`"{\"mem_id\":\"ID\",\"offset\":5,\"max_chars\":7}"`,
		`[{"mem_id":"ID","offset":5,"max_chars":7}]`,
		` {"mem_id":"ID","offset":5,"max_chars":7} trailing`,
	} {
		got := Call(t.Context(), newFake(rec), "t", []byte(strings.ReplaceAll(args, "ID", id)))
		if got != want {
			t.Errorf("%s answers %q, want %q", args, got, want)
		}
	}
	number := newFakeRecord([]byte("a 17 b"), 8, true)
	if line, _ := firstLine(t, callTool(t, number, `{"query":17}`)); !strings.HasPrefix(line, `1 match for "17"`) {
		t.Errorf("a query that is a number: %q", line)
	}
	if got := Call(t.Context(), newFake(rec), "t", []byte(`"`+id+`"`)); !strings.Contains(got, docket.StubHeader) {
		t.Errorf("a bare id answers %q", got)
	}
}

// Arguments that cannot be understood are explained; the payload's length helps.
func TestUnusableArgumentsAreExplained(t *testing.T) {
	rec := newFakeRecord([]byte(strings.Repeat("x", 300)), 64, true)
	for _, c := range []struct{ args, says string }{
		{`{"offset":-1}`, `cannot use offset: it counts characters from the beginning and cannot be negative. The payload has 300 characters, numbered from 0`},
		{`{"offset":"ten"}`, `cannot use offset: it is a whole number, not "ten". The payload has 300 characters, numbered from 0`},
		{`{"max_chars":[1]}`, `cannot use max_chars: it is a whole number, not "[1]". The payload has 300 characters, numbered from 0`},
		{`{"format":"json"}`, `cannot use format: it is "summary" (the default) or "full", not "json". The payload has 300 characters, numbered from 0`},
		{`{"offset":300}`, `nothing at offset 300: there are 300 characters, 0–300`},
		{`{"offset":1e300}`, `nothing at offset 9007199254740992: there are 300 characters, 0–300`},
	} {
		line, rest := firstLine(t, callTool(t, rec, c.args))
		if line != c.says || rest != "" {
			t.Errorf("%s answers %q and %q", c.args, line, rest)
		}
	}
	empty := newFakeRecord(nil, 64, true)
	for _, args := range []string{`{"format":"full"}`, `{"offset":10}`, `{"query":"x"}`} {
		if line, _ := firstLine(t, callTool(t, empty, args)); line != "the payload is empty, the tool returned no text: characters 0–0 of 0" {
			t.Errorf("%s answers %q", args, line)
		}
	}
}

func TestL6Formats(t *testing.T) {
	rec := newFakeRecord([]byte(strings.Repeat("some payload ", 300)), 512, true)
	rec.handle.Tool, rec.handle.Summary = "Bash", "text"
	stub := rec.handle.AppendStub(nil, docket.Form{})
	for _, req := range []Request{{}, {Format: FormatSummary}, {Format: FormatSummary, IgnoreCase: true, Window: 9}} {
		a := mustFetch(t, rec, req)
		if string(a.Text) != string(stub) || !a.Stub {
			t.Errorf("%+v gives %q", req, a.Text)
		}
	}
	if a := mustFetch(t, rec, Request{Format: FormatFull}); string(a.Text) != strings.Repeat("some payload ", 300) {
		t.Errorf("full gives %d bytes", len(a.Text))
	}
	named := docket.Form{RecallTool: "mcp__docket__recall_tool_result"}
	if a := mustFetch(t, rec, Request{Form: named}); !strings.Contains(string(a.Text), named.RecallTool) {
		t.Errorf("the stub does not name the tool: %q", a.Text)
	}
	if _, rest := firstLine(t, callTool(t, rec, `{}`)); rest != string(stub) {
		t.Errorf("the tool's summary is %q", rest)
	}
	_, err := Fetch(t.Context(), newFake(rec), "t", Request{MemID: rec.handle.MemID, Format: "xml"})
	var bad *RequestError
	if !errors.As(err, &bad) || bad.Field != "format" {
		t.Errorf("an unknown format: %v", err)
	}
	_, err = Fetch(t.Context(), newFake(rec), "t", Request{MemID: rec.handle.MemID, Offset: new(int64(-1))})
	if !errors.As(err, &bad) || bad.Field != "offset" {
		t.Errorf("a negative offset: %v", err)
	}
	if _, err = Fetch(t.Context(), newFake(rec), "t", Request{MemID: "aaaaaaaaaaaaaaaa"}); !errors.Is(err, docket.ErrNotFound) {
		t.Errorf("an unknown id: %v", err)
	}
}

// An answer verifies for its ledger only, and only unchanged.
func TestAnswersVerify(t *testing.T) {
	rec := newFakeRecord([]byte(strings.Repeat("some payload\n", 300)), 512, true)
	l := newFake(rec)
	for _, args := range []string{`{}`, `{"format":"full"}`, `{"query":"load"}`, `{"query":"absent"}`, `{"offset":-4}`, `{"offset":99999}`} {
		answer := callTool(t, rec, args)
		for _, same := range []string{answer, answer + "\n", strings.TrimSpace(answer)} {
			if id, ok := docket.VerifyAnswer(t.Context(), l, "t", []byte(same)); !ok || id != rec.handle.MemID {
				t.Errorf("%s: %q, %v", args, id, ok)
			}
		}
		for _, other := range []string{answer + "x", answer[1:], strings.Replace(answer, "] ", "]  ", 1), strings.Replace(answer, "tag=", "tag=b", 1), ""} {
			if id, ok := docket.VerifyAnswer(t.Context(), l, "t", []byte(other)); ok || id != "" {
				t.Errorf("%s: a changed answer verifies", args)
			}
		}
		if _, ok := docket.VerifyAnswer(t.Context(), l, "other", []byte(answer)); ok {
			t.Errorf("%s: verifies in another thread", args)
		}
	}
}

// TestL10InvalidBytes: the library returns them, a model sees one U+FFFD each.
func TestL10InvalidBytes(t *testing.T) {
	rec := newFakeRecord([]byte("a\xff\xfe\xe2\x82b"), 3, true)
	a := mustFetch(t, rec, Request{Format: FormatFull})
	if string(a.Text) != "a\xff\xfe\xe2\x82b" || a.TotalChars != 6 {
		t.Errorf("%q of %d characters", a.Text, a.TotalChars)
	}
	line, rest := firstLine(t, callTool(t, rec, `{"format":"full"}`))
	if rest != "a\uFFFD\uFFFD\uFFFD\uFFFDb" || !strings.Contains(line, "not UTF-8") {
		t.Errorf("the model gets %q, %q", line, rest)
	}
}

func TestFetchJSONNames(t *testing.T) {
	rec := newFakeRecord([]byte("one two one two"), 4, true)
	got, err := json.Marshal(mustFetch(t, rec, Request{Query: "two", Window: 1, MaxMatches: 1}))
	want := `{"mem_id":"` + string(rec.handle.MemID) + `","text":"[characters 3–8, match at 4]\n two ","start":0,"end":7,"total_chars":15,` +
		`"matches":[{"offset":4,"chars":3}],"match_count":1,"match_count_exact":false,"next_offset":7}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s (%v)", got, want, err)
	}
	got, _ = json.Marshal(mustFetch(t, rec, Request{Offset: new(int64(12))}))
	want = `{"mem_id":"` + string(rec.handle.MemID) + `","text":"two","start":12,"end":15,"total_chars":15,"matches":[],"match_count":0,"match_count_exact":false,"next_offset":null}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestContextEndsASearch(t *testing.T) {
	rec := newFakeRecord([]byte(strings.Repeat("x", 300)), 4, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Fetch(ctx, newFake(rec), "t", Request{MemID: rec.handle.MemID, Query: "y"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A path that leads nowhere names the deepest prefix that exists, and what is
// there: F1.
func TestF1PathMissesAreExplained(t *testing.T) {
	rec := newFakeRecord([]byte(`{"items":[{"name":"x","price.eur":3},{"name":"y"}],"n":7,"evil\nkey\u202e":1}`), 16, true)
	text := newFakeRecord([]byte("plain text, no JSON"), 16, true)
	for _, c := range []struct {
		rec        *fakeRecord
		path, says string
	}{
		{rec, `items[0].nam`, `json_path "items[0].nam" selects nothing: "items[0]" is an object with 2 keys, none of them "nam"; keys there: "name", "price.eur"`},
		{rec, `items[0].price.eur`, `json_path "items[0].price.eur" selects nothing: "items[0]" is an object with 2 keys, none of them "price"; keys there: "price.eur", "name"`},
		{rec, `items[5].name`, `json_path "items[5].name" selects nothing: "items" is an array of length 2, indexes 0 to 1`},
		{rec, `items.name`, `json_path "items.name" selects nothing: "items" is an array of length 2: go on with [0], [-1], [20:40] or [*]`},
		{rec, `n.x`, `json_path "n.x" selects nothing: "n" is a number or literal, which has no members`},
		{rec, `zzz`, `json_path "zzz" selects nothing: "$" is an object with 3 keys, none of them "zzz"; keys there: "items", "n", "evil\nkey\u202e"`},
		{text, `a.b`, `cannot use json_path: the payload is not valid JSON at character 0 (expected a value): use query, or offset and max_chars. The payload has 19 characters, numbered from 0`},
		{rec, `items[`, `cannot use json_path: at character 6: '[' without ']'; write the key in quotes: ["…"]. The payload has 77 characters, numbered from 0`},
	} {
		args, _ := json.Marshal(map[string]string{"mem_id": string(c.rec.handle.MemID), "json_path": c.path})
		line, rest := firstLine(t, Call(t.Context(), newFake(c.rec), "t", args))
		if line != c.says || rest != "" {
			t.Errorf("%s: the model is told\n%s\nwant\n%s", c.path, line, c.says)
		}
	}
	line, rest := firstLine(t, callTool(t, rec, `{"json_path":"items[1].name","query":"y"}`))
	if line != `1 match for "y", searched characters 0–3 of 3 at json_path "items[1].name"` || rest != "[characters 0–3, match at 1]\n\"y\"" {
		t.Errorf("path and query: %q, %q", line, rest)
	}
	line, _ = firstLine(t, callTool(t, rec, `{"json_path":"items","max_chars":10}`))
	if line != `characters 0–10 of 41 at json_path "items"; more: offset=10 with the same json_path` {
		t.Errorf("path and range: %q", line)
	}
}
