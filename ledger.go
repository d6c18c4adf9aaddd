package docket

// The ledger as an interface: what an adopter implements over a store of their
// own, checked by the suite in ledgertest. The implementations that ship are in
// engine.

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"
)

// Seq is a record's position in its thread: ascending in the order of
// recording, starting at 1, with gaps where a thread's lineage has other forks.
type Seq uint64

// Ledger keeps the results of tool calls. All methods are safe for concurrent
// use.
type Ledger interface {
	// Record persists results in thread, all of them or none, and returns their
	// handles in the same order; when it returns nil they are durable. It is put
	// if absent: a result with the call id and payload of a record of this thread
	// gives that record's handle and leaves storage untouched. The same call id
	// with another payload is a record of its own. Errors: [ErrErased],
	// [ErrTooLarge], [ErrThreadID], [ErrConflict] (together with the original
	// handles, where the ledger was opened with strict ids), and the store's own.
	Record(ctx context.Context, thread ThreadID, results ...Result) ([]Handle, error)

	// View calls fn with the record that id names in thread. Neither the record
	// nor anything that it hands out without a dst is valid after fn returned.
	// Errors: [ErrNotFound] for an id that thread cannot see, whether or not it
	// exists elsewhere; [*ExpiredError]; [ErrErased]; [*CorruptError]; fn's own
	// error, unchanged.
	View(ctx context.Context, thread ThreadID, id MemID, fn func(Record) error) error

	// List yields the handles of thread after the given position (0: all), in
	// ascending order of Seq. A thread that was never recorded to is empty. An
	// error ends the iteration. View may be called inside the loop.
	List(ctx context.Context, thread ThreadID, after Seq) iter.Seq2[Handle, error]
}

// Record is one record during a view.
type Record interface {
	// Handle returns the record's handle: a copy.
	Handle() Handle
	// Args returns the call's arguments, nil if unknown. Valid during the view.
	Args() []byte
	// Attachments returns copies of the parts that are not text.
	Attachments() ([]Attachment, error)
	// Section returns an index section, nil if the record has none: the caller
	// then scans. Valid during the view. The index package parses it.
	Section(SectionID) []byte
	// Frames returns the number of frames of the payload: 0 if it is empty.
	Frames() int
	// AppendFrame appends the decoded bytes of frame n, 0 ≤ n < Frames(), to dst.
	// The frames in order concatenate to the payload, and each ends at a character
	// border: readers count a frame's characters without its neighbours. A damaged
	// frame is a [*CorruptError], never wrong bytes.
	AppendFrame(dst []byte, n int) ([]byte, error)
	// Tag returns [DeriveTag] of text under the thread's lineage key.
	Tag(text []byte) string
}

// SectionID names an index section of a record. The values are part of the
// format.
type SectionID byte

// The index sections, each built and parsed by the index package.
const (
	SectionChars SectionID = 'c' // frame → first byte, first character
	SectionPaths SectionID = 'p' // JSON path → bytes
	SectionGrams SectionID = 'g' // substring → candidate frames
)

// Narrower is implemented by ledgers that can rule out records of a thread
// without viewing each of them.
type Narrower interface {
	// Narrow yields, in ascending order of Seq, the mem id of every record of
	// thread that may contain query (with fold: under simple case folding), and
	// perhaps others. An empty query yields all. An error ends the iteration. View
	// may be called inside the loop.
	Narrow(ctx context.Context, thread ThreadID, query []byte, fold bool) iter.Seq2[MemID, error]
}

// Epoch is a set of results that were decided to be stubbed at once.
type Epoch struct {
	Number   uint64    // 1 for the thread's first; assigned by the log
	Form     Form      // the form that the thread's stubs are frozen to
	Mems     []MemID   // what this epoch added
	Messages int       // how many messages the request had that it was opened in
	Created  time.Time // wall clock; never in a stub
}

// Decisions is the state of a thread's decision log: grow-only.
type Decisions struct {
	Form   Form             // the frozen form; meaningful when Epochs is not empty
	Epochs map[MemID]uint64 // mem id → number of the epoch that decided it
	// Messages are the epochs' [Epoch.Messages], in order: of number 1 first.
	Messages []int
}

// Clone returns a copy that shares nothing with d.
func (d Decisions) Clone() Decisions {
	d.Epochs = maps.Clone(d.Epochs)
	if d.Epochs == nil {
		d.Epochs = map[MemID]uint64{}
	}
	d.Messages = slices.Clone(d.Messages)
	return d
}

// Undecided returns those of mems that d knows nothing of, each once.
func (d Decisions) Undecided(mems []MemID) []MemID {
	var out []MemID
	seen := map[MemID]bool{}
	for _, id := range mems {
		if d.Epochs[id] == 0 && !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// Add numbers e, whose mem ids are undecided, and adds it. The form of the first epoch is
// that of all.
func (d *Decisions) Add(e *Epoch) {
	if len(d.Messages) == 0 {
		d.Form = e.Form.Filled()
	}
	e.Number = uint64(len(d.Messages)) + 1
	e.Form = d.Form
	d.Messages = append(d.Messages, e.Messages)
	for _, id := range e.Mems {
		d.Epochs[id] = e.Number
	}
}
