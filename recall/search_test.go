package recall

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"docket"
	"docket/engine"
	"docket/index"
)

// narrowing is a fake that rules records out as engines do.
type narrowing struct {
	*fake
	narrowed []string // the queries
}

func (n *narrowing) Narrow(_ context.Context, thread docket.ThreadID, query []byte, fold bool) iter.Seq2[docket.MemID, error] {
	n.narrowed = append(n.narrowed, string(query))
	q := index.NewQuery(query, fold)
	return func(yield func(docket.MemID, error) bool) {
		for _, rec := range n.records {
			if thread == n.thread && q.MayContain(rec.sections[docket.SectionGrams]) && !yield(rec.handle.MemID, nil) {
				return
			}
		}
	}
}

// found lists the positions that a search yields, errors as negative ones.
func positions(t testing.TB, l docket.Ledger, req SearchRequest) (out []int64) {
	t.Helper()
	for a, err := range Search(t.Context(), l, "t", req) {
		at := int64(a.Handle.Seq)
		if err != nil {
			at = -1
		} else if req.Query != "" && len(a.Matches) == 0 {
			t.Errorf("record %d is yielded without a match", at)
		}
		out = append(out, at)
	}
	return out
}

func TestL7SearchNarrowedEqualsListed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"alpha", "beta", "Gamma", "用户", "café", `caf\u00e9`, "a/b", `a\/b`, "\"q\"", `\"q\"`, "x"}
	var recs []*fakeRecord
	for i := range 100 {
		var b strings.Builder
		for range rng.IntN(400) {
			b.WriteString(words[rng.IntN(len(words))] + " ")
		}
		payload := fmt.Sprintf("%d %s", i, b.String())
		if i%2 == 0 {
			payload = fmt.Sprintf(`{"n":%d,"s":"%s"}`, i, strings.NewReplacer(`"q"`, "q", `\"q"`, "q").Replace(strings.ReplaceAll(b.String(), `\"q\"`, `\"q\"`)))
		}
		recs = append(recs, newFakeRecord([]byte(payload), 128, true))
	}
	l := newFake(recs...)
	for _, query := range []string{"alpha", "gamma", "Gamma", "用户", "café", "a/b", `"q"`, "absent", "beta alpha", "7 ", "x x x x"} {
		for _, fold := range []bool{false, true} {
			for _, after := range []docket.Seq{0, 40} {
				req := SearchRequest{Query: query, IgnoreCase: fold, After: after, MaxMatches: 2}
				listed, narrowed := positions(t, l, req), positions(t, &narrowing{fake: l}, req)
				if !slices.Equal(listed, narrowed) || !slices.IsSorted(listed) {
					t.Errorf("%q, fold %v, after %d: listed %v, narrowed %v", query, fold, after, listed, narrowed)
				}
			}
		}
	}
	if got := positions(t, &narrowing{fake: l}, SearchRequest{Query: "alpha", MaxRecords: 3}); len(got) != 3 {
		t.Errorf("at most 3 records: %v", got)
	}
	if got := positions(t, &narrowing{fake: l}, SearchRequest{After: 90}); len(got) != 10 {
		t.Errorf("without a query, after 90 of 100: %v", got)
	}
}

// Records that cannot be read do not end a search, and do not hide.
func TestSearchPassesOverWhatCannotBeRead(t *testing.T) {
	recs := make([]*fakeRecord, 5)
	for i := range recs {
		recs[i] = newFakeRecord(fmt.Appendf(nil, "record %d has the needle", i+1), 8, false)
	}
	l := newFake(recs...)
	recs[1].damaged = 0
	l.missing = map[docket.MemID]error{recs[2].handle.MemID: &docket.ExpiredError{}, recs[3].handle.MemID: docket.ErrErased}
	if got := positions(t, l, SearchRequest{Query: "needle"}); fmt.Sprint(got) != "[1 -1 5]" {
		t.Errorf("found %v", got)
	}
	var reported error
	answer := Tool{Report: func(err error) { reported = err }}.SearchCall(t.Context(), l, "t", []byte(`{"query":"needle"}`))
	if !strings.Contains(answer, "mem="+string(recs[1].handle.MemID)+" cannot be read") || reported == nil {
		t.Errorf("reported %v, the model gets %q", reported, answer)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for a, err := range Search(ctx, l, "t", SearchRequest{Query: "needle"}) {
		if !errors.Is(err, context.Canceled) || a.Handle.MemID != "" {
			t.Errorf("a cancelled search yields %v, %v", a.Handle.MemID, err)
		}
	}
	if answer := searchCall(ctx, l, "t", []byte(`{"query":"needle"}`)); !strings.Contains(answer, "nothing is lost") {
		t.Errorf("a cancelled search tells the model %q", answer)
	}
}

func TestSearchCall(t *testing.T) {
	l := engine.NewMemory(nil)
	for i := range 25 {
		payload := fmt.Sprintf("result %d: %s needle%d \xff", i, strings.Repeat("hay ", 1000), i%2)
		call := docket.Call{ID: docket.CallID(fmt.Sprint(i)), Tool: "Bash"}
		if _, err := l.Record(t.Context(), "t", docket.Result{Call: call, Payload: []byte(payload)}); err != nil {
			t.Fatal(err)
		}
	}
	call := func(args string) (head string, records []string) {
		text := searchCall(t.Context(), l, "t", []byte(args))
		if n := utf8.RuneCountInString(text); n > DefaultMaxChars+headBound || !utf8.ValidString(text) {
			t.Errorf("%s: %d characters", args, n)
		}
		head, body, _ := strings.Cut(text, "\nmem=")
		if body != "" {
			records = strings.Split(body, "\nmem=")
		}
		return head, records
	}
	for _, c := range []struct {
		args, head string
		records    int
	}{
		{`{"query":"needle1"}`, `[docket.tool_memory search] 10 results of this conversation with a match for "needle1"; more: after=20; read one with recall_tool_result`, 10},
		{`{"query":"needle1","after":"20"}`, `[docket.tool_memory search] 2 results after position 20 of this conversation with a match for "needle1"; read one with recall_tool_result`, 2},
		{`{"query":"NEEDLE1","ignore_case":"true","max_records":1}`, `[docket.tool_memory search] 1 result of this conversation with a match for "NEEDLE1"; more: after=2; read one with recall_tool_result`, 1},
		{`{"query":"NEEDLE"}`, `[docket.tool_memory search] none of the results of this conversation contains "NEEDLE"; upper and lower case differ: ignore_case=true finds both`, 0},
		{`{}`, `[docket.tool_memory search] 25 results of this conversation; read one with recall_tool_result`, 25},
		{`"needle0"`, `[docket.tool_memory search] 10 results of this conversation with a match for "needle0"; more: after=19; read one with recall_tool_result`, 10},
		{`{"after":"x"}`, `[docket.tool_memory search] cannot use after: it is a whole number, not "x"`, 0},
		{`{"query":"needle","window":100000,"max_records":1000}`, `[docket.tool_memory search] 7 results of this conversation with a match for "needle"; more: after=7; read one with recall_tool_result`, 7},
	} {
		head, records := call(c.args)
		if head != c.head || len(records) != c.records {
			t.Errorf("%s: %d records, %q", c.args, len(records), head)
		}
	}
	if text := searchCall(t.Context(), l, "other", []byte(`{"query":"needle"}`)); !strings.Contains(text, "none of the results") {
		t.Errorf("another thread gets %q", text)
	}
	if text := searchCall(t.Context(), l, "other", nil); text != "[docket.tool_memory search] there are no results in this conversation" {
		t.Errorf("an empty thread gets %q", text)
	}
	_, records := call(`{"query":"needle1","max_records":1,"window":5}`)
	if want := " tool=Bash, 4020 characters, 1 match\n[characters 4006–4020, match at 4011]\nhay  needle1 \uFFFD"; !strings.HasSuffix(records[0], want) {
		t.Errorf("the record reads %q", records[0])
	}
}
