package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"docket"
)

var generated = []docket.Kind{docket.KindJSON, docket.KindNDJSON, docket.KindText}

// A payload is the same in every release: figures of two releases compare.
func TestGenerateIsFixed(t *testing.T) {
	for _, c := range []struct {
		kind docket.Kind
		size int
		seed uint64
		sum  string
	}{
		{docket.KindJSON, 4 << 10, 1, "1b30fb8e11080077"},
		{docket.KindJSON, 1 << 20, 1, "0f5f272c9e5806d0"},
		{docket.KindJSON, 1 << 20, 2, "b59e0e35777e21b0"},
		{docket.KindNDJSON, 64 << 10, 1, "d49d7493b9b7426e"},
		{docket.KindText, 64 << 10, 1, "1f2102e30f2d94db"},
	} {
		sum := sha256.Sum256(Generate(c.kind, c.size, c.seed))
		if got := hex.EncodeToString(sum[:8]); got != c.sum {
			t.Errorf("Generate(%s, %d, %d) has the digest %s, want %s", c.kind, c.size, c.seed, got, c.sum)
		}
	}
}

func TestGenerateHasItsSizeAndKind(t *testing.T) {
	for _, kind := range generated {
		for _, size := range []int{256, 1000, 4 << 10, 64<<10 + 1, 1 << 20} {
			b := Generate(kind, size, 7)
			if len(b) != size {
				t.Errorf("%s of %d bytes has %d", kind, size, len(b))
			}
			if !utf8.Valid(b) {
				t.Errorf("%s of %d bytes is not UTF-8", kind, size)
			}
			if got := kindOf(b); got != kind && size >= 4<<10 {
				t.Errorf("%s of %d bytes is taken for %s", kind, size, got)
			}
			if kind == docket.KindJSON && !json.Valid(b) {
				t.Errorf("JSON of %d bytes is invalid", size)
			}
		}
	}
	for line := range bytes.Lines(Generate(docket.KindNDJSON, 64<<10, 3)) {
		if !json.Valid(line) {
			t.Fatalf("line is invalid: %s", line)
		}
	}
}

// Recorded JSON compresses 4 to 15 times, logs 3 to 12: what compresses much
// better or worse would measure something that does not occur.
func TestGenerateCompressesLikeRecordedPayloads(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[docket.Kind][2]float64{docket.KindJSON: {5, 7}, docket.KindNDJSON: {4, 7}, docket.KindText: {3, 6}} {
		b := Generate(kind, 4<<20, 1)
		if got := float64(len(b)) / float64(len(enc.EncodeAll(b, nil))); got < want[0] || got > want[1] {
			t.Errorf("%s compresses %.2f times, want between %v and %v", kind, got, want[0], want[1])
		}
	}
}

func TestGenerateRefusesBinary(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Generate(docket.KindBinary, 1000, 1)
}

func BenchmarkGenerate(b *testing.B) {
	for _, kind := range generated {
		b.Run("kind="+kind.String(), func(b *testing.B) {
			b.SetBytes(1 << 20)
			for b.Loop() {
				Generate(kind, 1<<20, 1)
			}
		})
	}
}
