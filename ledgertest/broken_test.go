package ledgertest

// The suite's positive control: a check that no broken ledger fails proves
// nothing.

import (
	"testing"

	"docket"
)

// broken says which check has to catch which fault.
var broken = []struct {
	fault string
	check string
	opts  Options
}{
	{"payload as valid UTF-8", "L1 recorded and read back", Options{}},
	{"payload ends at NUL", "L1 recorded and read back", Options{}},
	{"args never nil", "L1 recorded and read back", Options{}},
	{"attachments dropped", "L1 recorded and read back", Options{}},
	{"handles reversed", "L1 batch in order", Options{}},
	{"half a batch stays", "L1 nothing of a refused batch", Options{MaxPayload: 1 << 20}},
	{"no limit", "L1 nothing of a refused batch", Options{MaxPayload: 1 << 20}},
	{"half a batch stays", "L1 nothing of a conflicting batch", Options{StrictIDs: true}},
	{"context ignored", "L1 nothing under a cancelled context", Options{}},
	{"context ignored by View", "L1 nothing under a cancelled context", Options{}},
	{"context ignored by List", "L1 nothing under a cancelled context", Options{}},
	{"nothing is kept", "L1 survives reopening", Options{}},
	{"mem ids of a new key", "L1 survives reopening", Options{}},
	{"second record", "L2 same result twice", Options{}},
	{"second tool name wins", "L2 same result twice", Options{}},
	{"second record", "L2 same result twice in a batch", Options{}},
	{"mem id without call id", "L2 same result twice in a batch", Options{}},
	{"call id is all", "L3 same call id, other payload", Options{}},
	{"last payload wins", "L3 same call id, other payload", Options{}},
	{"strict ids ignored", "L3 same call id, other payload, strict", Options{StrictIDs: true}},
	{"conflict tells the new handle", "L3 same call id, other payload, strict", Options{StrictIDs: true}},
	{"call id is all", "L3 no call id", Options{}},
	{"chars are bytes", "L4 handle tells the result", Options{}},
	{"no kind", "L4 handle tells the result", Options{}},
	{"summary quotes lines", "L4 descriptive fields are lines", Options{}},
	{"threads share one lineage", "L5 mem id and tag are the thread's own", Options{}},
	{"tag without key", "L5 mem id and tag are the thread's own", Options{}},
	{"View of any thread", "L8 unknown and foreign mem ids", Options{}},
	{"prefixes match", "L8 unknown and foreign mem ids", Options{}},
	{"foreign ids answer otherwise", "L8 unknown and foreign mem ids", Options{}},
	{"chars are bytes", "L10 sizes count characters", Options{}},
	{"call id ends at NUL", "call ids are opaque bytes", Options{}},
	{"call id cut", "call ids are opaque bytes", Options{}},
	{"any thread id", "thread ids are opaque bytes", Options{}},
	{"thread id is a path", "thread ids are opaque bytes", Options{}},
	{"one thread for all", "threads are isolated", Options{}},
	{"View of any thread", "threads are isolated", Options{}},
	{"payload is the caller's", "caller keeps its slices", Options{}},
	{"frame aliases", "copies stay as they were", Options{}},
	{"attachments alias", "copies stay as they were", Options{}},
	{"one frame", "frames make the payload", Options{}},
	{"frames cut characters", "frames make the payload", Options{}},
	{"frame of nothing", "frames make the payload", Options{}},
	{"frame replaces dst", "frames make the payload", Options{}},
	{"section of nothing", "sections parse or are nil", Options{}},
	{"chars of another", "sections parse or are nil", Options{}},
	{"grams of another", "sections parse or are nil", Options{}},
	{"View drops errors", "view passes errors through", Options{}},
	{"View wraps errors", "view passes errors through", Options{}},
	{"after is included", "list in order of recording", Options{}},
	{"List forgets the last", "list in order of recording", Options{}},
	{"List goes on", "list stops when asked", Options{}},
	{"List keeps others out", "view inside a loop", Options{}},
	{"Narrow keeps others out", "view inside a loop", Options{}},
	{"Narrow by frame", "narrow never misses", Options{}},
	{"Narrow knows no folding", "narrow never misses", Options{}},
	{"log decides again", "log is grow-only", Options{}},
	{"last form wins", "log is grow-only", Options{}},
	{"log forgets the requests", "log is grow-only", Options{}},
	{"log hands out its map", "log is grow-only", Options{}},
	{"one log for all", "log is the thread's own", Options{}},
	{"nothing is kept", "log survives reopening", Options{}},
	{"any checkpoint id", "checkpoint names a moment", Options{}},
	{"checkpoint moves", "checkpoint names a moment", Options{}},
	{"fork has the present", "fork has the past", Options{}},
	{"fork without decisions", "fork has the past", Options{}},
	{"fork of a new key", "fork goes its own way", Options{}},
	{"fork shares its log", "fork goes its own way", Options{}},
	{"fork and thread are one", "fork goes its own way", Options{}},
	{"fork replaces", "fork and rewind tell what is missing", Options{}},
	{"rewind drops records", "rewind brings decisions back", Options{}},
	{"rewind keeps requests", "rewind brings decisions back", Options{}},
	{"nothing is kept", "past survives reopening", Options{}},
	{"import forgets args", "L5 exported and imported", Options{}},
	{"import replaces", "L5 exported and imported", Options{}},
	{"import goes back", "import brings forward", Options{}},
	{"import joins what diverged", "import brings forward", Options{}},
	{"import replaces", "import joins its lineage", Options{}},
	{"import checks nothing", "import refuses what is damaged", Options{}},
	{"exports nothing", "export tells what is missing", Options{}},
	{"check then act", "together", Options{}},
	{"lost update", "log together", Options{}},
}

func runCheck(t *testing.T, name, fault string, o Options) (err error) {
	t.Helper()
	for _, c := range checks() {
		if c.name != name {
			continue
		}
		p := newProbe(t.Context(), newReference(o, fault), o)
		p.reopen = func() { p.ledger = reopened(p.ledger.(*reference)) }
		p.other = func() docket.Ledger { return newReference(o, fault) }
		defer func() {
			if r := recover(); r != nil && fault == "List goes on" { // the runtime refuses to go on after a break
				err = r.(error)
			} else if r != nil {
				panic(r)
			}
		}()
		return c.run(p)
	}
	t.Fatalf("there is no check %q", name)
	return nil
}

// reopened is what a new process would find.
func reopened(l *reference) *reference {
	switch l.fault {
	case "nothing is kept":
		return newReference(l.opts, "")
	case "mem ids of a new key":
		for _, t := range l.threads {
			t.key = docket.LineageKey{1}
			for _, rec := range t.records {
				rec.handle.MemID = docket.DeriveMemID(t.key, rec.handle.CallID, rec.handle.Digest)
			}
		}
	}
	return l
}

func TestEachCheckCatchesABrokenLedger(t *testing.T) {
	caught := map[string]bool{}
	for _, c := range broken {
		t.Run(c.check+"/"+c.fault, func(t *testing.T) {
			if err := runCheck(t, c.check, c.fault, c.opts); err == nil || err == errSkipped {
				t.Errorf("a ledger with the fault %q passes", c.fault)
			} else {
				t.Log(err)
			}
		})
		caught[c.check] = true
	}
	for _, c := range checks() {
		if !caught[c.name] {
			t.Errorf("no broken ledger fails the check %q", c.name)
		}
	}
}

// TestL9TheReferenceConforms: the same ledger without a fault passes each check.
func TestL9TheReferenceConforms(t *testing.T) {
	for name, o := range map[string]Options{"loose": {}, "strict": {StrictIDs: true}, "limited": {MaxPayload: 1 << 20}} {
		t.Run(name, func(t *testing.T) {
			o.Reopen = func(_ *testing.T, l docket.Ledger) docket.Ledger { return reopened(l.(*reference)) }
			Run(t, func(*testing.T) docket.Ledger { return newReference(o, "") }, &o)
		})
	}
}
