package ledgertest

// What View promises: the record or an error, exact bytes, and whose they are.

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"docket"
)

// checkUnknown: a mem id that never was, one that is no mem id, and another
// thread's own give the same error.
func checkUnknown(p *probe) error {
	mine, err := p.record1(thread, result("call_1", "mine"))
	if err != nil {
		return err
	}
	theirs, err := p.record1("somebody else", result("call_1", "theirs"))
	if err != nil {
		return err
	}
	const never = docket.MemID("aaaaaaaaaaaaaaaa")
	want, err := p.notFound(thread, never)
	if err != nil {
		return err
	}
	ids := []docket.MemID{
		theirs.MemID, edited(mine.MemID), mine.MemID[:15], mine.MemID + "a", docket.MemID(strings.ToUpper(string(mine.MemID))),
		"", "x", "../../x", "a\x00b", docket.MemID(strings.Repeat("a", 40_000)), "\xff",
	}
	for _, id := range ids {
		got, err := p.notFound(thread, id)
		if err != nil {
			return err
		}
		if got != want && (id == theirs.MemID || id == edited(mine.MemID)) {
			return failf("View of %s says %q, of an id that never was %q", id, got, want)
		}
	}
	_, err = p.notFound("a thread that never was", mine.MemID)
	return err
}

// edited returns id with its last character changed.
func edited(id docket.MemID) docket.MemID {
	last := byte('a')
	if id[len(id)-1] == 'a' {
		last = 'b'
	}
	return id[:len(id)-1] + docket.MemID(last)
}

// notFound demands ErrNotFound of a view and returns its text without the id.
func (p *probe) notFound(thread docket.ThreadID, id docket.MemID) (string, error) {
	err := p.ledger.View(p.ctx, thread, id, func(docket.Record) error {
		return errors.New("the function was called")
	})
	if !errors.Is(err, docket.ErrNotFound) {
		return "", failf("View of %.40q in %q returned %v, want %v", id, thread, err, docket.ErrNotFound)
	}
	if id == "" {
		return err.Error(), nil
	}
	return strings.ReplaceAll(err.Error(), string(id), "<id>"), nil
}

func checkViewErrors(p *probe) error {
	h, err := p.record1(thread, result("call_1", "payload"))
	if err != nil {
		return err
	}
	for _, own := range []error{errors.New("own"), docket.ErrNotFound, &docket.CorruptError{Place: "own"}} {
		if err := p.ledger.View(p.ctx, thread, h.MemID, func(docket.Record) error { return own }); err != own {
			return failf("View returned %v, want the function's own error unchanged", err)
		}
	}
	return p.holds(thread, h, result("call_1", "payload"))
}

// checkFrames: what AppendFrame appends, whatever the order that frames are asked
// for in.
func checkFrames(p *probe) error {
	for _, r := range varied() {
		h, err := p.record1(thread, r)
		if err != nil {
			return err
		}
		err = p.ledger.View(p.ctx, thread, h.MemID, func(rec docket.Record) error { return p.frames(rec, r.Payload) })
		if err != nil {
			return failf("payload %q: %w", r.Tool, err)
		}
	}
	return nil
}

func (p *probe) frames(rec docket.Record, payload []byte) error {
	if (rec.Frames() == 0) != (len(payload) == 0) {
		return failf("%d frames for %d bytes", rec.Frames(), len(payload))
	}
	end := len(payload)
	for n := rec.Frames() - 1; n >= 0; n-- {
		got, err := rec.AppendFrame([]byte("prefix"), n)
		if err != nil {
			return failf("frame %d: %w", n, err)
		}
		frame, kept := bytes.CutPrefix(got, []byte("prefix"))
		switch {
		case !kept:
			return failf("frame %d: AppendFrame dropped what dst held", n)
		case len(frame) == 0 || len(frame) > p.opts.MaxFrame:
			return failf("frame %d has %d bytes, want 1 to %d", n, len(frame), p.opts.MaxFrame)
		case !bytes.HasSuffix(payload[:end], frame):
			return failf("frame %d is not the payload's bytes before byte %d", n, end)
		case utf8.Valid(payload) && !utf8.Valid(frame):
			return failf("frame %d cuts a character", n)
		}
		end -= len(frame)
	}
	if end != 0 {
		return failf("the frames leave out the first %d bytes", end)
	}
	return nil
}

func checkCallerOwns(p *probe) error {
	for _, r := range varied() {
		kept := clone(r)
		h, err := p.record1(thread, r)
		if err != nil {
			return err
		}
		scribble(r)
		if err := p.holds(thread, h, kept); err != nil {
			return failf("after the caller changed its slices: %w", err)
		}
	}
	return nil
}

func clone(r docket.Result) docket.Result {
	r.Payload, r.Args = bytes.Clone(r.Payload), bytes.Clone(r.Args)
	as := make([]docket.Attachment, len(r.Attachments))
	for i, a := range r.Attachments {
		as[i] = docket.Attachment{Kind: a.Kind, Data: bytes.Clone(a.Data)}
	}
	r.Attachments = as
	return r
}

func scribble(r docket.Result) {
	for _, b := range [][]byte{r.Payload, r.Args} {
		for i := range b {
			b[i] ^= 0x55
		}
	}
	for i := range r.Attachments {
		for j := range r.Attachments[i].Data {
			r.Attachments[i].Data[j] ^= 0x55
		}
		r.Attachments[i].Kind = "scribbled"
	}
}

// checkCopies: what a view hands out as a copy may be changed and kept.
func checkCopies(p *probe) error {
	r := result("call_1", longJSON(100<<10))
	r.Attachments = []docket.Attachment{{Kind: "image", Data: fill(5000, 3)}}
	h, err := p.record1(thread, r)
	if err != nil {
		return err
	}
	var payload []byte
	err = p.ledger.View(p.ctx, thread, h.MemID, func(rec docket.Record) (err error) {
		as, err := rec.Attachments()
		if err != nil {
			return err
		}
		scribble(docket.Result{Attachments: as})
		frame, err := rec.AppendFrame(nil, 0)
		if err != nil {
			return err
		}
		scribble(docket.Result{Payload: frame})
		payload, err = payloadOf(rec)
		return err
	})
	if err != nil {
		return err
	}
	if err := p.holds(thread, h, r); err != nil {
		return failf("after changing what a view handed out: %w", err)
	}
	for i := range 20 {
		if _, err := p.record1(thread, result(docket.CallID(fmt.Sprint("later ", i)), string(fill(50<<10, uint64(i))))); err != nil {
			return err
		}
	}
	if !bytes.Equal(payload, r.Payload) {
		return failf("a payload kept after its view changed when others were recorded")
	}
	return nil
}
