package prices

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"docket/compact/planner"
)

const small = "prices 1 2026-11-30\n" +
	"m-1 marks 100 2 2.5 4 0.1 10 5m 1000 512 # a comment\n" +
	"m-1 marks - 4 5 8 0.2 20 5m 1000 512\n" +
	"p prefix - 1.000001 1 - 0.5 - - - -\n"

func TestParse(t *testing.T) {
	table, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	m, err := table.Model("M.1")
	if err != nil || m.Rule != planner.RuleMarks || m.TTL.Minutes() != 5 || m.Window != 1000 || m.MinCache != 512 || len(m.Rows) != 2 {
		t.Errorf("%+v (%v)", m, err)
	}
	if low, high := m.At(100), m.At(101); low.Input != 2e6 || high.Input != 4e6 || high.Output != 20e6 {
		t.Errorf("%+v, %+v", low, high)
	}
	if size, ok := m.Cliff(7); size != 100 || !ok {
		t.Errorf("a cliff at %d (%t)", size, ok)
	}
	if _, ok := m.Cliff(101); ok {
		t.Error("a cliff behind the last")
	}
	if r := m.At(1).Rates(false); r != (planner.Rates{Write: 1.25, Read: 0.05}) {
		t.Errorf("%+v", r)
	}
	if r := m.At(1).Rates(true); r.Write != 2 {
		t.Errorf("for an hour: %+v", r)
	}
	p, err := table.Model("p")
	if err != nil || p.Rule != planner.RulePrefix || p.At(1<<40).Input != 1_000_001 || p.At(1).Rates(true).Write != p.At(1).Rates(false).Write || len(table.Models()) != 2 {
		t.Errorf("%+v (%v)", p, err)
	}
}

// Whatever is wrong with a table: the line, the column, and what is wanted.
func TestBadTables(t *testing.T) {
	row := "m marks - 2 2.5 4 0.1 10 5m 1000 512\n"
	head := "prices 1 2026-11-30\n"
	for text, want := range map[string]string{
		"":                               "no line",
		"# nothing\n":                    "no line",
		head:                             "no rows",
		row:                              "line 1: it begins with",
		"prices 2 2026-11-30\n" + row:    "begins with",
		"prices 1 yesterday\n" + row:     "is no date",
		head + "m marks - 2 2.5\n":       "line 2: 5 columns, want 11: model cache",
		head + row[:len(row)-1] + " 9\n": "12 columns",
		head + strings.Replace(row, "marks", "magic", 1):   "\"magic\" is no cache: want marks or prefix",
		head + strings.Replace(row, "2.5", "-1", 1):        "is no write: want USD",
		head + strings.Replace(row, "2.5", "2.5000001", 1): "is no write",
		head + strings.Replace(row, "2.5", "1e3", 1):       "is no write",
		head + strings.Replace(row, "2.5", "2.", 1):        "is no write",
		head + strings.Replace(row, "2.5", ".5", 1):        "is no write",
		head + strings.Replace(row, "2.5", "0", 1):         "is no write",
		head + strings.Replace(row, "2.5", "99999999", 1):  "is no write",
		head + strings.Replace(row, "0.1", "-", 1):         "have to be known",
		head + strings.Replace(row, "0.1", "3", 1):         "read is dearer",
		head + strings.Replace(row, "5m", "5", 1):          "is no ttl",
		head + strings.Replace(row, "5m", "500h", 1):       "is no ttl",
		head + strings.Replace(row, "1000", "much", 1):     "is no window",
		head + row + row: "line 3: m stands in the table already",
		head + strings.Replace(row, " - ", " 100 ", 1):                                          "no row for larger",
		head + strings.Replace(row, " - ", " 100 ", 1) + strings.Replace(row, " - ", " 90 ", 1): "does not ascend",
		head + strings.Replace(row, " - ", " 100 ", 1) + strings.Replace(row, "5m", "1h", 1):    "differ in more",
		head + strings.Replace(row, " - ", " 100 ", 1) + "x" + row + row:                        "already",
	} {
		_, err := Parse([]byte(text))
		if !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestDefaultTable(t *testing.T) {
	d := Default()
	for name, want := range map[string]planner.Rates{
		"claude-fable-5-1":                             {Write: 1.25, Read: 0.025},
		"claude-fable-5.1":                             {Write: 1.25, Read: 0.025},
		"claude-fable-5-20260701":                      {Write: 1.25, Read: 0.1},
		"anthropic/claude-opus-4-8@20260101":           {Write: 1.25, Read: 0.1},
		"us.anthropic.claude-sonnet-5-5-20260901-v1:0": {Write: 1.25, Read: 0.05},
		"openai/gpt-6.1-sol":                           {Write: 1.25, Read: 0.05},
		"gpt-6-sol-2026-05-01":                         {Write: 1.25, Read: 0.1},
		"Claude-Opus-5-latest":                         {Write: 1.25, Read: 0.1},
	} {
		m, err := d.Model(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := m.At(1).Rates(false); got.Write < want.Write-1e-9 || got.Write > want.Write+1e-9 || got.Read != want.Read {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	_, err := d.Model("claude-opus-9")
	if !errors.Is(err, ErrModel) || !strings.Contains(err.Error(), `"claude-opus-9"`) || !strings.Contains(err.Error(), "claude-opus-5") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"", "gpt-6", "gpt-6.1-sol-mini", strings.Repeat("x", 1<<16)} {
		if _, err := d.Model(name); !errors.Is(err, ErrModel) || len(err.Error()) > 400 {
			t.Errorf("%.20q: %.300v", name, err)
		}
	}
}

func TestMoney(t *testing.T) {
	m, err := Default().Model("claude-opus-5")
	if err != nil {
		t.Fatal(err)
	}
	u := Usage{Input: 1000, Write: 2000, Write1h: 3000, Read: 100_000}
	// 0.005 + 0.0125 + 0.03 + 0.05 dollars
	if got := m.At(1).Cost(u); got != 97_500_000_000 || got.String() != "$0.0975" {
		t.Errorf("%d, %s", got, got)
	}
	for m, want := range map[Money]string{0: "$0.0000", 1: "$0.00000000", -25e11: "-$2.50", 12e9: "$0.0120", 5e6: "$0.00000500"} {
		if m.String() != want {
			t.Errorf("%d is %s, want %s", m, m, want)
		}
	}
	for p, want := range map[Price]string{0: "-", 12_500_000: "12.50", 10_000_000: "10", 25_000: "0.025", 1: "0.000001", 500_000: "0.50"} {
		if p.String() != want {
			t.Errorf("%d is %s, want %s", p, p, want)
		}
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string][2]int64{
		"":                                     {0, 0},
		"hello world":                          {2, 3},
		strings.Repeat("word ", 1000):          {1000, 1200},
		strings.Repeat("\"id\": 12345, ", 100): {500, 1000},
		strings.Repeat("漢字", 100):              {120, 220},
		"\xff\xfe\x00":                         {1, 4},
		"getUserName":                          {3, 5},
	} {
		if got := Tokens([]byte(text)); got < want[0] || got > want[1] {
			t.Errorf("%.20q: %d tokens, want %d to %d", text, got, want[0], want[1])
		}
	}
	if n := testing.AllocsPerRun(10, func() { Tokens([]byte("some text, 123\n")) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCalibrator(t *testing.T) {
	var c Calibrator
	if c.Correct("m", 100) != 100 {
		t.Error("nothing is known, but corrected")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				c.Learn("m-2026-01-01", 1000, 1300)
			}
		})
	}
	wg.Wait()
	if got := c.Correct("m", 1000); got != 1300 {
		t.Errorf("%d", got)
	}
	c.Learn("m", 1000, 100_000) // a mistake
	c.Learn("m", 0, 5)
	c.Learn("m", 5, -1)
	if got := c.Correct("m", 1000); got != 1300 {
		t.Errorf("after a mistake: %d", got)
	}
	for range 50 {
		c.Learn("m", 1000, 3500)
	}
	if got := c.Correct("m", 1000); got > 2000 {
		t.Errorf("beyond its bounds: %d", got)
	}
}

func TestParseUsage(t *testing.T) {
	for _, c := range []struct {
		dialect, body string
		want          Usage
		ok            bool
	}{
		{"anthropic", `{"usage":{"input_tokens":3,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":7,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":6}}}`, Usage{3, 4, 6, 100, 7}, true},
		{"anthropic", `{"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1}}}`, Usage{Input: 5, Output: 1}, true},
		{"chat", `{"usage":{"prompt_tokens":50,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":40}}}`, Usage{Input: 10, Read: 40, Output: 2}, true},
		{"responses", `{"type":"response.completed","response":{"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":40},"output_tokens":2}}}`, Usage{Input: 10, Read: 40, Output: 2}, true},
		{"gemini", `{"usageMetadata":{"promptTokenCount":50,"cachedContentTokenCount":30,"candidatesTokenCount":2,"thoughtsTokenCount":3}}`, Usage{Input: 20, Read: 30, Output: 5}, true},
		{"converse", `{"metadata":{"usage":{"inputTokens":9,"outputTokens":8,"cacheReadInputTokens":7,"cacheWriteInputTokens":6}}}`, Usage{Input: 9, Write: 6, Read: 7, Output: 8}, true},
		{"chat", `{"usage":{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":40}}}`, Usage{}, false},
		{"chat", `{"usage":null}`, Usage{}, false},
		{"chat", `{"usage":{`, Usage{}, false},
		{"morse", `{"usage":{"input_tokens":1}}`, Usage{}, false},
		{"anthropic", ``, Usage{}, false},
	} {
		got, ok := ParseUsage(c.dialect, []byte(c.body))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s %s: %+v %t", c.dialect, c.body, got, ok)
		}
	}
	u := Usage{Input: 10, Write: 20, Write1h: 20, Read: 100}
	if u.Total() != 150 || u.Billed(planner.Rates{Write: 1.25, Read: 0.1}) != 70 {
		t.Errorf("%d, %v", u.Total(), u.Billed(planner.Rates{Write: 1.25, Read: 0.1}))
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add(builtIn)
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := Parse(text)
		if err != nil {
			return
		}
		for _, m := range table.Models() {
			found, err := table.Model(m.Name)
			if err == nil && found.At(1).Input <= 0 || len(m.Rows) == 0 {
				t.Fatalf("%+v (%v)", found, err)
			}
			if r := m.At(1 << 40).Rates(true); r.Write <= 0 || r.Read <= 0 {
				t.Fatalf("%+v", r)
			}
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	text := []byte(strings.Repeat("{\"id\": 12345, \"name\": \"some text of a payload\"}\n", 20_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Tokens(text)
	}
}
