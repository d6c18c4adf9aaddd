package index

// Substrings: which frames may hold a query. Each frame has a signature, and the
// signatures are kept bit-sliced: a matrix of rows, one bit a frame, in which a row
// stands for all grams (short runs of folded bytes) that hash to it. A query ANDs the
// rows of its grams; what is left are candidates, to be verified on the payload.
//
// It never misses: the signature of a frame covers the frame and up to 255 bytes
// after it, so a match that begins in the frame has the grams of its first bytes
// there; case is folded on both sides; what cannot be read rules nothing out.
//
// Grams come in classes. The first are anchored: a byte that is no letter or digit,
// then five that are, a digit among them. Identifiers, numbers and dates have one,
// prose has none; each stands for up to eight rows, so that a number nobody else has
// narrows well beside neighbours that differ in one digit. Then all grams of four
// bytes. Where they leave rows empty (tables of numbers, logs: few different grams,
// each in many frames), those of six and of eight bytes are added. All together fill
// the rows to a half, where a row tells most. Of a class that does not fit, only the
// grams in the first so many buckets of the hash are used, by builder and query
// alike. Grams that are in more than half of the frames are left out; a filter tells
// which. How the section is made is in gram_build.go. DESIGN.md has the measurements
// and what did worse.

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"unicode/utf8"

	"docket/internal/seal"
)

const (
	gramCover = 255 // bytes after a frame that its signature covers, cut to a character
	sureCover = gramCover - 3

	classes    = 4
	anchored   = 0  // the class of grams that begin at an anchor
	fours      = 1  // the class of grams of four bytes
	maxTimes   = 8  // rows of an anchored gram
	gramPad    = 8  // bytes that may be read behind the last gram
	gramHeader = 20 // version u8, frames u24, rows u32, filter words u16, limits 4 × u16, times u8, 0

	// gramVersion fixes the hash and the folding, which is that of Unicode 15.0.
	gramVersion = 1

	bucketBits = 16
	allBuckets = 1 << bucketBits

	maxFrames = 1<<24 - 1
	maxRows   = 1 << 24
)

// gramWidths are the widths in bytes of the classes of grams; gramMasks select them
// from eight bytes, read little-endian; gramKeys tell the classes apart.
var (
	gramWidths = [classes]int{6, 4, 6, 8}
	gramMasks  = [classes]uint64{1<<48 - 1, 1<<32 - 1, 1<<48 - 1, 1<<64 - 1}
	gramKeys   = [classes]uint64{0x2545f4914f6cdd1d, 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb}
	// gramTurns make the hash of an anchored gram's further rows.
	gramTurns = [maxTimes]uint64{
		1, 0xd6e8feb86659fd93, 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53,
		0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3,
	}
)

// What an anchored gram looks like is found with a window over the last bytes: lanes
// of 16 bits, one bit a byte, the last byte lowest. Bytes beyond ASCII are in none.
const (
	alnumLane = 0
	digitLane = 16
	otherLane = 32 // neither letter nor digit: what an anchored gram begins with
	lanes     = 0x7ffe<<alnumLane | 0x7ffe<<digitLane | 0x7ffe<<otherLane

	anchorShape = 0x1f<<alnumLane | 0x20<<otherLane // five letters or digits after such a byte
	anchorDigit = 0x1f << digitLane                 // one of them a digit
)

// anchorBytes are the lanes of each byte of folded text.
var anchorBytes = func() (t [256]uint64) {
	for c := range t[:utf8.RuneSelf] {
		switch {
		case c >= '0' && c <= '9':
			t[c] = 1<<alnumLane | 1<<digitLane
		case c >= 'A' && c <= 'Z':
			t[c] = 1 << alnumLane
		default:
			t[c] = 1 << otherLane
		}
	}
	return t
}()

// anchorsOf yields where each anchored gram of text begins.
func anchorsOf(text []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		window := uint64(0)
		for i, c := range text {
			window = window<<1&lanes | anchorBytes[c]
			if window&anchorShape == anchorShape && window&anchorDigit != 0 && !yield(i-5) {
				return
			}
		}
	}
}

// gramHash hashes the gram of class w that x begins with: the top bits are
// its bucket, the others choose its row.
func gramHash(x uint64, w int) uint64 {
	return hashGram(x&gramMasks[w] ^ gramKeys[w])
}

// hashGram mixes all bits of x into all bits of the hash.
func hashGram(x uint64) uint64 {
	hi, lo := bits.Mul64(x, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// gramBucket is what filter and limits know of a gram.
func gramBucket(h uint64) int { return int(h >> (64 - bucketBits)) }

// gramRow maps a hash to a row. It takes bits that the bucket does not.
func gramRow(h, rows uint64) uint64 { return h & (1<<32 - 1) * rows >> 32 }

// filterSlot is where the filter of common grams keeps a bucket of a class: in one
// word, three bits.
func filterSlot(bucket, w, words int) (word int, mask uint64) {
	h := (uint64(bucket)<<2 | uint64(w)) * 0x9e3779b97f4a7c15
	mask = 1<<(h>>58) | 1<<(h>>52&63) | 1<<(h>>46&63)
	return int(h & (1<<32 - 1) * uint64(words) >> 32), mask
}

// grams is an opened grams section.
type grams struct {
	body         seal.Bytes
	frames, rows int
	filter       int          // words of the filter
	limits       [classes]int // buckets of each class that are used
	times        int          // rows of an anchored gram
}

// openGrams opens a section. It verifies the page with the header only.
func openGrams(section []byte) (grams, error) {
	body, err := seal.Open(section)
	if err != nil {
		return grams{}, ErrDamaged
	}
	head, err := body.Read(0, gramHeader)
	if err != nil {
		return grams{}, ErrDamaged
	}
	g := grams{
		body:   body,
		frames: int(binary.LittleEndian.Uint32(head) >> 8),
		rows:   int(binary.LittleEndian.Uint32(head[4:])),
		filter: int(binary.LittleEndian.Uint16(head[8:])),
		times:  int(head[18]),
	}
	for w := range classes {
		g.limits[w] = limitOf(binary.LittleEndian.Uint16(head[10+2*w:]))
	}
	if head[0] != gramVersion || g.frames == 0 || g.rows == 0 || g.rows > maxRows || g.times == 0 || g.times > maxTimes || head[19] != 0 || g.size() != body.Len() {
		return grams{}, ErrDamaged
	}
	return g, nil
}

// limitOf reads the number of used buckets of a class: the largest value means all.
func limitOf(v uint16) int {
	if v == allBuckets-1 {
		return allBuckets
	}
	return int(v)
}

// matrix is where the rows begin in the body.
func (g *grams) matrix() int { return gramHeader + 8*g.filter }

func (g *grams) size() int { return g.matrix() + (g.rows*g.frames+7)/8 }

// CheckGrams verifies every page of a grams section of a payload of a number of
// frames, and that no unused bit is set.
func CheckGrams(section []byte, frames int) error {
	g, err := openGrams(section)
	if err != nil || g.frames != frames || g.body.Verify() != nil {
		return ErrDamaged
	}
	if used := g.rows * g.frames % 8; used != 0 {
		if last, err := g.body.Read(g.body.Len()-1, 1); err != nil || last[0]>>used != 0 {
			return ErrDamaged
		}
	}
	return nil
}

// Candidates returns the frames in which a match of q may begin; frames is the
// payload's number of frames. It leaves out no frame in which one does. A missing or
// damaged section, a query of fewer than four bytes, or one that is not UTF-8, rules
// out none. It reads one row for each gram of the query, until none are left.
func (q *Query) Candidates(section []byte, frames int) FrameSet {
	set := allFrames(frames)
	if g, err := openGrams(section); err == nil && g.frames == frames {
		g.narrow(q, set.words())
	}
	return set
}

// MayContain tells whether the payload that a grams section belongs to may contain
// q. It is [Query.Candidates] for callers that ask many records for one bit: it
// allocates nothing for payloads of up to 256 frames.
func (q *Query) MayContain(section []byte) bool {
	if len(q.grams[fours]) == 0 {
		return true
	}
	g, err := openGrams(section)
	if err != nil {
		return true
	}
	set := allFrames(g.frames)
	return g.narrow(q, set.words())
}

// When no more than fewLeft frames are left and idleProbes grams of a class in a row
// for each of them ruled out none, the next class is tried: they mostly hold the query,
// and decoding them in vain costs less than what else would be read. Twice as many left
// the candidates of queries that occur as they are, half as many did not.
const (
	idleProbes = 4
	fewLeft    = 2
)

// narrow intersects w with the rows of the grams of q. It tells whether anything is
// left. Bytes that cannot be read rule nothing out.
func (g *grams) narrow(q *Query, w []uint64) bool {
	filter, err := g.body.Read(gramHeader, 8*g.filter)
	if err != nil {
		return true
	}
	before := count(w)
	for class, hashes := range q.grams {
		idle := 0
		for _, h := range hashes {
			if !g.uses(filter, h, class) {
				continue
			}
			if !g.andGram(w, h, class) {
				return false
			}
			left := count(w)
			if idle++; left < before {
				idle, before = 0, left
			}
			if left <= fewLeft && idle >= idleProbes*left {
				break
			}
		}
	}
	return true
}

// count returns the number of bits that are set.
func count(w []uint64) (n int) {
	for _, x := range w {
		n += bits.OnesCount64(x)
	}
	return n
}

// andGram intersects w with the rows of one gram and tells whether anything is left.
func (g *grams) andGram(w []uint64, h uint64, class int) bool {
	if class != anchored {
		return g.and(w, int(gramRow(h, uint64(g.rows))))
	}
	for _, turn := range gramTurns[:g.times] {
		if !g.and(w, int(gramRow(h*turn, uint64(g.rows)))) {
			return false
		}
	}
	return true
}

// uses tells whether grams of hash h were entered in the matrix.
func (g *grams) uses(filter []byte, h uint64, class int) bool {
	bucket := gramBucket(h)
	if bucket >= g.limits[class] {
		return false
	}
	if len(filter) == 0 {
		return true
	}
	word, mask := filterSlot(bucket, class, g.filter)
	return binary.LittleEndian.Uint64(filter[8*word:])&mask != mask
}

// and intersects w with a row and tells whether anything is left.
func (g *grams) and(w []uint64, row int) bool {
	first := row * g.frames
	b, err := g.body.Read(g.matrix()+first/8, (first+g.frames+7)/8-first/8)
	if err != nil {
		return true
	}
	left := uint64(0)
	for i := range w {
		w[i] &= load64(b[8*i:], first%8)
		left |= w[i]
	}
	return left != 0
}

// load64 returns 64 bits of b from bit shift (0 to 7) on; bits behind its end are
// zero.
func load64(b []byte, shift int) uint64 {
	if len(b) >= 9 {
		return binary.LittleEndian.Uint64(b)>>shift | uint64(b[8])<<(63-shift)<<1
	}
	var padded [9]byte
	copy(padded[:], b)
	return binary.LittleEndian.Uint64(padded[:])>>shift | uint64(padded[8])<<(63-shift)<<1
}
