package engine

// Retention: letting go of what is old, by age and by size. It is careful by default: a
// pass takes a tenth at most, nothing that a live stub names, and nothing while the clock
// looks wrong; a mistake in a script then costs little.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"docket"
)

// Retention says what a ledger lets go of. The zero value of each field is its default.
type Retention struct {
	// Thread is the only thread that loses records. Default: all do.
	Thread docket.ThreadID

	// Age is how old a record may become, from its recording on. Default: any age.
	Age time.Duration

	// Bytes is how much all that the ledger stores of records may take (of Thread's, if it
	// is set): the oldest go first. Default: any size.
	Bytes int64

	// Erase erases what would expire. Default: the handle stays, and the record comes back
	// when it is recorded again.
	Erase bool

	// Live is how long a thread is live after it was last recorded to or opened an epoch:
	// what its stubs name stays, because its model may ask for it. Default: 30 days;
	// negative: no thread is live.
	Live time.Duration

	// Unbounded lifts two limits: that a pass takes at most a tenth of the stored bytes,
	// and that nothing goes while the clock is far from that of the last recording
	// ([ErrClock]).
	Unbounded bool

	// DryRun reports what a pass would do.
	DryRun bool

	// Progress is told how far it is. Default: nobody is told.
	Progress Progress
}

// RetentionReport is what a pass of retention did. Bytes are stored ones.
type RetentionReport struct {
	Records    int64 `json:"records"`     // let go of
	Bytes      int64 `json:"bytes"`       // which took these
	Named      int64 `json:"named"`       // due, but a live stub names them
	NamedBytes int64 `json:"named_bytes"` //
	Later      int64 `json:"later"`       // due, but left for the next pass
	LaterBytes int64 `json:"later_bytes"` //
	All        int64 `json:"all"`         // live records before the pass
	AllBytes   int64 `json:"all_bytes"`   //
	DryRun     bool  `json:"dry_run"`
}

const (
	defaultLive = 30 * 24 * time.Hour
	// A pass takes one part in so many of the stored bytes.
	retentionShare = 10
	// The clock looks wrong when it is earlier than the last recording by more than
	// clockBack, or later by more than clockAhead: nobody can tell a long rest from a jump.
	clockBack  = time.Hour
	clockAhead = 90 * 24 * time.Hour
	// retireBatch is how many records go in one commit.
	retireBatch = 256
)

// ErrClock says that retention did nothing, because the clock is far from the time of the
// last recording.
var ErrClock = errors.New("engine: the clock is far from the time of the last recording, so no age is believed")

// stock is a live record as retention sees it.
type stock struct {
	thread  docket.ThreadID // one that sees it
	mem     docket.MemID
	created time.Time
	stored  int64
}

// inventory is what retention knows of a ledger.
type inventory struct {
	records []stock
	listed  map[docket.MemID]bool // is in records
	named   map[docket.MemID]bool // by a stub of a live thread
	newest  time.Time             // recording or epoch
}

// Retain lets go of records as r says, oldest first, in commits of some hundred; when it
// ends early what was done is done, and another pass goes on. The bytes stay in free
// pages until [Ledger.Vacuum]. Errors: [ErrClock], those of a commit,
// [*docket.CorruptError].
func (l *Ledger) Retain(ctx context.Context, r Retention) (RetentionReport, error) {
	report := RetentionReport{DryRun: r.DryRun}
	inv, err := l.inventory(ctx, r)
	if err != nil {
		return report, err
	}
	now := l.opts.Now()
	if far := now.Before(inv.newest.Add(-clockBack)) || now.After(inv.newest.Add(clockAhead)); far && !r.Unbounded && len(inv.records) > 0 {
		return report, fmt.Errorf("%w: now is %s, that was %s", ErrClock, now.UTC().Format(time.RFC3339), inv.newest.UTC().Format(time.RFC3339))
	}
	due := inv.due(r, now, &report)
	if r.DryRun {
		for _, s := range due {
			report.Records, report.Bytes = report.Records+1, report.Bytes+s.stored
		}
		return report, nil
	}
	to := expired
	if r.Erase {
		to = erased
	}
	for done := 0; done < len(due); {
		batch := due[done:min(done+retireBatch, len(due))]
		if err := l.retireAll(ctx, batch, to, &report); err != nil {
			return report, err
		}
		done += len(batch)
		if r.Progress != nil {
			r.Progress(int64(done), int64(len(due)))
		}
	}
	return report, nil
}

// retireAll retires a batch in one commit. What is gone meanwhile is left out.
func (l *Ledger) retireAll(ctx context.Context, batch []stock, to state, report *RetentionReport) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var records, bytes int64
	err := l.commit(ctx, &op{apply: func(tx txn, writes func()) error {
		records, bytes = 0, 0
		for _, s := range batch {
			stored, err := l.retireIn(tx, s.thread, s.mem, to, writes)
			switch {
			case errors.Is(err, docket.ErrNotFound), errors.Is(err, docket.ErrErased):
			case err != nil:
				return err
			case stored > 0:
				records, bytes = records+1, bytes+stored
			}
		}
		return nil
	}})
	if err == nil {
		report.Records, report.Bytes = report.Records+records, report.Bytes+bytes
	}
	return err
}

// due returns what a pass lets go of, oldest first.
func (inv *inventory) due(r Retention, now time.Time, report *RetentionReport) (due []stock) {
	slices.SortStableFunc(inv.records, func(a, b stock) int { return a.created.Compare(b.created) })
	var all int64
	for _, s := range inv.records {
		all += s.stored
	}
	report.All, report.AllBytes = int64(len(inv.records)), all
	left, taken := all, int64(0)
	for _, s := range inv.records {
		old := r.Age > 0 && now.Sub(s.created) > r.Age
		if over := r.Bytes > 0 && left > r.Bytes; !old && !over {
			continue
		}
		switch {
		case inv.named[s.mem]:
			report.Named, report.NamedBytes = report.Named+1, report.NamedBytes+s.stored
		case !r.Unbounded && len(due) > 0 && taken+s.stored > all/retentionShare:
			report.Later, report.LaterBytes = report.Later+1, report.LaterBytes+s.stored
			left -= s.stored // what the next pass takes is not to be made up for by others
		default:
			due = append(due, s)
			left, taken = left-s.stored, taken+s.stored
		}
	}
	return due
}

// inventory lists the live records of the ledger, or of one thread, and what live threads
// name.
func (l *Ledger) inventory(ctx context.Context, r Retention) (*inventory, error) {
	inv := &inventory{listed: map[docket.MemID]bool{}, named: map[docket.MemID]bool{}}
	live := r.Live
	if live == 0 {
		live = defaultLive
	}
	for info, err := range l.Threads(ctx) {
		if err != nil {
			return nil, err
		}
		log, err := l.epochsOf(info.ID)
		if err != nil {
			return nil, err
		}
		last := time.Time{}
		for _, e := range log {
			last = later(last, e.Created)
		}
		err = l.allRows(ctx, info.ID, func(row row) {
			last = later(last, row.handle.Created)
			if r.Thread == "" || r.Thread == info.ID {
				inv.add(info.ID, row)
			}
		})
		if err != nil {
			return nil, err
		}
		inv.newest = later(inv.newest, last)
		if live < 0 || l.opts.Now().Sub(last) > live {
			continue
		}
		for _, e := range log {
			for _, id := range e.Mems {
				inv.named[id] = true
			}
		}
	}
	return inv, nil
}

// add takes in a live record, once: threads may share it.
func (inv *inventory) add(thread docket.ThreadID, r row) {
	if id := r.handle.MemID; r.state == live && !inv.listed[id] {
		inv.listed[id] = true
		inv.records = append(inv.records, stock{thread, id, r.handle.Created, r.stored})
	}
}

// epochsOf returns the epochs of a thread, those that a rewind dropped as well: rewinding
// to a checkpoint brings them back.
func (l *Ledger) epochsOf(id docket.ThreadID) (all []docket.Epoch, err error) {
	err = l.view("decision log", func(tx txn) error {
		t, err := openThread(tx, l.path, id)
		if err != nil || t == nil {
			return err
		}
		log, err := t.log()
		all = log.epochs
		for _, d := range log.dropped {
			all = append(all, d.epoch)
		}
		return err
	})
	return all, err
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
