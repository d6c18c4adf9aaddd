package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"docket"
	"docket/engine"
)

// shelf is a ledger whose clock goes a day on with every record.
type shelf struct {
	*engine.Ledger
	t     *testing.T
	now   time.Time
	mems  []docket.MemID
	noise *rand.Rand
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), noise: rand.New(rand.NewPCG(1, 2))}
	l, err := engine.Open(filepath.Join(t.TempDir(), "ledger"), &engine.Options{Now: func() time.Time { return s.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s.Ledger = l
	return s
}

// payloads of noise do not compress: sizes are what they seem.
func (s *shelf) payload(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.noise.Uint32())
	}
	return b
}

// record records one result of n bytes a day.
func (s *shelf) record(thread docket.ThreadID, n int) {
	s.t.Helper()
	s.now = s.now.Add(24 * time.Hour)
	h, err := s.Record(s.t.Context(), thread, docket.Result{Call: docket.Call{ID: docket.CallID(fmt.Sprint("c", len(s.mems)))}, Payload: s.payload(n)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.mems = append(s.mems, h[0].MemID)
}

// decide opens an epoch of the record i.
func (s *shelf) decide(thread docket.ThreadID, i int) {
	s.t.Helper()
	if _, err := s.Append(s.t.Context(), thread, docket.Epoch{Mems: []docket.MemID{s.mems[i]}}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shelf) retain(r engine.Retention) engine.RetentionReport {
	s.t.Helper()
	report, err := s.Retain(s.t.Context(), r)
	if err != nil {
		s.t.Fatal(err)
	}
	return report
}

// state spells the state of each record: l live, x expired, e erased.
func (s *shelf) state(thread docket.ThreadID) (out string) {
	s.t.Helper()
	for _, id := range s.mems {
		err := s.View(s.t.Context(), thread, id, func(docket.Record) error { return nil })
		var expired *docket.ExpiredError
		switch {
		case err == nil:
			out += "l"
		case errors.As(err, &expired):
			out += "x"
		case errors.Is(err, docket.ErrErased):
			out += "e"
		case errors.Is(err, docket.ErrNotFound):
			out += "-"
		default:
			s.t.Fatal(err)
		}
	}
	return out
}

const day = 24 * time.Hour

func TestRetainByAge(t *testing.T) {
	s := newShelf(t)
	for range 10 {
		s.record("a", 5000)
	}
	r := engine.Retention{Age: 5*day + time.Hour, Unbounded: true, DryRun: true}
	report := s.retain(r)
	if report.Records != 4 || report.All != 10 || s.state("a") != "llllllllll" {
		t.Errorf("a dry run: %+v, %s", report, s.state("a"))
	}
	r.DryRun = false
	again := s.retain(r)
	if again.Records != 4 || again.Bytes != report.Bytes || s.state("a") != "xxxxllllll" {
		t.Errorf("%+v, %s", again, s.state("a"))
	}
	if third := s.retain(r); third.Records != 0 || third.All != 6 {
		t.Errorf("once more: %+v", third)
	}
	r.Erase, r.Age = true, 3*day+time.Hour
	if s.retain(r); s.state("a") != "xxxxeellll" {
		t.Errorf("erased: %s", s.state("a"))
	}
}

func TestRetainByBytesAndThread(t *testing.T) {
	s := newShelf(t)
	for i := range 10 {
		s.record([]docket.ThreadID{"a", "b"}[i%2], 10_000)
	}
	all := s.retain(engine.Retention{Age: 1000 * day}).AllBytes
	r := engine.Retention{Bytes: all * 55 / 100, Unbounded: true}
	if s.retain(r); s.state("a") != "x-x-x-l-l-" || s.state("b") != "-x-x-l-l-l" {
		t.Errorf("%s %s", s.state("a"), s.state("b"))
	}
	if s.retain(engine.Retention{Bytes: 1, Thread: "a", Unbounded: true}); s.state("a") != "x-x-x-x-x-" || s.state("b") != "-x-x-l-l-l" {
		t.Errorf("of one thread: %s %s", s.state("a"), s.state("b"))
	}
}

// A pass takes a tenth; the next one goes on.
func TestRetainTakesATenth(t *testing.T) {
	s := newShelf(t)
	for range 30 {
		s.record("a", 5000)
	}
	r := engine.Retention{Age: time.Hour}
	s.now = s.now.Add(day)
	report := s.retain(r)
	if report.Records != 3 || report.Later != 27 {
		t.Errorf("%+v", report)
	}
	passes := 1
	for ; s.retain(r).Records > 0; passes++ {
	}
	if passes < 10 || s.state("a") != string(bytes.Repeat([]byte("x"), 30)) {
		t.Errorf("%d passes, %s", passes, s.state("a"))
	}
}

// What the stubs of a live thread name stays, until nobody uses the thread any more.
func TestRetainKeepsWhatLiveStubsName(t *testing.T) {
	s := newShelf(t)
	for range 4 {
		s.record("a", 5000)
	}
	s.decide("a", 1)
	s.now = s.now.Add(20 * day)
	r := engine.Retention{Age: day, Unbounded: true}
	if report := s.retain(r); report.Records != 3 || report.Named != 1 || s.state("a") != "xlxx" {
		t.Errorf("%+v, %s", report, s.state("a"))
	}
	s.now = s.now.Add(20 * day)
	if s.retain(r); s.state("a") != "xxxx" {
		t.Errorf("a dead thread: %s", s.state("a"))
	}
	s.record("b", 5000)
	s.decide("b", 4)
	s.now = s.now.Add(2 * day)
	r.Live = -1
	if s.retain(r); s.state("b") != "----x" {
		t.Errorf("no thread is live: %s", s.state("b"))
	}
}

// What a rewind dropped stays named: another rewind brings it back.
func TestRetainKeepsWhatARewindDropped(t *testing.T) {
	s := newShelf(t)
	for range 3 {
		s.record("a", 5000)
	}
	if _, err := s.Checkpoint(t.Context(), "a", "before"); err != nil {
		t.Fatal(err)
	}
	s.decide("a", 1)
	if err := s.Rewind(t.Context(), "a", "before"); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(10 * day)
	if s.retain(engine.Retention{Age: day, Unbounded: true}); s.state("a") != "xlx" {
		t.Errorf("%s", s.state("a"))
	}
}

// A clock that jumped, either way, lets go of nothing, unless told otherwise.
func TestRetainPausesWhenTheClockJumped(t *testing.T) {
	for _, jump := range []time.Duration{100 * day, -2 * time.Hour} {
		s := newShelf(t)
		s.record("a", 5000)
		right := s.now
		s.now = right.Add(jump)
		r := engine.Retention{Age: time.Minute, Bytes: 1}
		if _, err := s.Retain(t.Context(), r); !errors.Is(err, engine.ErrClock) || s.state("a") != "l" {
			t.Errorf("a jump of %v: error %v, %s", jump, err, s.state("a"))
		}
		r.Unbounded = true
		if s.retain(r); s.state("a") != "x" {
			t.Errorf("told otherwise: %s", s.state("a"))
		}
	}
	s := newShelf(t)
	if report, err := s.Retain(t.Context(), engine.Retention{Age: day}); err != nil || report.All != 0 {
		t.Errorf("an empty ledger: %+v, %v", report, err)
	}
}

// An expired record comes back with its handle; an erased one does not.
func TestExpiredComesBackErasedDoesNot(t *testing.T) {
	s := newShelf(t)
	payload := s.payload(5000)
	result := docket.Result{Call: docket.Call{ID: "c"}, Payload: payload}
	was, err := s.Record(t.Context(), "a", result)
	if err != nil {
		t.Fatal(err)
	}
	s.mems = append(s.mems, was[0].MemID)
	s.now = s.now.Add(day)
	s.retain(engine.Retention{Age: time.Hour, Unbounded: true})
	if s.state("a") != "x" {
		t.Fatal(s.state("a"))
	}
	is, err := s.Record(t.Context(), "a", result)
	if err != nil || is[0] != was[0] || s.state("a") != "l" {
		t.Errorf("%+v, then %+v (%v), %s", was, is, err, s.state("a"))
	}
	s.retain(engine.Retention{Age: time.Hour, Unbounded: true, Erase: true})
	if _, err := s.Record(t.Context(), "a", result); !errors.Is(err, docket.ErrErased) || s.state("a") != "e" {
		t.Errorf("recorded again: %v, %s", err, s.state("a"))
	}
}

// P8: erased bytes are in no file after the vacuum; before it they are, and so are those
// of the records that stay.
func TestErasedBytesAreInNoFile(t *testing.T) {
	s := newShelf(t)
	text := bytes.Repeat([]byte("a table of figures, 1234.5, 67\n"), 4000)
	for i, payload := range [][]byte{s.payload(300), s.payload(200_000), text, []byte("{\"a\":[1,2,3]}"), s.payload(90_000)} {
		h, err := s.Record(t.Context(), "a", docket.Result{Call: docket.Call{ID: docket.CallID(fmt.Sprint(i)), Args: s.payload(100)}, Payload: payload})
		if err != nil {
			t.Fatal(err)
		}
		s.mems = append(s.mems, h[0].MemID)
	}
	in := func(traces *engine.Traces) int {
		t.Helper()
		f, err := os.Open(s.Path())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n, err := traces.In(f)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	erased, kept := &engine.Traces{}, &engine.Traces{}
	for i, id := range s.mems {
		traces, err := s.Traces(t.Context(), "a", id)
		if err != nil || traces.Len() == 0 || in(traces) != traces.Len() {
			t.Fatalf("record %d: %d traces, %d in the file, error %v", i, traces.Len(), in(traces), err)
		}
		if i == 4 {
			kept = traces
			continue
		}
		erased.Add(traces)
		if err := s.Erase(t.Context(), "a", id); err != nil {
			t.Fatal(err)
		}
	}
	if in(erased) == 0 {
		t.Error("the control: before the vacuum the bytes are in free pages")
	}
	if _, err := s.Vacuum(t.Context(), &engine.VacuumOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if n := in(erased); n != 0 {
		t.Errorf("%d of %d traces are in the file after the vacuum", n, erased.Len())
	}
	if n := in(kept); n != kept.Len() {
		t.Errorf("of a record that stays %d of %d traces are there", n, kept.Len())
	}
	if _, err := s.Traces(t.Context(), "a", s.mems[0]); !errors.Is(err, docket.ErrErased) {
		t.Errorf("traces of an erased record: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(s.Path())); err != nil || len(entries) > 2 {
		t.Errorf("files left: %v (%v)", entries, err)
	}
}
