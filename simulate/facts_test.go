package simulate

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

func TestIdentifiers(t *testing.T) {
	for text, want := range map[string][]string{
		"the quick brown fox jumps over everything":       nil,
		"see /srv/data/a.json: line 12":                   {"srv/data/a.json"},
		"https://example.org/a?b=c":                       {"example.org/a"},
		"commit 4ec05e1f, (newMemory), snake_case_name.":  {"4ec05e1f", "newMemory", "snake_case_name"},
		"Capitalised words; 1234567 12345678 user@host.x": {"12345678", "user@host.x"},
		"zweiäüöß_12345678":                               {"_12345678"},
	} {
		if got := slices.Collect(identifiers(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A fact is at risk when only a stub can have it; not when a whole result, the question,
// or the system prompt still says it, in whatever words around it.
func TestFactsAtRisk(t *testing.T) {
	old := "order-88120001 alpha " + strings.Repeat("word ", 800) + " deep_in_the_result_77 and SYSTEM_KNOWS_1 and asked_for_9 " + strings.Repeat("word ", 800)
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"model":"m","max_tokens":1,"system":"SYSTEM_KNOWS_1","messages":[{"role":"user","content":"do asked_for_9x"}`)
	fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"t0","name":"read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t0","content":%q}]}`, old)
	fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{"of":"order-88120001"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}`)
	b.WriteString(`,{"role":"assistant","content":"deep_in_the_result_77 order-88120001 SYSTEM_KNOWS_1 asked_for_9 never_seen_before_1"}]}`)
	path := filepath.Join(t.TempDir(), "facts.json")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, err := Load(path, "")
	if err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Keep = 0
	for policy, want := range map[string]Facts{
		None: {Used: 5}, // the order twice, the others once
		// The second answer finds the result gone: of its facts the call has the order, the
		// system prompt and the question have two more.
		Static: {Used: 5, AtRisk: 1},
	} {
		r, err := tr.Run(t.Context(), policy, o)
		r.Facts.InStub = 0 // of no interest here
		if err != nil || r.Facts != want || policy == Static && r.Stubs != 1 {
			t.Errorf("%s: %+v, want %+v; %d stubs, error %v", policy, r.Facts, want, r.Stubs, err)
		}
	}
}

// The stub shows the beginning of a payload, so a fact there is at risk and in the stub.
func TestFactsInStub(t *testing.T) {
	text := "order-88120001 first " + strings.Repeat("word ", 1000) + "order-99990002"
	body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":%q},{"role":"assistant","content":"fine"},{"role":"user","content":"more"},{"role":"assistant","content":"order-88120001, order-99990002"}]}`, text)
	path := filepath.Join(t.TempDir(), "facts.json")
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, err := Load(path, "")
	if err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Keep = 0
	r, err := tr.Run(t.Context(), Static, o)
	if want := (Facts{2, 2, 1}); err != nil || r.Facts != want {
		t.Errorf("%+v, want %+v, error %v", r.Facts, want, err)
	}
}

// JSON in strings, as in the arguments of a call, is read; what says nothing is not.
func TestWords(t *testing.T) {
	in := gjson.Parse(`[{"role":"assistant","tool_calls":[{"id":"call_123456","function":{"arguments":"{\"path\":\"/tmp/x\\ny\"}"}}]}]`)
	if got := words(in, false); got != "/tmp/x\ny\n" {
		t.Errorf("%q", got)
	}
	if got := words(gjson.Parse(`{"a_key":1.50}`), true); got != "a_key\n1.50\n" {
		t.Errorf("payload: %q", got)
	}
	deep := strings.Repeat("[", 10000) + strings.Repeat("]", 10000)
	if got := words(gjson.Parse(deep), true); !strings.Contains(got, "[[[[") {
		t.Error("what is nested too deep does not stand as it is")
	}
}

// The provider's clearing: nothing below the trigger, then all but the last, once; with
// a least amount it waits for more.
func TestClear(t *testing.T) {
	for _, dialect := range []string{"anthropic", "chat"} {
		tr := talk(t, dialect, [][]int{{5000}, {5000}, {5000}, {5000}, {300}, {300}})
		o := options()
		o.Keep, o.Trigger = 1, 4000 // 16,000 bytes: passed with the fourth
		var stubs, sizes []int
		err := tr.replay(t.Context(), Clear, o, func(v view) error {
			stubs, sizes = append(stubs, v.stubs), append(sizes, len(v.body))
			if n := bytes.Count(v.body, []byte(cleared)); n != v.stubs {
				t.Errorf("%s: %d placeholders for %d results", dialect, n, v.stubs)
			}
			return nil
		})
		if want := []int{0, 0, 0, 0, 3, 3, 3}; err != nil || !slices.Equal(stubs, want) || sizes[4] >= sizes[1]*2 {
			t.Errorf("%s: cleared %v, want %v; bodies of %v, error %v", dialect, stubs, want, sizes, err)
		}
		o.ClearAtLeast = 8000
		r, err := tr.Run(t.Context(), Clear, o)
		if err != nil || r.Stubs != 0 || r.Epochs != 0 {
			t.Errorf("%s: %d cleared although it is too little, error %v", dialect, r.Stubs, err)
		}
	}
}

// The places of results are right in every dialect: what is replaced is a payload, and
// what is left is still a body.
func TestPlaces(t *testing.T) {
	for dialect, body := range map[string]string{
		"anthropic": `{"max_tokens":1,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"PAYLOAD"}]},{"type":"text","text":"x"}]},{"role":"assistant","content":"a"}]}`,
		"chat":      `{"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"t","type":"function","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"t","content":"PAYLOAD"},{"role":"assistant","content":"a"}]}`,
		"responses": `{"input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"t","name":"n","arguments":"{}"},{"type":"function_call_output","call_id":"t","output":"PAYLOAD"},{"role":"assistant","content":"a"}]}`,
		"gemini":    `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"n","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"n","response":{"output":"PAYLOAD"}}}]},{"role":"model","parts":[{"text":"a"}]}]}`,
		"converse":  `{"inferenceConfig":{},"messages":[{"role":"user","content":[{"text":"q"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"n","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"t","content":[{"text":"PAYLOAD"}]}}]},{"role":"assistant","content":[{"text":"a"}]}]}`,
	} {
		path := filepath.Join(t.TempDir(), "body.json")
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		tr, err := Load(path, "")
		if err != nil || tr.Dialect != dialect {
			t.Fatalf("%s: %v", dialect, err)
		}
		found := payloads(dialect, gjson.Get(body, places[dialect].list))
		if len(found) != 1 || body[found[0].Index:found[0].Index+len(found[0].Raw)] != found[0].Raw || !strings.Contains(found[0].Raw, "PAYLOAD") {
			t.Errorf("%s: found %+v", dialect, found)
			continue
		}
		c := newClearing(tr, Options{})
		c.done = 1
		var v view
		if err := c.make(context.Background(), &v, 3); err != nil || bytes.Contains(v.body, []byte("PAYLOAD")) || !gjson.ValidBytes(v.body) {
			t.Errorf("%s: cleared to %s, error %v", dialect, v.body, err)
		}
	}
}

// A cache that is cold is paid for, and makes stubs free.
func TestTTL(t *testing.T) {
	tr := talk(t, "anthropic", [][]int{{5000}, {5000}, {5000}, {5000}, {5000}, {300}}, 5)
	o := options()
	warm, err := tr.RunAll(t.Context(), []string{None, Cost}, o)
	if err != nil {
		t.Fatal(err)
	}
	o.TTL = 5 * time.Minute
	late, err := tr.RunAll(t.Context(), []string{None, Cost}, o)
	if err != nil {
		t.Fatal(err)
	}
	if late[0].Cost <= warm[0].Cost || late[1].Epochs == 0 || late[1].Cost >= late[0].Cost {
		t.Errorf("warm %.0f; after an hour %.0f, with stubs %.0f in %d epochs", warm[0].Cost, late[0].Cost, late[1].Cost, late[1].Epochs)
	}
	o.TTL = 2 * time.Hour
	if r, err := tr.Run(t.Context(), None, o); err != nil || r.Cost != warm[0].Cost {
		t.Errorf("an hour within the TTL costs %.0f, want %.0f, error %v", r.Cost, warm[0].Cost, err)
	}
}

// trigger does nothing until the view passes it, and then all at once.
func TestTrigger(t *testing.T) {
	tr := talk(t, "chat", [][]int{{5000}, {5000}, {5000}, {5000}, {5000}, {300}, {300}})
	o := options()
	o.Keep, o.Trigger = 1, 5000
	r, err := tr.Run(t.Context(), Trigger, o)
	if err != nil || r.Epochs != 1 || r.Stubs != 3 {
		t.Errorf("%d stubs in %d epochs, error %v", r.Stubs, r.Epochs, err)
	}
}
