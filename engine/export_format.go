package engine

// The bytes of an export: a magic, a version, then units. FORMAT.md, "Export", is
// normative. Each unit ends in the checksum of everything before it, so that a flipped
// bit, and a unit that is missing, doubled or in another place, is found at that unit;
// the last one is an end mark, so that a cut is.

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"time"

	"docket"
	"docket/codec"
)

const (
	exportMagic   = "docket export\n"
	exportVersion = 1
)

// The kinds of units, in the order in which they come.
const (
	unitThread     = 't' // once
	unitRecord     = 'r' // each followed by its aside and its frames, where it has them
	unitAside      = 'a'
	unitFrame      = 'f'
	unitEpoch      = 'd'
	unitCheckpoint = 'c'
	unitEnd        = 'e' // once
)

// maxPosition is the highest position that an import takes: 2^48. A ledger that records
// a million results a second gets there in nine years; an export that claims more would
// take the positions of a lineage away for good.
const maxPosition = 1 << 48

// unitThread's fields.
type exportThread struct {
	info    threadInfo
	key     docket.LineageKey
	last    docket.Seq // of the lineage
	rewinds uint64
	id      docket.ThreadID
}

func appendExportThread(dst []byte, t exportThread) []byte {
	dst = append(dst, t.info.lineage[:]...)
	dst = append(dst, t.key[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(t.info.created.UnixNano()))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(t.last))
	dst = binary.LittleEndian.AppendUint64(dst, t.rewinds)
	return append(dst, t.id...)
}

func parseExportThread(b []byte) (t exportThread, ok bool) {
	const head = 16 + 32 + 8 + 8 + 8
	if len(b) <= head || len(b) > head+docket.MaxThreadID {
		return t, false
	}
	copy(t.info.lineage[:], b)
	copy(t.key[:], b[16:])
	t.info.created = time.Unix(0, int64(binary.LittleEndian.Uint64(b[48:]))).UTC()
	t.last = docket.Seq(binary.LittleEndian.Uint64(b[56:]))
	t.rewinds = binary.LittleEndian.Uint64(b[64:])
	t.id = docket.ThreadID(b[head:])
	return t, t.last <= maxPosition && t.rewinds <= maxPosition
}

// exportRecord is a record without what it holds.
type exportRecord struct {
	sight
	state state
	since time.Time
	// handle is that of a record that is not erased. Seq and Thread are not in it.
	handle docket.Handle
}

func appendExportRecord(dst []byte, r exportRecord) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.seq))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.moment))
	dst = append(dst, byte(r.state))
	since := int64(0)
	if r.state != live {
		since = r.since.UnixNano()
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(since))
	if r.state == erased {
		return append(dst, r.mem...)
	}
	return codec.AppendHandle(dst, r.handle)
}

func parseExportRecord(b []byte) (r exportRecord, ok bool) {
	const head = 8 + 8 + 1 + 8
	if len(b) < head {
		return r, false
	}
	r.seq = docket.Seq(binary.LittleEndian.Uint64(b))
	r.moment = docket.Seq(binary.LittleEndian.Uint64(b[8:]))
	r.state = state(b[16])
	since := int64(binary.LittleEndian.Uint64(b[17:]))
	if r.state > erased || r.state == live && since != 0 || r.seq == 0 || r.moment == 0 {
		return r, false
	}
	if r.state != live {
		r.since = time.Unix(0, since).UTC()
	}
	var err error
	if r.state == erased {
		r.mem, err = docket.ParseMemID(string(b[head:]))
		return r, err == nil
	}
	r.handle, err = codec.ParseHandle(b[head:])
	r.mem = r.handle.MemID
	return r, err == nil
}

func appendExportEpoch(dst []byte, d dropped) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, d.rewind)
	dst = binary.LittleEndian.AppendUint64(dst, d.epoch.Number)
	return appendEpoch(dst, d.epoch)
}

// parseExportEpoch is the inverse of [appendExportEpoch]. Rewind 0 is the present line.
func parseExportEpoch(b []byte) (d dropped, ok bool) {
	if len(b) < 16 {
		return d, false
	}
	d.epoch, ok = parseEpoch(b[16:])
	d.rewind, d.epoch.Number = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	return d, ok
}

func appendExportCheckpoint(dst []byte, c checkpoint) []byte {
	dst = appendCheckpoint(dst, c)
	return append(dst, c.ID...)
}

func parseExportCheckpoint(b []byte) (c checkpoint, ok bool) {
	const size = 33
	if len(b) <= size || len(b) > size+docket.MaxCheckpointID {
		return c, false
	}
	c, ok = parseCheckpoint(b[:size])
	c.ID = docket.CheckpointID(b[size:])
	return c, ok
}

// exportEnd counts the units of each kind that was to come.
type exportEnd struct{ records, epochs, checkpoints uint64 }

func appendExportEnd(dst []byte, e exportEnd) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, e.records)
	dst = binary.LittleEndian.AppendUint64(dst, e.epochs)
	return binary.LittleEndian.AppendUint64(dst, e.checkpoints)
}

func parseExportEnd(b []byte) (e exportEnd, ok bool) {
	if len(b) != 24 {
		return e, false
	}
	return exportEnd{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}, true
}

// unitWriter writes an export.
type unitWriter struct {
	w   *bufio.Writer
	sum hash.Hash32 // of all that was written
}

func newUnitWriter(w io.Writer) (*unitWriter, error) {
	u := &unitWriter{w: bufio.NewWriterSize(w, 64<<10), sum: crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	return u, u.write(binary.LittleEndian.AppendUint32([]byte(exportMagic), exportVersion))
}

func (u *unitWriter) write(b []byte) error {
	u.sum.Write(b)
	_, err := u.w.Write(b)
	return err
}

// put writes a unit.
func (u *unitWriter) put(kind byte, body []byte) error {
	if err := u.write(binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(body)))); err != nil {
		return err
	}
	if err := u.write(body); err != nil {
		return err
	}
	return u.write(binary.LittleEndian.AppendUint32(nil, u.sum.Sum32()))
}

// unitReader reads an export and knows where it is.
type unitReader struct {
	r      *bufio.Reader
	sum    hash.Hash32
	at     int64 // bytes read
	record int64 // the number of the record that is being read, from 1
	buf    bytes.Buffer
}

func newUnitReader(r io.Reader) (*unitReader, error) {
	u := &unitReader{r: bufio.NewReaderSize(r, 64<<10), sum: crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	head := make([]byte, len(exportMagic)+4)
	if err := u.read(head); err != nil {
		return nil, err
	}
	if string(head[:len(exportMagic)]) != exportMagic {
		u.at = 0
		return nil, u.damaged("an export of docket", "something else")
	}
	if v := binary.LittleEndian.Uint32(head[len(exportMagic):]); v == 0 || v > exportVersion {
		return nil, &docket.VersionError{File: "export", Found: v, Newest: exportVersion}
	}
	return u, nil
}

// damaged makes the error of a place in the export.
func (u *unitReader) damaged(expected, found string) error {
	place := fmt.Sprintf("export, byte %d", u.at)
	if u.record > 0 {
		place += fmt.Sprintf(", record %d of it", u.record)
	}
	return &docket.CorruptError{Place: place, Expected: expected, Found: found}
}

// read fills b.
func (u *unitReader) read(b []byte) error {
	n, err := io.ReadFull(u.r, b)
	return u.took(b[:n], err)
}

func (u *unitReader) took(b []byte, err error) error {
	u.sum.Write(b)
	u.at += int64(len(b))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return u.damaged("more of the export", "its end: it is cut short")
	}
	return err
}

// unitLimits are the largest bodies, in bytes, by kind. What a body claims is only
// allocated as it arrives.
func unitLimit(kind byte, maxPayload int64) int64 {
	switch kind {
	case unitThread:
		return 72 + docket.MaxThreadID
	case unitRecord:
		return maxPayload + 1<<20 // call ids and tool names have no limit of their own
	case unitAside:
		return codec.MaxAside + 1<<20
	case unitFrame:
		return codec.MaxFrame + 64<<10
	case unitEpoch:
		return 64 << 20
	case unitCheckpoint:
		return 33 + docket.MaxCheckpointID
	case unitEnd:
		return 24
	}
	return -1
}

// next returns the next unit. The body is valid until the next call.
func (u *unitReader) next(maxPayload int64) (kind byte, body []byte, err error) {
	var head [5]byte
	if err := u.read(head[:]); err != nil {
		return 0, nil, err
	}
	kind, size := head[0], int64(binary.LittleEndian.Uint32(head[1:]))
	if limit := unitLimit(kind, maxPayload); size > limit {
		u.at -= int64(len(head))
		return 0, nil, u.damaged(fmt.Sprintf("a unit of a known kind, %q of at most %d bytes", kind, max(limit, 0)), fmt.Sprintf("%d bytes", size))
	}
	u.buf.Reset()
	n, err := io.CopyN(&u.buf, u.r, size)
	if err := u.took(u.buf.Bytes()[:n], err); err != nil {
		return 0, nil, err
	}
	want := u.sum.Sum32()
	var sum [4]byte
	if err := u.read(sum[:]); err != nil {
		return 0, nil, err
	}
	if got := binary.LittleEndian.Uint32(sum[:]); got != want {
		return 0, nil, u.damaged(fmt.Sprintf("checksum %08x", want), fmt.Sprintf("%08x", got))
	}
	return kind, u.buf.Bytes(), nil
}

// end demands that nothing follows.
func (u *unitReader) end() error {
	if _, err := u.r.ReadByte(); err != io.EOF {
		if err != nil {
			return err
		}
		return u.damaged("the end of the export", "more bytes")
	}
	return nil
}
