package engine

// An export read and verified. What it says is believed by nobody: sizes are bounded,
// every payload is decoded and hashed, every mem id derived anew, and what contradicts
// itself is refused with its place. Indexes are not in an export: they are made again.

import (
	"fmt"
	"io"
	"strings"

	"docket"
	"docket/codec"
	"docket/index"
)

// arrival is a record out of an export.
type arrival struct {
	exportRecord
	result docket.Result // of a live one; valid until the next
}

// reading is an export being read.
type reading struct {
	*unitReader
	dec        *codec.Decoder
	maxPayload int64
	visit      func(arrival) error // nil: verify only

	thread  exportThread
	image   image
	mems    map[docket.MemID]bool
	payload []byte
}

// readExport reads an export to its end, calls visit with each record, and returns the
// thread. visit's errors are returned as they are.
func readExport(r io.Reader, dec *codec.Decoder, maxPayload int64, visit func(arrival) error) (*reading, error) {
	u, err := newUnitReader(r)
	if err != nil {
		return nil, err
	}
	x := &reading{unitReader: u, dec: dec, maxPayload: maxPayload, visit: visit, mems: map[docket.MemID]bool{}}
	return x, x.all()
}

func (x *reading) all() error {
	kind, body, err := x.next(x.maxPayload)
	if err != nil {
		return err
	}
	var ok bool
	if x.thread, ok = parseExportThread(body); kind != unitThread || !ok {
		return x.damaged("a thread", "something else")
	}
	x.image.created, x.image.log.rewinds = x.thread.info.created, x.thread.rewinds
	order := string([]byte{unitRecord, unitEpoch, unitCheckpoint, unitEnd})
	for came := 0; ; {
		kind, body, err := x.next(x.maxPayload)
		if err != nil {
			return err
		}
		at := strings.IndexByte(order, kind)
		if at < came {
			return x.damaged(fmt.Sprintf("a unit of %q", order[came:]), fmt.Sprintf("%q", kind))
		}
		if came = at; kind != unitRecord {
			x.record = 0
		}
		switch kind {
		case unitRecord:
			err = x.arrive(body)
		case unitEpoch:
			err = x.epoch(body)
		case unitCheckpoint:
			err = x.checkpoint(body)
		case unitEnd:
			return x.finish(body)
		}
		if err != nil {
			return err
		}
	}
}

// arrive reads a record.
func (x *reading) arrive(body []byte) error {
	x.record++
	r, ok := parseExportRecord(body)
	if !ok {
		return x.damaged("a record", "something else")
	}
	if err := x.judge(r); err != nil {
		return err
	}
	a := arrival{exportRecord: r}
	if r.state == live {
		if err := x.content(&a); err != nil {
			return err
		}
	}
	x.mems[r.mem] = true
	x.image.sights = append(x.image.sights, r.sight)
	if x.visit == nil {
		return nil
	}
	return x.visit(a)
}

// judge refuses a record that cannot be of this thread.
func (x *reading) judge(r exportRecord) error {
	last := docket.Seq(0)
	if n := len(x.image.sights); n > 0 {
		last = x.image.sights[n-1].seq
	}
	h := r.handle
	switch {
	case r.seq <= last || r.seq > x.thread.last || r.moment > x.thread.last:
		return x.damaged(fmt.Sprintf("a position from %d to %d", last+1, x.thread.last), fmt.Sprintf("%d, visible since %d", r.seq, r.moment))
	case x.mems[r.mem]:
		return x.damaged("each record once", "a mem id for the second time")
	case r.state == erased:
		return nil
	case h.Bytes > x.maxPayload:
		return fmt.Errorf("%w: record %d of the export has %d bytes, at most %d", docket.ErrTooLarge, x.record, h.Bytes, x.maxPayload)
	case h.MemID != docket.DeriveMemID(x.thread.key, h.CallID, h.Digest):
		return x.damaged("the mem id that key, call id and digest give", string(h.MemID))
	case strings.ContainsAny(h.Summary+h.Schema+h.Preview, "\n\r") || len(h.Summary)+len(h.Schema)+len(h.Preview) > maxOutline:
		return x.damaged("a summary, schema and preview of one short line each", "others")
	}
	return nil
}

// maxOutline is the largest sum of a summary, schema and preview, in bytes: several
// times what an outline makes, which counts characters.
const maxOutline = 64 << 10

// content reads what a live record holds, and verifies it against its handle.
func (x *reading) content(a *arrival) error {
	h := a.handle
	a.result = docket.Result{Call: docket.Call{ID: h.CallID, Tool: h.Tool}, IsError: h.IsError}
	if kind, err := x.peek(); err != nil {
		return err
	} else if kind == unitAside {
		if err := x.aside(a); err != nil {
			return err
		}
	}
	x.payload = x.payload[:0]
	for int64(len(x.payload)) < h.Bytes {
		if err := x.frame(h.Bytes); err != nil {
			return err
		}
	}
	a.result.Payload = x.payload
	if docket.DigestOf(x.payload) != h.Digest {
		return x.damaged("a payload of digest "+h.Digest.String(), "another")
	}
	if n := index.CountChars(x.payload); n != h.Chars {
		return x.damaged(fmt.Sprintf("%d characters, as the handle says", h.Chars), fmt.Sprint(n))
	}
	return nil
}

// peek returns the kind of the next unit.
func (x *reading) peek() (byte, error) {
	b, err := x.r.Peek(1)
	if len(b) == 0 {
		return 0, x.took(nil, err)
	}
	return b[0], nil
}

// aside reads arguments and attachments.
func (x *reading) aside(a *arrival) error {
	_, body, err := x.next(x.maxPayload)
	if err != nil {
		return err
	}
	raw, err := x.dec.AppendFrame(nil, body, codec.MaxAside)
	if err != nil {
		return x.damaged("arguments and attachments", err.Error())
	}
	aside, err := codec.ParseAside(raw)
	if err != nil || aside.Empty() {
		return x.damaged("arguments and attachments", "others")
	}
	a.result.Args, a.result.Attachments = aside.Args, aside.Attachments
	return nil
}

// frame reads the next frame of a payload of size bytes.
func (x *reading) frame(size int64) error {
	kind, body, err := x.next(x.maxPayload)
	if err != nil {
		return err
	}
	before := len(x.payload)
	if kind == unitFrame {
		room := min(size-int64(before), codec.MaxFrame)
		if x.payload, err = x.dec.AppendFrame(x.payload, body, int(room)); err != nil {
			return x.damaged("a frame", err.Error())
		}
	}
	if len(x.payload) == before {
		return x.damaged(fmt.Sprintf("a frame: the payload has %d bytes, %d came", size, before), fmt.Sprintf("%q", kind))
	}
	return nil
}

// epoch reads an epoch: those of the present line come first.
func (x *reading) epoch(body []byte) error {
	d, ok := parseExportEpoch(body)
	g := &x.image.log
	if !ok || d.rewind == 0 && len(g.dropped) > 0 {
		return x.damaged("an epoch", "something else")
	}
	if d.rewind == 0 {
		g.epochs = append(g.epochs, d.epoch)
	} else {
		g.dropped = append(g.dropped, d)
	}
	return nil
}

// checkpoint reads a checkpoint.
func (x *reading) checkpoint(body []byte) error {
	c, ok := parseExportCheckpoint(body)
	if n := len(x.image.checkpoints); !ok || n > 0 && x.image.checkpoints[n-1].ID >= c.ID {
		return x.damaged("a checkpoint, ascending by id", "something else")
	}
	x.image.checkpoints = append(x.image.checkpoints, c)
	return nil
}

// finish reads the end mark and verifies what can only be verified now.
func (x *reading) finish(body []byte) error {
	if e, ok := parseExportEnd(body); !ok || e != x.image.counts() {
		return x.damaged(fmt.Sprintf("an end mark for %+v", x.image.counts()), fmt.Sprintf("%+v", e))
	}
	lengths, fault := x.image.log.fault()
	if fault != "" {
		return x.damaged("a decision log", fault)
	}
	for _, c := range x.image.checkpoints {
		if c.rewinds > x.thread.rewinds || c.Epochs > lengths[c.rewinds] || c.Seq > x.thread.last {
			return x.damaged("checkpoints of this thread", fmt.Sprintf("position %d, epoch %d, rewind %d", c.Seq, c.Epochs, c.rewinds))
		}
	}
	return x.end()
}
