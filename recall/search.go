package recall

// Searching all records of a thread. The ledger rules records out where it can
// (docket.Narrower); what is left is verified on the payloads with the machinery
// of one fetch. Payloads alone are searched: names and arguments of calls are in
// the conversation anyway.

import (
	"context"
	"errors"
	"iter"

	"docket"
)

// SearchRequest says what to look for in the records of a thread.
type SearchRequest struct {
	Query      string // as in [Request]; empty: every record, without matches
	IgnoreCase bool
	Window     int // as in [Request]
	MaxMatches int // of one record. 0: DefaultMaxMatches
	// MaxChars limits the windows of one record together, as in [Request].
	MaxChars int64
	// MaxRecords ends the search after that many records with a match. 0: no
	// limit.
	MaxRecords int
	After      docket.Seq // begins after the record at this position
}

// Search yields an answer for every record of thread that matches, in the order of
// recording. A record that cannot be read yields its error with the answer's
// MemID, and the search goes on; records that are expired or erased are passed
// over. An error without a MemID ends the iteration.
func Search(ctx context.Context, l docket.Ledger, thread docket.ThreadID, req SearchRequest) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		one, err := Request{
			Query: req.Query, IgnoreCase: req.IgnoreCase, Window: req.Window, MaxMatches: req.MaxMatches, MaxChars: req.MaxChars,
		}.checked()
		if err != nil {
			yield(Answer{}, err)
			return
		}
		found := 0
		for id, err := range candidates(ctx, l, thread, req) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Answer{}, err)
				return
			}
			one.MemID = id
			a, ok, err := searchRecord(ctx, l, thread, one, req.After)
			if ok && err == nil {
				found++
			}
			if ok && (!yield(a, err) || found == req.MaxRecords && found > 0) {
				return
			}
		}
	}
}

// candidates yields the records that may match, in the order of recording.
func candidates(ctx context.Context, l docket.Ledger, thread docket.ThreadID, req SearchRequest) iter.Seq2[docket.MemID, error] {
	n, ok := l.(docket.Narrower)
	if !ok || req.Query == "" {
		return func(yield func(docket.MemID, error) bool) {
			for h, err := range l.List(ctx, thread, req.After) {
				if !yield(h.MemID, err) {
					return
				}
			}
		}
	}
	lists := []iter.Seq2[docket.MemID, error]{n.Narrow(ctx, thread, []byte(req.Query), req.IgnoreCase)}
	for _, form := range escapedForms(req.Query, req.IgnoreCase) {
		lists = append(lists, n.Narrow(ctx, thread, []byte(form), req.IgnoreCase))
	}
	if len(lists) == 1 {
		return lists[0]
	}
	return merged(lists, func(id docket.MemID) docket.Seq {
		var seq docket.Seq // stays 0 if the record cannot be read: searchRecord says why
		_ = l.View(ctx, thread, id, func(rec docket.Record) error {
			seq = rec.Handle().Seq
			return nil
		})
		return seq
	})
}

// merged yields what ascending lists yield, each record once, in ascending order.
func merged(lists []iter.Seq2[docket.MemID, error], seq func(docket.MemID) docket.Seq) iter.Seq2[docket.MemID, error] {
	return func(yield func(docket.MemID, error) bool) {
		heads := make([]head, len(lists))
		for i, list := range lists {
			next, stop := iter.Pull2(list)
			defer stop()
			heads[i].next = next
			heads[i].advance(seq)
		}
		for {
			var first *head
			for i := range heads {
				if h := &heads[i]; h.ok && (first == nil || h.seq < first.seq) {
					first = h
				}
			}
			if first == nil || !yield(first.id, first.err) {
				return
			}
			id := first.id
			for i := range heads {
				if heads[i].ok && heads[i].id == id {
					heads[i].advance(seq)
				}
			}
		}
	}
}

// head is the next record of a list.
type head struct {
	next func() (docket.MemID, error, bool)
	id   docket.MemID
	err  error
	seq  docket.Seq
	ok   bool
}

func (h *head) advance(seq func(docket.MemID) docket.Seq) {
	h.id, h.err, h.ok = h.next()
	h.seq = 0
	if h.ok && h.err == nil {
		h.seq = seq(h.id)
	}
}

// searchRecord searches one record; ok tells whether there is anything to say of
// it.
func searchRecord(ctx context.Context, l docket.Ledger, thread docket.ThreadID, req Request, after docket.Seq) (a Answer, ok bool, err error) {
	err = l.View(ctx, thread, req.MemID, func(rec docket.Record) error {
		h := rec.Handle()
		if h.Seq <= after {
			return nil
		}
		if req.Query == "" {
			a, ok = Answer{Handle: h, TotalChars: h.Chars, NextOffset: -1}, true
			return nil
		}
		a, err = fetch(ctx, rec, req)
		ok = a.MatchCount > 0
		return err
	})
	var expired *docket.ExpiredError
	if errors.Is(err, docket.ErrNotFound) || errors.Is(err, docket.ErrErased) || errors.As(err, &expired) {
		return Answer{}, false, nil
	}
	if err != nil {
		return Answer{Handle: docket.Handle{MemID: req.MemID}}, true, err
	}
	return a, ok, nil
}
