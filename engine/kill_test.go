package engine_test

// P1 and P2 under SIGKILL, case G1: a child records from eight goroutines and says
// so after each Record that returned; it is killed at a moment of its own; what it
// said is there, byte for byte, and the file is whole. A child that says so before
// the commit is the control: it has to be caught.

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"docket"
	"docket/engine"
)

var (
	killCycles = flag.Int("kill.cycles", 12, "SIGKILL cycles in TestKill")
	killSeed   = flag.Uint64("kill.seed", 1, "seed of TestKill")
)

// killRequest tells a child what to do until it is killed.
type killRequest struct {
	Path  string
	Seed  uint64
	Early bool // acknowledge before recording: the control
}

// acknowledged is one record that a child says is durable.
type acknowledged struct {
	ID   docket.CallID
	Size int
	Seed uint64
	Mem  docket.MemID
}

func (a acknowledged) result() docket.Result {
	if a.Size%2 == 0 {
		return result(a.ID, incompressible(a.Size, a.Seed))
	}
	return result(a.ID, text(a.Size, a.Seed))
}

func killChild(requests *json.Decoder, answers *json.Encoder) error {
	var r killRequest
	if err := requests.Decode(&r); err != nil {
		return err
	}
	l, err := engine.Open(r.Path, nil)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	say := func(a acknowledged) {
		mu.Lock()
		defer mu.Unlock()
		_ = answers.Encode(a)
	}
	var wg sync.WaitGroup
	errs := make([]error, 9)
	for g := range 8 {
		wg.Go(func() { errs[g] = recordUntilKilled(l, r, uint64(g), say) })
	}
	wg.Go(func() {
		for errs[8] == nil { // the file under the records is exchanged meanwhile
			_, errs[8] = l.Vacuum(noTest, &engine.VacuumOptions{Force: true})
			time.Sleep(20 * time.Millisecond)
		}
	})
	wg.Wait()
	return errors.Join(errs...)
}

func recordUntilKilled(l *engine.Ledger, r killRequest, g uint64, say func(acknowledged)) error {
	rnd := rand.New(rand.NewPCG(r.Seed, g))
	for i := 0; ; i++ {
		a := acknowledged{ID: docket.CallID(fmt.Sprint(r.Seed, ".", g, ".", i)), Size: rnd.IntN(1 << (4 + rnd.IntN(14))), Seed: rnd.Uint64()}
		if r.Early {
			say(a)
		}
		hs, err := l.Record(noTest, "thread", a.result())
		if err != nil {
			return err
		}
		if a.Mem = hs[0].MemID; !r.Early {
			say(a)
		}
	}
}

func TestKill(t *testing.T) {
	const sameFile = 25 // cycles on one file; then a new one, so that a long run does not grow
	rnd := rand.New(rand.NewPCG(*killSeed, 0))
	var path string
	var all []acknowledged
	total := 0
	for cycle := range *killCycles {
		if cycle%sameFile == 0 {
			verify(t, path, all, true)
			path, all = filepath.Join(t.TempDir(), "ledger.docket"), nil
		}
		said := killOnce(t, killRequest{Path: path, Seed: *killSeed<<32 + uint64(cycle)}, rnd)
		if lost := verify(t, path, said, false); lost > 0 {
			t.Fatalf("cycle %d (-kill.seed %d): %d of %d acknowledged records are lost", cycle, *killSeed, lost, len(said))
		}
		all = append(all, said...)
		total += len(said)
	}
	if lost := verify(t, path, all, true); lost > 0 {
		t.Fatalf("%d of %d acknowledged records were lost by a later cycle", lost, len(all))
	}
	t.Logf("%d cycles, %d acknowledged records, none lost", *killCycles, total)
	if total < *killCycles {
		t.Errorf("only %d records in %d cycles: the children were killed too early to show anything", total, *killCycles)
	}
}

// TestKillControl: a ledger that acknowledges before its commit is caught.
func TestKillControl(t *testing.T) {
	rnd := rand.New(rand.NewPCG(*killSeed, 1))
	for cycle := range 20 {
		path := filepath.Join(t.TempDir(), "ledger.docket")
		said := killOnce(t, killRequest{Path: path, Seed: uint64(cycle), Early: true}, rnd)
		if lost := verify(t, path, said, false); lost > 0 {
			t.Logf("caught in cycle %d: %d of %d lost", cycle, lost, len(said))
			return
		}
	}
	t.Error("20 kills of a child that acknowledges too early lost nothing: TestKill shows nothing")
}

// killOnce runs a child, kills it some time after its first word, and returns what
// it said.
func killOnce(t *testing.T, r killRequest, rnd *rand.Rand) (said []acknowledged) {
	t.Helper()
	c := start(t, "kill")
	if err := c.requests.Encode(r); err != nil {
		t.Fatal(err)
	}
	hear := func(line []byte) {
		var a acknowledged
		if json.Unmarshal(line, &a) == nil { // the last may be cut
			said = append(said, a)
		}
	}
	select {
	case line, ok := <-c.answers:
		if !ok {
			<-c.exited
			t.Fatalf("the child ended by itself: %v\n%s", c.err, c.stderr)
		}
		hear(line)
	case <-time.After(20 * time.Second):
		t.Fatal("the child said nothing")
	}
	die := time.After(time.Duration(rnd.IntN(120_000)) * time.Microsecond)
	for killed := false; ; {
		select {
		case line, ok := <-c.answers:
			if !ok {
				<-c.exited
				if !killed {
					t.Fatalf("the child ended by itself: %v\n%s", c.err, c.stderr)
				}
				return said
			}
			hear(line)
		case <-die:
			killed = true
			_ = c.cmd.Process.Kill()
		}
	}
}

// verify opens the ledger as it was left, checks it, and counts what is lost of
// what was acknowledged.
func verify(t *testing.T, path string, said []acknowledged, data bool) (lost int) {
	t.Helper()
	if path == "" {
		return 0
	}
	l, err := engine.Open(path, nil)
	if err != nil {
		t.Fatalf("after a kill: %v", err)
	}
	defer l.Close()
	report, err := l.Check(t.Context(), &engine.CheckOptions{ReadData: data})
	if err != nil {
		t.Fatalf("after a kill: %v", err)
	}
	for _, f := range report.Findings {
		t.Errorf("after a kill: %v", f)
	}
	for _, a := range said {
		want := a.result()
		id := a.Mem
		if id == "" { // acknowledged before it had one
			for h, err := range l.FindCall(t.Context(), "thread", a.ID) {
				if err != nil {
					t.Fatal(err)
				}
				id = h.MemID
			}
		}
		got, err := payload(l, "thread", id)
		switch {
		case errors.Is(err, docket.ErrNotFound):
			lost++
		case err != nil:
			t.Errorf("record %s: %v", a.ID, err)
		case string(got) != string(want.Payload):
			t.Errorf("record %s: other bytes", a.ID)
		}
	}
	alone(t, path)
	return lost
}
