package docket

// Threads through time: moments of a thread that have a name, threads that begin at
// one, going back to one, and moving a thread to another ledger.

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// CheckpointID names a checkpoint within its thread: 1 to [MaxCheckpointID] bytes of
// the caller's choice, or a UUID of version 7 that the ledger makes.
type CheckpointID string

// MaxCheckpointID is the longest checkpoint id, in bytes.
const MaxCheckpointID = 256

// Checkpoint is a moment of a thread: which records it had seen, and which epochs its
// decision log had.
type Checkpoint struct {
	ID      CheckpointID `json:"checkpoint"`
	Thread  ThreadID     `json:"thread"`
	Created time.Time    `json:"created"`
	// Seq is the last position of the lineage at that moment: no record of the thread
	// that is part of the checkpoint is behind it.
	Seq Seq `json:"seq"`
	// Epochs is how many epochs the thread's decision log had.
	Epochs int `json:"epochs"`
}

// Forker is implemented by ledgers whose threads have a past: a moment of a thread can
// be kept, begun from again, gone back to, and a thread be moved. A ledger that
// implements it keeps a decision log too (compact.Log). All methods are safe for
// concurrent use.
type Forker interface {
	// Checkpoint keeps the present moment of thread under id; when it returns nil it is
	// durable. An empty id asks for a new one. The thread is made if need be. Keeping
	// a moment again under the same id gives the checkpoint that is there. Errors:
	// [ErrCheckpointID], [ErrCheckpointExists] if id names another moment,
	// [ErrThreadID].
	Checkpoint(ctx context.Context, thread ThreadID, id CheckpointID) (Checkpoint, error)

	// Checkpoints yields the checkpoints of thread: in the order of Created, those of
	// one time by id. A thread that is not there has none. An error ends the
	// iteration.
	Checkpoints(ctx context.Context, thread ThreadID) iter.Seq2[Checkpoint, error]

	// Fork makes the thread to, which shares with from its lineage key and all records,
	// decisions and earlier checkpoints up to the checkpoint at; empty: up to now. What
	// either records or decides afterwards the other does not see; what is expired or
	// erased is so in both. No payload is copied. All of to is there or nothing.
	// Errors: [ErrNoThread], [ErrNoCheckpoint], [ErrThreadExists] if to is there,
	// [ErrThreadID].
	Fork(ctx context.Context, from ThreadID, at CheckpointID, to ThreadID) error

	// Rewind gives thread the decisions that it had at the checkpoint at, so that an
	// agent that is restored there gets the views it got there. Records stay: those
	// recorded later can be viewed by their mem ids. Checkpoints stay too, also those
	// of later moments: rewinding to one of them brings its decisions back. Errors:
	// [ErrNoThread], [ErrNoCheckpoint].
	Rewind(ctx context.Context, thread ThreadID, at CheckpointID) error

	// Export writes thread to w: lineage key, records, tombstones, decisions,
	// checkpoints, in the format of FORMAT.md, "Export". The same thread gives the
	// same bytes. They hold the key and every payload in the clear. Errors:
	// [ErrNoThread], [*CorruptError], those of w.
	Export(ctx context.Context, thread ThreadID, w io.Writer) error

	// Import reads what Export wrote. Mem ids and decisions are those of the exported
	// thread. A thread that is there, of the same lineage, is brought forward if it is
	// an earlier state of the exported one, and left as it is if it is a later one;
	// so importing twice changes nothing. A lineage that is there is joined: the
	// thread shares its records, and a tombstone on either side wins. The thread is
	// there whole or as it was. nil options are the defaults. Errors: [*CorruptError]
	// with the place in the export, [*VersionError], [ErrThreadExists] if the thread
	// is of another lineage, [ErrDiverged], [ErrTooLarge].
	Import(ctx context.Context, r io.Reader, opts *ImportOptions) (ImportReport, error)
}

// ImportOptions of [Forker.Import]. The zero value of each field is its default.
type ImportOptions struct {
	// As is the thread to import as. Default: the exported thread's id.
	As ThreadID
}

// ImportReport is what an import did.
type ImportReport struct {
	Thread      ThreadID `json:"thread"`
	Records     int64    `json:"records"`     // of the export, in whatever state
	Added       int64    `json:"added"`       // of them were not in the ledger before
	Epochs      int64    `json:"epochs"`      // of the exported thread's decision log
	Checkpoints int64    `json:"checkpoints"` // of the exported thread
	Changed     bool     `json:"changed"`     // false: the thread was there, in this state or a later one
}

// Of threads and checkpoints.
var (
	ErrNoThread         = errors.New("docket: no such thread")
	ErrThreadExists     = errors.New("docket: there is a thread of that name")
	ErrNoCheckpoint     = errors.New("docket: no such checkpoint in this thread")
	ErrCheckpointID     = errors.New("docket: a checkpoint id has 1 to 256 bytes")
	ErrCheckpointExists = errors.New("docket: the checkpoint id names another moment of this thread")
	// ErrDiverged says that a thread and what is imported onto it have a beginning in
	// common, and that each went on by itself.
	ErrDiverged = errors.New("docket: the thread went on by itself, another way than what is imported")
)
