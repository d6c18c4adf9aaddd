package engine

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"docket"
	"docket/internal/formatdoc"
	"docket/internal/seal"
)

func exampleRow() row {
	return row{stored: 12345, handle: docket.Handle{
		MemID: "rh47c6ft4bjir4d3", CallID: "toolu_01", Tool: "list_orders", Chars: 6, Bytes: 6,
		Digest: docket.DigestOf([]byte("docket")), Summary: "one line", Preview: "docket",
		Created: time.Unix(1700000000, 5).UTC(),
	}}
}

func exampleInfo() threadInfo {
	return threadInfo{lineage: lineageID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, created: time.Unix(1700000000, 5).UTC()}
}

func exampleEpoch() docket.Epoch {
	return docket.Epoch{Form: docket.Form{}.Filled(), Mems: []docket.MemID{"rh47c6ft4bjir4d3"}, Messages: 17, Created: time.Unix(1700000000, 5).UTC()}
}

func TestRowFormatExample(t *testing.T) {
	want := formatdoc.Example(t, "row")
	if got := appendRow(nil, exampleRow()); !bytes.Equal(got, want) {
		t.Errorf("FORMAT.md shows % x, appendRow makes % x", want, got)
	}
	if got, ok := parseRow(want); !ok || got != exampleRow() {
		t.Errorf("parsed %+v, %t", got, ok)
	}
}

func TestInfoFormatExample(t *testing.T) {
	want := formatdoc.Example(t, "thread-info")
	if got := appendInfo(nil, exampleInfo()); !bytes.Equal(got, want) {
		t.Errorf("FORMAT.md shows % x, appendInfo makes % x", want, got)
	}
	if got, ok := parseInfo(want); !ok || got != exampleInfo() {
		t.Errorf("parsed %+v, %t", got, ok)
	}
}

func TestEpochFormatExample(t *testing.T) {
	want := formatdoc.Example(t, "epoch")
	if got := appendEpoch(nil, exampleEpoch()); !bytes.Equal(got, want) {
		t.Errorf("FORMAT.md shows % x, appendEpoch makes % x", want, got)
	}
	got, ok := parseEpoch(want)
	if !ok || got.Form != exampleEpoch().Form || len(got.Mems) != 1 || got.Mems[0] != exampleEpoch().Mems[0] || !got.Created.Equal(exampleEpoch().Created) {
		t.Errorf("parsed %+v, %t", got, ok)
	}
}

func TestRowStates(t *testing.T) {
	since := time.Unix(1700000001, 0).UTC()
	h := exampleRow().handle
	for name, r := range map[string]row{
		"live":    {handle: h, stored: 1},
		"expired": {state: expired, since: since, handle: h},
		"erased":  {state: erased, since: since},
	} {
		if got, ok := parseRow(appendRow(nil, r)); !ok || got != r {
			t.Errorf("%s: parsed %+v, %t", name, got, ok)
		}
	}
	live, gone := appendRow(nil, row{handle: h}), appendRow(nil, row{state: erased, since: since})
	head := func(state byte, since, stored uint64) []byte {
		b := binary.LittleEndian.AppendUint64([]byte{state}, since)
		b = binary.LittleEndian.AppendUint64(b, stored)
		return binary.LittleEndian.AppendUint32(b, seal.Sum(b))
	}
	for name, b := range map[string][]byte{
		"nothing":               nil,
		"short":                 live[:20],
		"live without handle":   live[:rowHead],
		"erased with handle":    append(bytes.Clone(gone), live[rowHead:]...),
		"unknown state":         append(head(3, 0, 0), live[rowHead:]...),
		"live since":            append(head(0, 1, 0), live[rowHead:]...),
		"expired but stored":    append(head(1, 1, 1), live[rowHead:]...),
		"stored beyond int":     append(head(0, 0, 1<<63), live[rowHead:]...),
		"checksum of the head":  append([]byte{1}, live[1:]...),
		"checksum of the rest":  append(bytes.Clone(live[:len(live)-1]), ^live[len(live)-1]),
		"a byte after the rest": append(bytes.Clone(live), 0),
	} {
		if _, ok := parseRow(b); ok {
			t.Errorf("%s: parsed", name)
		}
	}
}

// reseal replaces the checksum at the end of b by the right one.
func reseal(b []byte) []byte {
	if len(b) < 4 {
		return b
	}
	body := b[: len(b)-4 : len(b)-4]
	return binary.LittleEndian.AppendUint32(body, seal.Sum(body))
}

func FuzzRow(f *testing.F) {
	f.Add(appendRow(nil, exampleRow()))
	f.Add(appendRow(nil, row{state: erased, since: time.Unix(5, 0)}))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) >= rowHead {
			in = append(reseal(in[:rowHead]), reseal(in[rowHead:])...)
		}
		if r, ok := parseRow(in); ok && !bytes.Equal(appendRow(nil, r), in) {
			t.Error("a valid input is not canonical")
		}
	})
}

func FuzzInfo(f *testing.F) {
	f.Add(appendInfo(nil, exampleInfo()))
	f.Fuzz(func(t *testing.T, in []byte) {
		in = reseal(in)
		if info, ok := parseInfo(in); ok && !bytes.Equal(appendInfo(nil, info), in) {
			t.Error("a valid input is not canonical")
		}
	})
}

func FuzzEpoch(f *testing.F) {
	f.Add(appendEpoch(nil, exampleEpoch()))
	f.Fuzz(func(t *testing.T, in []byte) {
		in = reseal(in)
		if e, ok := parseEpoch(in); ok && !bytes.Equal(appendEpoch(nil, e), in) {
			t.Error("a valid input is not canonical")
		}
	})
}

func exampleCheckpoint() checkpoint {
	return checkpoint{Checkpoint: docket.Checkpoint{Created: time.Unix(1700000000, 5).UTC(), Seq: 17, Epochs: 3}, rewinds: 2}
}

func TestCheckpointFormatExample(t *testing.T) {
	want := formatdoc.Example(t, "checkpoint")
	if got := appendCheckpoint(nil, exampleCheckpoint()); !bytes.Equal(got, want) {
		t.Errorf("FORMAT.md shows % x, appendCheckpoint makes % x", want, got)
	}
	if got, ok := parseCheckpoint(want); !ok || got != exampleCheckpoint() {
		t.Errorf("parsed %+v, %t", got, ok)
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add(appendCheckpoint(nil, exampleCheckpoint()))
	f.Fuzz(func(t *testing.T, in []byte) {
		in = reseal(in)
		if c, ok := parseCheckpoint(in); ok && !bytes.Equal(appendCheckpoint(nil, c), in) {
			t.Error("a valid input is not canonical")
		}
	})
}
