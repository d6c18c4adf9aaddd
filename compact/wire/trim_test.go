package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"docket/compact"
)

// block makes the blocks of a message of a short notation: "1,2" of A[1,2].
func block(kind, ids string) string {
	var out []string
	for id := range strings.SplitSeq(ids, ",") {
		switch {
		case id == "":
		case kind == "A":
			out = append(out, `{"type":"tool_use","id":"`+id+`","name":"read","input":{}}`)
		default:
			out = append(out, `{"type":"tool_result","tool_use_id":"`+id+`","content":"r"}`)
		}
	}
	return strings.Join(out, " , ")
}

// history makes a body of a short notation: U and V speak (a string, a block), A
// calls, T answers, X answers and speaks, Y answers with a reminder, S instructs, E is empty.
func history(s string) []byte {
	var out []string
	for i, f := range strings.Fields(s) {
		kind, ids := f[:1], strings.TrimSuffix(strings.TrimPrefix(f[1:], "["), "]")
		role, content := "user", `[`+block(kind, ids)+`]`
		switch kind {
		case "U":
			content = fmt.Sprintf(`"%s %d"`, f, i)
		case "V":
			content = fmt.Sprintf(`[ {"type":"text","text":"%s %d"} ]`, f, i)
		case "X":
			content = `[` + block("T", ids) + `,{"type":"text","text":"and"}]`
		case "Y":
			content = `[` + block("T", ids) + `,{"type":"text","text":"<system-reminder></system-reminder>"}]`
		case "S":
			role, content = "system", `"s"`
		case "A":
			role = "assistant"
			if ids == "" {
				content = `"a"`
			}
		}
		out = append(out, `{"role":"`+role+`", "content":`+content+`}`)
	}
	return []byte(`{"a":1.0, "messages": [ ` + strings.Join(out, " ,\n ") + ` ],"z":[1 ,2]}`)
}

func TestH1TrimOnTheWire(t *testing.T) {
	for _, c := range []struct {
		in   string
		cap  int
		want string
	}{
		{"U A[1] T[1] U A", 9, "U A[1] T[1] U A"},
		{"U A[1] T[1] U A", 2, "U A"},
		{"U A[1] T[1] A[2] T[2]", 3, "U A[2] T[2]"},
		{"U A A A", 1, "U"},
		{"U A[1] T[1] U A", 0, ""},
		{"", 3, ""},
	} {
		in := history(c.in)
		out, dropped, err := (Anthropic{}).Trim(in, c.cap)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(strings.Fields(c.in)) - len(strings.Fields(c.want)); n != dropped || (n == 0) != (&out[0] == &in[0]) {
			t.Errorf("%s, cap %d: %d dropped, want %d", c.in, c.cap, dropped, n)
		}
		checkTrim(t, in, out)
	}
}

// checkTrim demands that out is in without some of its messages, to the byte.
func checkTrim(t interface{ Fatalf(string, ...any) }, in, out []byte) {
	was, is := gjson.GetBytes(in, "messages"), gjson.GetBytes(out, "messages")
	if !gjson.ValidBytes(out) || !bytes.Equal(in[:was.Index], out[:is.Index]) || !bytes.Equal(in[was.Index+len(was.Raw):], out[is.Index+len(is.Raw):]) {
		t.Fatalf("bytes outside of the messages changed: %s", out)
	}
	had := was.Array()
	for _, m := range is.Array() {
		for len(had) > 0 && had[0].Raw != m.Raw {
			had = had[1:]
		}
		if len(had) == 0 {
			t.Fatalf("a message that the input does not have: %s", m.Raw)
		}
		had = had[1:]
	}
}

func TestH4TrimLogs(t *testing.T) {
	var b bytes.Buffer
	a := Anthropic{Logger: slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	a.Trim(history("U A U"), 3)
	if b.Len() > 0 {
		t.Errorf("logged %q", b.String())
	}
	a.Trim(history("U A U"), 1)
	if !strings.Contains(b.String(), "dropped=2 cap=1") {
		t.Errorf("logged %q", b.String())
	}
}

func TestH5Mend(t *testing.T) {
	const none = "U A[1] T[1] A"
	for _, c := range []struct{ in, want string }{
		{none, "1 answered"},
		{"U A[1] U A", "1 interrupted"},
		{"U A[1] V A", "1 interrupted"},
		{"U A[1] E A", "1 interrupted"},
		{"U A[1]", "1 interrupted"},
		{"U A[1] A U", "1 interrupted"},
		{"U A[1] S U", "1 interrupted"},
		{"U A[1,2] T[2] A", "1 interrupted 2 answered"},
		{"U A[1,2] X[2] A", "1 interrupted 2 answered"},
		{"U A[1] T[2] A", "1 interrupted"},
		{"U T[1] A", ""},
		{"U X[1] A", ""},
		{"U A[1] T[1,1] A", "1 answered"},
		{"U A[1] T[9,1] A", "1 answered"},
		{"U A[1] T[1,9] A", "1 answered"},
		{"U A[1] U T[1] A", "1 interrupted"},
	} {
		in := history(c.in)
		out, faults, err := (Anthropic{}).Mend(in)
		if err != nil || !json.Valid(out) {
			t.Fatalf("%s: error %v: %s", c.in, err, out)
		}
		if c.in == none != (&in[0] == &out[0]) || c.in == none != (len(faults) == 0) {
			t.Errorf("%s: %d faults", c.in, len(faults))
		}
		if left, _ := (Anthropic{}).Faults(out); len(left) > 0 {
			t.Errorf("%s: still %v: %s", c.in, left, out)
		}
		var got []string
		gjson.GetBytes(out, `messages.#.content.#(type="tool_result")#|@flatten`).ForEach(func(_, r gjson.Result) bool {
			how := " answered"
			if r.Get("is_error").Bool() {
				how = " interrupted"
			}
			got = append(got, r.Get("tool_use_id").String()+how)
			return true
		})
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: got %q, want %q: %s", c.in, s, c.want, out)
		}
	}
}

func TestH5Properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := history(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"U", "V", "E", "A", "A[1]", "A[2]", "A[1,2]", "A[1,1]", "T[1]", "T[2]", "T[1,2]", "T[1,1,2]", "X[1]", "X[2,1]", "Y[1]", "Y[2]", "S",
		}), 0, 12).Draw(t, "history"), " "))
		out, _, err := (Anthropic{}).Mend(in)
		if err != nil || !json.Valid(out) {
			t.Fatalf("mend: error %v: %s", err, out)
		}
		if left, err := (Anthropic{}).Faults(out); len(left) > 0 || err != nil {
			t.Fatalf("mended, but %v, error %v: %s", left, err, out)
		}
		before := strings.Count(string(in), `"role":"assistant"`)
		if strings.Count(string(out), `"role":"assistant"`) != before {
			t.Fatalf("an assistant message came or went: %s", out)
		}
		had, _ := (Anthropic{}).Faults(in)
		trimmed, _, err := (Anthropic{}).Trim(in, rapid.IntRange(0, 13).Draw(t, "cap"))
		if err != nil {
			t.Fatal(err)
		}
		checkTrim(t, in, trimmed)
		checkNoNewFault(t, had, trimmed)
	})
}

// checkNoNewFault demands that each fault of body is one that was had.
func checkNoNewFault(t interface{ Fatalf(string, ...any) }, had []compact.Fault, body []byte) {
	count := map[string]int{}
	for _, f := range had {
		count[fmt.Sprint(f.Kind, f.ID)]++
	}
	left, err := (Anthropic{}).Faults(body)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, f := range left {
		if k := fmt.Sprint(f.Kind, f.ID); count[k] == 0 {
			t.Fatalf("a new fault %+v", f)
		} else {
			count[k]--
		}
	}
}

// A1, A6, A7, H1–H3 on every transcript, for every cap; the bytes for some of them.
func TestCorpusTrim(t *testing.T) {
	trims := 0
	for _, path := range transcripts(t) {
		c := load(t, path)
		b, err := parseAnthropic(c.src)
		if err != nil {
			t.Fatal(err)
		}
		messages := b.read()
		had := compact.Faults(messages)
		for n := range len(messages) + 1 {
			kept := compact.Kept(messages, n)
			left := make([]compact.Message, len(kept))
			for i, k := range kept {
				left[i] = messages[k]
			}
			if n == 0 && len(kept) > 0 || n > 0 && (len(kept) == 0 || left[0].Role != compact.RoleUser || !left[0].Speaks) {
				t.Fatalf("%s, cap %d: %d kept, the first is %+v", c.name, n, len(kept), left[:min(1, len(left))])
			}
			if f := compact.Faults(left); len(f) > len(had) {
				t.Fatalf("%s, cap %d: new faults %v", c.name, n, f)
			}
			if trims++; n%(len(messages)/8+1) != 0 {
				continue
			}
			out, dropped, err := (Anthropic{}).Trim(c.src, n)
			if err != nil || dropped != len(messages)-len(kept) {
				t.Fatalf("%s, cap %d: %d dropped, error %v", c.name, n, dropped, err)
			}
			checkTrim(t, c.src, out)
			checkNoNewFault(t, had, out)
		}
	}
	t.Logf("%d trims", trims)
}
