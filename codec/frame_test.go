package codec

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// hostile are payloads whose characters lie across any border.
var hostile = map[string]string{
	"ascii":             strings.Repeat("abcdefg ", 20),
	"two bytes":         strings.Repeat("é", 70),
	"three bytes":       strings.Repeat("─", 70),
	"four bytes":        strings.Repeat("😀", 70),
	"mixed":             strings.Repeat("a─é😀", 30),
	"continuations":     strings.Repeat("\x80", 100),
	"leads":             strings.Repeat("\xe2", 100),
	"cut characters":    strings.Repeat("\xe2\x82", 100),
	"surrogates":        strings.Repeat("\xed\xa0\x80", 60),
	"overlong":          strings.Repeat("\xc0\x80\xf0\x80\x80\x80", 30),
	"valid among stray": strings.Repeat("\x80😀\x80\xe2\x82─\xf0\x9f\x98", 20),
}

// TestCutKeepsCharacters: at every frame size, the characters of the frames are
// those of the payload.
func TestCutKeepsCharacters(t *testing.T) {
	for name, payload := range hostile {
		for size := range 24 {
			cuts := Cut([]byte(payload), size)
			if err := checkCuts([]byte(payload), cuts, max(size, utf8.UTFMax)); err != nil {
				t.Errorf("%s, size %d: %v", name, size, err)
			}
		}
	}
	if cuts := Cut(nil, 10); cuts != nil {
		t.Errorf("an empty payload is cut at %v", cuts)
	}
}

func checkCuts(payload []byte, cuts []int64, size int) error {
	whole := string(bytes.ToValidUTF8(payload, nil))
	var runes []rune
	last := int64(0)
	for n, cut := range cuts {
		if cut <= last || cut-last > int64(size) || (n < len(cuts)-1 && cut-last < int64(size)-3) {
			return fmt.Errorf("frame %d has %d bytes", n, cut-last)
		}
		runes = append(runes, []rune(string(payload[last:cut]))...)
		last = cut
	}
	if last != int64(len(payload)) {
		return fmt.Errorf("%d of %d bytes", last, len(payload))
	}
	if string(runes) != string([]rune(string(payload))) {
		return fmt.Errorf("the characters of the frames are not those of the payload %q", whole)
	}
	return nil
}

func FuzzCut(f *testing.F) {
	for _, payload := range hostile {
		f.Add([]byte(payload), 7)
	}
	f.Fuzz(func(t *testing.T, payload []byte, size int) {
		size = size & 63
		if err := checkCuts(payload, Cut(payload, size), max(size, utf8.UTFMax)); err != nil {
			t.Error(err)
		}
	})
}

// sample makes n bytes that compress like JSON does.
func sample(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	out := []byte("[")
	for len(out) < n {
		out = fmt.Appendf(out, `{"id":%d,"name":"%x","note":"naïve ─ 😀"},`, r.IntN(1000), r.Uint64())
	}
	return out[:n]
}

func TestEncodeDecode(t *testing.T) {
	dec := NewDecoder()
	for _, level := range []Level{LevelFastest, LevelDefault, LevelBetter, LevelBest} {
		enc := NewEncoder(0, level)
		for _, n := range []int{0, 1, 5, 255, 256, 4096, FrameSize, FrameSize + 1, 3 * FrameSize, 40*FrameSize + 17} {
			payload := sample(n + 1)[:n]
			f := enc.Encode(payload, enc.Cut(payload))
			got, err := decodeAll(dec, f)
			if err != nil || !bytes.Equal(got, payload) {
				t.Errorf("level %d, %d bytes: %d decoded, error %v", level, n, len(got), err)
			}
		}
	}
}

func decodeAll(dec *Decoder, f Frames) (payload []byte, err error) {
	start := int64(0)
	for _, end := range f.Ends {
		if payload, err = dec.AppendFrame(payload, f.Stored[start:end], MaxFrame); err != nil {
			return nil, err
		}
		start = end
	}
	return payload, nil
}

// TestEstimate: what some frames say does not depend on who compressed them, and is
// not far off.
func TestEstimate(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 10, 10 << 10, 500 << 10} {
		enc := NewEncoder(1<<10, LevelBetter)
		payload := sample(n + 1)[:n]
		var estimates []int
		for _, helpers := range []int{0, 1, 3} {
			g := enc.Start(payload, enc.Cut(payload))
			g.Help(helpers)
			if helpers == 0 {
				g.Join()
			}
			estimates = append(estimates, g.Estimate())
			if stored := len(g.Frames().Stored); estimates[0] < stored*8/10 || estimates[0] > stored*12/10 {
				t.Errorf("%d bytes: %d estimated, %d stored", n, estimates[0], stored)
			}
		}
		if estimates[0] != estimates[1] || estimates[0] != estimates[2] {
			t.Errorf("%d bytes: estimates %d", n, estimates)
		}
	}
}

// TestFrameIsTheSameEveryTime: records do not depend on how many goroutines
// compressed them.
func TestFrameIsTheSameEveryTime(t *testing.T) {
	enc := NewEncoder(1<<10, LevelBetter)
	payload := sample(100 << 10)
	want := enc.Encode(payload, enc.Cut(payload))
	for range 20 {
		if got := enc.Encode(payload, enc.Cut(payload)); !bytes.Equal(got.Stored, want.Stored) {
			t.Fatal("the same payload has other stored bytes")
		}
	}
}

// TestG5DamagedFrame: no flipped bit of a frame passes, and dst stays as it was.
func TestG5DamagedFrame(t *testing.T) {
	enc, dec := NewEncoder(0, 0), NewDecoder()
	for _, raw := range [][]byte{[]byte("docket"), sample(700)} {
		stored := enc.AppendFrame(nil, raw)
		for bit := range 8 * len(stored) {
			hurt := bytes.Clone(stored)
			hurt[bit/8] ^= 1 << (bit % 8)
			got, err := dec.AppendFrame([]byte("dst"), hurt, MaxFrame)
			if err == nil && !bytes.Equal(got, append([]byte("dst"), raw...)) {
				t.Fatalf("bit %d flipped: wrong bytes without an error", bit)
			}
			if err != nil && (!errors.Is(err, ErrDamaged) || string(got) != "dst") {
				t.Fatalf("bit %d flipped: dst %q, error %v", bit, got, err)
			}
		}
		for n := range stored {
			if _, err := dec.AppendFrame(nil, stored[:n], MaxFrame); !errors.Is(err, ErrDamaged) {
				t.Errorf("cut to %d bytes: error %v", n, err)
			}
		}
	}
}

// bomb makes a frame of n zero bytes.
func bomb(t testing.TB, n int) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
	if err != nil {
		t.Fatal(err)
	}
	return enc.EncodeAll(make([]byte, n), nil)
}

// TestG5HostileFrame: a frame that claims more than it may is refused without
// allocating for it, and so is one that holds more than it claims.
func TestG5HostileFrame(t *testing.T) {
	dec := NewDecoder()
	large := bomb(t, 64<<20)
	claims := append([]byte(nil), large[:5]...)
	claims = append(claims, 0, 0, 0, 0x40, large[9]) // 1 GiB
	claims = append(claims, large[10:]...)
	lies := append([]byte(nil), large[:5]...)
	lies = append(lies, 0x00, 0x80, 0, 0) // 32 KiB
	lies = append(lies, large[9:]...)
	unsized, err := zstd.NewWriter(nil, zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		stored []byte
		want   error
	}{
		"64 MiB":                {large, ErrLimit},
		"claims 1 GiB":          {claims, ErrLimit},
		"claims 32 KiB":         {lies, ErrDamaged},
		"without size":          {unsized.EncodeAll([]byte("x"), nil), ErrDamaged},
		"skippable":             {[]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"), ErrDamaged},
		"two frames":            {append(bomb(t, 10), bomb(t, 10)...), ErrDamaged},
		"empty":                 {nil, ErrDamaged},
		"no zstd":               {[]byte("{}"), ErrDamaged},
		"no checksum":           {[]byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 9, 0, 0, 'x'}, ErrDamaged},
		"larger than the limit": {bomb(t, FrameSize+1), ErrLimit},
	} {
		allocated := testing.AllocsPerRun(5, func() {
			if _, err := dec.AppendFrame(nil, c.stored, FrameSize); !errors.Is(err, c.want) || !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: error %v, want %v", name, err, c.want)
			}
		})
		if allocated > 30 {
			t.Errorf("%s: %v allocations", name, allocated)
		}
	}
}

// TestNoAllocation: with room in dst, neither direction allocates.
func TestNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the library's own pools forget under the race detector")
	}
	enc, dec := NewEncoder(0, 0), NewDecoder()
	raw := sample(FrameSize)
	stored := enc.AppendFrame(nil, raw)
	buf := make([]byte, 0, 2*FrameSize)
	if n := testing.AllocsPerRun(50, func() { enc.AppendFrame(buf, raw) }); n > 0 {
		t.Errorf("encoding a frame: %v allocations", n)
	}
	if n := testing.AllocsPerRun(50, func() { _, _ = dec.AppendFrame(buf, stored, FrameSize) }); n > 0 {
		t.Errorf("decoding a frame: %v allocations", n)
	}
}

func FuzzFrame(f *testing.F) {
	enc, dec := NewEncoder(0, 0), NewDecoder()
	f.Add(enc.AppendFrame(nil, []byte("docket")))
	f.Add(enc.AppendFrame(nil, sample(300)))
	f.Fuzz(func(t *testing.T, in []byte) {
		raw, err := dec.AppendFrame(nil, in, FrameSize)
		if err != nil {
			return
		}
		if len(raw) > FrameSize {
			t.Errorf("%d bytes passed a limit of %d", len(raw), FrameSize)
		}
		again, err := dec.AppendFrame(nil, enc.AppendFrame(nil, raw), FrameSize)
		if err != nil || !bytes.Equal(again, raw) {
			t.Errorf("encoded again: error %v", err)
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	raw := sample(FrameSize)
	for _, level := range []Level{LevelFastest, LevelDefault, LevelBetter, LevelBest} {
		enc, dec := NewEncoder(0, level), NewDecoder()
		stored := enc.AppendFrame(nil, raw)
		buf := make([]byte, 0, 2*FrameSize)
		b.Run(fmt.Sprintf("encode/level=%d", level), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				enc.AppendFrame(buf, raw)
			}
		})
		b.Run(fmt.Sprintf("decode/level=%d", level), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := dec.AppendFrame(buf, stored, FrameSize); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
