package recall

// A ledger that keeps no index: the oracle's other half. Payloads are cut into
// frames of any size, so that a few bytes already have borders.

import (
	"context"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"docket"
	"docket/index"
)

var fakeKey = docket.LineageKey{1, 2, 3}

// fake is a ledger of one thread. Only what recall uses works.
type fake struct {
	docket.Ledger
	thread  docket.ThreadID
	records []*fakeRecord
	missing map[docket.MemID]error // what View answers for an id
}

type fakeRecord struct {
	handle   docket.Handle
	frames   [][]byte
	sections map[docket.SectionID][]byte
	damaged  int // the frame that cannot be decoded, -1: none
	decoded  []int
}

// cuts returns where frames of at least size bytes end, at character borders.
func cuts(payload []byte, size int) []int64 {
	var out []int64
	for start := 0; start < len(payload); {
		end := start
		for end < len(payload) && end-start < size {
			_, n := utf8.DecodeRune(payload[end:])
			end += n
		}
		out, start = append(out, int64(end)), end
	}
	return out
}

// newFakeRecord cuts payload into frames; with indexed it has the sections that
// the index package makes of it.
func newFakeRecord(payload []byte, size int, indexed bool) *fakeRecord {
	ends := cuts(payload, size)
	built := index.Build(payload, ends)
	rec := &fakeRecord{damaged: -1}
	rec.handle = docket.Handle{
		MemID: docket.DeriveMemID(fakeKey, "call", docket.DigestOf(payload)), CallID: "call", Tool: "tool",
		Chars: index.CountChars(payload), Bytes: int64(len(payload)), Digest: docket.DigestOf(payload), Kind: built.Kind,
	}
	rec.handle.Summary, rec.handle.Schema, rec.handle.Preview = index.Outline(payload, built)
	var start int64
	for _, end := range ends {
		rec.frames = append(rec.frames, payload[start:end])
		start = end
	}
	if indexed {
		rec.sections = map[docket.SectionID][]byte{
			docket.SectionChars: built.CharMap,
			docket.SectionPaths: built.Paths,
			docket.SectionGrams: index.AppendGrams(nil, payload, ends, len(payload)/8+64),
		}
	}
	return rec
}

func newFake(recs ...*fakeRecord) *fake {
	f := &fake{thread: "t", records: recs}
	for i, rec := range recs {
		rec.handle.Thread, rec.handle.Seq = f.thread, docket.Seq(i+1)
	}
	return f
}

func (f *fake) View(_ context.Context, thread docket.ThreadID, id docket.MemID, fn func(docket.Record) error) error {
	if err := f.missing[id]; err != nil {
		return err
	}
	for _, rec := range f.records {
		if thread == f.thread && rec.handle.MemID == id {
			return fn(rec)
		}
	}
	return docket.ErrNotFound
}

func (f *fake) List(_ context.Context, thread docket.ThreadID, after docket.Seq) iter.Seq2[docket.Handle, error] {
	return func(yield func(docket.Handle, error) bool) {
		for _, rec := range f.records {
			if thread == f.thread && rec.handle.Seq > after && !yield(rec.handle, nil) {
				return
			}
		}
	}
}

func (r *fakeRecord) Handle() docket.Handle                     { return r.handle }
func (r *fakeRecord) Args() []byte                              { return nil }
func (r *fakeRecord) Attachments() ([]docket.Attachment, error) { return nil, nil }
func (r *fakeRecord) Section(id docket.SectionID) []byte        { return r.sections[id] }
func (r *fakeRecord) Frames() int                               { return len(r.frames) }
func (r *fakeRecord) Tag(text []byte) string                    { return docket.DeriveTag(fakeKey, text) }

func (r *fakeRecord) AppendFrame(dst []byte, n int) ([]byte, error) {
	if n == r.damaged {
		return dst, &docket.CorruptError{Place: "frame", Expected: "x", Found: "y"}
	}
	r.decoded = append(r.decoded, n)
	return append(dst, r.frames[n]...), nil
}

// characters splits payload as the contract counts.
func characters(payload []byte) []string {
	var out []string
	for len(payload) > 0 {
		_, n := utf8.DecodeRune(payload)
		out = append(out, string(payload[:n]))
		payload = payload[n:]
	}
	return out
}

// naiveMatches finds query in text, character by character.
func naiveMatches(text, query []string, from int, fold bool) []Span {
	var out []Span
	for i := from; i+len(query) <= len(text); i++ {
		same := slices.EqualFunc(text[i:i+len(query)], query, func(a, b string) bool {
			return a == b || fold && utf8.ValidString(a) && utf8.ValidString(b) && strings.EqualFold(a, b)
		})
		if same && len(query) > 0 {
			out = append(out, Span{int64(i), int64(len(query))})
			i += len(query) - 1
		}
	}
	return out
}

// naiveWindows merges the windows around matches.
func naiveWindows(text []string, matches []Span, window int64) (spans []Span, texts []string) {
	for _, m := range matches {
		w := Span{max(0, m.Offset-window), 0}
		w.Chars = min(int64(len(text)), m.end()+window) - w.Offset
		if n := len(spans) - 1; n >= 0 && spans[n].end() >= w.Offset {
			spans[n].Chars = max(spans[n].end(), w.end()) - spans[n].Offset
		} else {
			spans = append(spans, w)
		}
	}
	for _, s := range spans {
		texts = append(texts, strings.Join(text[s.Offset:s.end()], ""))
	}
	return spans, texts
}

// tester is what testing.TB and rapid.T have in common.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func mustFetch(t tester, rec *fakeRecord, req Request) Answer {
	t.Helper()
	req.MemID = rec.handle.MemID
	a, err := Fetch(context.Background(), newFake(rec), "t", req)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// searchCall calls the default search tool.
func searchCall(ctx context.Context, l docket.Ledger, thread docket.ThreadID, args []byte) string {
	return Tool{}.SearchCall(ctx, l, thread, args)
}
