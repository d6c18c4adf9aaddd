package engine

// Finding records and threads without knowing where they are: for the command
// line, which is not asked on behalf of a model.

import (
	"bytes"
	"context"
	"iter"
	"time"

	"go.etcd.io/bbolt"

	"docket"
)

// Found is where a record can be seen.
type Found struct {
	Thread docket.ThreadID
	MemID  docket.MemID
}

// Find yields every record whose mem id begins with prefix, once for each thread
// that sees it, in no useful order. Erased records are not found. It crosses
// threads: never answer a model with it.
func (l *Ledger) Find(ctx context.Context, prefix string) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		if !docket.IsMemIDPrefix(prefix) {
			return
		}
		for at := (&finder{file: l.path, prefix: []byte(prefix)}); !at.done; {
			if err := ctx.Err(); err != nil {
				yield(Found{}, err)
				return
			}
			at.page = at.page[:0]
			if err := l.view("mem id index", at.next); err != nil {
				yield(Found{}, err)
				return
			}
			for _, f := range at.page {
				if !yield(f, nil) {
					return
				}
			}
		}
	}
}

// finder is a place in a search through all lineages.
type finder struct {
	file    string
	prefix  []byte
	lineage []byte // the one to go on with; nil: the first
	after   []byte // mem id in it to go on after; nil: the first
	page    []Found
	done    bool
}

// next reads matches until the page is full or nothing is left.
func (f *finder) next(tx txn) error {
	if err := tx.audit(""); err != nil {
		return err
	}
	lineages := tx.Bucket(bucketLineages)
	if lineages == nil {
		f.done = true
		return nil
	}
	c := lineages.Cursor()
	for k, _ := c.Seek(f.lineage); k != nil; k, _ = c.Next() {
		if !bytes.Equal(k, f.lineage) {
			f.lineage, f.after = bytes.Clone(k), nil
		}
		if err := f.matches(tx, lineages.Bucket(k)); err != nil || len(f.page) >= listPage {
			return err
		}
	}
	f.done = true
	return nil
}

// matches reads the matches of one lineage until the page is full.
func (f *finder) matches(tx txn, lineage *bbolt.Bucket) error {
	t := &thread{tx: tx, file: f.file, lineage: lineage}
	if lineage == nil {
		return t.damaged("lineage", "a bucket")
	}
	mems, err := t.bucket(bucketMems)
	if err != nil {
		return err
	}
	if err := tx.auditValues(mems); err != nil {
		return err
	}
	c := mems.Cursor()
	from := f.prefix
	if f.after != nil {
		from = append(bytes.Clone(f.after), 0)
	}
	for k, v := c.Seek(from); bytes.HasPrefix(k, f.prefix) && k != nil; k, v = c.Next() {
		if len(f.page) >= listPage {
			return nil
		}
		f.after = bytes.Clone(k)
		seq, ok := parseSeq(v)
		if !ok {
			return t.damaged("mem id index", "a position")
		}
		if err := f.seenBy(tx, t, docket.MemID(k), seq); err != nil {
			return err
		}
	}
	return nil
}

// seenBy adds the threads that see the record at seq.
func (f *finder) seenBy(tx txn, t *thread, id docket.MemID, seq docket.Seq) error {
	if r, err := t.row(seq); err != nil || r.state == erased {
		return err
	}
	members, err := t.bucket(bucketMembers)
	if err != nil {
		return err
	}
	if err := tx.auditValues(members); err != nil {
		return err
	}
	return members.ForEach(func(name, _ []byte) error {
		other, err := openThread(tx, f.file, docket.ThreadID(name))
		if err != nil || other == nil {
			return err
		}
		visible, err := other.sees(seq)
		if visible {
			f.page = append(f.page, Found{Thread: docket.ThreadID(name), MemID: id})
		}
		return err
	})
}

// FindCall yields the handles of the records that thread has of a call id, in the
// order of recording: more than one where the provider repeats ids. Erased records
// are not found.
func (l *Ledger) FindCall(ctx context.Context, thread docket.ThreadID, id docket.CallID) iter.Seq2[docket.Handle, error] {
	return func(yield func(docket.Handle, error) bool) {
		handles, err := l.callHandles(ctx, thread, id)
		for _, h := range handles {
			if !yield(h, nil) {
				return
			}
		}
		if err != nil {
			yield(docket.Handle{}, err)
		}
	}
}

func (l *Ledger) callHandles(ctx context.Context, thread docket.ThreadID, id docket.CallID) (handles []docket.Handle, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = l.view("call index", func(tx txn) error {
		t, err := openThread(tx, l.path, thread)
		if err != nil || t == nil {
			return err
		}
		for seq, err := range t.callSeqs(id) {
			if err != nil {
				return err
			}
			row, err := t.row(seq)
			if err != nil {
				return err
			}
			if row.state != erased && row.handle.CallID == id {
				row.handle.Thread = thread
				handles = append(handles, row.handle)
			}
		}
		return nil
	})
	return handles, err
}

// ThreadInfo describes a thread.
type ThreadInfo struct {
	ID           docket.ThreadID `json:"thread"`
	Created      time.Time       `json:"created"`
	Records      int64           `json:"records"`       // visible and not erased
	PayloadBytes int64           `json:"payload_bytes"` // of its live records, as they were handed in
	StoredBytes  int64           `json:"stored_bytes"`  // what those take: frames, indexes, arguments, attachments
}

// Threads yields all threads in ascending order of their ids. A record that threads
// share counts in each. It costs reading every handle.
func (l *Ledger) Threads(ctx context.Context) iter.Seq2[ThreadInfo, error] {
	return func(yield func(ThreadInfo, error) bool) {
		for after := []byte(nil); ; {
			info, ok, err := l.threadAfter(ctx, after)
			if !ok && err == nil {
				return
			}
			if !yield(info, err) || err != nil {
				return
			}
			after = append([]byte(info.ID), 0)
		}
	}
}

// threadAfter describes the first thread whose id is at or after from.
func (l *Ledger) threadAfter(ctx context.Context, from []byte) (info ThreadInfo, ok bool, err error) {
	err = l.view("threads", func(tx txn) error {
		if err := tx.audit(""); err != nil {
			return err
		}
		threads := tx.Bucket(bucketThreads)
		if threads == nil {
			return nil
		}
		k, _ := threads.Cursor().Seek(from)
		if k == nil {
			return nil
		}
		ok, info.ID = true, docket.ThreadID(k)
		t, err := openThread(tx, l.path, info.ID)
		if err == nil && t != nil {
			info.Created = t.info.created
		}
		return err
	})
	if err == nil && ok {
		err = l.allRows(ctx, info.ID, info.add)
	}
	return info, ok, err
}

func (info *ThreadInfo) add(r row) {
	if r.state == erased {
		return
	}
	info.Records++
	if r.state == live {
		info.PayloadBytes += r.handle.Bytes
		info.StoredBytes += r.stored
	}
}
