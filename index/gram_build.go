package index

// Making a grams section. A first pass over some frames counts how many different
// grams of each width a frame has and which buckets are in most frames; from that
// follow the rows, the limits and the filter. A second pass sets the bits. Both
// passes work on buckets and rows alone, never on the grams: a map of grams was ten
// times slower, and its exactness did not show in the candidates.

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync"

	"docket/internal/seal"
)

const (
	// GramShare is the budget of a grams section: compressed bytes of the frames
	// for each byte of it.
	GramShare = 7 // one seventh: 14 %

	minGrams   = 1 << 10 // bytes of a payload that has a section
	minBudget  = 96      // bytes of the smallest section
	minRows    = 64
	minSampled = 2
	maxSampled = 16
	// A common bucket takes a byte of the filter, or its bits in the rows of all
	// frames: that is worth it from about eight frames on, and a quarter of the budget.
	minFilter   = 8
	filterShare = 4
	fullLoad    = math.Ln2
	leastLoad   = 0.4     // rows are not made for less
	worthLimit  = 1 << 12 // buckets of a width that are worth a second look at the text
)

// AppendGrams appends the grams section of a payload that is cut into frames at cuts
// to dst: about budget bytes, fewer where fewer serve. A payload of less than 1 KiB
// gets none: it costs less to scan than to narrow.
func AppendGrams(dst, payload []byte, cuts []int64, budget int) []byte {
	if len(payload) < minGrams || len(cuts) == 0 || len(cuts) > maxFrames {
		return dst
	}
	b := gramBuilders.Get().(*gramBuilder)
	defer gramBuilders.Put(b)
	b.payload, b.cuts = payload, cuts
	b.plan(max(budget, minBudget) - gramHeader)
	body := b.fill()
	b.payload, b.cuts = nil, nil
	return seal.Append(dst, body)
}

var gramBuilders = sync.Pool{New: func() any { return new(gramBuilder) }}

// gramBuilder makes one section; it is reused for its tables.
type gramBuilder struct {
	payload []byte
	cuts    []int64
	folded  []byte   // of the frame in hand, with its cover and padding
	row     []uint64 // one bit for each row, of the frame in hand

	rows   int
	limits [widths]int
	common []commonBucket
	filter []uint64
	used   [widths][allBuckets / 64]uint64 // buckets that are entered

	// Counting: for each bucket when it was seen last, and in how many frames.
	seen  [allBuckets]uint32 // stamp << 8 | frames
	stamp uint32
}

// commonBucket is a bucket that most frames have.
type commonBucket struct {
	bucket uint32
	width  int
}

// fold sets folded to frame k and its cover, and returns its length without padding.
func (b *gramBuilder) fold(k int) int {
	start := int64(0)
	if k > 0 {
		start = b.cuts[k-1]
	}
	b.folded = appendFolded(b.folded[:0], b.payload[start:coverEnd(b.payload, b.cuts[k])])
	n := len(b.folded)
	b.folded = append(b.folded, 0, 0, 0, 0, 0, 0, 0, 0)
	return n
}

// coverEnd returns where the signature of a frame that ends at end stops reading: at
// the last character border within the cover.
func coverEnd(payload []byte, end int64) int64 {
	stop := min(end+gramCover, int64(len(payload)))
	for i := stop; i > end && i > stop-4; i-- {
		if border(payload, int(i)) {
			return i
		}
	}
	return stop
}

// plan chooses rows, limits and filter for a number of bytes, width by width: the
// rows are to be half full, and a width gets as many buckets as there is room for.
func (b *gramBuilder) plan(budget int) {
	frames := len(b.cuts)
	b.common = b.common[:0]
	b.limits = [widths]int{}
	most := 0 // buckets that the filter may keep, a byte each
	if frames >= minFilter {
		most = budget / filterShare
	}
	loaded := 0.0
	for w := range widths {
		room := fullLoad*b.bits(budget) - loaded
		if room < 0 {
			break
		}
		n := b.count(w)
		n.leave(most - len(b.common))
		share := min(1, room/max(n.load(), 1))
		b.limits[w] = limitOf(uint16(share * (allBuckets - 1)))
		if b.limits[w] < worthLimit {
			b.limits[w] = 0
			break
		}
		for _, c := range n.common {
			if int(c.bucket) < b.limits[w] {
				b.common = append(b.common, commonBucket{c.bucket, w})
			}
		}
		loaded += share * n.load()
	}
	b.rows = max(minRows, int(min(b.bits(budget), loaded/leastLoad)))
	b.setFilter()
	for w := range widths {
		b.setUsed(w)
	}
}

// bits returns how many rows a number of bytes makes, beside the filter.
func (b *gramBuilder) bits(budget int) float64 {
	return 8 * float64(budget-8*((len(b.common)+7)/8)) / float64(len(b.cuts))
}

// setFilter makes the filter of the common buckets: eight a word.
func (b *gramBuilder) setFilter() {
	words := min((len(b.common)+7)/8, math.MaxUint16)
	b.filter = append(b.filter[:0], make([]uint64, words)...)
	for _, c := range b.common[:min(len(b.common), 8*words)] {
		word, mask := filterSlot(int(c.bucket), c.width, words)
		b.filter[word] |= mask
	}
}

// setUsed lists the buckets of width w that are entered.
func (b *gramBuilder) setUsed(w int) {
	used := &b.used[w]
	clear(used[:])
	for bucket := range b.limits[w] {
		if len(b.filter) > 0 {
			word, mask := filterSlot(bucket, w, len(b.filter))
			if b.filter[word]&mask == mask {
				continue
			}
		}
		used[bucket/64] |= 1 << (bucket % 64)
	}
}

// counted is what counting says of a width, by buckets: they stand for grams.
type counted struct {
	samples  int
	distinct int          // buckets of a frame that are not common, in all samples
	common   []seenBucket // in more than half of the samples, most frequent first
}

// seenBucket is a bucket and the number of samples that it is in.
type seenBucket struct {
	bucket uint32
	in     int
}

// load estimates the grams that a frame enters.
func (n *counted) load() float64 {
	return -allBuckets * math.Log1p(-min(float64(n.distinct)/float64(n.samples), allBuckets-1)/allBuckets)
}

// leave keeps at most a number of common buckets; the others are entered.
func (n *counted) leave(most int) {
	for most = max(most, 0); len(n.common) > most; {
		last := len(n.common) - 1
		n.distinct += n.common[last].in
		n.common = n.common[:last]
	}
}

// count looks at some frames, evenly spread.
func (b *gramBuilder) count(w int) counted {
	frames := len(b.cuts)
	n := counted{samples: min(max(frames/2, min(frames, minSampled)), maxSampled)}
	if b.stamp > 1<<24-maxSampled-2 {
		clear(b.seen[:])
		b.stamp = 0
	}
	first := b.stamp + 1
	for s := range n.samples {
		b.stamp++
		n.distinct += b.countFrame(b.fold(s*frames/n.samples), w, first)
	}
	if frames < minFilter {
		return n
	}
	for bucket, v := range b.seen {
		if v>>8 >= first && 2*int(v&255) > n.samples {
			n.common = append(n.common, seenBucket{uint32(bucket), int(v & 255)})
			n.distinct -= int(v & 255)
		}
	}
	slices.SortFunc(n.common, func(x, y seenBucket) int {
		return cmp.Or(cmp.Compare(y.in, x.in), cmp.Compare(x.bucket, y.bucket))
	})
	return n
}

// countFrame counts the buckets of width w of the folded frame. Of n bytes.
func (b *gramBuilder) countFrame(n, w int, first uint32) (distinct int) {
	text, width := b.folded, gramWidths[w]
	for i := 0; i+width <= n; i++ {
		bucket := gramBucket(gramHash(binary.LittleEndian.Uint64(text[i:]), w)) & (allBuckets - 1)
		v := b.seen[bucket]
		switch v >> 8 {
		case b.stamp:
			continue
		default:
			if v>>8 < first {
				v = 0
			}
			b.seen[bucket] = b.stamp<<8 | v&255 + 1
			distinct++
		}
	}
	return distinct
}

// fill makes the body of the section.
func (b *gramBuilder) fill() []byte {
	g := grams{frames: len(b.cuts), rows: b.rows, filter: len(b.filter), limits: b.limits}
	body := make([]byte, g.size())
	g.putHeader(body)
	for i, word := range b.filter {
		binary.LittleEndian.PutUint64(body[gramHeader+8*i:], word)
	}
	matrix := body[g.matrix():]
	words := (b.rows + 63) / 64
	if cap(b.row) < words {
		b.row = make([]uint64, words)
	}
	b.row = b.row[:words]
	for k := range b.cuts {
		clear(b.row)
		n := b.fold(k)
		for w := range widths {
			if b.limits[w] > 0 {
				b.enter(n, w)
			}
		}
		b.scatter(matrix, k)
	}
	return body
}

func (g *grams) putHeader(body []byte) {
	binary.LittleEndian.PutUint32(body, uint32(g.frames))
	binary.LittleEndian.PutUint32(body[4:], uint32(g.rows))
	binary.LittleEndian.PutUint16(body[8:], uint16(g.filter))
	for w, limit := range g.limits {
		binary.LittleEndian.PutUint16(body[10+2*w:], uint16(min(limit, allBuckets-1)))
	}
}

// enter sets the rows of the grams of width w of the folded frame. It has no branch
// that depends on the text.
func (b *gramBuilder) enter(n, w int) {
	text, row, used := b.folded, b.row, &b.used[w]
	mask, key, rows := gramMasks[w], gramKeys[w], b.rows
	for i := 0; i+gramWidths[w] <= n; i++ {
		h := hashGram(binary.LittleEndian.Uint64(text[i:])&mask ^ key)
		bucket := h >> (64 - bucketBits)
		bit := used[bucket>>6] >> (bucket & 63) & 1
		r := gramRow(h, rows)
		row[r>>6] |= bit << (r & 63)
	}
}

// scatter copies the rows of frame k to column k of the matrix.
func (b *gramBuilder) scatter(matrix []byte, k int) {
	frames := len(b.cuts)
	for i, word := range b.row {
		for ; word != 0; word &= word - 1 {
			bit := (64*i+bits.TrailingZeros64(word))*frames + k
			matrix[bit>>3] |= 1 << (bit & 7)
		}
	}
}
