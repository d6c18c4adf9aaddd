package engine

// What a ledger holds and what that takes.

import (
	"bytes"
	"context"

	"docket"
)

// Stats are counts of one moment. Sizes are in bytes.
type Stats struct {
	FileBytes int64 `json:"file_bytes"` // the file's length
	LiveBytes int64 `json:"live_bytes"` // pages in use
	FreeBytes int64 `json:"free_bytes"` // pages that are free, and the end of the file that no page uses

	Threads  int64 `json:"threads"`
	Lineages int64 `json:"lineages"`
	Records  int64 `json:"records"` // live ones; a record that threads share counts once
	Expired  int64 `json:"expired"`
	Erased   int64 `json:"erased"`

	PayloadBytes int64 `json:"payload_bytes"` // of live records, as they were handed in
	PayloadChars int64 `json:"payload_chars"` // in characters
	StoredBytes  int64 `json:"stored_bytes"`  // what those take: frames, indexes, arguments, attachments

	Epochs    int64 `json:"epochs"`
	Decisions int64 `json:"decisions"`
}

// Ratio returns how many times smaller the live records are stored than they were
// handed in, 0 if there are none.
func (s Stats) Ratio() float64 {
	if s.StoredBytes == 0 {
		return 0
	}
	return float64(s.PayloadBytes) / float64(s.StoredBytes)
}

// Stats counts. It costs reading every handle. Errors: [*docket.CorruptError].
func (l *Ledger) Stats(ctx context.Context) (Stats, error) {
	var s Stats
	err := l.frozen(ctx, func(p *pager) error {
		s = Stats{}
		if err := s.file(p); err != nil {
			return err
		}
		return s.count(ctx, p)
	})
	return s, err
}

func (s *Stats) file(p *pager) error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	free, err := p.freePages()
	size := int64(p.meta.pageSize)
	s.FileBytes = info.Size()
	s.LiveBytes = (int64(p.meta.highest) - free) * size
	s.FreeBytes = s.FileBytes - s.LiveBytes
	return err
}

// freePages counts the pages in the freelist.
func (p *pager) freePages() (n int64, err error) {
	if p.meta.freelist == noFreelist {
		return 0, nil
	}
	_, err = p.freelist(func(uint64) { n++ })
	return n, err
}

func (s *Stats) count(ctx context.Context, p *pager) error {
	for e, err := range p.root().elements() {
		if err != nil {
			return err
		}
		sub, err := p.root().sub(e)
		if err != nil {
			return err
		}
		switch {
		case bytes.Equal(e.key, bucketLineages):
			err = each(ctx, sub, s.lineage)
		case bytes.Equal(e.key, bucketThreads):
			err = each(ctx, sub, s.thread)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls fn with every bucket in t.
func each(ctx context.Context, t tree, fn func(sub tree) error) error {
	for e, err := range t.elements() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		sub, err := t.sub(e)
		if err != nil {
			return err
		}
		if err := fn(sub); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stats) lineage(t tree) error {
	s.Lineages++
	handles, err := t.bucket(bucketHandles)
	if err != nil {
		return err
	}
	for e, err := range handles.elements() {
		if err != nil {
			return err
		}
		v, err := e.value()
		if err != nil {
			return err
		}
		r, ok := parseRow(v)
		if !ok {
			return &docket.CorruptError{File: t.pager.path, Place: handles.place, Rule: ruleRow, Expected: "a checked row", Found: "position " + keyName(e.key)}
		}
		s.add(r)
	}
	return nil
}

func (s *Stats) add(r row) {
	switch r.state {
	case live:
		s.Records++
		s.PayloadBytes += r.handle.Bytes
		s.PayloadChars += r.handle.Chars
		s.StoredBytes += r.stored
	case expired:
		s.Expired++
	case erased:
		s.Erased++
	}
}

func (s *Stats) thread(t tree) error {
	s.Threads++
	for name, n := range map[string]*int64{string(bucketEpochs): &s.Epochs, string(bucketDecided): &s.Decisions} {
		sub, err := t.bucket([]byte(name))
		if err != nil {
			return err
		}
		for _, err := range sub.elements() {
			if err != nil {
				return err
			}
			*n++
		}
	}
	return nil
}
