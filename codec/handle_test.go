package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"docket"
	"docket/internal/formatdoc"
	"docket/internal/seal"
)

func exampleHandle() docket.Handle {
	return docket.Handle{
		MemID: "rh47c6ft4bjir4d3", CallID: "toolu_01", Tool: "list_orders", Chars: 6, Bytes: 6,
		Digest: docket.DigestOf([]byte("docket")), Summary: "one line", Preview: "docket",
		Created: time.Unix(1700000000, 5).UTC(),
	}
}

func TestHandleFormatExample(t *testing.T) {
	want := formatdoc.Example(t, "handle")
	if got := AppendHandle(nil, exampleHandle()); !bytes.Equal(got, want) {
		t.Errorf("FORMAT.md shows % x, AppendHandle makes % x", want, got)
	}
	if got, err := ParseHandle(want); err != nil || got != exampleHandle() {
		t.Errorf("parsed %+v, error %v", got, err)
	}
}

// TestL4HandleRoundTrip: all fields but thread and seq come back.
func TestL4HandleRoundTrip(t *testing.T) {
	full := docket.Handle{
		MemID: "aaaaaaaaaaaaaaaa", CallID: docket.CallID(strings.Repeat("x", 40_000)), Tool: "tool\x00\xff", Chars: 1<<63 - 1, Bytes: 1<<63 - 1,
		Digest: docket.DigestOf(nil), Kind: docket.KindBinary, IsError: true, Summary: "s", Schema: "{}", Preview: "─",
		Created: time.Unix(-1, 1).UTC(),
	}
	for _, h := range []docket.Handle{full, exampleHandle(), {MemID: "7777777777777777", Created: time.Unix(0, 0).UTC()}} {
		got, err := ParseHandle(AppendHandle(nil, h))
		if err != nil || got != h {
			t.Errorf("parsed %+v, error %v, want %+v", got, err, h)
		}
	}
}

// reseal replaces the checksum at the end of b by the right one.
func reseal(b []byte) []byte {
	body := b[:len(b)-4]
	return binary.LittleEndian.AppendUint32(body[:len(body):len(body)], seal.Sum(body))
}

func TestHandleRefused(t *testing.T) {
	good := AppendHandle(nil, exampleHandle())
	change := func(at int, to byte) []byte {
		b := bytes.Clone(good)
		b[at] = to
		return reseal(b)
	}
	for name, b := range map[string][]byte{
		"empty":                 nil,
		"short":                 good[:3],
		"checksum":              append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1),
		"version":               change(0, 2),
		"kind":                  change(1, 4),
		"flag":                  change(2, 2),
		"more characters":       change(11, 7),
		"mem id":                change(45, '1'),
		"length":                change(61, 200),
		"trailing byte":         reseal(append(bytes.Clone(good[:len(good)-4]), 0, 0, 0, 0, 0)),
		"not shortest":          reseal(bytes.Replace(good, []byte{6, 6}, []byte{6, 0x86, 0}, 1)),
		"characters beyond int": reseal(bytes.Replace(good, []byte{6, 6}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 6}, 1)),
	} {
		if _, err := ParseHandle(b); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for n := range len(good) - 4 {
		if _, err := ParseHandle(reseal(append(bytes.Clone(good[:n]), 0, 0, 0, 0))); err == nil {
			t.Errorf("cut to %d bytes and sealed again: no error", n)
		}
	}
}

func FuzzHandle(f *testing.F) {
	f.Add(AppendHandle(nil, exampleHandle()))
	f.Add(AppendHandle(nil, docket.Handle{MemID: "7777777777777777"}))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) >= 4 {
			in = reseal(in) // else nothing passes the checksum
		}
		h, err := ParseHandle(in)
		if err == nil && !bytes.Equal(AppendHandle(nil, h), in) {
			t.Error("a valid input is not canonical")
		}
	})
}
