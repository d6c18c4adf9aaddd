package engine

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"docket"
)

// collect gathers what a sequence yields.
func collect[T any](t testing.TB, seq iter.Seq2[T, error]) (all []T) {
	t.Helper()
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// TestFind: every record is found by each prefix of its mem id, over several pages
// and threads.
func TestFind(t *testing.T) {
	l := open(t, &Options{NoSync: true})
	want := map[Found]bool{}
	for th := range 3 {
		var rs []docket.Result
		for i := range listPage + 10 {
			rs = append(rs, result(docket.CallID(fmt.Sprint(i)), "x"))
		}
		hs, err := l.Record(t.Context(), docket.ThreadID(fmt.Sprint("thread ", th)), rs...)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hs {
			want[Found{h.Thread, h.MemID}] = true
		}
	}
	for _, prefix := range []string{"", "a", "zz", "q7"} {
		matches := 0
		for f := range want {
			if strings.HasPrefix(string(f.MemID), prefix) {
				matches++
			}
		}
		got := collect(t, l.Find(t.Context(), prefix))
		if len(got) != matches {
			t.Errorf("prefix %q: %d found, want %d", prefix, len(got), matches)
		}
		for _, f := range got {
			if !want[f] || !strings.HasPrefix(string(f.MemID), prefix) {
				t.Errorf("prefix %q: found %+v", prefix, f)
			}
		}
	}
	for f := range want {
		if got := collect(t, l.Find(t.Context(), string(f.MemID))); len(got) != 1 || got[0] != f {
			t.Fatalf("%s: found %+v, want %+v", f.MemID, got, f)
		}
		if err := l.Erase(t.Context(), f.Thread, f.MemID); err != nil {
			t.Fatal(err)
		}
		if got := collect(t, l.Find(t.Context(), string(f.MemID))); len(got) != 0 {
			t.Errorf("an erased record is found: %+v", got)
		}
		break
	}
	for _, prefix := range []string{"A", "1", "aaaaaaaaaaaaaaaaa", "\x00"} {
		if got := collect(t, l.Find(t.Context(), prefix)); len(got) != 0 {
			t.Errorf("prefix %q: found %d", prefix, len(got))
		}
	}
}

func TestThreads(t *testing.T) {
	l := open(t, &Options{NoSync: true})
	if got := collect(t, l.Threads(t.Context())); len(got) != 0 {
		t.Errorf("an empty ledger has %d threads", len(got))
	}
	payload := strings.Repeat("payload ", 1000)
	for _, id := range []docket.ThreadID{"b", "a", "a\x00", "\xff"} {
		if _, err := l.Record(t.Context(), id, result("1", payload), result("2", "x"), result("3", "y")); err != nil {
			t.Fatal(err)
		}
	}
	hs, err := l.Record(t.Context(), "b", result("1", payload), result("2", "x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Expire(t.Context(), "b", hs[0].MemID); err != nil {
		t.Fatal(err)
	}
	if err := l.Erase(t.Context(), "b", hs[1].MemID); err != nil {
		t.Fatal(err)
	}
	got := collect(t, l.Threads(t.Context()))
	var ids []docket.ThreadID
	for _, info := range got {
		ids = append(ids, info.ID)
		want, bytes := int64(3), int64(len(payload)+2)
		if info.ID == "b" {
			want, bytes = 2, 1
		}
		if info.Records != want || info.PayloadBytes != bytes || info.StoredBytes <= 0 || info.StoredBytes > 1000 || info.Created.IsZero() {
			t.Errorf("%+v, want %d records of %d bytes", info, want, bytes)
		}
	}
	if want := []docket.ThreadID{"a", "a\x00", "b", "\xff"}; !slices.Equal(ids, want) {
		t.Errorf("threads %q, want %q", ids, want)
	}
}

// TestNarrowIsTheScan: what narrowing yields holds all that a scan finds, in order,
// over several pages, with small and large signatures and without.
func TestNarrowIsTheScan(t *testing.T) {
	l := open(t, &Options{NoSync: true})
	m := NewMemory(nil)
	sizes := []int{0, 10, 2 << 10, 40 << 10, 300 << 10}
	for at := 0; at < 2200; at += 200 {
		var rs []docket.Result
		for i := at; i < at+200; i++ {
			n := sizes[1+i%2]
			if i%50 == 0 {
				n = sizes[i/50%len(sizes)]
			}
			payload := string(sampleJSON(n, uint64(i)))
			if i%400 == 0 {
				payload += "Zanzibar-7731"
			}
			rs = append(rs, result(docket.CallID(fmt.Sprint(i)), payload))
		}
		for _, ledger := range []docket.Ledger{l, m} {
			if _, err := ledger.Record(t.Context(), "t", rs...); err != nil {
				t.Fatal(err)
			}
		}
	}
	hs := list(t, l)
	for _, h := range []docket.Handle{hs[3], hs[800]} {
		if err := l.Erase(t.Context(), "t", h.MemID); err != nil {
			t.Fatal(err)
		}
	}
	narrowed(t, l, l, 2, "Zanzibar-7731")
	narrowed(t, m, m, 0, "Zanzibar-7731")
	if got := len(collect(t, l.Narrow(t.Context(), "t", []byte("Zanzibar-7731"), false))); got > 1500 {
		t.Errorf("%d of 2,200 records are candidates: large signatures rule out nothing", got)
	}
}

// narrowed compares Narrow with a scan.
func narrowed(t *testing.T, l docket.Ledger, n docket.Narrower, gone int, query string) {
	t.Helper()
	for _, fold := range []bool{false, true} {
		ids := collect(t, n.Narrow(t.Context(), "t", []byte(query), fold))
		at := 0
		for _, h := range list(t, l) {
			payload, err := read(t, l, "t", h.MemID)
			if err != nil {
				t.Fatal(err)
			}
			if i := slices.Index(ids[at:], h.MemID); i >= 0 {
				at += i + 1
			} else if strings.Contains(string(payload), query) {
				t.Errorf("fold %t: record %d is left out", fold, h.Seq)
			}
		}
		if at != len(ids) {
			t.Errorf("fold %t: %d of %d candidates are records in order", fold, at, len(ids))
		}
	}
	if all := collect(t, n.Narrow(t.Context(), "t", nil, false)); len(all) != 2200-gone {
		t.Errorf("an empty query yields %d of %d records", len(all), 2200-gone)
	}
}
