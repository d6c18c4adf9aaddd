package recall

// Cases that went wrong for others, and properties that they are instances of.

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestE1CutsAreCharacters: at every offset, of characters of 2 to 4 bytes, what
// comes back is valid UTF-8 of as many characters as it says.
func TestE1CutsAreCharacters(t *testing.T) {
	for _, piece := range []string{"─", "用", "📚", "é", "a─📚"} {
		payload := strings.Repeat(piece, 60)
		rec := newFakeRecord([]byte(payload), 7, true)
		chars := characters([]byte(payload))
		for offset := range int64(len(chars)) {
			a := mustFetch(t, rec, Request{Offset: &offset, MaxChars: 5})
			if !utf8.Valid(a.Text) || int64(utf8.RuneCount(a.Text)) != min(5, int64(len(chars))-offset) {
				t.Fatalf("%q at %d: %q", piece, offset, a.Text)
			}
			w := mustFetch(t, rec, Request{Offset: &offset, Query: chars[offset], Window: 3, MaxMatches: 1})
			if !utf8.Valid(w.Text) || int64(utf8.RuneCount(w.Text)) != w.Windows[0].Chars {
				t.Fatalf("%q at %d: the window %q is said to have %d characters", piece, offset, w.Text, w.Windows[0].Chars)
			}
		}
	}
}

// TestE2OneUnit: a character is a code point, in sizes, ranges and queries.
func TestE2OneUnit(t *testing.T) {
	rec := newFakeRecord([]byte("a📚b"), 1, true)
	if a := mustFetch(t, rec, Request{Offset: new(int64(2)), MaxChars: 1}); string(a.Text) != "b" || a.TotalChars != 3 {
		t.Errorf("offset 2 of %d gives %q", a.TotalChars, a.Text)
	}
	a := mustFetch(t, rec, Request{Query: "b"})
	if len(a.Matches) != 1 || a.Matches[0] != (Span{2, 1}) {
		t.Errorf("b is found at %v", a.Matches)
	}
}

// TestE2QueryOffsetsWorkInRanges: what a query reports is what a range reads, of the
// payload and of a value in it.
func TestE2QueryOffsetsWorkInRanges(t *testing.T) {
	rec := newFakeRecord([]byte(`{"x":"📚 first","list":["ü","📚 needle","ü needle"]}`), 5, true)
	for _, path := range []string{"", "list", "list[*]", "list[1:]"} {
		a := mustFetch(t, rec, Request{Path: path, Query: "needle"})
		if len(a.Matches) != 2 {
			t.Fatalf("path %q: matches %v", path, a.Matches)
		}
		for _, m := range a.Matches {
			r := mustFetch(t, rec, Request{Path: path, Offset: &m.Offset, MaxChars: m.Chars})
			if string(r.Text) != "needle" {
				t.Errorf("path %q, %+v reads %q", path, m, r.Text)
			}
		}
	}
}

// TestE4ExactCodePoints: no normalisation, and a hint that says so.
func TestE4ExactCodePoints(t *testing.T) {
	nfd := newFakeRecord([]byte("cafe\u0301 bar"), 3, true)
	a := mustFetch(t, nfd, Request{Query: "caf\u00e9"})
	if a.MatchCount != 0 || !a.MatchCountExact {
		t.Errorf("%d matches", a.MatchCount)
	}
	line, _ := firstLine(t, callTool(t, nfd, `{"query":"caf\u00e9"}`))
	if !strings.HasPrefix(line, `no match for "café", searched characters 0–9 of 9; `) || !strings.Contains(line, "exact code points") {
		t.Errorf("the model is told %q", line)
	}
	if a := mustFetch(t, nfd, Request{Query: "cafe"}); a.MatchCount != 1 {
		t.Error("the letters before a combining mark are not found")
	}
	composed := newFakeRecord([]byte("pr\u0105d"), 3, true)
	if a := mustFetch(t, composed, Request{Query: "a", IgnoreCase: true}); a.MatchCount != 0 {
		t.Error("a matches inside of \u0105")
	}
}

// TestE5ShortQueries: one to four characters, ASCII, CJK, emoji, with the index.
func TestE5ShortQueries(t *testing.T) {
	payload := strings.Repeat("db 用户数据 📚🎉 id=1; ", 200) + "zq 户口本 🎈"
	rec := newFakeRecord([]byte(payload), 64, true)
	for query, want := range map[string]int{"db": 200, "用户": 200, "用": 200, "户口本": 1, "z": 1, "zq": 1, "🎈": 1, "📚🎉": 200, "用户数据": 200, "口": 1, "q 户": 1, "缺": 0} {
		a := mustFetch(t, rec, Request{Query: query, MaxMatches: 1000})
		if a.MatchCount != want || !a.MatchCountExact {
			t.Errorf("%q: %d matches, want %d", query, a.MatchCount, want)
		}
	}
}

// TestL7EscapedForms: in JSON a query is found as a decoded string reads.
func TestL7EscapedForms(t *testing.T) {
	for _, c := range []struct{ payload, query, form string }{
		{`{"a":"say \"hi\""}`, `say "hi"`, `say \"hi\"`},
		{`{"a":"one\ntwo"}`, "one\ntwo", `one\ntwo`},
		{`{"a":"caf\u00e9"}`, "café", `caf\u00e9`},
		{`{"a":"caf\u00E9"}`, "café", `caf\u00E9`},
		{`{"a":"\ud83d\udcda"}`, "📚", `\ud83d\udcda`},
		{`{"a":"\u003cb\u003e"}`, "<b>", `\u003cb\u003e`},
		{`{"a":"http:\/\/x"}`, "http://x", `http:\/\/x`},
		{`{"a":"c:\\dir"}`, `c:\dir`, `c:\\dir`},
		{"{\"a\":\"tab\\tbed\"}\n{}", "tab\tbed", `tab\tbed`},
		{`{"a":"plain"}`, "plain", ""},
		{`{"a":"plain"}`, "pla\"in", ""},
		{`text with \"escapes\"`, `"escapes"`, ""},
	} {
		rec := newFakeRecord([]byte(c.payload), 4, true)
		a := mustFetch(t, rec, Request{Query: c.query})
		if a.Escaped != c.form || (a.MatchCount == 1) != (c.form != "" || strings.Contains(c.payload, c.query)) {
			t.Errorf("%s: %q is found %d times as %q, want %q", c.payload, c.query, a.MatchCount, a.Escaped, c.form)
		}
	}
	folded := mustFetch(t, newFakeRecord([]byte(`{"a":"caf\u00e9 CAF\u00C9"}`), 4, true), Request{Query: "Caf\u00c9", IgnoreCase: true})
	if folded.MatchCount != 1 || folded.Escaped != `Caf\u00c9` {
		t.Errorf("under folding: %d matches as %q", folded.MatchCount, folded.Escaped)
	}
	line, _ := firstLine(t, callTool(t, newFakeRecord([]byte(`{"a":"x\ny"}`), 4, true), `{"query":"x\ny"}`))
	if !strings.Contains(line, `found in its JSON-escaped form x\ny`) {
		t.Errorf("the model is told %q", line)
	}
}

// Pages concatenate to the payload for every page size, also where it is no UTF-8.
func TestL7PagesConcatenate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload, rec := record(t)
		size := rapid.Int64Range(1, 50).Draw(t, "page")
		var got []byte
		for next := int64(0); next >= 0; {
			a := mustFetch(t, rec, Request{Offset: &next, MaxChars: size})
			got, next = append(got, a.Text...), a.NextOffset
		}
		if !bytes.Equal(got, payload) {
			t.Fatalf("the pages make %q", got)
		}
	})
}

// A search that is continued where it stopped finds what one search finds, and
// what it shows of each page is within the limit.
func TestL7SearchPagesFindAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload, rec := record(t)
		query := string(text(t, "query", 3))
		if query == "" {
			return
		}
		all := naiveMatches(characters(payload), characters([]byte(query)), 0, false)
		limit := rapid.Int64Range(0, 200).Draw(t, "max chars")
		matches := rapid.IntRange(1, 4).Draw(t, "max matches")
		window := rapid.IntRange(-1, 30).Draw(t, "window")
		var got []Span
		for next := int64(0); next >= 0; {
			a := mustFetch(t, rec, Request{Query: query, Offset: &next, MaxChars: limit, MaxMatches: matches, Window: window})
			got = append(got, a.Matches...)
			shown := int64(len(characters(a.AppendText(nil))))
			if limit > 0 && len(a.Matches) > 1 && shown > limit {
				t.Fatalf("%d characters under a limit of %d", shown, limit)
			}
			if limit > 0 && len(a.Matches) == 1 && shown > max(limit, 100) {
				t.Fatalf("%d characters of one match under a limit of %d", shown, limit)
			}
			if a.NextOffset >= 0 && a.NextOffset <= next {
				t.Fatalf("no progress at %d", next)
			}
			next = a.NextOffset
		}
		if fmt.Sprint(got) != fmt.Sprint(all) {
			t.Fatalf("pages find %v, one search %v", got, all)
		}
	})
}

// A long query that differs from a monotonous payload in its last character costs
// the sum of both lengths, not their product (4·10¹⁰ comparisons).
func TestLongQueriesCostTheSum(t *testing.T) {
	rec := newFakeRecord([]byte(strings.Repeat("a", 400_000)), 32<<10, true)
	for _, req := range []Request{{Query: strings.Repeat("a", 100_000) + "b"}, {Query: strings.Repeat("A", 100_000) + "B", IgnoreCase: true}} {
		if a := mustFetch(t, rec, req); a.MatchCount != 0 || a.FramesDecoded > 80 {
			t.Errorf("%d matches, %d frames decoded", a.MatchCount, a.FramesDecoded)
		}
		req.Query = req.Query[:100_000]
		if a := mustFetch(t, rec, req); a.MatchCount != 4 || !a.MatchCountExact {
			t.Errorf("%d matches, exact %v", a.MatchCount, a.MatchCountExact)
		}
	}
}

// A slice decodes the frames that it touches, each once.
func TestFramesDecoded(t *testing.T) {
	payload := []byte(strings.Repeat("0123456789", 10_000))
	copy(payload[50_500:], "NEEDLE")
	copy(payload[79_997:], "BORDER") // from frame 79 into frame 80
	rec := newFakeRecord(payload, 1000, true)
	for _, c := range []struct {
		req  Request
		want string
	}{
		{Request{Offset: new(int64(4500)), MaxChars: 10}, "[4]"},
		{Request{Offset: new(int64(4995)), MaxChars: 10}, "[4 5]"},
		{Request{Offset: new(int64(4500)), MaxChars: 3000}, "[4 5 6 7]"},
		{Request{Offset: new(int64(200_000)), MaxChars: 10}, "[]"},
		{Request{Query: "NEEDLE", Window: 600}, "[50 49 51]"},
		{Request{Query: "NEEDLE"}, "[50]"},
		{Request{Query: "needle", IgnoreCase: true}, "[50]"},
		{Request{Query: "BORDER"}, "[79 80]"},
		{Request{Query: "ABSENT"}, "[]"},
	} {
		rec.decoded = nil
		a := mustFetch(t, rec, c.req)
		if got := fmt.Sprint(rec.decoded); got != c.want || a.FramesDecoded != len(rec.decoded) {
			t.Errorf("%+v decodes %s (says %d), want %s", c.req, got, a.FramesDecoded, c.want)
		}
	}
}
