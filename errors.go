package docket

// The errors that a caller may want to tell apart, grouped by when they occur.

import (
	"errors"
	"fmt"
	"time"
)

// While opening a ledger.
var (
	ErrNoLedger  = errors.New("docket: no ledger there")
	ErrNotLedger = errors.New("docket: the file is not a docket ledger")
	ErrReadOnly  = errors.New("docket: the ledger is open for reading only")
	ErrClosed    = errors.New("docket: the ledger is closed")
)

// While recording.
var (
	ErrThreadID = errors.New("docket: a thread id has 1 to 1024 bytes")
	ErrTooLarge = errors.New("docket: the payload is larger than the ledger accepts")
	ErrConflict = errors.New("docket: the call id is recorded with another payload")
)

// While reading.
var (
	ErrNotFound = errors.New("docket: no such record in this thread")
	ErrErased   = errors.New("docket: the record was erased")
)

// ExpiredError says that a record's payload is gone and its handle is kept.
// Recording the same result again brings it back under the same mem id.
type ExpiredError struct {
	Handle  Handle
	Expired time.Time
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("docket: record %s expired on %s", e.Handle.MemID, e.Expired.UTC().Format(time.DateOnly))
}

// CorruptError says that stored bytes are not what FORMAT.md allows. They are
// never repaired silently and never returned.
type CorruptError struct {
	File     string // the ledger's path; empty in memory
	Place    string // where in it, for example "record 17, frame 3"
	Rule     int    // the invariant's number in FORMAT.md; 0: none is numbered
	Expected string
	Found    string
}

func (e *CorruptError) Error() string {
	s := "docket: damaged"
	if e.File != "" {
		s += fmt.Sprintf(" file %q", e.File)
	}
	if e.Place != "" {
		s += ", " + e.Place
	}
	if e.Rule != 0 {
		s += fmt.Sprintf(", rule %d", e.Rule)
	}
	return s + ": expected " + e.Expected + ", found " + e.Found
}

// VersionError says that the file is of a format that this release does not
// read.
type VersionError struct {
	File          string
	Found, Newest uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("docket: %q has format %d, this release reads up to %d: use a newer docket", e.File, e.Found, e.Newest)
}

// LockedError says that another process holds the ledger.
type LockedError struct {
	File   string
	Holder string // who, as far as the LOCK file tells: process id, command, since when
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("docket: %q is locked by %s", e.File, e.Holder)
}
