package codec

import (
	"bytes"
	"errors"
	"testing"

	"docket"
	"docket/internal/formatdoc"
	"docket/internal/seal"
)

func examplePacked() []Part {
	enc := NewEncoder(0, 0)
	payload := []byte("docket")
	c := Content{Frames: enc.Encode(payload, enc.Cut(payload)), Digest: docket.DigestOf(payload), Aside: enc.AppendFrame(nil, AppendAside(nil, exampleAside()))}
	return c.Parts()
}

func TestPackedFormatExample(t *testing.T) {
	want := formatdoc.Example(t, "packed-parts")
	if got := AppendPacked(nil, examplePacked()); !bytes.Equal(got, want) {
		t.Errorf("FORMAT.md shows % x, AppendPacked makes % x", want, got)
	}
	in, err := ParsePacked(want)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(in)
	if err != nil {
		t.Fatal(err)
	}
	dec := NewDecoder()
	if got, err := s.AppendFrame(nil, 0, dec); err != nil || string(got) != "docket" {
		t.Errorf("payload %q, error %v", got, err)
	}
	if a, err := s.Aside(dec); err != nil || !sameAside(a, exampleAside()) {
		t.Errorf("aside %+v, error %v", a, err)
	}
}

// TestSizeDecides: what is small and has one frame group is inline, and takes no
// more than it said.
func TestSizeDecides(t *testing.T) {
	for _, n := range []int{0, 100, 10 << 10, 100 << 10, 2 << 20} {
		parts := content(sample(n + 1)[:n], 0).Parts()
		size, inline := Size(parts)
		if stored := int64(len(AppendPacked(nil, parts))); stored > size || size-stored > 64 {
			t.Errorf("%d bytes: Size says %d, the inline segment takes %d", n, size, stored)
		}
		if want := n <= 10<<10; inline != want {
			t.Errorf("%d bytes, stored in %d: inline %t", n, size, inline)
		}
	}
	one := Content{Frames: Frames{Cuts: []int64{1, 2}, Ends: []int64{1, 2}, Stored: []byte("ab")}}.Parts()
	two := append([]Part{{PartFrames, 0, nil}}, Part{PartFrames, 1, nil})
	if _, inline := Size(one); !inline {
		t.Error("two frames in one group are not inline")
	}
	if _, inline := Size(two); inline {
		t.Error("two groups are inline")
	}
}

func TestPackedRefused(t *testing.T) {
	good := AppendPacked(nil, examplePacked())
	table := len(good) // the bodies are not checked here, the table is
	for _, p := range examplePacked() {
		table -= len(p.Body)
	}
	for at := range table {
		b := bytes.Clone(good)
		b[at] ^= 1
		if _, err := ParsePacked(b); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d changed: error %v", at, err)
		}
	}
	for n := range good {
		if _, err := ParsePacked(good[:n]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes: error %v", n, err)
		}
	}
	head := Part{PartHead, 0, nil}
	for name, parts := range map[string][]Part{
		"twice":   {head, head},
		"order":   {head, {PartAside, 0, nil}},
		"unknown": {{'x', 0, nil}},
		"many":    {head, head, head, head, head, head, head, head},
	} {
		if _, err := ParsePacked(AppendPacked(nil, parts)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := ParsePacked(append(bytes.Clone(good), 0)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a byte after the end: error %v", err)
	}
}

func FuzzPacked(f *testing.F) {
	f.Add([]byte{}, AppendPacked(nil, examplePacked()))
	f.Add([]byte{packedMagic, packedVersion, 1, 'h', 2}, []byte("hi"))
	f.Fuzz(func(t *testing.T, table, rest []byte) {
		in := append([]byte(nil), table...)
		if len(table) > 0 {
			sum := seal.Sum(table) // else nothing passes the checksum
			in = append(in, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
		}
		in = append(in, rest...)
		got, err := ParsePacked(in)
		if err == nil && !bytes.Equal(AppendPacked(nil, got.Parts()), in) {
			t.Error("a valid input is not canonical")
		}
	})
}
