package main

// Errors to exit codes, and to the one line that says what happened and what to
// do.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"syscall"

	"docket"
	"docket/compact/wire"
)

// The exit codes; the root command's help documents them.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitNotFound = 3
	exitPartial  = 4
	exitCorrupt  = 5
	exitNoLedger = 10
	exitLocked   = 11
)

// usageError is a mistake of the caller's that no retry mends.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// codeError carries an exit code that its cause does not imply.
type codeError struct {
	error
	code int
}

func (e codeError) Unwrap() error { return e.error }

// exit reports err in one line and returns its exit code.
func (a *app) exit(err error) int {
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	if !errors.Is(err, errSilent) {
		fmt.Fprintf(a.err, "docket: %s\n", message(err))
	}
	return code
}

// errSilent marks an error whose report is already on standard error.
var errSilent = errors.New("reported")

func exitCode(err error) int {
	var coded codeError
	var usage usageError
	var corrupt *docket.CorruptError
	var locked *docket.LockedError
	var expired *docket.ExpiredError
	switch {
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &usage), errors.Is(err, docket.ErrThreadID):
		return exitUsage
	case errors.As(err, &corrupt), errors.Is(err, docket.ErrNotLedger):
		return exitCorrupt
	case errors.As(err, &locked):
		return exitLocked
	case errors.Is(err, docket.ErrNoLedger):
		return exitNoLedger
	case errors.Is(err, docket.ErrNotFound), errors.Is(err, docket.ErrErased), errors.As(err, &expired):
		return exitNotFound
	}
	return exitFailed
}

// message is err's text without the library's prefix, with what to do next where
// the error does not say.
func message(err error) string {
	text := trimPrefix(err.Error())
	if advice := advice(err); advice != "" {
		return text + ": " + advice
	}
	return text
}

func advice(err error) string {
	var corrupt *docket.CorruptError
	var usage usageError
	var locked *docket.LockedError
	switch {
	case errors.As(err, &usage):
		return "see docket help"
	case errors.As(err, &locked):
		return "run it again when that has ended"
	case errors.As(err, &corrupt):
		return "leave the file as it is, run docket check, and restore a backup beside it"
	case errors.Is(err, docket.ErrNotLedger):
		return "name a ledger with --db, or a path where there is no file yet"
	case errors.Is(err, docket.ErrNoLedger):
		return "record something first, or name the ledger with --db or DOCKET_DB"
	case errors.Is(err, docket.ErrNotFound):
		return "docket ls lists what is there"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free some space and run it again: what was recorded before is safe"
	case errors.Is(err, wire.ErrBody):
		return "it is passed on as it is: give a whole request body"
	case errors.Is(err, syscall.EROFS):
		return "name a file on another disk, or make this one writable"
	case errors.Is(err, fs.ErrPermission):
		return "check who may read and write there"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "check the name and its folder"
	case errors.Is(err, context.Canceled):
		return "stopped"
	}
	return ""
}

// packages name where an error came through.
var packages = regexp.MustCompile(`(^|: )(?:(?:docket|engine|codec|index|recall|compact|wire|prices|planner|simulate|bench): )+`)

// trimPrefix leaves out the names of the packages that an error came through.
func trimPrefix(s string) string { return packages.ReplaceAllString(s, "$1") }
