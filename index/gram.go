package index

// Substrings: which frames may hold a query. WALKING VERSION: the format of the
// section still changes, the functions do not.

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"unicode/utf8"

	"docket/internal/seal"
)

const (
	gram       = 4   // bytes of a gram, of folded UTF-8
	cover      = 255 // bytes after a frame that its signature covers
	sureCover  = cover - (utf8.UTFMax - 1)
	gramHeader = 16
	minGrams   = 1 << 10 // payloads shorter than this have no section
	maxProbes  = 64      // grams of a query that are looked up
)

// Query is a substring to look for, prepared once for any number of payloads. It
// is immutable and safe for concurrent use.
type Query struct {
	text, folded []byte
	fold, valid  bool
	leads        []byte // first bytes of what the first character matches
	leadCount    int
	leadSet      [4]uint64
	grams        []uint32 // in the order in which they are probed
	maxBytes     int
}

// NewQuery prepares a query; with fold it matches under simple case folding. It
// copies text.
func NewQuery(text []byte, fold bool) *Query {
	q := &Query{text: append([]byte(nil), text...), fold: fold, valid: utf8.Valid(text)}
	q.folded = appendFolded(nil, text)
	prefix, sure := 0, 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		most := size
		if fold && (r != utf8.RuneError || size > 1) {
			most = foldedMax(r)
		}
		q.maxBytes += most
		i += size
		if q.maxBytes <= sureCover {
			prefix, sure = i, q.maxBytes
		}
	}
	_ = sure
	if q.valid {
		q.setGrams(appendFolded(nil, text[:prefix]))
	}
	q.setLeads()
	return q
}

// MaxBytes returns the length of the longest text that q can match, in bytes.
func (q *Query) MaxBytes() int { return q.maxBytes }

func (q *Query) setGrams(folded []byte) {
	for i := 0; i+gram <= len(folded); i++ {
		q.grams = append(q.grams, binary.LittleEndian.Uint32(folded[i:]))
	}
	if len(q.grams) > maxProbes {
		q.grams = q.grams[:maxProbes]
	}
}

func (q *Query) setLeads() {
	if len(q.text) == 0 {
		return
	}
	r, size := utf8.DecodeRune(q.text)
	q.addLead(q.text[0])
	if r == utf8.RuneError && size == 1 {
		return
	}
	var b [utf8.UTFMax]byte
	for f := foldNext(r); f != r; f = foldNext(f) {
		utf8.EncodeRune(b[:], f)
		q.addLead(b[0])
	}
}

func (q *Query) addLead(c byte) {
	if q.leadSet[c>>6]&(1<<(c&63)) == 0 {
		q.leadSet[c>>6] |= 1 << (c & 63)
		q.leads = append(q.leads, c)
		q.leadCount++
	}
}

// FrameSet is a set of frames of one payload.
type FrameSet struct {
	frames int
	small  [4]uint64 // up to 256 frames need no allocation
	large  []uint64
}

func newFrameSet(frames int) FrameSet {
	s := FrameSet{frames: frames}
	if frames > 64*len(s.small) {
		s.large = make([]uint64, (frames+63)/64)
	}
	w := s.words()
	for i := range w {
		w[i] = ^uint64(0)
	}
	if frames%64 != 0 {
		w[len(w)-1] = 1<<(frames%64) - 1
	}
	return s
}

func (s *FrameSet) words() []uint64 {
	if s.large != nil {
		return s.large
	}
	return s.small[:(s.frames+63)/64]
}

// Has tells whether frame n is in the set.
func (s *FrameSet) Has(n int) bool {
	return n >= 0 && n < s.frames && s.words()[n/64]&(1<<(n%64)) != 0
}

// Len returns the number of frames in the set.
func (s *FrameSet) Len() int {
	n := 0
	for _, w := range s.words() {
		n += bits.OnesCount64(w)
	}
	return n
}

// Next returns the first frame in the set that is at or after n, -1 if there is
// none.
func (s *FrameSet) Next(n int) int {
	if n < 0 {
		n = 0
	}
	w := s.words()
	for i := n / 64; i < len(w); i++ {
		x := w[i]
		if i == n/64 {
			x &= ^uint64(0) << (n % 64)
		}
		if x != 0 {
			return 64*i + bits.TrailingZeros64(x)
		}
	}
	return -1
}

// All yields the frames of the set in ascending order.
func (s *FrameSet) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := s.Next(0); n >= 0; n = s.Next(n + 1) {
			if !yield(n) {
				return
			}
		}
	}
}

// AppendGrams appends the grams section of payload to dst: at most about budget
// bytes. A payload that is too short to gain from one gets none.
func AppendGrams(dst, payload []byte, cuts []int64, budget int) []byte {
	frames := len(cuts)
	if len(payload) < minGrams || frames == 0 || budget < 64 {
		return dst
	}
	rows := 8 * (budget - gramHeader) / frames
	body := make([]byte, gramHeader, gramHeader+(rows*frames+7)/8)
	binary.LittleEndian.PutUint32(body, uint32(frames))
	binary.LittleEndian.PutUint32(body[4:], uint32(rows))
	body = body[:cap(body)]
	matrix := body[gramHeader:]
	var folded []byte
	var start int64
	for k, end := range cuts {
		stop := coverEnd(payload, end)
		folded = appendFolded(folded[:0], payload[start:stop])
		for i := 0; i+gram <= len(folded); i++ {
			bit := gramRow(binary.LittleEndian.Uint32(folded[i:]), rows)*frames + k
			matrix[bit/8] |= 1 << (bit % 8)
		}
		start = end
	}
	return seal.Append(dst, body)
}

// coverEnd returns where the signature of a frame that ends at end stops reading.
func coverEnd(payload []byte, end int64) int64 {
	stop := min(end+cover, int64(len(payload)))
	for i := stop; i > end && i > stop-utf8.UTFMax; i-- {
		if border(payload, int(i)) {
			return i
		}
	}
	return stop
}

func gramRow(g uint32, rows int) int {
	return int(uint64(g*0x9e3779b1) * uint64(rows) >> 32)
}

// Candidates returns the frames in which a match of q may begin; frames is the
// number of frames of the payload. It never leaves out a frame in which one does.
// A missing or damaged section rules out none.
func (q *Query) Candidates(section []byte, frames int) FrameSet {
	set := newFrameSet(frames)
	g, err := openGrams(section)
	if err != nil || g.frames != frames {
		return set
	}
	w := set.words()
	for _, x := range q.grams {
		if !g.and(w, gramRow(x, g.rows)) {
			break
		}
	}
	return set
}

// MayContain tells whether the payload that section belongs to may contain q.
func (q *Query) MayContain(section []byte) bool {
	g, err := openGrams(section)
	if err != nil {
		return true
	}
	set := q.Candidates(section, g.frames)
	return set.Next(0) >= 0
}

type grams struct {
	body         seal.Bytes
	frames, rows int
}

func openGrams(section []byte) (grams, error) {
	body, err := seal.Open(section)
	if err != nil {
		return grams{}, ErrDamaged
	}
	g := grams{body: body}
	head, err := g.body.Read(0, gramHeader)
	if err != nil {
		return grams{}, ErrDamaged
	}
	g.frames = int(binary.LittleEndian.Uint32(head))
	g.rows = int(binary.LittleEndian.Uint32(head[4:]))
	if g.frames == 0 || g.rows == 0 || (g.frames*g.rows+7)/8 != body.Len()-gramHeader {
		return grams{}, ErrDamaged
	}
	return g, nil
}

// and intersects w with row r. It tells whether anything is left.
func (g *grams) and(w []uint64, r int) bool {
	lo, hi := r*g.frames, (r+1)*g.frames
	b, err := g.body.Read(gramHeader+lo/8, (hi+7)/8-lo/8)
	if err != nil {
		return true
	}
	left := uint64(0)
	for i := range w {
		var x uint64
		for j := range min(64, g.frames-64*i) {
			bit := lo%8 + 64*i + j
			x |= uint64(b[bit/8]>>(bit%8)&1) << j
		}
		w[i] &= x
		left |= w[i]
	}
	return left != 0
}
