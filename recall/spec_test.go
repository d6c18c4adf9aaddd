package recall

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The specifications are bytes that a request repeats for the life of a thread:
// changing one costs everybody's prompt cache.
func TestSpecsAreFrozen(t *testing.T) {
	recall, search := Tool{}.RecallSpec(), Tool{}.SearchSpec()
	for name, got := range map[string][]byte{
		"recall.anthropic.json": recall.AppendAnthropic(nil),
		"recall.openai.json":    recall.AppendOpenAI(nil),
		"recall.mcp.json":       recall.AppendMCP(nil),
		"search.anthropic.json": search.AppendAnthropic(nil),
		"search.openai.json":    search.AppendOpenAI(nil),
		"search.mcp.json":       search.AppendMCP(nil),
	} {
		path := filepath.Join("testdata", "spec", name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the specification is\n%s\nthe frozen one (%v)\n%s", name, got, err, want)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, got); err != nil || !bytes.Equal(compact.Bytes(), got) {
			t.Errorf("%s is no compact JSON: %v", name, err)
		}
	}
	const tokens, charsPerToken = 250, 4
	if n := len(recall.Description); n > tokens*charsPerToken {
		t.Errorf("the description has %d characters, more than about %d tokens", n, tokens)
	}
}

func TestSpecNamesTheTool(t *testing.T) {
	tool := Tool{Name: "lies_nach", SearchName: "suche", MaxChars: 5000}
	spec := tool.RecallSpec()
	for _, s := range []string{`"name":"lies_nach"`, "suche", "at most 5000 characters"} {
		if !bytes.Contains(spec.AppendMCP(nil), []byte(s)) {
			t.Errorf("the specification does not say %q", s)
		}
	}
	if !bytes.Contains(tool.SearchSpec().AppendOpenAI(nil), []byte("lies_nach")) {
		t.Error("the search tool does not name the recall tool")
	}
}
