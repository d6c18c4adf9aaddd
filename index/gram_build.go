package index

// Making a grams section. A first pass over some frames counts how many different
// grams of each width a frame has and which buckets are in most frames; from that
// follow the rows, the limits and the filter. A second pass sets the bits. Both
// passes work on buckets and rows alone, never on the grams: a map of grams was ten
// times slower, and its exactness did not show in the candidates.

import (
	"encoding/binary"
	"math"
	"math/bits"
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
	maxSampled = 16
	minFilter  = 4 // frames from which on common grams are left out
	fullLoad   = math.Ln2
	leastLoad  = 0.4     // rows are not made for less
	worthLimit = 1 << 12 // buckets of a width that are worth a second look at the text
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
	filter []uint64
	used   [widths][allBuckets / 64]uint64 // buckets that are entered

	// Counting: for each bucket when it was seen last, and in how many frames.
	seen  [allBuckets]uint32 // stamp << 8 | frames
	stamp uint32
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

// plan chooses rows, limits and filter for a number of bytes.
func (b *gramBuilder) plan(budget int) {
	frames := len(b.cuts)
	b.filter = b.filter[:0]
	samples := min(max(frames/2, 1), maxSampled)
	var common [widths][]uint64
	var loads [widths]float64
	// wider grams are only counted if there is room for them.
	room := fullLoad * 8 * float64(budget) / float64(frames)
	for w := range widths {
		if room <= 0 {
			break
		}
		loads[w], common[w] = b.count(w, samples)
		room -= loads[w]
	}
	b.setFilter(common, budget/8)
	b.rows = max(8*(budget-8*len(b.filter))/frames, minRows)
	total := loads[0] + loads[1] + loads[2]
	b.rows = min(b.rows, max(int(total/leastLoad), minRows))
	b.setLimits(loads)
}

// setLimits gives each width as many buckets as keep the rows half full.
func (b *gramBuilder) setLimits(loads [widths]float64) {
	room := fullLoad * float64(b.rows)
	for w, n := range loads {
		share := 1.0
		if n > room {
			share = room / n
		}
		if n == 0 {
			share = 0
		}
		b.limits[w] = limitOf(uint16(share * (allBuckets - 1)))
		if b.limits[w] < worthLimit {
			b.limits[w] = 0
		}
		room = max(room-n, 0)
		b.setUsed(w)
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

// setFilter makes the filter of common buckets, at most a number of bytes: eight
// buckets a word.
func (b *gramBuilder) setFilter(common [widths][]uint64, most int) {
	n := len(common[0]) + len(common[1]) + len(common[2])
	words := min((n+7)/8, most/8, math.MaxUint16)
	if words == 0 {
		return
	}
	b.filter = append(b.filter[:0], make([]uint64, words)...)
	left := 8 * words
	for w, list := range common {
		for _, bucket := range list {
			if left == 0 {
				return
			}
			left--
			word, mask := filterSlot(int(bucket), w, words)
			b.filter[word] |= mask
		}
	}
}

// count looks at a number of frames, evenly spread, and returns how many grams of
// width w that are not common one has, and the buckets that are in more than half of
// them. Buckets stand for grams: what of them coincides is added by estimate.
func (b *gramBuilder) count(w, samples int) (perFrame float64, common []uint64) {
	if b.stamp > 1<<24-maxSampled-2 {
		clear(b.seen[:])
		b.stamp = 0
	}
	first := b.stamp + 1
	distinct := 0
	for s := range samples {
		b.stamp++
		distinct += b.countFrame(b.fold(s*len(b.cuts)/samples), w, first)
	}
	if len(b.cuts) < minFilter {
		return spreadOut(float64(distinct) / float64(samples)), nil
	}
	for bucket, v := range b.seen {
		if v>>8 >= first && int(v&255)*2 > samples {
			common = append(common, uint64(bucket))
			distinct -= int(v & 255)
		}
	}
	return spreadOut(float64(distinct) / float64(samples)), common
}

// spreadOut estimates how many grams fall on a number of buckets.
func spreadOut(buckets float64) float64 {
	return -allBuckets * math.Log1p(-min(buckets, allBuckets-1)/allBuckets)
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
