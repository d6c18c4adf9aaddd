package codec

// Payload <-> frames. Streaming one zstd frame over the whole payload compresses
// better by a quarter and makes every slice cost the whole payload; what frames
// cost at each size is in DESIGN.md.

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// FrameSize is the default raw size of a frame in bytes: decoding one takes about
// 50 µs, and the frames of a payload take about a sixth more than one frame over
// all of it would. DESIGN.md has the sizes beside it.
const FrameSize = 48 << 10

// MaxFrame is the largest raw size of a frame in bytes. A reader refuses more.
const MaxFrame = 1 << 20

// Level is how hard the encoder tries. Any level reads any other's frames.
type Level int

// The levels. Better is the default: on frames as short as these it takes twice
// the time of Default and wins back most of what cutting costs.
const (
	LevelBetter Level = iota
	LevelFastest
	LevelDefault
	LevelBest
)

func (l Level) zstd() zstd.EncoderLevel {
	switch l {
	case LevelFastest:
		return zstd.SpeedFastest
	case LevelDefault:
		return zstd.SpeedDefault
	case LevelBest:
		return zstd.SpeedBestCompression
	}
	return zstd.SpeedBetterCompression
}

// Cut returns where the frames of payload end, exclusive: every size bytes, less
// up to three so that no character is cut. The last is len(payload). An empty
// payload has no frame. A character is what utf8.DecodeRune takes at once, so a
// byte that is not part of valid UTF-8 is one.
func Cut(payload []byte, size int) []int64 {
	if len(payload) == 0 {
		return nil
	}
	size = max(size, utf8.UTFMax)
	ends := make([]int64, 0, len(payload)/size+1)
	for at := 0; len(payload)-at > size; {
		at = border(payload, at+size)
		ends = append(ends, int64(at))
	}
	return append(ends, int64(len(payload)))
}

// border returns the last character border that is not after at. A byte that is
// no continuation byte always begins a character; one that is lies inside of a
// character only if the lead byte before it reaches over it.
func border(payload []byte, at int) int {
	for lead := at; lead > at-utf8.UTFMax && lead >= 0; lead-- {
		if utf8.RuneStart(payload[lead]) {
			if _, n := utf8.DecodeRune(payload[lead:]); lead+n > at {
				return lead
			}
			break
		}
	}
	return at
}

// Encoder compresses frames. It keeps no state between them.
type Encoder struct {
	size  int
	level Level
	free  chan *zstd.Encoder // idle ones, for the next caller
}

// maxFree is how many idle encoders are kept: each has tables of 4 MiB, which take
// longer to make than a frame takes to compress.
const maxFree = 8

// NewEncoder returns an encoder of frames of size raw bytes (0: [FrameSize]; at
// most [MaxFrame]) at the given level.
func NewEncoder(size int, level Level) *Encoder {
	if size <= 0 {
		size = FrameSize
	}
	return &Encoder{size: min(size, MaxFrame), level: level, free: make(chan *zstd.Encoder, min(runtime.GOMAXPROCS(0), maxFree))}
}

// newZstd makes an encoder that holds no more than a frame needs: a window of the
// frame's size, no goroutines. A fault here can only be a wrong constant above.
func newZstd(size int, level Level) *zstd.Encoder {
	window := zstd.MinWindowSize
	for window < size {
		window <<= 1
	}
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(level.zstd()),
		zstd.WithWindowSize(window),
		zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true),
		zstd.WithEncoderCRC(true),
		zstd.WithSingleSegment(true), // the content size always stands in the header
		zstd.WithZeroFrames(true))
	if err != nil {
		panic("codec: zstd refuses its options: " + err.Error())
	}
	return enc
}

// AppendFrame appends raw as one zstd frame with content size and checksum. It
// allocates nothing when dst has room.
func (e *Encoder) AppendFrame(dst, raw []byte) []byte {
	var enc *zstd.Encoder
	select {
	case enc = <-e.free:
	default:
		enc = newZstd(e.size, e.level)
	}
	dst = enc.EncodeAll(raw, dst)
	select {
	case e.free <- enc:
	default:
	}
	return dst
}

// Frames are the stored frames of a payload, concatenated.
type Frames struct {
	Cuts   []int64 // where each frame ends in the payload
	Ends   []int64 // where each frame ends in Stored
	Stored []byte
}

// Cut returns where the encoder's frames of payload end ([Cut]).
func (e *Encoder) Cut(payload []byte) []int64 { return Cut(payload, e.size) }

// Encode compresses the frames of a payload that is cut at cuts, on as many
// goroutines as there are processors when there are several frames.
func (e *Encoder) Encode(payload []byte, cuts []int64) Frames {
	f := Frames{Cuts: cuts, Ends: make([]int64, len(cuts))}
	workers := min(runtime.GOMAXPROCS(0), len(f.Cuts))
	if workers <= 1 {
		f.Stored = make([]byte, 0, len(payload)/3+64)
		for n := range f.Cuts {
			f.Stored = e.AppendFrame(f.Stored, frameOf(payload, f.Cuts, n))
			f.Ends[n] = int64(len(f.Stored))
		}
		return f
	}
	return e.encodeParallel(f, payload, workers)
}

// encodeParallel gives every worker the next run of frames to take, so that a
// worker appends to one buffer a run and the runs are put together at the end.
func (e *Encoder) encodeParallel(f Frames, payload []byte, workers int) Frames {
	const run = 4 // frames that a worker takes at once: few enough to share evenly
	runs := make([][]byte, (len(f.Cuts)+run-1)/run)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for r := int(next.Add(1)) - 1; r < len(runs); r = int(next.Add(1)) - 1 {
				buf := make([]byte, 0, run*e.size/3)
				for n := r * run; n < min((r+1)*run, len(f.Cuts)); n++ {
					buf = e.AppendFrame(buf, frameOf(payload, f.Cuts, n))
					f.Ends[n] = int64(len(buf))
				}
				runs[r] = buf
			}
		})
	}
	wg.Wait()
	f.Stored = slices.Concat(runs...)
	base := int64(0)
	for r, buf := range runs {
		for n := r * run; n < min((r+1)*run, len(f.Ends)); n++ {
			f.Ends[n] += base
		}
		base += int64(len(buf))
	}
	return f
}

// frameOf returns frame n of a payload with the given cuts.
func frameOf(payload []byte, cuts []int64, n int) []byte {
	start := int64(0)
	if n > 0 {
		start = cuts[n-1]
	}
	return payload[start:cuts[n]]
}

// decodeSlack is room behind a frame that lets the library copy in steps of 32 bytes
// instead of to the byte.
const decodeSlack = 32

// Decoder decompresses frames.
type Decoder struct {
	zstd *zstd.Decoder
}

// NewDecoder returns a decoder.
func NewDecoder() *Decoder {
	dec, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(MaxAside),
		zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic("codec: zstd refuses its options: " + err.Error())
	}
	return &Decoder{zstd: dec}
}

// AppendFrame appends the raw bytes of one stored frame to dst. A frame that
// claims more than rawLimit bytes is [ErrLimit], refused before anything is
// allocated; on any error dst comes back as it was.
func (d *Decoder) AppendFrame(dst, stored []byte, rawLimit int) ([]byte, error) {
	size, err := rawSize(stored)
	if err != nil {
		return dst, err
	}
	if size > uint64(max(rawLimit, 0)) {
		return dst, errors.Join(damaged("frame"), ErrLimit)
	}
	grown := slices.Grow(dst, int(size)+decodeSlack)
	out, err := d.zstd.DecodeAll(stored, grown)
	if err != nil {
		return dst, damaged("frame: " + err.Error())
	}
	if len(out)-len(dst) != int(size) {
		return dst, damaged("frame size")
	}
	return out, nil
}

// rawSize reads what a frame claims to hold. Only frames as we write them pass:
// with content size and checksum, without dictionary.
func rawSize(stored []byte) (uint64, error) {
	var h zstd.Header
	if err := h.Decode(stored[:min(len(stored), zstd.HeaderMaxSize)]); err != nil {
		return 0, damaged("frame header")
	}
	if h.Skippable || !h.HasFCS || !h.HasCheckSum || h.DictionaryID != 0 {
		return 0, damaged("frame header")
	}
	return h.FrameContentSize, nil
}
