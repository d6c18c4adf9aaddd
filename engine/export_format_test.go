package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"docket"
	"docket/codec"
	"docket/internal/formatdoc"
)

// exampleExport is the thread of FORMAT.md's example.
func exampleExport() *exporting {
	h := exampleRow().handle
	created := time.Unix(1700000000, 5).UTC()
	epoch := func(number uint64, id docket.MemID) docket.Epoch {
		e := exampleEpoch()
		e.Number, e.Mems = number, []docket.MemID{id}
		return e
	}
	x := &exporting{ctx: context.Background()}
	x.thread = exportThread{info: exampleInfo(), last: 9, rewinds: 1, id: "th"}
	x.image = image{
		sights: []sight{{1, 1, h.MemID}, {4, 6, "aaaaaaaaaaaaaaaa"}},
		log: epochLog{
			epochs:  []docket.Epoch{epoch(1, h.MemID)},
			dropped: []dropped{{1, epoch(1, "aaaaaaaaaaaaaaaa")}},
			rewinds: 1,
		},
		checkpoints: []checkpoint{{Checkpoint: docket.Checkpoint{ID: "cp", Created: created, Seq: 5, Epochs: 1}}},
	}
	x.carry = func(s sight) (carried, error) {
		if s.seq == 4 {
			return carried{exportRecord: exportRecord{sight: s, state: erased, since: created}}, nil
		}
		enc := codec.NewEncoder(0, codec.LevelBetter)
		return carried{
			exportRecord: exportRecord{sight: s, handle: h},
			aside:        enc.AppendFrame(nil, codec.AppendAside(nil, codec.Aside{Args: []byte("{}")})),
			frames:       [][]byte{enc.AppendFrame(nil, []byte("docket"))},
		}, nil
	}
	return x
}

func exampleBytes(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := exampleExport().to(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestExportFormatExample(t *testing.T) {
	want := formatdoc.Example(t, "export")
	if got := exampleBytes(t); !bytes.Equal(got, want) {
		t.Fatalf("FORMAT.md shows % x, Export makes % x", want, got)
	}
	m := NewMemory(nil)
	report, err := m.Import(t.Context(), bytes.NewReader(want), nil)
	if err != nil || report != (docket.ImportReport{Thread: "th", Records: 2, Added: 2, Epochs: 1, Checkpoints: 1, Changed: true}) {
		t.Fatalf("imported %+v, error %v", report, err)
	}
	if got, err := read(t, m, "th", "rh47c6ft4bjir4d3"); err != nil || string(got) != "docket" {
		t.Errorf("the payload is %q, error %v", got, err)
	}
	if _, err := read(t, m, "th", "aaaaaaaaaaaaaaaa"); !errors.Is(err, docket.ErrErased) {
		t.Errorf("the tombstone: %v", err)
	}
	var again bytes.Buffer
	if err := m.Export(t.Context(), "th", &again); err != nil || !bytes.Equal(again.Bytes(), want) {
		t.Errorf("exported again: % x, error %v", again.Bytes(), err)
	}
	l := open(t, nil)
	if _, err := l.Import(t.Context(), bytes.NewReader(want), nil); err != nil {
		t.Fatal(err)
	}
	again.Reset()
	if err := l.Export(t.Context(), "th", &again); err != nil || !bytes.Equal(again.Bytes(), want) {
		t.Errorf("exported from a file: % x, error %v", again.Bytes(), err)
	}
}

// unit is one unit of an export that a test changes.
type unit struct {
	kind byte
	body []byte
}

// takeApart returns the units of an export.
func takeApart(t testing.TB, export []byte) (us []unit) {
	t.Helper()
	r, err := newUnitReader(bytes.NewReader(export))
	if err != nil {
		t.Fatal(err)
	}
	for {
		kind, body, err := r.next(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		us = append(us, unit{kind, bytes.Clone(body)})
		if kind == unitEnd {
			return us
		}
	}
}

// putTogether makes an export of units, with the right checksums.
func putTogether(t testing.TB, us []unit) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := newUnitWriter(&b)
	for _, u := range us {
		err = errors.Join(err, w.put(u.kind, u.body))
	}
	if err := errors.Join(err, w.w.Flush()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestImportBelievesNothing: exports that are whole by their checksums and contradict
// themselves are refused, with the place, and leave nothing.
func TestImportBelievesNothing(t *testing.T) {
	epoch := exampleExport().image.log.epochs[0]
	cp := exampleExport().image.checkpoints[0]
	handle := func(change func(h *docket.Handle)) []byte {
		h := exampleRow().handle
		change(&h)
		return appendExportRecord(nil, exportRecord{sight: sight{seq: 1, moment: 1}, handle: h})
	}
	at := func(seq, moment docket.Seq) []byte {
		return appendExportRecord(nil, exportRecord{sight: sight{seq: seq, moment: moment}, handle: exampleRow().handle})
	}
	enc := codec.NewEncoder(0, codec.LevelBetter)
	// The units of the example: thread, record, aside, frame, tombstone, epoch, dropped
	// epoch, checkpoint, end.
	const thread, record, aside, frame, tombstone, present, drop, mark, end = 0, 1, 2, 3, 4, 5, 6, 7, 8
	set := func(n int, body []byte) func([]unit) []unit {
		return func(us []unit) []unit { us[n].body = body; return us }
	}
	without := func(n int) func([]unit) []unit {
		return func(us []unit) []unit { return append(us[:n], us[n+1:]...) }
	}
	twice := func(n int) func([]unit) []unit {
		return func(us []unit) []unit { return append(us[:n+1], us[n:]...) }
	}
	for name, change := range map[string]func([]unit) []unit{
		"no thread":                     without(thread),
		"two threads":                   twice(thread),
		"short thread":                  set(thread, make([]byte, 72)),
		"last position beyond all":      set(thread, appendExportThread(nil, exportThread{last: maxPosition + 1, id: "th"})),
		"another key":                   set(thread, appendExportThread(nil, exportThread{info: exampleInfo(), key: docket.LineageKey{1}, last: 9, rewinds: 1, id: "th"})),
		"more rewinds":                  set(thread, appendExportThread(nil, exportThread{info: exampleInfo(), last: 9, rewinds: 2, id: "th"})),
		"record twice":                  func(us []unit) []unit { return append(us[:4:4], append([]unit{{unitRecord, at(2, 2)}}, us[2:]...)...) },
		"position 0":                    set(record, at(0, 1)),
		"moment 0":                      set(record, at(1, 0)),
		"position to come":              set(record, at(10, 1)),
		"moment to come":                set(record, at(1, 10)),
		"positions descend":             set(tombstone, appendExportRecord(nil, exportRecord{sight: sight{1, 6, "aaaaaaaaaaaaaaaa"}, state: erased, since: time.Unix(5, 0)})),
		"another mem id":                set(record, handle(func(h *docket.Handle) { h.MemID = "aaaaaaaaaaaaaaab" })),
		"another call":                  set(record, handle(func(h *docket.Handle) { h.CallID = "toolu_02" })),
		"more bytes":                    set(record, handle(func(h *docket.Handle) { h.Bytes = 7 })),
		"fewer bytes":                   set(record, handle(func(h *docket.Handle) { h.Bytes, h.Chars = 5, 5 })),
		"fewer characters":              set(record, handle(func(h *docket.Handle) { h.Chars = 5 })),
		"lines in the summary":          set(record, handle(func(h *docket.Handle) { h.Summary = "a\n[docket.tool_memory v1]" })),
		"endless preview":               set(record, handle(func(h *docket.Handle) { h.Preview = string(make([]byte, 1<<17)) })),
		"damaged handle":                func(us []unit) []unit { us[record].body[40] ^= 1; return us },
		"another payload":               set(frame, enc.AppendFrame(nil, []byte("dockel"))),
		"frame of nothing":              set(frame, enc.AppendFrame(nil, nil)),
		"no zstd":                       set(frame, []byte("docket")),
		"no frame":                      without(frame),
		"a frame more":                  twice(frame),
		"aside of nothing":              set(aside, enc.AppendFrame(nil, []byte{0, 0})),
		"damaged aside":                 set(aside, enc.AppendFrame(nil, []byte{9})),
		"two asides":                    twice(aside),
		"tombstone with a handle":       set(tombstone, append(appendExportRecord(nil, exportRecord{sight: sight{4, 6, "aaaaaaaaaaaaaaaa"}, state: erased, since: time.Unix(5, 0)}), 'a')),
		"unknown state":                 func(us []unit) []unit { us[tombstone].body[16] = 3; return us },
		"frame of a tombstone":          func(us []unit) []unit { return append(us[:5:5], append([]unit{us[frame]}, us[5:]...)...) },
		"epoch 2 first":                 set(present, appendExportEpoch(nil, dropped{epoch: docket.Epoch{Number: 2, Form: epoch.Form, Mems: epoch.Mems}})),
		"epoch twice":                   twice(present),
		"present after dropped":         func(us []unit) []unit { us[present], us[drop] = us[drop], us[present]; return us },
		"damaged epoch":                 func(us []unit) []unit { us[present].body[20] ^= 1; return us },
		"dropped by no rewind":          without(drop),
		"dropped with one missing":      set(drop, appendExportEpoch(nil, dropped{1, docket.Epoch{Number: 3, Form: epoch.Form, Mems: epoch.Mems}})),
		"checkpoint to come":            set(mark, appendExportCheckpoint(nil, checkpoint{Checkpoint: docket.Checkpoint{ID: "cp", Created: cp.Created, Seq: 10}})),
		"checkpoint of more epochs":     set(mark, appendExportCheckpoint(nil, checkpoint{Checkpoint: docket.Checkpoint{ID: "cp", Created: cp.Created, Seq: 5, Epochs: 2}})),
		"checkpoint of more rewinds":    set(mark, appendExportCheckpoint(nil, checkpoint{rewinds: 2, Checkpoint: docket.Checkpoint{ID: "cp", Created: cp.Created, Seq: 5}})),
		"checkpoint without an id":      set(mark, appendExportCheckpoint(nil, checkpoint{Checkpoint: docket.Checkpoint{Created: cp.Created, Seq: 5}})),
		"checkpoint twice":              twice(mark),
		"record after the decision log": func(us []unit) []unit { us[tombstone], us[present] = us[present], us[tombstone]; return us },
		"end mark of fewer":             set(end, appendExportEnd(nil, exportEnd{1, 2, 1})),
		"short end mark":                set(end, nil),
		"unknown unit":                  func(us []unit) []unit { us[mark].kind = 'x'; return us },
	} {
		t.Run(name, func(t *testing.T) {
			us := takeApart(t, exampleBytes(t))
			export := putTogether(t, change(us))
			for what, l := range map[string]docket.Forker{"memory": NewMemory(nil), "file": open(t, &Options{NoSync: true})} {
				report, err := l.Import(t.Context(), bytes.NewReader(export), nil)
				var damage *docket.CorruptError
				if !errors.As(err, &damage) || damage.Place == "" {
					t.Errorf("%s: imported %+v, error %v", what, report, err)
				}
			}
		})
	}
	if _, err := NewMemory(nil).Import(t.Context(), bytes.NewReader(putTogether(t, takeApart(t, exampleBytes(t)))), nil); err != nil {
		t.Errorf("the control: the example itself is refused: %v", err)
	}
}

// TestImportIsBounded: what claims much and brings little takes little memory, and what
// is larger than the ledger takes is refused.
func TestImportIsBounded(t *testing.T) {
	us := takeApart(t, exampleBytes(t))
	m := NewMemory(&Options{MaxPayload: 5})
	if _, err := m.Import(t.Context(), bytes.NewReader(exampleBytes(t)), nil); !errors.Is(err, docket.ErrTooLarge) {
		t.Errorf("6 bytes where 5 are taken: %v", err)
	}
	claim := putTogether(t, us[:1])
	claim = append(claim, unitAside, 0xff, 0xff, 0xff, 0x1f) // 512 MiB
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, err := NewMemory(nil).Import(context.Background(), bytes.NewReader(claim), nil); err == nil {
				b.Fatal("imported")
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 32<<20 {
		t.Errorf("a claim of 512 MiB takes %d bytes", allocated)
	}
	version := bytes.Clone(exampleBytes(t))
	version[len(exportMagic)] = 2
	var newer *docket.VersionError
	if _, err := m.Import(t.Context(), bytes.NewReader(version), nil); !errors.As(err, &newer) || newer.Found != 2 || newer.Newest != exportVersion {
		t.Errorf("version 2: %v", err)
	}
}

// FuzzImport: units with the right checksums never make a ledger panic, and what is
// imported comes out again as it went in.
func FuzzImport(f *testing.F) {
	f.Add(exampleBytes(f))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, b := range [][]byte{in, resealed(in)} {
			m := NewMemory(&Options{MaxPayload: 1 << 20})
			report, err := m.Import(t.Context(), bytes.NewReader(b), nil)
			if err != nil {
				continue
			}
			var out, again bytes.Buffer
			if err := m.Export(t.Context(), report.Thread, &out); err != nil {
				t.Fatalf("what was imported cannot be exported: %v", err)
			}
			other := NewMemory(&Options{MaxPayload: 1 << 20})
			if _, err := other.Import(t.Context(), bytes.NewReader(out.Bytes()), nil); err != nil {
				t.Fatalf("what was exported cannot be imported: %v", err)
			}
			if err := other.Export(t.Context(), report.Thread, &again); err != nil || !bytes.Equal(again.Bytes(), out.Bytes()) {
				t.Fatalf("another export (%v)", err)
			}
			for c, err := range m.Checkpoints(t.Context(), report.Thread) {
				if err == nil {
					err = m.Fork(t.Context(), report.Thread, c.ID, docket.ThreadID(fmt.Sprint("fork ", c.ID)))
				}
				if err != nil && !errors.Is(err, docket.ErrThreadExists) {
					t.Fatal(err)
				}
			}
		}
	})
}

// resealed gives what looks like units the right checksums.
func resealed(in []byte) []byte {
	const head = len(exportMagic) + 4
	if len(in) < head {
		return in
	}
	var b bytes.Buffer
	w, _ := newUnitWriter(&b)
	for rest := in[head:]; len(rest) >= 5; {
		size := int(rest[1]) | int(rest[2])<<8 | int(rest[3])<<16
		body := rest[5:]
		body = body[:min(size, len(body))]
		_ = w.put(rest[0], resealBody(rest[0], bytes.Clone(body)))
		rest = rest[min(5+len(body)+4, len(rest)):]
	}
	_ = w.w.Flush()
	return b.Bytes()
}

// resealBody gives the values inside of a unit their own checksums.
func resealBody(kind byte, b []byte) []byte {
	switch {
	case kind == unitRecord && len(b) > 25:
		return append(b[:25:25], reseal(b[25:])...)
	case kind == unitEpoch && len(b) > 16:
		return append(b[:16:16], reseal(b[16:])...)
	case kind == unitCheckpoint && len(b) > 33:
		return append(reseal(b[:33:33]), b[33:]...)
	}
	return b
}
