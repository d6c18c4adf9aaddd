package index

// A set of frames as a bitmap. It is a value: up to 256 frames (12 MB of payload)
// it needs no allocation.

import (
	"iter"
	"math/bits"
)

// FrameSet is a set of frames of one payload. The zero value is empty.
type FrameSet struct {
	frames int
	small  [4]uint64
	large  []uint64
}

// allFrames returns the set of all of a number of frames.
func allFrames(frames int) FrameSet {
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
func (s *FrameSet) Len() int { return count(s.words()) }

// Next returns the first frame of the set that is at or after n, -1 if there is
// none.
func (s *FrameSet) Next(n int) int {
	n = max(n, 0)
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
