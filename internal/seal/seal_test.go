package seal

import (
	"bytes"
	"errors"
	"testing"

	"docket/internal/formatdoc"
)

func body(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

func TestRoundTripEveryLengthAroundPages(t *testing.T) {
	for _, n := range []int{0, 1, 4, Page - 1, Page, Page + 1, 2*Page - 4, 2 * Page, 2*Page + 1, 3*Page + 17} {
		want := body(n)
		got, err := Open(Append(nil, want))
		if err != nil || got.Len() != n || got.Verify() != nil {
			t.Fatalf("length %d: opened %d bytes, error %v", n, got.Len(), err)
		}
		all, err := got.Read(0, n)
		if err != nil || !bytes.Equal(all, want) {
			t.Errorf("length %d: body differs, error %v", n, err)
		}
	}
}

// Each single flipped bit is found when its page is read, and by no read of the
// other pages.
func TestFlippedBitIsFoundOnItsPageOnly(t *testing.T) {
	sealed := Append(nil, body(2*Page+9))
	for _, at := range []int{0, Page - 1, Page, 2*Page + 8, 2*Page + 9} {
		hurt := bytes.Clone(sealed)
		hurt[at] ^= 4
		b, err := Open(hurt)
		if err != nil {
			t.Fatal(err)
		}
		page := at / Page
		if at >= 2*Page+9 {
			page = (at - 2*Page - 9) / 4
		}
		for p := range 3 {
			_, err := b.Read(p*Page, 1)
			if got := errors.Is(err, ErrDamaged); got != (p == page) {
				t.Errorf("flip at %d, reading page %d: error %v", at, p, err)
			}
		}
	}
}

func TestReadOutside(t *testing.T) {
	b, _ := Open(Append(nil, body(10)))
	for _, c := range [][2]int{{-1, 1}, {0, 11}, {10, 1}, {11, 0}, {0, -1}} {
		if _, err := b.Read(c[0], c[1]); !errors.Is(err, ErrRange) {
			t.Errorf("Read(%d, %d): %v", c[0], c[1], err)
		}
	}
}

func TestFormatExample(t *testing.T) {
	want := formatdoc.Example(t, "sealed")
	got := Append(nil, []byte("docket"))
	if !bytes.Equal(got, want) {
		t.Errorf("FORMAT.md shows % x, Append makes % x", want, got)
	}
	b, err := Open(want)
	if err != nil || b.Verify() != nil || string(b.body) != "docket" {
		t.Errorf("parsed body %q, error %v", b.body, err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(Append(nil, []byte("docket")))
	f.Add([]byte{})
	f.Add(Append(nil, body(Page+1)))
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := Open(in)
		if err != nil || b.Verify() != nil {
			return
		}
		if !bytes.Equal(Append(nil, b.body), in) {
			t.Error("a valid input is not canonical")
		}
	})
}
