package simulate

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docket/compact/planner"
	"docket/compact/wire"
)

// conversation writes a transcript of n results of about size characters each.
func conversation(t *testing.T, n, size int) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`{"model":"m","system":"s","messages":[{"role":"user","content":"go"}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read","input":{}}]}`, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%d%s"}]}`, i, i, strings.Repeat(" word", size/5))
	}
	b.WriteString(`,{"role":"assistant","content":"done"}]}`)
	path := filepath.Join(t.TempDir(), "talk.json")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func options() Options {
	return Options{Rates: planner.Rates{Write: 1.25, Read: 0.1}, Threshold: 2000, Keep: 3}
}

// The cost policy is never dearer than its limit nor than the literal policy, and cheaper
// than both where there is much to save; nothing that docket does is cheaper than the
// optimum.
func TestPoliciesCompared(t *testing.T) {
	for _, c := range []struct{ n, size int }{{3, 1000}, {10, 5000}, {40, 5000}, {40, 20000}} {
		tr, err := Load(conversation(t, c.n, c.size), "")
		if err != nil {
			t.Fatal(err)
		}
		results, err := tr.RunAll(t.Context(), Policies(), options())
		if err != nil {
			t.Fatal(err)
		}
		cost := map[string]float64{}
		for _, r := range results {
			cost[r.Policy] = r.Cost / r.CostNone
			if r.Policy == Cost && r.Epochs > r.Requests/2 {
				t.Errorf("%d × %d: %d epochs in %d requests", c.n, c.size, r.Epochs, r.Requests)
			}
		}
		t.Logf("%d × %d: %v", c.n, c.size, cost)
		if cost[None] != 1 || cost[Cost] > planner.DefaultLimit+0.001 || cost[Cost] > cost[Static] || c.n >= 40 && cost[Cost] > 0.9 {
			t.Errorf("%d × %d: costs %v", c.n, c.size, cost)
		}
		for _, p := range []string{None, Static, Trigger, Cost, Free} {
			if cost[Optimum] > cost[p]+1e-9 {
				t.Errorf("%d × %d: the optimum costs %v, %s %v", c.n, c.size, cost[Optimum], p, cost[p])
			}
		}
	}
}

// Consecutive wire bodies share their messages up to the cut that the receipt names,
// marks aside; a body is dumped for every request.
func TestDumpedViewsShareTheirPrefix(t *testing.T) {
	o := options()
	o.DumpWire = t.TempDir()
	tr, err := Load(conversation(t, 40, 8000), "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := tr.Run(t.Context(), Cost, o)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(o.DumpWire, tr.Name, Cost, "*.json"))
	if err != nil || len(files) != r.Requests || r.Epochs < 2 {
		t.Fatalf("%d files of %d requests, %d epochs, error %v", len(files), r.Requests, r.Epochs, err)
	}
	c := newCache(o.Rates, planner.RuleMarks)
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Count(body, []byte("cache_control")) > 2 {
			t.Errorf("%s has several marks", f)
		}
		if err := c.addBody("anthropic", body); err != nil {
			t.Fatal(err)
		}
	}
	if c.cost != r.Cost || c.changed != r.Epochs {
		t.Errorf("from the files: cost %v, %d changes; from the run: %v, %d epochs", c.cost, c.changed, r.Cost, r.Epochs)
	}
}

// The simulated cache follows its rule, whatever the planner thinks of it.
func TestCacheRules(t *testing.T) {
	m := func(s string) []byte { return []byte(`{"content":"` + s + `"}`) }
	size := float64(len(m("a")))
	prefix := newCache(planner.Rates{Write: 1, Read: 0}, planner.RulePrefix)
	prefix.add([][]byte{m("a"), m("b"), m("c")}, 0)
	prefix.add([][]byte{m("a"), m("b"), m("x"), m("d")}, 0)
	if prefix.cost != 3*size+2*size || prefix.changed != 1 {
		t.Errorf("prefix: cost %v, %d changed", prefix.cost, prefix.changed)
	}
	marks := newCache(planner.Rates{Write: 1, Read: 0}, planner.RuleMarks)
	marks.add([][]byte{m("a")}, 0)
	marks.add([][]byte{m("a"), m("b"), m("c")}, 0)
	marks.add([][]byte{m("a"), m("b"), m("x"), m("d")}, 0) // the entry after "a" is still there
	if marks.cost != size+2*size+3*size {
		t.Errorf("marks: cost %v", marks.cost)
	}
}

func TestBadTranscripts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"none.json": "", "text.json": "hello", "other.json": `{"a":1}`} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path, ""); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := Load(filepath.Join(dir, "missing.json"), ""); err == nil {
		t.Error("a missing file is loaded")
	}
	if _, err := Load(conversation(t, 1, 10), "morse"); err == nil {
		t.Error("an unknown dialect is known")
	}
}

// addBody counts a view that was dumped.
func (c *cache) addBody(dialect string, body []byte) error {
	conv, err := wire.Parse(dialect, body)
	if err != nil {
		return err
	}
	messages, around := make([][]byte, len(conv.Messages)), len(body)
	for i, m := range conv.Messages {
		messages[i] = m.Bytes
		around -= len(m.Bytes)
	}
	c.add(messages, around)
	return nil
}
