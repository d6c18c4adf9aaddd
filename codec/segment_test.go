package codec

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"docket"
	"docket/internal/formatdoc"
	"docket/internal/seal"
)

// stored are parts under their keys, as a store keeps them.
type stored map[string][]byte

func store(parts []Part) stored {
	s := stored{}
	for _, p := range parts {
		s[keyOf(p.ID, p.Group)] = p.Body
	}
	return s
}

func keyOf(id PartID, group uint32) string {
	if id == PartFrames {
		return string(AppendGroupKey(nil, group))
	}
	return string(rune(id))
}

func (s stored) Part(id PartID, group uint32) []byte { return s[keyOf(id, group)] }

func content(payload []byte, size int) Content {
	enc := NewEncoder(size, 0)
	return Content{
		Frames: enc.Encode(payload, enc.Cut(payload)),
		Digest: docket.DigestOf(payload),
		Aside:  enc.AppendFrame(nil, AppendAside(nil, exampleAside())),
		Chars:  seal.Append(nil, []byte("chars")), Paths: seal.Append(nil, []byte("paths")), Grams: seal.Append(nil, []byte("grams")),
	}
}

func exampleAside() Aside {
	return Aside{Args: []byte(`{}`), Attachments: []docket.Attachment{{Kind: "image", Data: []byte("png")}}}
}

func TestSegmentRoundTrip(t *testing.T) {
	dec := NewDecoder()
	for _, n := range []int{0, 1, 1000, FrameSize, FrameSize + 1, 1 << 20, 3 << 20} {
		payload := sample(n + 1)[:n]
		for _, size := range []int{0, 4 << 10} {
			parts := content(payload, size).Parts()
			checkOrder(t, parts)
			s, err := Open(store(parts))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := payloadOf(&s, dec); err != nil || !bytes.Equal(got, payload) {
				t.Errorf("%d bytes in frames of %d: %d read, error %v", n, size, len(got), err)
			}
			if a, err := s.Aside(dec); err != nil || !sameAside(a, exampleAside()) {
				t.Errorf("%d bytes: aside %+v, error %v", n, a, err)
			}
			if string(s.Part(PartPaths)[:5]) != "paths" {
				t.Errorf("%d bytes: paths section %q", n, s.Part(PartPaths))
			}
		}
	}
}

// checkOrder demands ascending keys and groups of a good size for a store.
func checkOrder(t *testing.T, parts []Part) {
	t.Helper()
	last := ""
	for _, p := range parts {
		key := keyOf(p.ID, p.Group)
		if key <= last {
			t.Errorf("part %q after %q", key, last)
		}
		if p.ID == PartFrames && len(p.Body) > 2*groupSize {
			t.Errorf("a group of %d bytes", len(p.Body))
		}
		last = key
	}
}

func payloadOf(s *Segment, dec *Decoder) (payload []byte, err error) {
	for n := range int(s.Frames) {
		if payload, err = s.AppendFrame(payload, n, dec); err != nil {
			return nil, err
		}
	}
	return payload, nil
}

func sameAside(a, b Aside) bool {
	return bytes.Equal(a.Args, b.Args) && (a.Args == nil) == (b.Args == nil) &&
		slices.EqualFunc(a.Attachments, b.Attachments, func(x, y docket.Attachment) bool {
			return x.Kind == y.Kind && bytes.Equal(x.Data, y.Data)
		})
}

// TestSegmentWithoutParts: each part that is missing, or another's, is damage, not a
// panic.
func TestSegmentWithoutParts(t *testing.T) {
	dec := NewDecoder()
	payload := sample(600 << 10)
	all := content(payload, 4<<10).Parts()
	for _, gone := range all {
		for _, body := range [][]byte{nil, {}, gone.Body[:len(gone.Body)/2], sample(len(gone.Body) + 1)} {
			parts := store(all)
			parts[keyOf(gone.ID, gone.Group)] = body
			s, err := Open(parts)
			if err == nil {
				_, err = payloadOf(&s, dec)
			}
			needed := gone.ID == PartHead || gone.ID == PartTable || gone.ID == PartFrames
			if needed && !errors.Is(err, ErrDamaged) || !needed && err != nil {
				t.Errorf("part %c%d of %d bytes: error %v", gone.ID, gone.Group, len(body), err)
			}
		}
	}
}

// TestG5FlippedBit: one flipped bit in any part never gives another payload.
func TestG5FlippedBit(t *testing.T) {
	dec := NewDecoder()
	payload := sample(20 << 10)
	parts := store(content(payload, 4<<10).Parts())
	for key, body := range parts {
		for bit := 0; bit < 8*len(body); bit += 13 {
			body[bit/8] ^= 1 << (bit % 8)
			if s, err := Open(parts); err == nil {
				got, err := payloadOf(&s, dec)
				if err == nil && !bytes.Equal(got, payload) {
					t.Errorf("part %q, bit %d: another payload", key, bit)
				}
				if a, err := s.Aside(dec); err == nil && !sameAside(a, exampleAside()) {
					t.Errorf("part %q, bit %d: another aside", key, bit)
				}
			}
			body[bit/8] ^= 1 << (bit % 8)
		}
	}
}

func TestHeadFormatExample(t *testing.T) {
	want := formatdoc.Example(t, "head")
	h := Head{PerGroup: 2, Frames: 3, Raw: 90_000, Stored: 20_000, MaxRaw: 32 << 10, Payload: [8]byte([]byte("12345678"))}
	if got := AppendHead(nil, h); !bytes.Equal(got, want) {
		t.Errorf("FORMAT.md shows % x, AppendHead makes % x", want, got)
	}
	if got, err := ParseHead(want); err != nil || got != h {
		t.Errorf("parsed %+v, error %v", got, err)
	}
}

func TestFrameTableFormatExample(t *testing.T) {
	want := formatdoc.Example(t, "frame-table")
	c := Content{Frames: Frames{Cuts: []int64{32_768, 65_535, 90_000}, Ends: []int64{8000, 15_000, 20_000}, Stored: make([]byte, 20_000)}}
	if got := c.table(); !bytes.Equal(got, want) {
		t.Errorf("FORMAT.md shows % x, table makes % x", want, got)
	}
	s, err := Open(stored{"h": formatdoc.Example(t, "head"), "t": want, "f\x00\x00\x00\x00": make([]byte, 15_000), "f\x00\x00\x00\x01": make([]byte, 5000)})
	if err != nil {
		t.Fatal(err)
	}
	for n, size := range []int{8000, 7000, 5000} {
		if b, err := s.Stored(n); err != nil || len(b) != size {
			t.Errorf("frame %d has %d stored bytes, error %v, want %d", n, len(b), err, size)
		}
	}
	for _, n := range []int{-1, 3} {
		if _, err := s.Stored(n); err == nil {
			t.Errorf("there is a frame %d", n)
		}
	}
}

func TestHeadRefused(t *testing.T) {
	good := Head{PerGroup: 2, Frames: 3, Raw: 90_000, Stored: 20_000, MaxRaw: 32 << 10}
	for name, change := range map[string]func(*Head){
		"no group":              func(h *Head) { h.PerGroup = 0 },
		"large frame":           func(h *Head) { h.MaxRaw = MaxFrame + 1 },
		"frames too small":      func(h *Head) { h.MaxRaw = 29_999 },
		"frame above payload":   func(h *Head) { h.Raw = 100 },
		"more frames":           func(h *Head) { h.Frames = 90_001 },
		"frames of no bytes":    func(h *Head) { h.Stored = 2 },
		"bytes without frames":  func(h *Head) { *h = Head{PerGroup: 1, Raw: 1} },
		"stored without frames": func(h *Head) { *h = Head{PerGroup: 1, Stored: 1} },
	} {
		h := good
		change(&h)
		if _, err := ParseHead(AppendHead(nil, h)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for at := range headSize {
		b := AppendHead(nil, good)
		b[at] ^= 1
		if _, err := ParseHead(b); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d changed: error %v", at, err)
		}
	}
}

func FuzzHead(f *testing.F) {
	f.Add(AppendHead(nil, Head{PerGroup: 2, Frames: 3, Raw: 90_000, Stored: 20_000, MaxRaw: 32 << 10}))
	f.Add(AppendHead(nil, Head{PerGroup: 1}))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) >= 4 {
			in = reseal(in)
		}
		if h, err := ParseHead(in); err == nil && !bytes.Equal(AppendHead(nil, h), in) {
			t.Error("a valid input is not canonical")
		}
	})
}

// FuzzSegment reads frames out of hostile parts.
func FuzzSegment(f *testing.F) {
	parts := store(content(sample(3000), 1<<10).Parts())
	f.Add(parts["h"], parts["t"], parts["f\x00\x00\x00\x00"], parts["a"])
	dec := NewDecoder()
	f.Fuzz(func(t *testing.T, head, table, frames, aside []byte) {
		if len(head) == headSize {
			head = reseal(head)
		}
		s, err := Open(stored{"h": head, "t": table, "f\x00\x00\x00\x00": frames, "a": aside})
		if err != nil {
			return
		}
		for n := range min(int(s.Frames), 100) {
			if b, err := s.AppendFrame(nil, n, dec); err == nil && len(b) > int(s.MaxRaw) {
				t.Errorf("frame %d has %d bytes", n, len(b))
			}
		}
		_, _ = s.Aside(dec)
	})
}
