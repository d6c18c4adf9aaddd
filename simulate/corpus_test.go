package simulate

// What recorded conversations show, on the bytes of dumped wire bodies.

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"docket/compact/planner"
)

var targets = flag.Bool("targets", false, "replay the whole corpus on wire bytes, under three rates")

// dumped replays tr under a policy and returns its wire bodies as they were dumped.
func dumped(t *testing.T, tr *Transcript, policy string, o Options) (Result, [][]byte) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	o.DumpWire = dir
	r, err := tr.Run(t.Context(), policy, o)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, tr.Name, policy, "*.json"))
	if err != nil || len(paths) != r.Requests {
		t.Fatalf("%s: %d files of %d requests, error %v", tr.Name, len(paths), r.Requests, err)
	}
	slices.Sort(paths)
	bodies := make([][]byte, len(paths))
	for i, path := range paths {
		if bodies[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return r, bodies
}

// taken is a dumped body taken apart, without this project's parsers.
type taken struct {
	head, tail []byte
	messages   [][]byte // marks aside
}

func apart(t *testing.T, body []byte) (out taken) {
	t.Helper()
	list := gjson.GetBytes(body, "messages")
	if !list.IsArray() || list.Index == 0 {
		t.Fatalf("a body without messages")
	}
	out.head, out.tail = body[:list.Index], body[list.Index+len(list.Raw):]
	for _, m := range list.Array() {
		out.messages = append(out.messages, bytes.ReplaceAll([]byte(m.Raw), []byte(`,"cache_control":{"type":"ephemeral"}`), nil))
	}
	return out
}

// firstChange returns the first message of before that now does not have, or not so.
func firstChange(before, now taken) int {
	for i, m := range before.messages {
		if i >= len(now.messages) || !bytes.Equal(m, now.messages[i]) {
			return i
		}
	}
	return len(before.messages)
}

// Consecutive bodies share everything before the cut that the receipt names, marks aside;
// and without a receipt everything.
func TestCorpusViewsShareTheirPrefix(t *testing.T) {
	requests, cuts := 0, 0
	for _, tr := range corpus(t) {
		o := options()
		r, bodies := dumped(t, tr, Cost, o)
		before := apart(t, bodies[0])
		for i, body := range bodies[1:] {
			now := apart(t, body)
			receipt, opened := r.Receipts[i+1]
			at := firstChange(before, now)
			switch sent := len(before.messages); {
			case !opened && at < sent:
				t.Errorf("%s, request %d: message %d changed without a receipt", tr.Name, i+1, at)
			case opened && receipt.Cut < sent && at != receipt.Cut:
				t.Errorf("%s, request %d: message %d changed, the receipt says %d", tr.Name, i+1, at, receipt.Cut)
			case opened && receipt.Cut >= sent:
				t.Errorf("%s, request %d: the receipt's cut %d was never sent", tr.Name, i+1, receipt.Cut)
			}
			if !bytes.Equal(before.head, now.head) || !bytes.Equal(before.tail, now.tail) {
				t.Errorf("%s, request %d: something beside the messages changed", tr.Name, i+1)
			}
			before, requests = now, requests+1
		}
		cuts += len(r.Receipts)
		if len(r.Receipts) != r.Epochs {
			t.Errorf("%s: %d receipts, %d epochs", tr.Name, len(r.Receipts), r.Epochs)
		}
	}
	t.Logf("%d pairs of requests, %d cuts", requests, cuts)
	if cuts < 100 {
		t.Errorf("%d cuts: the test shows little", cuts)
	}
}

// The control: a message that changes without a receipt, or elsewhere than it says, is
// seen.
func TestFirstChangeIsSeen(t *testing.T) {
	was := apart(t, []byte(`{"messages":[{"a":1},{"b":1},{"c":1}],"x":1}`))
	for now, want := range map[string]int{
		`{"messages":[{"a":1},{"b":1},{"c":1},{"d":1}],"x":1}`:                              3,
		`{"messages":[{"a":1},{"b":2},{"c":1},{"d":1}],"x":1}`:                              1,
		`{"messages":[{"a":1},{"b":1}],"x":1}`:                                              2,
		`{"messages":[{"a":1},{"b":1,"cache_control":{"type":"ephemeral"}},{"c":2}],"x":1}`: 2,
	} {
		if at := firstChange(was, apart(t, []byte(now))); at != want {
			t.Errorf("%s: change at %d, want %d", now, at, want)
		}
	}
}

// The targets, on dumped wire bodies: total input cost beside the offline optimum, and no
// conversation much dearer than without stubs.
func TestTargets(t *testing.T) {
	if !*targets {
		t.Skip("takes minutes: DOCKET_CORPUS=DIR go test ./simulate -run Targets -targets -v -timeout 1h")
	}
	all := corpus(t)
	for i, most := range []float64{1.05, 1.08, 1.11} {
		o := options()
		o.Rates = planner.Rates{Write: 1.25, Read: fitted[i]}
		var sums [3]Sum // of all, of the half that was fitted to, and of the other
		for n, tr := range all {
			results, err := tr.RunAll(t.Context(), []string{None, Optimum}, o)
			if err != nil {
				t.Fatal(err)
			}
			r, bodies := dumped(t, tr, Cost, o)
			c := newCache(o.Rates, tr.Rule())
			for _, body := range bodies {
				if err := c.addBody(tr.Dialect, body); err != nil {
					t.Fatal(err)
				}
			}
			r.Cost, r.CostNone, r.CostOptimum = c.cost, results[0].Cost, results[1].Cost
			if r.CostOptimum > r.CostNone+0.5 || r.CostOptimum > r.Cost+0.5 {
				t.Errorf("%s: the optimum costs %.0f, none %.0f, cost %.0f", tr.Name, r.CostOptimum, r.CostNone, r.Cost)
			}
			sums[0].Add(r)
			sums[2-n%2].Add(r)
		}
		for n, name := range []string{"all", "fitted to", "held out"} {
			s := sums[n]
			t.Logf("read %.3f, %-9s: %.4f of the optimum, %.4f of none, dearest %.4f, %d epochs", o.Read, name, s.Cost/s.CostOptimum, s.Cost/s.CostNone, s.Worst, s.Epochs)
		}
		if s := sums[0]; s.Cost > most*s.CostOptimum || s.Worst > 1.02 {
			t.Errorf("read %.3f: %.4f of the optimum, at most %.2f was asked for; dearest %.4f", o.Read, s.Cost/s.CostOptimum, most, s.Worst)
		}
	}
}
