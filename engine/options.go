package engine

import (
	"time"

	"docket"
	"docket/codec"
)

// Options of [Open] and [NewMemory]. The zero value of each field is its default.
type Options struct {
	// ReadOnly opens the file for reading; other readers may have it open too, no
	// writer. Default: reading and writing, alone.
	ReadOnly bool

	// MustExist makes a missing file [docket.ErrNoLedger]. Default: a missing file
	// is made, unless ReadOnly is set.
	MustExist bool

	// StrictIDs makes a call id that is recorded with another payload
	// [docket.ErrConflict]. Default: such a result is a record of its own. Set it
	// only where call ids are known to be unique: many providers repeat them.
	StrictIDs bool

	// MaxPayload is the largest payload accepted, in bytes. Default:
	// [docket.MaxPayload], 256 MiB. Recording takes up to three times a payload's
	// size in memory.
	MaxPayload int64

	// LockTimeout is how long Open waits for another process to let go of the
	// file. Default: 500 ms. Negative: it does not wait.
	LockTimeout time.Duration

	// NoSync leaves out every fsync: a crash of the system may lose or damage the
	// whole file. For tests and benchmarks.
	NoSync bool

	// FrameSize is the raw size of a frame in bytes, at most [codec.MaxFrame].
	// Default: [codec.FrameSize]. Smaller frames make slices cheaper and the file
	// larger. It concerns new records only.
	FrameSize int

	// Level is how hard payloads are compressed. Default: [codec.LevelBetter]. It
	// concerns new records only.
	Level codec.Level

	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// filled returns a copy with defaults in the place of zero values.
func (o *Options) filled() Options {
	var f Options
	if o != nil {
		f = *o
	}
	if f.MaxPayload <= 0 {
		f.MaxPayload = docket.MaxPayload
	}
	if f.LockTimeout == 0 {
		f.LockTimeout = 500 * time.Millisecond
	}
	if f.Now == nil {
		f.Now = time.Now
	}
	return f
}
