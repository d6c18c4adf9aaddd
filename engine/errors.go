package engine

import "errors"

// While committing.
var (
	// ErrUnknown says that a commit failed: whether the results are recorded is
	// unknown. Nothing was acknowledged. Recording again is safe.
	ErrUnknown = errors.New("engine: the commit failed, so whether it is kept is unknown")
	// ErrFull says that the disk or a quota is full. Reading goes on, and so does
	// recording once space is freed.
	ErrFull = errors.New("engine: no space left for the ledger")
)
