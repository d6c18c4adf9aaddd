package wire

// Memory for what lives as long as one view: the payloads decoded from its body. Taking it
// from the system for each request of some megabytes took a tenth of a view's time.

import "sync"

// arena hands out memory that is given back all at once. A nil arena takes it from the
// system, for what lives longer.
type arena struct{ free []byte }

// arenaLimit is the largest memory that waits for the next view.
const arenaLimit = 64 << 20

var arenas = sync.Pool{New: func() any { return new(arena) }}

func newArena() *arena { return arenas.Get().(*arena) }

// take returns n bytes, whatever they hold. What does not fit is the system's, and makes the
// arena larger for the next time.
func (a *arena) take(n int) []byte {
	if a == nil {
		return make([]byte, n)
	}
	if used := len(a.free); used+n <= cap(a.free) {
		a.free = a.free[:used+n]
		return a.free[used : used+n : used+n]
	}
	if n = max(n, 0); len(a.free)+n <= arenaLimit {
		grown := make([]byte, len(a.free)+n, 2*(len(a.free)+n))
		taken := grown[len(a.free):]
		a.free = grown
		return taken[:n:n]
	}
	return make([]byte, n)
}

// release gives back all that was taken. Nothing may hold it any more.
func (a *arena) release() {
	if a == nil {
		return
	}
	a.free = a.free[:0]
	arenas.Put(a)
}
