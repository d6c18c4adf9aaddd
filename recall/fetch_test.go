package recall

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"docket"
)

// text draws a payload: ASCII, two to four bytes a character, letters whose cases
// differ in length, and bytes that are no UTF-8.
func text(t *rapid.T, name string, maxLen int) []byte {
	alphabet := rapid.SampledFrom([]string{
		"ab", "abAB \n", "ab─用户", "a📚é", "kKsſK\u212aßẞåÅ", "a\xff\xe2\x82\xac\xf0\x9f", "\xe2\x82é\xc3",
	}).Draw(t, name+" alphabet")
	pieces := characters([]byte(alphabet))
	var b strings.Builder
	for range rapid.IntRange(0, maxLen).Draw(t, name+" length") {
		b.WriteString(rapid.SampledFrom(pieces).Draw(t, name))
	}
	return []byte(b.String())
}

func record(t *rapid.T) ([]byte, *fakeRecord) {
	payload := text(t, "payload", 300)
	return payload, newFakeRecord(payload, rapid.IntRange(1, 64).Draw(t, "frame"), rapid.Bool().Draw(t, "indexed"))
}

func TestL7RangeEqualsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload, rec := record(t)
		chars := characters(payload)
		offset := rapid.Int64Range(0, int64(len(chars))+5).Draw(t, "offset")
		most := rapid.Int64Range(0, 400).Draw(t, "max")
		req := Request{MemID: rec.handle.MemID, Offset: &offset, MaxChars: most}
		a, err := Fetch(t.Context(), newFake(rec), "t", req)
		if err != nil {
			t.Fatal(err)
		}
		start := min(int(offset), len(chars))
		end := len(chars)
		if most > 0 {
			end = min(end, start+int(most))
		}
		next := int64(-1)
		if end < len(chars) {
			next = int64(end)
		}
		want := fmt.Sprintf("%q %d–%d of %d, next %d", strings.Join(chars[start:end], ""), start, end, len(chars), next)
		got := fmt.Sprintf("%q %d–%d of %d, next %d", a.Text, a.Start, a.End, a.TotalChars, a.NextOffset)
		if got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestL7QueryEqualsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload, rec := record(t)
		chars := characters(payload)
		query := text(t, "query", 4)
		if len(chars) > 0 && rapid.Bool().Draw(t, "from payload") {
			i := rapid.IntRange(0, len(chars)-1).Draw(t, "query start")
			j := min(len(chars), i+rapid.SampledFrom([]int{1, 2, 3, 4, 9, 100, 300}).Draw(t, "query length"))
			query = []byte(strings.Join(chars[i:j], ""))
		}
		if len(query) == 0 {
			return
		}
		offset := rapid.Int64Range(0, int64(len(chars))).Draw(t, "offset")
		req := Request{
			MemID: rec.handle.MemID, Query: string(query), Offset: &offset, IgnoreCase: rapid.Bool().Draw(t, "fold"),
			Window: rapid.SampledFrom([]int{-1, 1, 2, 7, 40}).Draw(t, "window"), MaxMatches: rapid.SampledFrom([]int{1, 2, 5, 1000}).Draw(t, "max matches"),
		}
		a, err := Fetch(t.Context(), newFake(rec), "t", req)
		if err != nil {
			t.Fatal(err)
		}
		checkQuery(t, chars, req, a)
	})
}

// checkQuery compares an answer without a limit of characters with the oracle.
func checkQuery(t tester, chars []string, req Request, a Answer) {
	t.Helper()
	all := naiveMatches(chars, characters([]byte(req.Query)), int(*req.Offset), req.IgnoreCase)
	shown := all[:min(len(all), req.MaxMatches)]
	if fmt.Sprint(a.Matches) != fmt.Sprint(shown) {
		t.Fatalf("matches %v, want %v of %v", a.Matches, shown, all)
	}
	if a.MatchCount > len(all) || a.MatchCountExact && a.MatchCount != len(all) || len(shown) == len(all) && a.MatchCount != len(all) {
		t.Fatalf("count %d, exact %v; there are %d", a.MatchCount, a.MatchCountExact, len(all))
	}
	if len(all) > len(shown) && (a.NextOffset != shown[len(shown)-1].end() || a.End != a.NextOffset) {
		t.Fatalf("next %d, end %d, last shown %v", a.NextOffset, a.End, shown[len(shown)-1])
	}
	if a.NextOffset < 0 && (!a.MatchCountExact || a.End != int64(len(chars))) {
		t.Fatalf("no next offset, exact %v, end %d", a.MatchCountExact, a.End)
	}
	window := max(0, int64(req.Window))
	spans, texts := naiveWindows(chars, shown, window)
	var gotSpans []Span
	var gotTexts []string
	for _, w := range a.Windows {
		gotSpans, gotTexts = append(gotSpans, w.Span), append(gotTexts, string(w.Text))
	}
	if fmt.Sprint(gotSpans) != fmt.Sprint(spans) || fmt.Sprintf("%q", gotTexts) != fmt.Sprintf("%q", texts) {
		t.Fatalf("windows %v %q\nwant %v %q", gotSpans, gotTexts, spans, texts)
	}
}

// A ledger whose handle promises more than its frames hold gets an error, never a
// hang or wrong text.
func TestPromisesOfAHandleAreChecked(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		for _, payload := range []string{"", "some text, some more ─ text"} {
			rec := newFakeRecord([]byte(payload), 5, indexed)
			rec.handle.Bytes += 1000
			rec.handle.Chars += 1000
			for _, req := range []Request{
				{Format: FormatFull}, {Query: "text", Window: 500}, {Offset: new(int64(500)), MaxChars: 9}, {Path: "a"},
			} {
				req.MemID = rec.handle.MemID
				a, err := Fetch(t.Context(), newFake(rec), "t", req)
				var damaged *docket.CorruptError
				if !errors.As(err, &damaged) && req.Path == "" && a.MatchCount == 0 {
					t.Errorf("indexed %v, %q, %+v: %+v, error %v", indexed, payload, req, a, err)
				}
			}
		}
	}
}

// A damaged index section costs a scan, never an error or another answer.
func TestDamagedSectionsChangeNothing(t *testing.T) {
	payload := []byte(`{"list":[` + strings.Repeat(`{"name":"größe","n":12345},`, 3000) + `{"name":"needle","n":1}]}`)
	rec := newFakeRecord(payload, 2048, true)
	requests := []Request{
		{Offset: new(int64(5000)), MaxChars: 300}, {Query: "needle"}, {Query: "NEEDLE", IgnoreCase: true}, {Query: "absent"},
		{Path: "list[-1].name"}, {Path: "list[200]"}, {Path: "list", Query: "needle"},
	}
	answer := func(req Request) string {
		a := mustFetch(t, rec, req)
		a.FramesDecoded = 0
		return fmt.Sprintf("%+v", a)
	}
	var want []string
	for _, req := range requests {
		want = append(want, answer(req))
	}
	for _, id := range []docket.SectionID{docket.SectionChars, docket.SectionPaths, docket.SectionGrams} {
		whole := rec.sections[id]
		if len(whole) == 0 {
			t.Fatalf("there is no section %c to damage", id)
		}
		damaged := [][]byte{nil, whole[:len(whole)/2], append(bytes.Clone(whole), 0)}
		for i := 0; i < len(whole); i += 1 + len(whole)/40 {
			hurt := bytes.Clone(whole)
			hurt[i] ^= 0x10
			damaged = append(damaged, hurt)
		}
		for i, section := range damaged {
			rec.sections[id] = section
			for n, req := range requests {
				if got := answer(req); got != want[n] {
					t.Errorf("section %c, damage %d, %+v:\n%.300s\nwant\n%.300s", id, i, req, got, want[n])
				}
			}
		}
		rec.sections[id] = whole
	}
}
