package main

// Progress of long work: one line on standard error that is written over, from the
// first second on, and only where somebody looks.

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// quietFor is how long work may take before it shows progress, and often how long
// passes between two showings.
const (
	quietFor  = time.Second
	showEvery = 200 * time.Millisecond
)

// progress shows how far one piece of work is. It is for one goroutine.
type progress struct {
	w     io.Writer
	begun time.Time
	shown time.Time
	wrote bool
	on    bool
}

func (a *app) progress() *progress {
	return &progress{w: a.err, begun: time.Now(), on: isTerminal(a.err)}
}

// isTerminal tells whether somebody looks at w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// step says that done of total units are done; total 0 is unknown.
func (p *progress) step(what string, done, total int64) {
	now := time.Now()
	if !p.on || now.Sub(p.begun) < quietFor || now.Sub(p.shown) < showEvery {
		return
	}
	p.shown, p.wrote = now, true
	if total > 0 {
		fmt.Fprintf(p.w, "\r\x1b[K%s: %d %% (%s)", what, 100*done/total, now.Sub(p.begun).Round(time.Second))
	} else {
		fmt.Fprintf(p.w, "\r\x1b[K%s (%s)", what, now.Sub(p.begun).Round(time.Second))
	}
}

// end clears the line.
func (p *progress) end() {
	if p.wrote {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
