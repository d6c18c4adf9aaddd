package bench

// The two that are compared, behind one interface: docket as an adopter would
// use it (engine and recall, nothing else of it), and the naive ledger.

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"docket"
	"docket/engine"
	"docket/recall"
)

// The subjects' names, as results print them.
const (
	Docket    = "docket"
	NaiveName = "naive"
)

// benchThread is the thread that everything is recorded in.
const benchThread docket.ThreadID = "bench"

// subject is a ledger under measurement. ids are what record returned.
type subject interface {
	name() string
	// record keeps one payload durably.
	record(ctx context.Context, call string, payload []byte) (id string, err error)
	// recordShared is record for many goroutines at once.
	recordShared(ctx context.Context, call string, payload []byte) error
	// recordAll keeps results in one commit.
	recordAll(ctx context.Context, results []docket.Result) error
	// fetch answers t: the value, the page, or the matches with their windows.
	fetch(ctx context.Context, id string, t target) (reply, error)
	// search returns the call ids of the results that hold query, ascending.
	search(ctx context.Context, query string) ([]string, error)
	file() string
	close() error
}

// reply is what a fetch gave, in a form that can be compared.
type reply struct {
	text   []byte // of a path or a range
	found  Found  // of a query
	frames int    // decoded for it; the naive ledger decodes one
}

func (r reply) equal(s reply) bool {
	return string(r.text) == string(s.text) && r.found.equal(s.found)
}

// opener opens the subject of one kind in a folder, creating its file if needed.
type opener func(dir string) (subject, error)

var openers = []opener{openDocket, openNaive}

// docketSubject is docket.
type docketSubject struct {
	*engine.Ledger
	path string
}

func openDocket(dir string) (subject, error) {
	path := filepath.Join(dir, "bench.docket")
	l, err := engine.Open(path, nil)
	if err != nil {
		return nil, err
	}
	return &docketSubject{l, path}, nil
}

func (d *docketSubject) name() string { return Docket }
func (d *docketSubject) file() string { return d.path }
func (d *docketSubject) close() error { return d.Ledger.Close() }

func (d *docketSubject) record(ctx context.Context, call string, payload []byte) (string, error) {
	handles, err := d.Record(ctx, benchThread, result(call, payload))
	if err != nil {
		return "", err
	}
	return string(handles[0].MemID), nil
}

func (d *docketSubject) recordShared(ctx context.Context, call string, payload []byte) error {
	_, err := d.record(ctx, call, payload)
	return err
}

func (d *docketSubject) recordAll(ctx context.Context, results []docket.Result) error {
	_, err := d.Record(ctx, benchThread, results...)
	return err
}

func (d *docketSubject) search(ctx context.Context, query string) (calls []string, err error) {
	for a, err := range recall.Search(ctx, d.Ledger, benchThread, recall.SearchRequest{Query: query}) {
		if err != nil {
			return nil, err
		}
		calls = append(calls, string(a.Handle.CallID))
	}
	slices.Sort(calls)
	return calls, nil
}

func result(call string, payload []byte) docket.Result {
	return docket.Result{Call: docket.Call{ID: docket.CallID(call), Tool: "bench"}, Payload: payload}
}

func (d *docketSubject) fetch(ctx context.Context, id string, t target) (reply, error) {
	req := recall.Request{MemID: docket.MemID(id), Path: t.path, Query: t.query, MaxChars: t.chars}
	if t.chars > 0 {
		req.Offset = &t.offset
	}
	a, err := recall.Fetch(ctx, d.Ledger, benchThread, req)
	if err != nil {
		return reply{}, err
	}
	r := reply{frames: a.FramesDecoded}
	if t.query == "" {
		r.text = a.Text
		return r, nil
	}
	for _, m := range a.Matches {
		r.found.Offsets = append(r.found.Offsets, m.Offset)
	}
	for _, w := range a.Windows {
		r.found.Windows = append(r.found.Windows, w.Text)
	}
	return r, nil
}

// naiveSubject is the naive ledger.
type naiveSubject struct {
	*Naive
	path string
}

func openNaive(dir string) (subject, error) {
	path := filepath.Join(dir, "bench.naive")
	n, err := OpenNaive(path)
	if err != nil {
		return nil, err
	}
	return &naiveSubject{n, path}, nil
}

func (n *naiveSubject) name() string { return NaiveName }
func (n *naiveSubject) file() string { return n.path }
func (n *naiveSubject) close() error { return n.Close() }

func (n *naiveSubject) record(_ context.Context, call string, payload []byte) (string, error) {
	return call, n.Record(call, payload)
}

func (n *naiveSubject) recordShared(_ context.Context, call string, payload []byte) error {
	return n.RecordShared(call, payload)
}

func (n *naiveSubject) recordAll(_ context.Context, results []docket.Result) error {
	return n.RecordAll(results)
}

func (n *naiveSubject) search(_ context.Context, query string) ([]string, error) {
	return n.Search(query)
}

func (n *naiveSubject) fetch(_ context.Context, id string, t target) (r reply, err error) {
	r.frames = 1
	switch {
	case t.query != "":
		r.found, err = n.Query(id, t.query)
	case t.chars > 0:
		r.text, err = n.Range(id, t.offset, t.chars)
	default:
		r.text, err = n.Path(id, t.gjson)
	}
	if err != nil {
		return r, fmt.Errorf("bench: naive fetch: %w", err)
	}
	return r, nil
}

// truth is what a fetch of t from payload must give.
func truth(payload []byte, t target) (r reply) {
	switch {
	case t.query != "":
		r.found = cutQuery(payload, t.query)
	case t.chars > 0:
		r.text = cutRange(payload, t.offset, t.chars)
	default:
		r.text = cutPath(payload, t.gjson)
	}
	return r
}
