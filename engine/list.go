package engine

// Lists. None holds a transaction while the caller's loop runs: a page of handles
// is copied, then yielded.

import (
	"context"
	"iter"

	"docket"
)

// listPage is the number of handles read at once.
const listPage = 128

// List yields the handles of thread after a position; see [docket.Ledger]. Expired
// records are listed, erased ones are not. What is recorded while it runs is
// listed too.
func (l *Ledger) List(ctx context.Context, thread docket.ThreadID, after docket.Seq) iter.Seq2[docket.Handle, error] {
	return func(yield func(docket.Handle, error) bool) {
		for {
			if err := ctx.Err(); err != nil {
				yield(docket.Handle{}, err)
				return
			}
			page, last, err := l.page(thread, after)
			for _, h := range page {
				if !yield(h, nil) {
					return
				}
			}
			if err != nil {
				yield(docket.Handle{}, err)
				return
			}
			if last == after {
				return
			}
			after = last
		}
	}
}

// page returns the next handles after a position, and the position it came to:
// after itself at the end.
func (l *Ledger) page(thread docket.ThreadID, after docket.Seq) (page []docket.Handle, last docket.Seq, err error) {
	last, err = l.rows(thread, after, listPage, func(r row) {
		if r.state != erased {
			r.handle.Thread = thread
			page = append(page, r.handle)
		}
	})
	return page, last, err
}

// rows calls fn with the next most rows of thread after a position, in one transaction,
// and returns the position that it came to: after itself at the end.
func (l *Ledger) rows(thread docket.ThreadID, after docket.Seq, most int, fn func(row)) (last docket.Seq, err error) {
	last = after
	err = l.view("thread", func(tx txn) error {
		t, err := openThread(tx, l.path, thread)
		if err != nil || t == nil {
			return err
		}
		n := 0
		for seq, err := range t.visible(after) {
			if err != nil {
				return err
			}
			row, err := t.row(seq)
			if err != nil {
				return err
			}
			last = seq
			fn(row)
			if n++; n == most {
				return nil
			}
		}
		return nil
	})
	return last, err
}

// allRows calls fn with every row of thread, page by page.
func (l *Ledger) allRows(ctx context.Context, thread docket.ThreadID, fn func(row)) error {
	for after := docket.Seq(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		last, err := l.rows(thread, after, narrowPage, fn)
		if err != nil || last == after {
			return err
		}
		after = last
	}
}

// visible yields the positions that the thread sees after a position, ascending.
func (t *thread) visible(after docket.Seq) iter.Seq2[docket.Seq, error] {
	return func(yield func(docket.Seq, error) bool) {
		order, err := t.walkable(bucketOrder)
		if err != nil {
			yield(0, err)
			return
		}
		if after+1 == 0 {
			return
		}
		c := order.Cursor()
		for k, _ := c.Seek(seqKey(after + 1)); k != nil; k, _ = c.Next() {
			seq, ok := parseSeq(k)
			if !ok {
				yield(0, t.damaged("thread order", "a position"))
				return
			}
			if !yield(seq, nil) {
				return
			}
		}
	}
}
