package main

// Where the ledger is, and how it is opened.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"docket"
	"docket/engine"
)

const defaultThread = "default"

// ledgerPath is --db, else $DOCKET_DB, else the state folder's ledger.
func (a *app) ledgerPath() (string, error) {
	if a.db != "" {
		return a.db, nil
	}
	if path := os.Getenv("DOCKET_DB"); path != "" {
		return path, nil
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("there is no home folder to keep the ledger in: name a file with --db: %w", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "docket", "ledger.docket"), nil
}

// forWriting opens the ledger, and makes it where there is none.
func (a *app) forWriting(use func(*engine.Ledger) error) error {
	path, err := a.ledgerPath()
	if err != nil {
		return err
	}
	return with(path, &engine.Options{}, use)
}

// forReading opens a ledger that must be there, beside other readers.
func (a *app) forReading(use func(*engine.Ledger) error) error {
	path, err := a.ledgerPath()
	if err != nil {
		return err
	}
	return with(path, &engine.Options{ReadOnly: true, MustExist: true}, use)
}

func with(path string, opts *engine.Options, use func(*engine.Ledger) error) error {
	ledger, err := engine.Open(path, opts)
	if err != nil {
		return err
	}
	return errors.Join(use(ledger), ledger.Close())
}

// minPrefix is the shortest mem id prefix that the command line takes.
const minPrefix = 6

// resolve finds the one record that mem, a mem id or a unique prefix of one,
// names in thread, or in any thread when thread is empty.
func resolve(ctx context.Context, l *engine.Ledger, thread, mem string) (docket.ThreadID, docket.MemID, error) {
	mem = strings.TrimSpace(mem)
	if !docket.IsMemIDPrefix(mem) || len(mem) < minPrefix {
		return "", "", codeError{fmt.Errorf("%q is no mem id: 16 characters of a–z and 2–7, or the first %d or more of them: docket ls lists what is there", mem, minPrefix), exitNotFound}
	}
	var found []engine.Found
	for at, err := range l.Find(ctx, mem) {
		if err != nil {
			return "", "", err
		}
		if thread != "" && at.Thread != docket.ThreadID(thread) {
			continue
		}
		if len(found) == 0 || found[0].MemID != at.MemID {
			found = append(found, at)
		}
		if len(found) > 1 {
			return "", "", usagef("%q begins more than one mem id (%s, %s): give more of it", mem, found[0].MemID, found[1].MemID)
		}
	}
	if len(found) == 0 {
		return "", "", fmt.Errorf("%q: %w", mem, docket.ErrNotFound)
	}
	return found[0].Thread, found[0].MemID, nil
}
