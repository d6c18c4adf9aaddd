package wire

// Forks and rewinds as a provider sees them: an agent that is restored at a request
// sends the bytes that it sent then, whatever was decided since, on either ledger, after
// a restart, and after a move to another ledger.

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"docket"
	"docket/compact"
	"docket/compact/planner"
	"docket/engine"
)

// pastLedger is a ledger whose threads have a past.
type pastLedger interface {
	ledger
	docket.Forker
}

// sent is a conversation that was sent request by request, with a checkpoint after each.
type sent struct {
	*conversation
	t      *testing.T
	policy compact.Policy
	views  map[int][]byte // by number of messages
}

func (s *sent) at(n int) docket.CheckpointID { return docket.CheckpointID(fmt.Sprintf("%04d", n)) }

func (s *sent) view(l ledger, thread docket.ThreadID, n int) []byte {
	s.t.Helper()
	out, r := dialect(l, s.policy).View(s.t.Context(), thread, s.body(n))
	if r.Err != nil {
		s.t.Fatalf("request %d: %v", n, r.Err)
	}
	return bytes.Clone(out)
}

// send sends every request.
func send(t *testing.T, l pastLedger, c *conversation, p compact.Policy) *sent {
	s := &sent{conversation: c, t: t, policy: p, views: map[int][]byte{}}
	for _, n := range c.requests() {
		s.views[n] = s.view(l, "th", n)
		if _, err := l.Checkpoint(t.Context(), "th", s.at(n)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// changed counts the requests whose view in a thread is another one than was sent.
func (s *sent) changed(l pastLedger, restore func(n int) docket.ThreadID) (changed int) {
	for _, n := range s.requests() {
		if !bytes.Equal(s.view(l, restore(n), n), s.views[n]) {
			changed++
		}
	}
	return changed
}

var pastPolicies = map[string]compact.Policy{
	"static": {Threshold: 2000, KeepLast: 3},
	"cost":   compact.CostAware(planner.Options{Rates: planner.Rates{Write: 1.25, Read: 0.1}, Rule: planner.RuleMarks}),
}

func TestForkAndRewindSendTheSameBytes(t *testing.T) {
	for name, p := range pastPolicies {
		t.Run("memory, "+name, func(t *testing.T) {
			l := engine.NewMemory(nil)
			send(t, l, rounds(25, 8000), p).demand(l)
		})
		t.Run("file, "+name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger")
			l := openLedger(t, path)
			s := send(t, l, rounds(25, 8000), p)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			l = openLedger(t, path)
			defer l.Close()
			s.demand(l)
			checkWhole(t, l)
		})
	}
}

// demand forks at every request, and rewinds to every checkpoint, back and forth.
func (s *sent) demand(l pastLedger) {
	t, ctx := s.t, s.t.Context()
	fork := func(n int) docket.ThreadID {
		to := docket.ThreadID(fmt.Sprint("fork at ", n))
		if err := l.Fork(ctx, "th", s.at(n), to); err != nil {
			t.Fatal(err)
		}
		return to
	}
	rewind := func(n int) docket.ThreadID {
		if err := l.Rewind(ctx, "th", s.at(n)); err != nil {
			t.Fatal(err)
		}
		return "th"
	}
	stay := func(int) docket.ThreadID { return "th" }
	if n := s.changed(l, stay); n == 0 {
		t.Error("the control: without a fork or a rewind no view changes, so the test shows nothing")
	}
	if n := s.changed(l, fork); n > 0 {
		t.Errorf("%d of %d forks send another view than was sent there", n, len(s.views))
	}
	for i := range 3 { // upwards through all lines that the rounds before left
		if n := s.changed(l, rewind); n > 0 {
			t.Errorf("round %d: %d of %d rewinds send another view than was sent there", i, n, len(s.views))
		}
	}
	requests := s.requests()
	for i := len(requests) - 1; i >= 0; i -= 2 { // downwards, and on from there
		thread := rewind(requests[i])
		for _, n := range requests[i:min(i+4, len(requests))] {
			if !bytes.Equal(s.view(l, thread, n), s.views[n]) {
				t.Errorf("rewound to request %d, the view of request %d is another one", requests[i], n)
			}
		}
	}
	s.move(l)
}

// move exports the thread at its last checkpoint: on another ledger the views are the
// same, and so are those of forks there.
func (s *sent) move(l pastLedger) {
	t, ctx := s.t, s.t.Context()
	var export bytes.Buffer
	if err := l.Export(ctx, "th", &export); err != nil {
		t.Fatal(err)
	}
	other := engine.NewMemory(nil)
	if _, err := other.Import(ctx, &export, nil); err != nil {
		t.Fatal(err)
	}
	n := s.changed(other, func(n int) docket.ThreadID {
		if err := other.Rewind(ctx, "th", s.at(n)); err != nil {
			t.Fatal(err)
		}
		return "th"
	})
	if n > 0 {
		t.Errorf("after a move %d of %d rewinds send another view than was sent there", n, len(s.views))
	}
}

func checkWhole(t *testing.T, l *engine.Ledger) {
	t.Helper()
	report, err := l.Check(t.Context(), &engine.CheckOptions{ReadData: true})
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("check: %v, error %v", report.Findings, err)
	}
}

// On recorded conversations: forks at every fourth request.
func TestCorpusForks(t *testing.T) {
	forks := 0
	for i, path := range transcripts(t) {
		if i%6 != 0 { // a sample: the whole corpus takes a minute
			continue
		}
		l := engine.NewMemory(nil)
		s := send(t, l, load(t, path), compact.Default())
		for j, n := range s.requests() {
			if j%4 != 0 {
				continue
			}
			to := docket.ThreadID(fmt.Sprint("fork at ", n))
			if err := l.Fork(t.Context(), "th", s.at(n), to); err != nil {
				t.Fatal(err)
			}
			if forks++; !bytes.Equal(s.view(l, to, n), s.views[n]) {
				t.Errorf("%s: a fork at request %d sends another view than was sent there", s.name, n)
			}
		}
	}
	t.Logf("%d forks", forks)
	if forks == 0 {
		t.Error("no fork: the test shows nothing")
	}
}
