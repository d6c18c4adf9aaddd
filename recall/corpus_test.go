package recall

// Slices of real payloads against an oracle that holds each payload as an array of
// characters. DOCKET_CORPUS names the folder; -slices says how many of each kind.

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"docket"
	"docket/engine"
)

var slicesFlag = flag.Int("slices", 8, "random slices of each payload and kind of key in the corpus tests")

// recorded is a payload of the corpus in a ledger in memory.
type recorded struct {
	name    string
	payload []byte
	id      docket.MemID
	kind    docket.Kind
}

// corpusLedger records the corpus once for all tests.
var corpusLedger = sync.OnceValues(func() (*engine.Memory, []recorded) {
	l := engine.NewMemory(nil)
	dir := filepath.Join(os.Getenv("DOCKET_CORPUS"), "payloads")
	files, _ := os.ReadDir(dir)
	var out []recorded
	for _, f := range files {
		payload, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			panic(err)
		}
		if raced && len(payload) > 1<<18 {
			continue
		}
		handles, err := l.Record(context.Background(), "t", docket.Result{Call: docket.Call{ID: docket.CallID(f.Name())}, Payload: payload})
		if err != nil {
			panic(err)
		}
		out = append(out, recorded{f.Name(), payload, handles[0].MemID, handles[0].Kind})
	}
	return l, out
})

// corpus returns the recorded payloads, and how many slices of each to try.
func corpus(t *testing.T) (*engine.Memory, []recorded, int) {
	if os.Getenv("DOCKET_CORPUS") == "" {
		t.Log("DOCKET_CORPUS is not set: NO REAL PAYLOAD IS TESTED")
		t.Skip("DOCKET_CORPUS is not set: no real payload is tested")
	}
	l, payloads := corpusLedger()
	if len(payloads) == 0 {
		t.Fatal("an empty corpus")
	}
	if testing.Short() || raced {
		return l, payloads, 2
	}
	return l, payloads, *slicesFlag
}

// oracle is a text as characters: the brute force that an answer is held against.
type oracle struct {
	text   []byte
	chars  []int32 // code points; a byte that is not UTF-8 beyond all of them
	folded []int32
	starts []int // the byte where each begins, and the end
}

func newOracle(text []byte) *oracle {
	n := utf8.RuneCount(text)
	o := &oracle{text: text, chars: make([]int32, 0, n), folded: make([]int32, 0, n), starts: make([]int, 0, n+1)}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			r = unicode.MaxRune + 1 + rune(text[i])
		}
		o.chars, o.folded, o.starts = append(o.chars, r), append(o.folded, smallest(r)), append(o.starts, i)
		i += size
	}
	o.starts = append(o.starts, len(text))
	return o
}

func smallest(r rune) rune {
	low := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		low = min(low, f)
	}
	return low
}

func (o *oracle) slice(start, end int64) []byte { return o.text[o.starts[start]:o.starts[end]] }

// find returns all matches at or after a character.
func (o *oracle) find(query string, from int64, fold bool) []Span {
	q := newOracle([]byte(query))
	text, want := o.chars, q.chars
	if fold {
		text, want = o.folded, q.folded
	}
	var out []Span
	for i := int(from); i+len(want) <= len(text); i++ {
		if text[i] == want[0] && slices.Equal(text[i:i+len(want)], want) {
			out = append(out, Span{int64(i), int64(len(want))})
			i += len(want) - 1
		}
	}
	return out
}

// checkRange holds an answer against the oracle.
func (o *oracle) checkRange(t testing.TB, req Request, a Answer) {
	t.Helper()
	total := int64(len(o.chars))
	start := min(*req.Offset, total)
	end := min(total, start+req.MaxChars)
	if !bytes.Equal(a.Text, o.slice(start, end)) || a.Start != start || a.End != end || a.TotalChars != total || (a.NextOffset >= 0) != (end < total) {
		t.Fatalf("range %d + %d of %d: got %d–%d of %d, next %d", *req.Offset, req.MaxChars, total, a.Start, a.End, a.TotalChars, a.NextOffset)
	}
}

// checkQuery holds an answer without a limit of characters against the oracle.
func (o *oracle) checkQuery(t testing.TB, req Request, a Answer) {
	t.Helper()
	from := int64(0)
	if req.Offset != nil {
		from = *req.Offset
	}
	query := req.Query
	if a.Escaped != "" {
		if len(o.find(query, from, req.IgnoreCase)) > 0 {
			t.Fatalf("%q was searched escaped, but it is there", query)
		}
		query = a.Escaped
	}
	all := o.find(query, from, req.IgnoreCase)
	shown := all[:min(len(all), req.MaxMatches)]
	if !slices.Equal(a.Matches, shown) {
		t.Fatalf("query %q from %d: %d matches %.200v, want %d %.200v", query, from, len(a.Matches), a.Matches, len(shown), shown)
	}
	if a.MatchCount > len(all) || a.MatchCountExact && a.MatchCount != len(all) || a.NextOffset < 0 && len(shown) != len(all) {
		t.Fatalf("query %q: count %d, exact %v, next %d; there are %d", query, a.MatchCount, a.MatchCountExact, a.NextOffset, len(all))
	}
	var want []Span
	window := max(0, int64(req.Window))
	for _, m := range shown {
		w := Span{max(0, m.Offset-window), 0}
		w.Chars = min(int64(len(o.chars)), m.end()+window) - w.Offset
		if n := len(want) - 1; n >= 0 && want[n].end() >= w.Offset {
			want[n].Chars = w.end() - want[n].Offset
		} else {
			want = append(want, w)
		}
	}
	for i, w := range a.Windows {
		if i >= len(want) || w.Span != want[i] || !bytes.Equal(w.Text, o.slice(w.Offset, w.end())) {
			t.Fatalf("query %q: window %d is %v of %d", query, i, w.Span, len(a.Windows))
		}
	}
	if len(want) != len(a.Windows) {
		t.Fatalf("query %q: %d windows, want %d", query, len(a.Windows), len(want))
	}
}

// TestL6CorpusComesBack: every payload byte-exact, whole and by pages.
func TestL6CorpusComesBack(t *testing.T) {
	l, payloads, _ := corpus(t)
	for _, p := range payloads {
		a := fetchFrom(t, l, Request{MemID: p.id, Format: FormatFull})
		if !bytes.Equal(a.Text, p.payload) {
			t.Errorf("%s: %d of %d bytes came back", p.name, len(a.Text), len(p.payload))
		}
		var pages []byte
		for next := int64(0); next >= 0; next = a.NextOffset {
			a = fetchFrom(t, l, Request{MemID: p.id, Offset: &next, MaxChars: 70_001})
			pages = append(pages, a.Text...)
		}
		if !bytes.Equal(pages, p.payload) {
			t.Errorf("%s: the pages make %d bytes of %d", p.name, len(pages), len(p.payload))
		}
	}
}

// TestL7E5CorpusSlicesEqualOracle: ranges and queries of 1, 2, 3, 4 and more
// characters, both cases, of every payload.
func TestL7E5CorpusSlicesEqualOracle(t *testing.T) {
	l, payloads, n := corpus(t)
	done := 0
	for _, p := range payloads {
		o := newOracle(p.payload)
		rng := rand.New(rand.NewPCG(uint64(len(p.payload)), 7))
		ok := t.Run(p.name, func(t *testing.T) {
			for range n {
				done += o.checkSlices(t, l, rng, Request{MemID: p.id})
			}
		})
		if !ok {
			return
		}
	}
	t.Logf("%d slices equal the oracle", done)
}

// checkSlices tries a range and three queries of the text that base selects.
func (o *oracle) checkSlices(t testing.TB, l docket.Ledger, rng *rand.Rand, base Request) (done int) {
	req := base
	req.Offset, req.MaxChars = new(rng.Int64N(int64(len(o.chars))+2)), 1+rng.Int64N(50_000)
	o.checkRange(t, req, fetchFrom(t, l, req))
	queries := o.queries(rng)
	for _, req := range queries {
		req.MemID, req.Path = base.MemID, base.Path
		o.checkQuery(t, req, fetchFrom(t, l, req))
	}
	return 1 + len(queries)
}

func fetchFrom(t testing.TB, l docket.Ledger, req Request) Answer {
	t.Helper()
	a, err := Fetch(t.Context(), l, "t", req)
	if err != nil {
		t.Fatalf("%+v: %v", req, err)
	}
	return a
}

// queries draws three: a piece of the text, the same in other letters of the other
// case, and one that was spoilt.
func (o *oracle) queries(rng *rand.Rand) []Request {
	if len(o.chars) == 0 {
		return nil
	}
	length := []int64{1, 2, 3, 4, 8, 12, 40, 300}[rng.IntN(8)]
	monotonous := o.chars[0] == o.chars[5%len(o.chars)] // "[[[[[…": the oracle would be quadratic
	if rng.IntN(50) == 0 && !monotonous {
		length = 40_000 // longer than a frame
	}
	start := rng.Int64N(int64(len(o.chars)))
	piece := string(o.slice(start, min(start+length, int64(len(o.chars)))))
	other := strings.Map(func(r rune) rune {
		if r == utf8.RuneError {
			return r
		}
		return unicode.SimpleFold(r)
	}, piece)
	if !utf8.ValidString(piece) {
		other = piece
	}
	req := Request{Query: piece, Window: 1 + rng.IntN(400), MaxMatches: 1 + rng.IntN(30)}
	folded, spoilt := req, req
	folded.Query, folded.IgnoreCase = other, true
	spoilt.Query = piece + "\x01"
	if rng.IntN(2) == 0 {
		req.Offset = new(rng.Int64N(start + 1))
	}
	return []Request{req, folded, spoilt}
}

// TestL7PathThenQueryThenRange: the arguments compose; a path's value is searched
// and paged as if it were the payload.
func TestL7PathThenQueryThenRange(t *testing.T) {
	l, payloads, n := corpus(t)
	done := 0
	for _, p := range payloads {
		var root any
		if p.kind != docket.KindJSON || json.Unmarshal(p.payload, &root) != nil {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(len(p.payload)), 8))
		for range n {
			base := Request{MemID: p.id, Path: randomPath(rng, root)}
			value := fetchFrom(t, l, base).Text
			if len(value) <= 1<<18 { // larger ones: TestL7E5CorpusSlicesEqualOracle
				done += newOracle(value).checkSlices(t, l, rng, base)
			}
		}
	}
	if done == 0 {
		t.Error("no payload of the corpus is JSON")
	}
	t.Logf("%d slices of values equal the oracle", done)
}

// randomPath descends a few steps.
func randomPath(rng *rand.Rand, v any) string {
	path := "$"
	for range rng.IntN(5) {
		switch at := v.(type) {
		case map[string]any:
			keys := make([]string, 0, len(at))
			for k := range at {
				keys = append(keys, k)
			}
			if slices.Sort(keys); len(keys) > 0 {
				k := keys[rng.IntN(len(keys))]
				quoted, _ := json.Marshal(k)
				path, v = path+"["+string(quoted)+"]", at[k]
			}
		case []any:
			if len(at) > 0 {
				i := rng.IntN(len(at))
				path, v = fmt.Sprintf("%s[%s]", path, strconv.Itoa(i)), at[i]
			}
		}
	}
	return path
}
