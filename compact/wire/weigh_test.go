package wire

// Views under the cost policy: the same from every process, the same for every try,
// and changed only where a receipt says so.

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"docket/compact"
	"docket/compact/planner"
	"docket/engine"
)

func costAware() compact.Policy {
	return compact.CostAware(planner.Options{Rates: planner.Rates{Write: 1.25, Read: 0.1}, Rule: planner.RuleMarks})
}

// A conversation through one process, and through a new one for every request, each
// request sent twice: byte-identical.
func TestCostViewsAreTheSameFromEveryProcess(t *testing.T) {
	c := rounds(40, 20_000)
	one := dialect(engine.NewMemory(nil), costAware())
	file := filepath.Join(t.TempDir(), "ledger")
	epochs := 0
	for _, n := range c.requests() {
		want, report := one.View(t.Context(), "th", c.body(n))
		if report.Err != nil {
			t.Fatal(report.Err)
		}
		if _, opened := report.Cut(); opened {
			epochs++
		}
		for try := range 2 {
			l := openLedger(t, file)
			got, _ := dialect(l, costAware()).View(t.Context(), "th", c.body(n))
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			// The lineage key, and with it the mem ids, differ from ledger to ledger.
			if a, b := withoutIDs(got), withoutIDs(want); !bytes.Equal(a, b) {
				t.Fatalf("request of %d messages, try %d: another view", n, try)
			}
		}
	}
	if epochs < 2 || epochs > 20 {
		t.Errorf("%d epochs in %d requests", epochs, len(c.requests()))
	}
}

// withoutIDs blanks the mem ids of stubs.
func withoutIDs(view []byte) []byte {
	view = bytes.Clone(view)
	for _, before := range []string{"archived as mem=", `mem_id=\"`} {
		for at := 0; ; {
			i := bytes.Index(view[at:], []byte(before))
			if i < 0 {
				break
			}
			at += i + len(before)
			copy(view[at:], "----------------")
		}
	}
	return view
}

// The cut that the receipt names is the first message that changes; one or two cache
// marks are the only other edits, and gone in the next request.
func TestReceiptNamesTheCut(t *testing.T) {
	c := rounds(30, 20_000)
	d := dialect(engine.NewMemory(nil), costAware())
	var last []byte
	opened := 0
	for _, n := range c.requests() {
		view, report := d.View(t.Context(), "th", c.body(n))
		marked := bytes.Count(view, []byte("cache_control"))
		cut, changed := report.Cut()
		if changed != (report.Receipt != nil) || changed && cut != report.Receipt.Cut || marked > 0 && !changed {
			t.Fatalf("request of %d messages: cut %d (%t), receipt %+v, %d marks", n, cut, changed, report.Receipt, marked)
		}
		plain := bytes.ReplaceAll(view, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
		same := len(last) - c.tail()
		if changed {
			opened++
			if marked < 1 || marked > 2 {
				t.Errorf("request of %d messages: %d marks, receipt %+v", n, marked, *report.Receipt)
			}
			for i, m := range gjson.GetBytes(plain, "messages").Array() {
				if i == cut {
					same = m.Index
				}
			}
		}
		if same > 0 && !bytes.Equal(last[:same], plain[:same]) {
			t.Fatalf("request of %d messages: bytes before the cut changed", n)
		}
		last = plain
	}
	if opened == 0 {
		t.Error("no epoch: the test shows nothing")
	}
}

// A window is for all of a request: what stands beside the messages counts.
func TestWindowCountsTheWholeRequest(t *testing.T) {
	for system, want := range map[string]bool{"short": false, strings.Repeat("long ", 4000): true} {
		p := costAware()
		p.Cost.Read, p.Cost.Window = 0.0001, 60_000 // nothing pays
		c := rounds(10, 5000)
		body := bytes.Replace(c.src, []byte(`{`), []byte(`{"system":"`+system+`",`), 1)
		_, report := dialect(engine.NewMemory(nil), p).View(t.Context(), "th", body)
		if forced := report.Receipt != nil && report.Receipt.Forced; forced != want || report.Err != nil {
			t.Errorf("%d bytes, of which %d beside: forced %t, %+v (%v)", len(body), len(system), forced, report.Receipt, report.Err)
		}
	}
}
