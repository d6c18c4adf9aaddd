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
// 30 µs, and the frames of a payload take about a fifth more than one frame over
// all of it would. DESIGN.md has the sizes beside it.
const FrameSize = 40 << 10

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
	g := e.Start(payload, cuts)
	g.Help(runtime.GOMAXPROCS(0))
	return g.Frames()
}

// Encoding is a payload whose frames are being compressed: by the goroutines that
// joined (Help, Join), each of which takes the next frame until none is left.
type Encoding struct {
	enc     *Encoder
	payload []byte
	cuts    []int64
	order   []int    // of the frames: those of the sample first
	stored  [][]byte // each frame
	next    atomic.Int64
	helpers sync.WaitGroup

	missing  atomic.Int64  // frames of the sample that are not stored yet
	sampled  chan struct{} // closed when none is
	sampleOf int           // frames in the sample
}

// maxSample is how many frames tell how well a payload compresses.
const maxSample = 8

// Start prepares the compression of a payload that is cut at cuts. Nothing is
// compressed before a goroutine joins.
func (e *Encoder) Start(payload []byte, cuts []int64) *Encoding {
	g := &Encoding{enc: e, payload: payload, cuts: cuts, stored: make([][]byte, len(cuts)), sampled: make(chan struct{})}
	g.sampleOf = min((len(cuts)+3)/4, maxSample)
	g.order = make([]int, 0, len(cuts))
	for s := range g.sampleOf {
		g.order = append(g.order, (2*s+1)*len(cuts)/(2*g.sampleOf))
	}
	rest := 0
	for n := range cuts {
		if rest < g.sampleOf && g.order[rest] == n {
			rest++
			continue
		}
		g.order = append(g.order, n)
	}
	if g.missing.Store(int64(g.sampleOf)); g.sampleOf == 0 {
		close(g.sampled)
	}
	return g
}

// Help makes n goroutines join; no more than there are frames.
func (g *Encoding) Help(n int) {
	for range min(n, len(g.cuts)) {
		g.helpers.Go(g.Join)
	}
}

// Join compresses frames in the caller's goroutine until none is left to take.
func (g *Encoding) Join() {
	var room []byte // where frames go, one after the other
	for {
		i := int(g.next.Add(1)) - 1
		if i >= len(g.order) {
			return
		}
		n := g.order[i]
		raw := frameOf(g.payload, g.cuts, n)
		if cap(room)-len(room) < len(raw)/2 {
			room = make([]byte, 0, min(2*len(raw), len(g.payload)+64))
		}
		before := len(room)
		room = g.enc.AppendFrame(room, raw)
		g.stored[n] = room[before:len(room):len(room)]
		if i < g.sampleOf && g.missing.Add(-1) == 0 {
			close(g.sampled)
		}
	}
}

// Estimate returns about how many bytes all frames will take stored. It waits until
// some frames, evenly spread, are compressed; which ones does not depend on how many
// goroutines have joined.
func (g *Encoding) Estimate() int {
	<-g.sampled
	raw, stored := 0, 0
	for _, n := range g.order[:g.sampleOf] {
		raw += len(frameOf(g.payload, g.cuts, n))
		stored += len(g.stored[n])
	}
	return int(float64(stored) * float64(len(g.payload)) / float64(max(raw, 1)))
}

// Frames waits for all and returns them.
func (g *Encoding) Frames() Frames {
	g.Join()
	g.helpers.Wait()
	f := Frames{Cuts: g.cuts, Ends: make([]int64, len(g.cuts)), Stored: slices.Concat(g.stored...)}
	end := int64(0)
	for n, stored := range g.stored {
		end += int64(len(stored))
		f.Ends[n] = end
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
