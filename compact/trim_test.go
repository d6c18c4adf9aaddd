package compact_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"docket"
	"docket/compact"
)

// history makes messages of a short notation: "U A[1,2] T[1] T[2] S R".
// R is a system reminder, X[1] a user who speaks and answers a call at once.
func history(s string) (list []msg) {
	for _, f := range strings.Fields(s) {
		var ids []string
		if _, in, ok := strings.Cut(f, "["); ok {
			ids = strings.Split(strings.TrimSuffix(in, "]"), ",")
		}
		m := msg{text: f}
		switch f[0] {
		case 'U':
			m.role = "user"
		case 'R':
			m.role, m.text = "user", "<system-reminder>"+f+"</system-reminder>"
		case 'S':
			m.role = "system"
		case 'A':
			m.role = "assistant"
			for _, id := range ids {
				m.calls = append(m.calls, docket.Call{ID: docket.CallID(id)})
			}
		case 'T', 'X':
			m.role = "user"
			if f[0] == 'T' {
				m.role, m.text = "tool", ""
			}
			for _, id := range ids {
				m.results = append(m.results, res{id: id, text: f})
			}
		}
		list = append(list, m)
	}
	return list
}

// notation is the inverse of history.
func notation(list []msg) string {
	var out []string
	for _, m := range list {
		if m.role == "tool" {
			out = append(out, m.results[0].text)
			continue
		}
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(m.text, "<system-reminder>"), "</system-reminder>"))
	}
	return strings.Join(out, " ")
}

type trimCase struct {
	name, in string
	cap      int
	want     string
}

func runTrims(t *testing.T, cases []trimCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := notation(compact.Trim(history(c.in), adapter{}.Read, c.cap, nil)); got != c.want {
				t.Errorf("%s, cap %d: got %q, want %q", c.in, c.cap, got, c.want)
			}
		})
	}
}

func TestH1Cap(t *testing.T) {
	runTrims(t, []trimCase{
		{"cap 0", "U A U", 0, ""},
		{"negative", "U A U", -1, ""},
		{"all fit", "U A U", 3, "U A U"},
		{"nothing there", "", 3, ""},
		{"the most recent", "U1 A1 U2 A2 U3 A3", 2, "U3 A3"},
		{"the most recent, odd", "U1 A1 U2 A2 U3", 3, "U2 A2 U3"},
		{"A5 the system message counts", "S U1 A[123] T[123] U2 A", 3, "S U2 A"},
		{"A5 two of them", "S1 S2 U1 A U2 A", 3, "S1 S2 U1"},
		{"A6 first real user", "U1 A1 A2 A3", 2, "U1 A3"},
		{"A6 a reminder is none", "U1 A1 R A3", 2, "U1 A3"},
		{"A7 one user, many rounds", "U1 A[1] T[1] A[2] T[2] A[3] T[3]", 4, "U1 A[3] T[3]"},
		{"A7 cap 1", "U1 A[1] T[1] A[2] T[2]", 1, "U1 A[2] T[2]"},
		{"A7 as told", "U1" + strings.Repeat(" A[t] T[t]", 30), 10, "U1" + strings.Repeat(" A[t] T[t]", 4)},
		{"nobody speaks", "A1 A2 A3", 2, "A2 A3"},
	})
}

func TestH2WalksBack(t *testing.T) {
	runTrims(t, []trimCase{
		{"to the call", "U1 A U2 A[1] T[1] U3", 2, "U1 A[1] T[1] U3"},
		{"over several results", "U1 A[1,2,3] T[1] T[2] T[3] A", 2, "U1 A[1,2,3] T[1] T[2] T[3] A"},
		{"and stops there", "U1 A[1] T[1] A[2] T[2]", 2, "U1 A[2] T[2]"},
		{"a result and a text", "U1 A[1] X[1] A", 2, "U1 A[1] X[1] A"},
		{"instructions between", "U1 A[1] S T[1] A", 2, "U1 A[1] S T[1] A"},
		{"one id again and again", "U1 A[x] T[x] A[x] T[x] A", 3, "U1 A[x] T[x] A"},
		{"A1 middle", "U1 A[t1] T[t1] U2 A[t2] T[t2] U3", 3, "U1 A[t2] T[t2] U3"},
		{"A2 not a result first", "U1 A[t1] T[t1] U2 A U3 A", 5, "U1 A[t1] T[t1] U2 A U3 A"},
		{"A2 both gone", "U1 A[t1] T[t1] U2 A U3 A", 4, "U2 A U3 A"},
		{"A3 both or none", "U1 A[t1] T[t1] A[t2] T[t2] U2", 3, "U1 A[t2] T[t2] U2"},
	})
}

func TestH3LeadingHalves(t *testing.T) {
	runTrims(t, []trimCase{
		{"call", "A[1] U A", 9, "U A"},
		{"result", "T[1] U A", 9, "U A"},
		{"partly answered", "A[1,2] T[1] U A", 9, "U A"},
		{"partly answered over instructions", "A[1,2] S T[1] U A", 9, "U A"},
		{"only in the tail", "U A[1] U2 A2", 3, "U2 A2"},
		{"A6 a trailing call alone", "U1 A1 U2 A[t9]", 1, "U1"},
		{"A6 a trailing call", "U1 A1 U2 A[t9]", 2, "U2 A[t9]"},
	})
}

// The rows as properties, over random histories.
func TestTrimProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := history(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"U", "A", "A[1]", "A[2]", "A[1,2]", "A[1,1]", "T[1]", "T[2]", "T[1,2]", "X[1]", "S", "R",
		}), 0, 14).Draw(t, "history"), " "))
		n := rapid.IntRange(-1, 15).Draw(t, "cap")
		kept := compact.Trim(list, adapter{}.Read, n, nil)
		if n <= 0 && len(kept) > 0 {
			t.Fatalf("cap %d keeps %d", n, len(kept))
		}
		checkNoNewFault(t, list, kept)
		if len(kept) == len(list) && len(list) > 0 && &kept[0] != &list[0] {
			t.Fatal("nothing was dropped, but the slice is another")
		}
		read := readAll(kept)
		lead := 0
		for lead < len(read) && read[lead].Role == compact.RoleSystem {
			lead++
		}
		if lead < len(read) && read[lead].Role == compact.RoleAssistant && spoke(readAll(list)[:len(list)-len(kept)+lead]) {
			t.Fatalf("begins with an assistant message although a user spoke before: %s", notation(kept))
		}
		fits := len(kept) <= n || n <= lead || rounds(read) <= 1 || len(compact.Faults(readAll(list))) > 0
		if !fits && read[lead].Role == compact.RoleUser && read[lead].Speaks {
			t.Fatalf("cap %d, but %d messages and more than a round: %s of %s", n, len(kept), notation(kept), notation(list))
		}
	})
}

// rounds counts the messages that call.
func rounds(messages []compact.Message) (n int) {
	for _, m := range messages {
		if len(m.Calls) > 0 {
			n++
		}
	}
	return n
}

func spoke(messages []compact.Message) bool {
	for _, m := range messages {
		if m.Role == compact.RoleUser && m.Speaks && len(m.Results) == 0 {
			return true
		}
	}
	return false
}

func readAll(list []msg) []compact.Message {
	out := make([]compact.Message, len(list))
	for i, m := range list {
		out[i] = adapter{}.Read(m)
	}
	return out
}

type fataler interface{ Fatalf(string, ...any) }

// checkNoNewFault demands that each fault of kept is one of list's.
func checkNoNewFault(t fataler, list, kept []msg) {
	had := map[string]int{}
	for _, f := range compact.Faults(readAll(list)) {
		had[fmt.Sprint(f.Kind, f.ID)]++
	}
	for _, f := range compact.Faults(readAll(kept)) {
		if k := fmt.Sprint(f.Kind, f.ID); had[k] == 0 {
			t.Fatalf("a new fault %+v: %s of %s", f, notation(kept), notation(list))
		} else {
			had[k]--
		}
	}
}

func TestH4Logging(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))
	compact.Trim(history("U A U"), adapter{}.Read, 3, log)
	if b.Len() > 0 {
		t.Errorf("nothing dropped, but logged %q", b.String())
	}
	compact.Trim(history("U A U A"), adapter{}.Read, 2, log)
	if got := b.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=DEBUG") || !strings.Contains(got, "dropped=2 cap=2") {
		t.Errorf("logged %q", got)
	}
}

func TestH5Faults(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []compact.Fault
	}{
		{"U A[1] T[1] A", nil},
		{"U A[1,2] T[1] T[2] A", nil},
		{"U A[1] A[2] T[1,2] A", nil},
		{"U A[x] T[x] A[x] T[x]", nil},
		{"U A[x,x] T[x] T[x]", nil},
		{"U A[1] U A", []compact.Fault{{1, "1", compact.Unanswered}}},
		{"U A[1,2] T[2] A", []compact.Fault{{1, "1", compact.Unanswered}}},
		{"U A[1]", []compact.Fault{{1, "1", compact.Unanswered}}},
		{"U T[1] A", []compact.Fault{{1, "1", compact.Orphan}}},
		{"U A[1] T[1] T[1] A", []compact.Fault{{3, "1", compact.Orphan}}},
		{"U A[1] U T[1] A", []compact.Fault{{1, "1", compact.Unanswered}, {3, "1", compact.Orphan}}},
		{"U A[1] T[1] A T[1]", []compact.Fault{{4, "1", compact.Orphan}}},
	} {
		if got := compact.Faults(readAll(history(c.in))); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.in, got, c.want)
		}
	}
}
