package main

// The second half of try: the ledger opened again, and slices read both ways.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"docket"
	"docket/bench"
	"docket/engine"
	"docket/recall"
)

// slice is one thing to recall, of slices.json.
type slice struct {
	Question string        `json:"question"`
	CallID   docket.CallID `json:"call_id"`
	Path     string        `json:"path"`
	Query    string        `json:"query"`
	Offset   *int64        `json:"offset"`
	MaxChars int64         `json:"max_chars"`
	Holds    []string      `json:"holds"`
}

// tryRounds is how often each slice is read both ways; the median is shown.
const tryRounds = 51

func (t *trial) recall(ctx context.Context) error {
	var wanted []slice
	if err := json.Unmarshal(trySlices, &wanted); err != nil {
		return fmt.Errorf("slices: %w", err)
	}
	naive, err := bench.OpenNaive(filepath.Join(t.dir, "naive.db"))
	if err != nil {
		return err
	}
	defer naive.Close()
	return errors.Join(with(t.path, &engine.Options{ReadOnly: true}, func(l *engine.Ledger) error {
		t.say("")
		t.say("3. The ledger was closed and is opened again, as after a restart.")
		if err := t.compare(ctx, l); err != nil {
			return err
		}
		t.say("")
		t.say("4. Three questions, answered by slices of stubbed results; beside each the naive way: the payload in one")
		t.say("   zstd value, decoded whole, then searched. Medians of %d.", tryRounds)
		for _, s := range wanted {
			if err := t.answer(ctx, l, naive, s); err != nil {
				return err
			}
		}
		return nil
	}))
}

// compare reads every stubbed result back.
func (t *trial) compare(ctx context.Context, l *engine.Ledger) error {
	var total int64
	for id, want := range t.stubbed {
		got, err := recall.Fetch(ctx, l, tryThread, recall.Request{MemID: id, Format: recall.FormatFull})
		if err != nil {
			return err
		}
		if !bytes.Equal(got.Text, want) {
			return fmt.Errorf("record %s came back with other bytes", id)
		}
		total += int64(len(want))
	}
	t.say("   All %d stubbed results, %s, come back byte for byte.", len(t.stubbed), size(total))
	return nil
}

// answer recalls one slice both ways.
func (t *trial) answer(ctx context.Context, l *engine.Ledger, naive *bench.Naive, s slice) error {
	h, err := t.handle(ctx, l, s.CallID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(t.results, func(r tryResult) bool { return r.id == s.CallID })
	if i < 0 {
		return fmt.Errorf("slices: no result of call %q", s.CallID)
	}
	if err := naive.Record(string(s.CallID), t.results[i].payload); err != nil {
		return err
	}
	req := recall.Request{MemID: h.MemID, Path: s.Path, Query: s.Query, Offset: s.Offset, MaxChars: s.MaxChars}
	var ours, theirs []time.Duration
	var got recall.Answer
	for range tryRounds {
		begun := time.Now()
		if got, err = recall.Fetch(ctx, l, tryThread, req); err != nil {
			return err
		}
		ours = append(ours, time.Since(begun))
		begun = time.Now()
		if err := fetchNaively(naive, s); err != nil {
			return err
		}
		theirs = append(theirs, time.Since(begun))
	}
	for _, fact := range s.Holds {
		if !strings.Contains(string(got.Text), fact) {
			return fmt.Errorf("the slice for %q lacks %q", s.Question, fact)
		}
	}
	a, b := median(ours), median(theirs)
	t.say("")
	t.say("   %s", s.Question)
	t.say("      %s, of %s characters", asked(s), grouped(h.Chars))
	t.say("      → %s", oneLine(strings.Join(s.Holds, " · "), 84))
	t.say("      docket %s (%d of %s decoded), naive %s: %.1f times as long", bench.FormatNanos(int64(a)), got.FramesDecoded, plural(int64(frames(ctx, l, h.MemID)), "frame"), bench.FormatNanos(int64(b)), float64(b)/float64(a))
	return nil
}

func (t *trial) handle(ctx context.Context, l *engine.Ledger, id docket.CallID) (docket.Handle, error) {
	for h, err := range l.FindCall(ctx, tryThread, id) {
		return h, err
	}
	return docket.Handle{}, fmt.Errorf("call %q: %w", id, docket.ErrNotFound)
}

func frames(ctx context.Context, l *engine.Ledger, id docket.MemID) (n int) {
	_ = l.View(ctx, tryThread, id, func(r docket.Record) error {
		n = r.Frames()
		return nil
	})
	return n
}

func fetchNaively(naive *bench.Naive, s slice) (err error) {
	switch {
	case s.Path != "":
		_, err = naive.Path(string(s.CallID), s.Path)
	case s.Query != "":
		_, err = naive.Query(string(s.CallID), s.Query)
	default:
		_, err = naive.Range(string(s.CallID), *s.Offset, s.MaxChars)
	}
	return err
}

// asked says a slice in the words of the tool's arguments.
func asked(s slice) string {
	switch {
	case s.Path != "":
		return fmt.Sprintf("json_path=%q", s.Path)
	case s.Query != "":
		return fmt.Sprintf("query=%q", s.Query)
	}
	return fmt.Sprintf("offset=%d max_chars=%d", *s.Offset, s.MaxChars)
}

// oneLine is text with its white space folded, cut.
func oneLine(text string, most int) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > most {
		r = append(r[:most-1], '…')
	}
	return string(r)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
