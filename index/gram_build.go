package index

// Making a grams section. A first pass over some frames counts how many different
// grams of each class a frame has and which buckets are in most frames; from that
// follow the rows, the limits and the filter. A second pass sets the bits. Both
// passes work on buckets and rows alone, never on the grams: a map of grams was ten
// times slower, and its exactness did not show in the candidates.

import (
	"encoding/binary"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"docket/internal/seal"
)

const (
	// GramShare is the budget of a grams section: compressed bytes of the frames
	// for each byte of it.
	GramShare = 5 // one fifth: 20 %

	rawShare    = 20      // nor more than that share of the payload: noise gains little from more
	anchorShare = 6       // of the rows, for each that anchored grams may fill
	minGrams    = 1 << 10 // bytes of a payload that has a section
	minShared   = 128 << 10
	maxWorkers  = 8  // each has a matrix of its own
	minBudget   = 96 // bytes of the smallest section
	minRows     = 64
	maxSampled  = 12
	// A common bucket takes a byte of the filter, or its bits in the rows of all
	// frames: that is worth it from about a dozen frames on, and a quarter of the
	// budget. With fewer, finding the common ones took as long as all the rest.
	minFilter   = 16
	filterShare = 4
	fullLoad    = math.Ln2
	leastLoad   = 0.4     // rows are not made for less
	worthLimit  = 1 << 14 // buckets of a class that are worth a second look at the text
)

// widening estimates how many more grams of a class than of four bytes there are.
// With few frames, where nothing else is asked of counting, the estimate serves: that
// is most records.
var widening = [classes]float64{1, 1, 1.5, 1.75}

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
	sealed := max(min(budget, len(payload)/rawShare), minBudget)
	b.plan(sealed - 4*(sealed/seal.Page+1) - gramHeader)
	body := b.fill()
	b.payload, b.cuts = nil, nil
	return seal.Append(dst, body)
}

var gramBuilders = sync.Pool{New: func() any { return new(gramBuilder) }}

// gramBuilder makes one section; it is reused for its tables.
type gramBuilder struct {
	payload []byte
	cuts    []int64
	columns []*gramColumns // one for each processor that takes part

	rows   int
	times  int // rows of an anchored gram
	limits [classes]int
	common []commonBucket
	filter []uint64
	used   [classes][allBuckets / 64]uint64 // buckets that are entered

	// Counting: the samples, folded, each ending where ends says, then padding; for
	// each bucket the sample that it was seen in last, and in how many.
	samples []byte
	ends    []int
	seen    [allBuckets]uint32 // stamp << 8 | samples
	stamp   uint32
	found   []seenBucket
}

// commonBucket is a bucket that most frames have.
type commonBucket struct {
	bucket uint32
	class  int
}

// pad is what may be read behind the last gram.
var pad [gramPad]byte

// frame returns the bytes of the payload that the signature of frame k covers.
func (b *gramBuilder) frame(k int) (start, end int64) {
	if k > 0 {
		start = b.cuts[k-1]
	}
	return start, coverEnd(b.payload, b.cuts[k])
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

// plan chooses rows, limits and filter for a number of bytes, class by class: the
// rows are to be half full, and a class gets as many buckets as there is room for.
func (b *gramBuilder) plan(budget int) {
	b.common = b.common[:0]
	b.limits = [classes]int{}
	most := 0 // buckets that the filter may keep, a byte each
	if len(b.cuts) >= minFilter {
		most = budget / filterShare
	}
	b.sample()
	loaded := 0.0
	var n counted
	for w := range classes {
		room := fullLoad*b.bits(budget) - loaded
		if room < 0 {
			break
		}
		b.measure(&n, w)
		n.leave(most - len(b.common))
		if w == anchored {
			room = b.setTimes(&n, room)
		}
		loaded += b.admit(&n, w, room)
	}
	b.rows = max(minRows, int(min(b.bits(budget), loaded/leastLoad)))
	b.setFilter()
	for w := range classes {
		b.setUsed(w)
	}
}

// measure finds what the samples say of class w. It may go by what they said of the
// class before.
func (b *gramBuilder) measure(n *counted, w int) {
	if few := len(b.cuts) < minFilter; few && w > fours {
		n.scale = widening[w]
		return
	}
	*n = b.count(w)
	n.scale = 1
}

// setTimes gives anchored grams as many rows each as fill a sixth of the room, and
// returns that sixth: with a third, numbered items had 4 % of the frames as
// candidates instead of 6, but twelve characters of other payloads 10 % instead of 8.
func (b *gramBuilder) setTimes(n *counted, room float64) float64 {
	room /= anchorShare
	b.times = min(max(int(room/max(n.load(), 1)), 1), maxTimes)
	n.scale = float64(b.times)
	return room
}

// admit gives class w as many buckets as there is room for and returns what it loads
// on the rows.
func (b *gramBuilder) admit(n *counted, w int, room float64) float64 {
	share := min(1, room/max(n.load(), 1))
	b.limits[w] = limitOf(uint16(share * (allBuckets - 1)))
	if b.limits[w] < worthLimit {
		b.limits[w] = 0
		return 0
	}
	for _, c := range n.common {
		if int(c.bucket) < b.limits[w] {
			b.common = append(b.common, commonBucket{c.bucket, w})
		}
	}
	return share * n.load()
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
		word, mask := filterSlot(int(c.bucket), c.class, words)
		b.filter[word] |= mask
	}
}

// setUsed lists the buckets of class w that are entered.
func (b *gramBuilder) setUsed(w int) {
	used, limit := &b.used[w], b.limits[w]
	clear(used[:])
	if len(b.filter) == 0 {
		for i := range limit / 64 {
			used[i] = ^uint64(0)
		}
		if rest := limit % 64; rest > 0 {
			used[limit/64] = 1<<rest - 1
		}
		return
	}
	for bucket := range limit {
		if word, mask := filterSlot(bucket, w, len(b.filter)); b.filter[word]&mask != mask {
			used[bucket/64] |= 1 << (bucket % 64)
		}
	}
}

// counted is what counting says of a class, by buckets: they stand for grams.
type counted struct {
	samples  int
	scale    float64      // rows entered, for each of them
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
	return -n.scale * allBuckets * math.Log1p(-min(float64(n.distinct)/float64(n.samples), allBuckets-1)/allBuckets)
}

// leave keeps at most a number of common buckets; the others are entered.
func (n *counted) leave(most int) {
	for most = max(most, 0); len(n.common) > most; {
		last := len(n.common) - 1
		n.distinct += n.common[last].in
		n.common = n.common[:last]
	}
}

// sample folds some frames, evenly spread.
func (b *gramBuilder) sample() {
	frames := len(b.cuts)
	n := min(max(frames/4, 1), maxSampled)
	b.samples = b.samples[:0]
	b.ends = b.ends[:0]
	for s := range n {
		start, end := b.frame((2*s + 1) * frames / (2 * n))
		b.samples = appendFolded(b.samples, b.payload[start:end])
		b.ends = append(b.ends, len(b.samples))
	}
	b.samples = append(b.samples, pad[:]...)
	if b.stamp > 1<<24-classes*maxSampled-2 {
		clear(b.seen[:])
		b.stamp = 0
	}
}

// count counts the grams of class w of the samples.
func (b *gramBuilder) count(w int) counted {
	n := counted{samples: len(b.ends)}
	first := b.stamp + 1
	start := 0
	for _, end := range b.ends {
		b.stamp++
		n.distinct += b.countFrame(start, end, w, first)
		start = end
	}
	if len(b.cuts) < minFilter {
		return n
	}
	b.found = b.found[:0]
	for bucket, v := range b.seen {
		if v>>8 >= first && 2*int(v&255) > n.samples {
			b.found = append(b.found, seenBucket{uint32(bucket), int(v & 255)})
			n.distinct -= int(v & 255)
		}
	}
	n.common = make([]seenBucket, 0, len(b.found))
	for in := n.samples; 2*in > n.samples; in-- { // a sort by few values
		for _, c := range b.found {
			if c.in == in {
				n.common = append(n.common, c)
			}
		}
	}
	return n
}

// countFrame counts the buckets of one sample.
func (b *gramBuilder) countFrame(start, end, w int, first uint32) (distinct int) {
	text := b.samples[start:]
	if w == anchored {
		for i := range anchorsOf(b.samples[start:end]) {
			distinct += b.see(gramHash(binary.LittleEndian.Uint64(text[i:]), w), first)
		}
		return distinct
	}
	mask, key := gramMasks[w], gramKeys[w]
	for i := range end - start - gramWidths[w] + 1 {
		distinct += b.see(hashGram(binary.LittleEndian.Uint64(text[i:])&mask^key), first)
	}
	return distinct
}

// see takes note of a gram of the current sample, and returns 1 if its bucket is new
// in it. It has no branch: which way it went could not be predicted.
func (b *gramBuilder) see(h uint64, first uint32) (isNew int) {
	v := &b.seen[h>>(64-bucketBits)]
	at, count := *v>>8, *v&255
	if at < first {
		count = 0
	}
	add := uint32(1)
	if at == b.stamp {
		add = 0
	}
	*v = b.stamp<<8 | count + add
	return int(add)
}

// fill makes the body of the section. Large payloads are shared among the processors:
// one took as long over the grams as all of them over the frames.
func (b *gramBuilder) fill() []byte {
	g := grams{frames: len(b.cuts), rows: b.rows, filter: len(b.filter), limits: b.limits, times: b.times}
	body := make([]byte, g.size())
	g.putHeader(body)
	for i, word := range b.filter {
		binary.LittleEndian.PutUint64(body[gramHeader+8*i:], word)
	}
	workers := 1
	if len(b.payload) >= minShared {
		workers = min(runtime.GOMAXPROCS(0), len(b.cuts), maxWorkers)
	}
	var others sync.WaitGroup
	for len(b.columns) < workers {
		b.columns = append(b.columns, new(gramColumns))
	}
	for n, c := range b.columns[1:workers] {
		c.begin(b, make([]byte, len(body)-g.matrix()))
		others.Go(func() { c.enterAll(n+1, workers) })
	}
	b.columns[0].begin(b, body[g.matrix():])
	b.columns[0].enterAll(0, workers)
	others.Wait()
	for _, c := range b.columns[1:workers] {
		for i, x := range c.matrix {
			b.columns[0].matrix[i] |= x
		}
	}
	for _, c := range b.columns {
		c.gramBuilder, c.matrix = nil, nil
	}
	return body
}

func (g *grams) putHeader(body []byte) {
	binary.LittleEndian.PutUint32(body, uint32(g.frames)<<8|gramVersion)
	binary.LittleEndian.PutUint32(body[4:], uint32(g.rows))
	binary.LittleEndian.PutUint16(body[8:], uint16(g.filter))
	for w, limit := range g.limits {
		binary.LittleEndian.PutUint16(body[10+2*w:], uint16(min(limit, allBuckets-1)))
	}
	body[18] = uint8(g.times)
}

// gramColumns enters frames in a matrix, which no one else writes to meanwhile.
type gramColumns struct {
	*gramBuilder        // the plan
	matrix       []byte // as in the section
	folded       []byte // the frame in hand, with its cover and padding
	row          []byte // 1 for each row of it, from index 1 on
}

func (c *gramColumns) begin(plan *gramBuilder, matrix []byte) {
	c.gramBuilder, c.matrix = plan, matrix
	c.row = slices.Grow(c.row[:0], plan.rows+1+gramPad)[:plan.rows+1+gramPad]
}

// enterAll enters every step-th frame from the first.
func (c *gramColumns) enterAll(first, step int) {
	for k := first; k < len(c.cuts); k += step {
		start, end := c.frame(k)
		c.folded = append(appendFolded(c.folded[:0], c.payload[start:end]), pad[:]...)
		clear(c.row)
		if c.limits[anchored] > 0 {
			c.enterAnchored()
		}
		for w := fours; w < classes; w++ {
			if c.limits[w] > 0 {
				c.enter(w)
			}
		}
		c.scatter(k)
	}
}

// enter sets the rows of the folded frame's grams of class w. A gram that is not used
// goes to row 0, which nobody reads: a branch there could not be predicted.
func (c *gramColumns) enter(w int) {
	text, row, used, rows := c.folded, c.row, &c.used[w], uint64(c.rows)
	mask, key, last := gramMasks[w], gramKeys[w], len(text)-gramPad-gramWidths[w]
	if c.limits[w] == allBuckets && len(c.filter) == 0 {
		for i := 0; i <= last; i++ {
			h := hashGram(binary.LittleEndian.Uint64(text[i:])&mask ^ key)
			row[gramRow(h, rows)+1] = 1
		}
		return
	}
	for i := 0; i <= last; i++ {
		h := hashGram(binary.LittleEndian.Uint64(text[i:])&mask ^ key)
		bucket := h >> (64 - bucketBits)
		bit := used[bucket>>6] >> (bucket & 63) & 1
		row[(gramRow(h, rows)+1)&-bit] = 1
	}
}

// enterAnchored sets the rows of the anchored grams of the folded frame.
func (c *gramColumns) enterAnchored() {
	text, row, used, rows := c.folded, c.row, &c.used[anchored], uint64(c.rows)
	for i := range anchorsOf(text[:len(text)-gramPad]) {
		h := gramHash(binary.LittleEndian.Uint64(text[i:]), anchored)
		bucket := gramBucket(h)
		if used[bucket>>6]>>(bucket&63)&1 == 0 {
			continue
		}
		for _, turn := range gramTurns[:c.times] {
			row[gramRow(h*turn, rows)+1] = 1
		}
	}
}

// scatter copies the rows of frame k to column k of the matrix.
func (c *gramColumns) scatter(k int) {
	frames, row, matrix := len(c.cuts), c.row[1:], c.matrix
	for r := 0; r < c.rows; r += 8 {
		for x := binary.LittleEndian.Uint64(row[r:]); x != 0; x &= x - 1 {
			bit := (r+bits.TrailingZeros64(x)/8)*frames + k
			matrix[bit/8] |= 1 << (bit % 8)
		}
	}
}
