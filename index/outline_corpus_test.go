package index

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// identifiers finds the exact words that an agent may come back to, by other means
// than anchor.go.
var identifiers = []struct {
	class string
	re    *regexp.Regexp
}{
	{"url", regexp.MustCompile(`https?://[^\s"'<>)\]}\\` + "`" + `]+`)},
	{"path", regexp.MustCompile(`(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]*\w|\b[\w-]+\.(?:go|py|js|ts|tsx|json|md|txt|yml|yaml|toml|sh|rs|c|h|html|css|log|mod|sum)\b`)},
	{"id", regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]{7,64}\b|\b[A-Z]{2,10}-\d+\b`)},
	{"number", regexp.MustCompile(`\b\d{5,}\b`)},
	{"name", regexp.MustCompile(`\b[A-Za-z_]\w*(?:[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9])\w*\b`)},
}

func identifiersOf(text string) map[string]string {
	out := map[string]string{}
	for _, x := range identifiers {
		for _, s := range x.re.FindAllString(text, -1) {
			s = strings.TrimRight(s, ".,:;-")
			if _, ok := out[s]; ok || len(s) < 5 || x.class == "id" && !strings.ContainsAny(s, "0123456789") {
				continue
			}
			out[s] = x.class
		}
	}
	return out
}

// TestS5AnchorsOfRecordedTranscripts measures how much of what later assistant
// messages use of a result of more than 2,000 characters its preview holds. What was
// said before, or stands in a short result, needs no anchor and does not count. The
// test fails if a change makes the share worse.
func TestS5AnchorsOfRecordedTranscripts(t *testing.T) {
	dir := os.Getenv("DOCKET_CORPUS")
	if dir == "" {
		t.Log("DOCKET_CORPUS is not set: the anchors of recorded transcripts are not measured")
		t.Skip("DOCKET_CORPUS is not set: the anchors of recorded transcripts are not measured")
	}
	files, err := filepath.Glob(filepath.Join(dir, "transcripts", "anthropic", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in %q (%v)", dir, err)
	}
	m := measure{used: map[string]int{}, held: map[string]int{}, schema: map[string]int{}}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m.transcript(t, text)
	}
	exact := [2]int{}
	for _, c := range []string{"path", "id", "url", "number", "name"} {
		t.Logf("%-6s used later %5d, in the preview %4d (%.0f %%)", c, m.used[c], m.held[c], 100*float64(m.held[c])/float64(max(m.used[c], 1)))
		if c != "name" {
			exact[0], exact[1] = exact[0]+m.used[c], exact[1]+m.held[c]
		}
	}
	if exact[1]*2 < exact[0] {
		t.Errorf("the previews hold %d of %d exact words: they held three fifths", exact[1], exact[0])
	}
	t.Logf("paths, ids, urls, numbers: %d of %d (%.0f %%); previews: %d of %.0f characters", exact[1], exact[0], 100*float64(exact[1])/float64(exact[0]), m.previews, float64(m.chars)/float64(m.previews))
}

type measure struct {
	used, held, schema map[string]int
	previews, chars    int
}

type turn struct {
	Role    string
	Content json.RawMessage
}

type block struct {
	Type, Text string
	Input      json.RawMessage
	Content    json.RawMessage
}

func blocks(raw json.RawMessage) []block {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []block{{Type: "text", Text: s}}
	}
	var out []block
	json.Unmarshal(raw, &out)
	return out
}

func (m *measure) transcript(t *testing.T, text []byte) {
	var body struct{ Messages []turn }
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatal(err)
	}
	type result struct {
		text, preview, expanded string
	}
	var results []result
	known := map[string]bool{}
	learn := func(text string) {
		for s := range identifiersOf(text) {
			known[s] = true
		}
	}
	for _, msg := range body.Messages {
		for _, b := range blocks(msg.Content) {
			switch {
			case msg.Role == "assistant":
				said := b.Text + decoded(b.Input)
				for s, class := range identifiersOf(said) {
					if known[s] {
						continue
					}
					for i := len(results) - 1; i >= 0; i-- {
						if strings.Contains(results[i].text, s) {
							m.used[class]++
							if holds(results[i].expanded, s) {
								m.held[class]++
							}
							break
						}
					}
				}
				learn(said)
			case b.Type == "text":
				learn(b.Text)
			case b.Type == "tool_result":
				var parts []string
				for _, c := range blocks(b.Content) {
					if c.Type == "text" {
						parts = append(parts, c.Text)
					}
				}
				text := strings.Join(parts, "\n")
				if CountChars([]byte(text)) <= 2000 {
					learn(text)
					continue
				}
				_, _, preview := Outline([]byte(text), Build([]byte(text), []int64{int64(len(text))}))
				m.previews++
				m.chars += len(preview)
				results = append(results, result{text: text, preview: preview, expanded: expand(preview)})
			}
		}
	}
}

var braces = regexp.MustCompile(`([^" ]*/)\{([^}]*)\}`)

// expand writes out "folder/{a b}".
func expand(preview string) string {
	return braces.ReplaceAllStringFunc(preview, func(s string) string {
		m := braces.FindStringSubmatch(s)
		return m[1] + strings.ReplaceAll(m[2], " ", " "+m[1])
	})
}

// holds tells whether word stands in text with nothing of a word around it.
func holds(text, word string) bool {
	for at := 0; ; at++ {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(word)
		if (at == 0 || wordClass[text[at-1]]%4 == 0) && (end == len(text) || wordClass[text[end]]%4 == 0) {
			return true
		}
	}
}

// decoded returns the strings of a JSON value, one a line.
func decoded(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	var out strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out.WriteString("\n" + v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return out.String()
}
