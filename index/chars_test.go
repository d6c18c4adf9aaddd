package index

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// E1, L10: counting and finding characters agree with the standard library on any
// bytes.
func TestL10CharactersOfAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyText(t)
		if got, want := CountChars(b), int64(utf8.RuneCount(b)); got != want {
			t.Fatalf("%q: %d characters, want %d", b, got, want)
		}
		var n int64
		for i := 0; i < len(b); n++ {
			if got := ByteOfChar(b, n); got != i {
				t.Fatalf("%q: character %d at %d, want %d", b, n, got, i)
			}
			_, size := utf8.DecodeRune(b[i:])
			i += size
		}
		if got := ByteOfChar(b, n+3); got != len(b) {
			t.Fatalf("%q: beyond the end: %d", b, got)
		}
	})
}

// anyText draws bytes in which ASCII, other scripts and invalid bytes mix.
func anyText(t *rapid.T) []byte {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "b", "K", "\u212a", "ſ", "s", "é", "e\u0301", "─", "用户", "📚", "Ⱥ", "ⱥ", "ß", "ẞ", "\xff", "\xe7\x94", "\x80",
		"plain ascii text", "\n", "\x00", "0123456789",
	}), 0, 60).Draw(t, "parts")
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// cutsOf cuts b every size bytes, moved to a character border.
func cutsOf(b []byte, size int) []int64 {
	var cuts []int64
	for at := size; at < len(b); at += size {
		for at < len(b) && !border(b, at) {
			at++
		}
		if at < len(b) {
			cuts = append(cuts, int64(at))
		}
	}
	if len(b) > 0 {
		cuts = append(cuts, int64(len(b)))
	}
	return cuts
}

func TestCharsAgreeWithAScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyText(t)
		cuts := cutsOf(b, rapid.IntRange(4, 40).Draw(t, "size"))
		section := AppendChars(nil, b, cuts)
		total := CountChars(b)
		c, err := OpenChars(section, len(cuts), int64(len(b)), total)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckChars(section, len(cuts), int64(len(b)), total); err != nil {
			t.Fatal(err)
		}
		var start int64
		for n, end := range cuts {
			want := Span{Byte: start, Char: CountChars(b[:start]), Bytes: end - start, Chars: CountChars(b[start:end])}
			for off := start; off < end; off++ {
				if k, got, err := c.AtByte(off); k != n || got != want || err != nil {
					t.Fatalf("byte %d: frame %d %+v %v, want %d %+v", off, k, got, err, n, want)
				}
			}
			for off := want.Char; off < want.Char+want.Chars; off++ {
				if k, got, err := c.AtChar(off); k != n || got != want || err != nil {
					t.Fatalf("character %d: frame %d %+v %v, want %d %+v", off, k, got, err, n, want)
				}
			}
			start = end
		}
	})
}

// A flipped bit anywhere is an error or changes nothing that is read.
func TestCharsDamage(t *testing.T) {
	b := bytes.Repeat([]byte("用户 db 📚 "), 50)
	cuts := cutsOf(b, 64)
	section := AppendChars(nil, b, cuts)
	for bit := range 8 * len(section) {
		hurt := bytes.Clone(section)
		hurt[bit/8] ^= 1 << (bit % 8)
		if CheckChars(hurt, len(cuts), int64(len(b)), CountChars(b)) == nil {
			t.Fatalf("flipped bit %d passes", bit)
		}
	}
}
