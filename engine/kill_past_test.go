package engine_test

// SIGKILL amid forks, rewinds and imports: a thread is there whole or not at all, what
// was acknowledged is there, and what an import left the next one takes up. A child that
// acknowledges before the fork is the control.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"docket"
	"docket/engine"
)

// pastRequest tells a child what to do until it is killed.
type pastRequest struct {
	Path    string
	Exports []string // files: each a thread of a lineage of its own
	Early   bool     // acknowledge before the fork: the control
}

// pastRecords is how many records each thread has: several commits of an import.
const pastRecords = 2500

func pastChild(requests *json.Decoder, answers *json.Encoder) error {
	var r pastRequest
	if err := requests.Decode(&r); err != nil {
		return err
	}
	l, err := engine.Open(r.Path, nil)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	say := func(thread string) {
		mu.Lock()
		defer mu.Unlock()
		_ = answers.Encode(thread)
	}
	var wg sync.WaitGroup
	errs := make([]error, 2)
	wg.Go(func() { errs[0] = forkUntilKilled(l, r, say) })
	wg.Go(func() {
		for i, file := range r.Exports {
			name := fmt.Sprint("import ", i)
			export, err := os.ReadFile(file)
			if err == nil {
				_, err = l.Import(noTest, bytes.NewReader(export), &docket.ImportOptions{As: docket.ThreadID(name)})
			}
			if errs[1] = err; err != nil {
				return
			}
			say(name)
		}
	})
	wg.Wait()
	return errors.Join(errs...)
}

func forkUntilKilled(l *engine.Ledger, r pastRequest, say func(string)) error {
	for i := 0; ; i++ {
		name := fmt.Sprint("fork ", os.Getpid(), " ", i)
		if r.Early {
			say(name)
		}
		if err := l.Fork(noTest, "base", "half", docket.ThreadID(name)); err != nil {
			return err
		}
		if err := l.Rewind(noTest, "base", docket.CheckpointID([]string{"half", "whole"}[i%2])); err != nil {
			return err
		}
		if !r.Early {
			say(name)
		}
	}
}

// pastThread fills a thread: half of its records and decisions before the checkpoint
// "half".
func pastThread(t *testing.T, l docket.Ledger, id docket.ThreadID) {
	t.Helper()
	f := l.(interface {
		docket.Forker
		Append(context.Context, docket.ThreadID, docket.Epoch) (docket.Decisions, error)
	})
	for half, name := range []docket.CheckpointID{"half", "whole"} {
		var rs []docket.Result
		for i := range pastRecords / 2 {
			rs = append(rs, result(docket.CallID(fmt.Sprint(half, ".", i)), fmt.Sprint("payload ", i, " of ", id, text(i%50, uint64(i)))))
		}
		hs := record(t, l, id, rs...)
		_, err := f.Append(t.Context(), id, docket.Epoch{Mems: []docket.MemID{hs[0].MemID, hs[1].MemID}, Messages: half + 1})
		if err == nil {
			_, err = f.Checkpoint(t.Context(), id, name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestKillPast(t *testing.T) {
	// Each cycle looks at all that earlier ones made: after so many there is a new file.
	const sameFile = 6
	var exports []string
	for i := range 3 {
		m := engine.NewMemory(nil)
		pastThread(t, m, "exported")
		var b bytes.Buffer
		if err := m.Export(t.Context(), "exported", &b); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		exports = append(exports, file)
	}
	rnd := rand.New(rand.NewPCG(*killSeed, 5))
	cycles := max(*killCycles/2, 4)
	said := 0
	var r pastRequest
	for done := 0; done < cycles; done += sameFile {
		r = pastLedger(t, exports)
		said += killPastFor(t, r, rnd, min(sameFile, cycles-done))
	}
	t.Logf("%d cycles, %d threads acknowledged, none lost", cycles, said)
	if said < cycles {
		t.Errorf("only %d threads in %d cycles: the children were killed too early to show anything", said, cycles)
	}
	r.Early = true
	for range 30 {
		early := map[string]bool{}
		for _, name := range killPast(t, r, rnd) {
			early[name] = true
		}
		if missing(t, r, early) > 0 {
			return
		}
	}
	t.Error("the control: 30 kills of a child that acknowledges too early lost nothing")
}

// pastLedger makes a ledger with a thread to fork.
func pastLedger(t *testing.T, exports []string) pastRequest {
	t.Helper()
	r := pastRequest{Path: filepath.Join(t.TempDir(), "ledger.docket"), Exports: exports}
	l := open(t, r.Path, nil)
	pastThread(t, l, "base")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

// killPastFor kills children of one ledger and returns how many threads they acknowledged.
func killPastFor(t *testing.T, r pastRequest, rnd *rand.Rand, cycles int) int {
	t.Helper()
	said := map[string]bool{}
	for range cycles {
		for _, name := range killPast(t, r, rnd) {
			said[name] = true
		}
		wholeThreads(t, r, said, false)
	}
	wholeThreads(t, r, said, true)
	return len(said)
}

// killPast runs a child, kills it some time after its first word, and returns what it
// said.
func killPast(t *testing.T, r pastRequest, rnd *rand.Rand) (said []string) {
	t.Helper()
	c := start(t, "past")
	if err := c.requests.Encode(r); err != nil {
		t.Fatal(err)
	}
	var die <-chan time.Time
	give := time.After(30 * time.Second)
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
			var name string
			if json.Unmarshal(line, &name) == nil { // the last may be cut
				said = append(said, name)
			}
			if die == nil {
				die = time.After(time.Duration(rnd.IntN(250_000)) * time.Microsecond)
			}
		case <-die:
			killed = true
			_ = c.cmd.Process.Kill()
		case <-give:
			t.Fatal("the child said nothing")
		}
	}
}

// missing counts acknowledged threads that are not there.
func missing(t *testing.T, r pastRequest, said map[string]bool) (n int) {
	t.Helper()
	l := open(t, r.Path, nil)
	defer l.Close()
	there := map[string]bool{}
	for info, err := range l.Threads(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		there[string(info.ID)] = true
	}
	for name := range said {
		if !there[name] {
			n++
		}
	}
	return n
}

// wholeThreads demands that every thread is whole and every acknowledged one there.
// With again, imports that were cut are made again.
func wholeThreads(t *testing.T, r pastRequest, said map[string]bool, again bool) {
	t.Helper()
	if n := missing(t, r, said); n > 0 {
		t.Fatalf("%d of %d acknowledged threads are lost", n, len(said))
	}
	l := open(t, r.Path, nil)
	defer l.Close()
	for i, file := range r.Exports {
		if !again {
			break
		}
		f, err := os.Open(file)
		if err == nil {
			_, err = l.Import(t.Context(), f, &docket.ImportOptions{As: docket.ThreadID(fmt.Sprint("import ", i))})
			_ = f.Close()
		}
		if err != nil {
			t.Fatalf("import %d after kills: %v", i, err)
		}
	}
	for info, err := range l.Threads(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		records, epochs := int64(pastRecords), 2
		if fork := strings.HasPrefix(string(info.ID), "fork "); fork {
			records, epochs = pastRecords/2, 1
		}
		decided, err := l.Decided(t.Context(), info.ID)
		if info.Records != records || err != nil || len(decided.Messages) != epochs && info.ID != "base" {
			t.Errorf("thread %q has %d records and %d epochs, want %d and %d (%v)", info.ID, info.Records, len(decided.Messages), records, epochs, err)
		}
	}
	if stats, err := l.Stats(t.Context()); again && (err != nil || stats.Records != int64(pastRecords*(1+len(r.Exports)))) {
		t.Errorf("%d records in all, want %d (%v)", stats.Records, pastRecords*(1+len(r.Exports)), err)
	}
	report, err := l.Check(t.Context(), &engine.CheckOptions{ReadData: again})
	if err != nil || len(report.Findings) > 0 {
		t.Fatalf("after a kill: %v, error %v", report.Findings, err)
	}
}
