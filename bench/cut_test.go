package bench

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"docket"
)

func openTestNaive(t *testing.T) *Naive {
	t.Helper()
	n, err := OpenNaive(filepath.Join(t.TempDir(), "naive"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// The naive ledger is the measure of docket's answers, so its own are checked
// against slices of runes.
func TestNaiveAnswers(t *testing.T) {
	n := openTestNaive(t)
	payload := `{"a":[{"k":"héllo"},{"k":"世界🌍"}],"n":1.50}` + strings.Repeat(" ", 300)
	if err := n.Record("one", []byte(payload)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a.1.k": `"世界🌍"`, "n": "1.50", "a.0": `{"k":"héllo"}`, "b": "", "a.7": ""} {
		if got, err := n.Path("one", path); err != nil || string(got) != want {
			t.Errorf("path %s: %q, %v, want %q", path, got, err, want)
		}
	}
	if got, err := n.Range("one", 11, 7); err != nil || string(got) != string([]rune(payload)[11:18]) {
		t.Errorf("range: %q, %v", got, err)
	}
	found, err := n.Query("one", "界🌍")
	if err != nil || len(found.Offsets) != 1 || found.Offsets[0] != 27 || len(found.Windows) != 1 {
		t.Fatalf("query: %+v, %v", found, err)
	}
	if want := string([]rune(payload)[:27+2+window]); string(found.Windows[0]) != want {
		t.Errorf("window: %q, want %q", found.Windows[0], want)
	}
	if _, err := n.Range("two", 0, 1); err != ErrNoPayload {
		t.Errorf("unknown id: %v", err)
	}
}

func TestNaiveSearchesAll(t *testing.T) {
	n := openTestNaive(t)
	err := n.RecordAll([]docket.Result{result("b", []byte("needle")), result("a", []byte("a needle")), result("c", []byte("hay"))})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.RecordShared("d", []byte("needles")); err != nil {
		t.Fatal(err)
	}
	if got, err := n.Search("needle"); err != nil || strings.Join(got, "") != "abd" {
		t.Errorf("found %q, %v", got, err)
	}
}

// text draws payloads with runes of every length and bytes that are none.
func text(t *rapid.T, label string) []byte {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ab", "é", "世", "🌍", "\xff", "\xe4\xb8", "\n"}), 0, 60).Draw(t, label)
	return []byte(strings.Join(pieces, ""))
}

func runes(b []byte) []string {
	var out []string
	for len(b) > 0 {
		n := skipChars(b, 1)
		out, b = append(out, string(b[:n])), b[n:]
	}
	return out
}

func TestCutRangeAgainstRunes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Repeated, to pass the step that counts four kilobytes at once.
		b := bytes.Repeat(text(t, "payload"), rapid.SampledFrom([]int{1, 200}).Draw(t, "times"))
		all := runes(b)
		from := rapid.IntRange(0, len(all)+2).Draw(t, "offset")
		n := rapid.IntRange(0, len(all)+2).Draw(t, "chars")
		want := strings.Join(all[min(from, len(all)):min(from+n, len(all))], "")
		if got := cutRange(b, int64(from), int64(n)); string(got) != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestCutQueryAgainstRunes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(strings.ToValidUTF8(string(text(t, "payload")), ""))
		b = append(b, bytes.Repeat([]byte("."), rapid.IntRange(0, 500).Draw(t, "dots"))...)
		b = append(b, strings.ToValidUTF8(string(text(t, "tail")), "")...)
		query := rapid.SampledFrom([]string{"a", "ab", "世", "🌍\n", "zz"}).Draw(t, "query")
		all, q := []rune(string(b)), []rune(query)
		var want Found
		end := -1 // of the last window, in runes
		for i := 0; i+len(q) <= len(all) && len(want.Offsets) < maxMatches; i++ {
			if string(all[i:i+len(q)]) != query {
				continue
			}
			want.Offsets = append(want.Offsets, int64(i))
			from, to := max(i-window, 0), min(i+len(q)+window, len(all))
			if from <= end {
				last := &want.Windows[len(want.Windows)-1]
				*last = append(*last, string(all[end:to])...)
			} else {
				want.Windows = append(want.Windows, []byte(string(all[from:to])))
			}
			end = to
			i += len(q) - 1
		}
		if got := cutQuery(b, query); !got.equal(want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}
