package codec

import (
	"bytes"
	"errors"
	"testing"

	"docket"
	"docket/internal/formatdoc"
)

func TestAsideFormatExample(t *testing.T) {
	want := formatdoc.Example(t, "aside")
	if got := AppendAside(nil, exampleAside()); !bytes.Equal(got, want) {
		t.Errorf("FORMAT.md shows % x, AppendAside makes % x", want, got)
	}
	if got, err := ParseAside(want); err != nil || !sameAside(got, exampleAside()) {
		t.Errorf("parsed %+v, error %v", got, err)
	}
}

// TestAsideRoundTrip: unknown arguments and empty ones differ.
func TestAsideRoundTrip(t *testing.T) {
	for _, a := range []Aside{
		{},
		{Args: []byte{}},
		{Args: sample(1000)},
		{Attachments: []docket.Attachment{{}, {Kind: "document", Data: sample(70_000)}}},
	} {
		if got, err := ParseAside(AppendAside(nil, a)); err != nil || !sameAside(got, a) {
			t.Errorf("%d bytes of arguments (nil: %t), %d attachments: parsed as %d (nil: %t), %d, error %v",
				len(a.Args), a.Args == nil, len(a.Attachments), len(got.Args), got.Args == nil, len(got.Attachments), err)
		}
	}
}

func TestAsideRefused(t *testing.T) {
	for _, b := range []string{"", "\x02", "\x01", "\x00", "\x00\x01", "\x00\x00\x00", "\x00\xff\xff\xff\xff\x0f", "\x01\x80\x00\x00"} {
		if _, err := ParseAside([]byte(b)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: error %v", b, err)
		}
	}
}

func FuzzAside(f *testing.F) {
	f.Add(AppendAside(nil, exampleAside()))
	f.Add([]byte("\x00\x02\x00\x00\x01a\x02bc"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if a, err := ParseAside(in); err == nil && !bytes.Equal(AppendAside(nil, a), in) {
			t.Error("a valid input is not canonical")
		}
	})
}
