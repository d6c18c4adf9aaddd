package main

// The main job, told step by step on a transcript that was recorded by running
// real programs (testdata/try/record.go): each request as it would be sent, the
// ledger closed and opened again, three slices recalled.

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"docket"
	"docket/compact"
	"docket/compact/wire"
	"docket/engine"
)

//go:embed testdata/try/transcript.json
var tryTranscript []byte

//go:embed testdata/try/slices.json
var trySlices []byte

const tryThread = docket.ThreadID("try")

func (a *app) tryCommand() *cobra.Command {
	var keep string
	c := verb("show", &cobra.Command{
		Use:   "try [--keep-file FILE]",
		Short: "see the main job done on a recorded transcript",
		Long: `See the main job done: a transcript of an agent, with the outputs of real programs,
is recorded and compacted request by request; the ledger is closed and opened again;
three slices are recalled, beside the naive way. Nothing is left behind, unless
--keep-file names where the ledger should stay.`,
	}, cobra.NoArgs)
	c.Flags().StringVar(&keep, "keep-file", "", "keep the ledger as this `FILE`")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		dir, err := os.MkdirTemp("", "docket-try-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		t := &trial{out: a.out, path: filepath.Join(dir, "try.docket"), dir: dir}
		if keep != "" {
			if _, err := os.Lstat(keep); err == nil {
				return usagef("--keep-file %q is there already", keep)
			}
			t.path, t.keep = keep, true
		}
		return t.run(c.Context())
	}
	return c
}

// trial is one run of try.
type trial struct {
	out  io.Writer
	dir  string
	path string // of the ledger
	keep bool

	requests []request
	stubbed  map[docket.MemID][]byte // what the last view shows as stubs → payloads
	results  []tryResult
	before   int64 // bytes of all requests
	after    int64 // bytes of all wire bodies
}

// request is a body as the agent's client makes it.
type request struct {
	messages int
	body     []byte
}

func (t *trial) say(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

func (t *trial) run(ctx context.Context) error {
	if err := t.load(); err != nil {
		return err
	}
	if err := t.compact(ctx); err != nil {
		return err
	}
	if err := t.recall(ctx); err != nil {
		return err
	}
	if t.keep {
		t.say("\nThe ledger is %s: try docket --db %s ls", t.path, t.path)
	} else {
		t.say("\nNothing is left behind; --keep-file FILE keeps the ledger, to look at with docket --db FILE ls.")
	}
	t.say("Next: docket record --help, docket compact --help, or the ten lines of Go in the README.")
	return nil
}

// load reads the transcript and cuts it into the requests that its agent made: one
// before each message of the assistant, and one for the last question.
func (t *trial) load() error {
	var all map[string]json.RawMessage
	var messages []json.RawMessage
	if err := json.Unmarshal(tryTranscript, &all); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	if err := json.Unmarshal(all["messages"], &messages); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	for i, raw := range messages {
		var m tryMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return fmt.Errorf("transcript, message %d: %w", i, err)
		}
		if m.Role == "assistant" {
			t.requests = append(t.requests, request{i, requestBody(all, messages[:i])})
		}
		for _, part := range m.Content {
			if part.Type == "tool_result" {
				t.results = append(t.results, tryResult{part.ID, []byte(part.Content)})
			}
		}
	}
	t.requests = append(t.requests, request{len(messages), requestBody(all, messages)})
	return nil
}

// tryMessage is what try reads of a message of its transcript, whose contents are
// all lists and whose results are all strings.
type tryMessage struct {
	Role    string `json:"role"`
	Content []struct {
		Type    string        `json:"type"`
		ID      docket.CallID `json:"tool_use_id"`
		Content string        `json:"content"`
	} `json:"content"`
}

// tryResult is a tool result of the transcript.
type tryResult struct {
	id      docket.CallID
	payload []byte
}

// requestBody is the transcript's body with these messages only.
func requestBody(all map[string]json.RawMessage, messages []json.RawMessage) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, name := range []string{"model", "max_tokens", "system", "tools"} {
		fmt.Fprintf(&b, "%q:%s,", name, all[name])
	}
	b.WriteString(`"messages":[`)
	for i, m := range messages {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(m)
	}
	b.WriteString("]}")
	return b.Bytes()
}

// compact sends every request through the dialect and draws what goes out.
func (t *trial) compact(ctx context.Context) error {
	last := t.requests[len(t.requests)-1]
	t.say("1. The transcript: an agent asks why the docket binary is large. %d messages, %d results of real", last.messages, len(t.results))
	t.say("   programs (go list, go test -json, nm, git log, grep …), %s.", size(int64(len(last.body))))
	t.say("")
	t.say("2. Each request, recorded and compacted: results above 2,000 characters that are older than the last")
	t.say("   three become stubs on the wire. One line a request:  █ goes out with docket, ░ would without.")
	t.say("")
	err := with(t.path, &engine.Options{}, func(l *engine.Ledger) error {
		dialect := wire.Anthropic{Service: &compact.Service{Ledger: l, Log: l, Policy: compact.Default()}}
		for i, r := range t.requests {
			view, report := dialect.View(ctx, tryThread, r.body)
			if report.Err != nil {
				return report.Err
			}
			t.before += int64(len(r.body))
			t.after += int64(len(view))
			t.draw(i+1, len(r.body), len(view), report)
			t.remember(report)
		}
		return nil
	})
	if err != nil {
		return err
	}
	info, err := os.Stat(t.path)
	if err != nil {
		return err
	}
	t.say("")
	t.say("   All %d requests together: %s without docket, %s with it: %.1f times less.", len(t.requests), size(t.before), size(t.after), float64(t.before)/float64(t.after))
	t.say("   The ledger, every large result in full and with its indexes: %s.", size(info.Size()))
	return nil
}

// draw writes one request as a bar.
func (t *trial) draw(n, before, after int, report compact.Report) {
	const width = 44
	scale := float64(len(t.requests[len(t.requests)-1].body)) / width
	with := max(1, int(float64(after)/scale+0.5))
	without := max(with, int(float64(before)/scale+0.5))
	fresh := 0
	for _, d := range report.Decisions {
		if d.New() {
			fresh++
		}
	}
	note := ""
	if fresh > 0 {
		note = "  +" + plural(int64(fresh), "stub")
	}
	t.say("   %2d %s%s%s %9s of %9s%s", n, strings.Repeat("█", with), strings.Repeat("░", without-with), strings.Repeat(" ", width-without), size(int64(after)), size(int64(before)), note)
}

// remember keeps what was stubbed, to compare it with what is read back.
func (t *trial) remember(report compact.Report) {
	t.stubbed = map[docket.MemID][]byte{}
	for _, d := range report.Decisions {
		if d.Applied {
			t.stubbed[d.MemID] = t.results[d.Index].payload
		}
	}
}
