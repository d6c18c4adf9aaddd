package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"docket"
	"docket/engine"
)

// TestP7ForeignIDs: ten thousand foreign, guessed and edited mem ids show nothing,
// and all in the same words.
func TestP7ForeignIDs(t *testing.T) {
	file := openNew(t, &engine.Options{NoSync: true})
	for name, l := range map[string]docket.Ledger{"file": file, "memory": engine.NewMemory(nil)} {
		t.Run(name, func(t *testing.T) {
			own := map[docket.MemID]bool{}
			var foreign []docket.Handle
			for i := range 100 {
				r := result(docket.CallID(fmt.Sprint(i)), fmt.Sprint("the same in every thread ", i))
				foreign = append(foreign, record(t, l, "theirs", r)...)
				own[record(t, l, "mine", r)[0].MemID] = true
			}
			never := answerTo(t, l, "aaaaaaaaaaaaaaaa")
			rnd := rand.New(rand.NewPCG(1, 7))
			const alphabet = "abcdefghijklmnopqrstuvwxyz234567"
			for n := range 10_000 {
				id := []byte(foreign[n%len(foreign)].MemID)
				switch n % 3 {
				case 1: // a guess
					for i := range id {
						id[i] = alphabet[rnd.IntN(len(alphabet))]
					}
				case 2: // an edit, of one's own or a foreign one
					if n%2 == 0 {
						id = []byte(record(t, l, "mine", result("0", "the same in every thread 0"))[0].MemID)
					}
					id[rnd.IntN(len(id))] = alphabet[rnd.IntN(len(alphabet))]
				}
				if own[docket.MemID(id)] {
					continue
				}
				if got := answerTo(t, l, docket.MemID(id)); got != never {
					t.Fatalf("%s is answered %q, an id that never was %q", id, got, never)
				}
			}
		})
	}
}

func answerTo(t *testing.T, l docket.Ledger, id docket.MemID) string {
	t.Helper()
	err := l.View(t.Context(), "mine", id, func(docket.Record) error {
		return errors.New("a record is shown")
	})
	if !errors.Is(err, docket.ErrNotFound) {
		t.Fatalf("View of %s: %v", id, err)
	}
	return err.Error()
}

// TestP7Control: the thread check is what keeps a foreign record out: the record
// exists, and its own thread sees it.
func TestP7Control(t *testing.T) {
	l := openNew(t, nil)
	h := record(t, l, "theirs", result("1", "payload"))[0]
	if b, err := payload(l, "theirs", h.MemID); err != nil || string(b) != "payload" {
		t.Errorf("%q, %v", b, err)
	}
}
