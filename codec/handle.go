package codec

// The bytes of a handle. The thread is not in them (a record is shared by the
// forks of its thread), nor the position: both are where the handle is kept.

import (
	"encoding/binary"
	"time"

	"docket"
	"docket/internal/seal"
)

const (
	handleVersion = 1
	flagError     = 1 // the tool reported a failure
)

// AppendHandle appends the encoding of h without its thread and seq. The mem id
// must be one ([docket.ParseMemID]).
func AppendHandle(dst []byte, h docket.Handle) []byte {
	start := len(dst)
	var flags byte
	if h.IsError {
		flags |= flagError
	}
	dst = append(dst, handleVersion, byte(h.Kind), flags)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.Created.UnixNano()))
	dst = binary.AppendUvarint(dst, uint64(h.Chars))
	dst = binary.AppendUvarint(dst, uint64(h.Bytes))
	dst = append(dst, h.Digest[:]...)
	dst = append(dst, h.MemID...)
	dst = appendString(dst, h.CallID)
	dst = appendString(dst, h.Tool)
	dst = appendString(dst, h.Summary)
	dst = appendString(dst, h.Schema)
	dst = appendString(dst, h.Preview)
	return binary.LittleEndian.AppendUint32(dst, seal.Sum(dst[start:]))
}

// ParseHandle is the inverse of [AppendHandle]. The result is a copy; its created
// time is in UTC.
func ParseHandle(b []byte) (docket.Handle, error) {
	var h docket.Handle
	if len(b) < 4 || seal.Sum(b[:len(b)-4]) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return h, damaged("handle checksum")
	}
	c := cursor{rest: b[:len(b)-4]}
	if v := c.byte("handle version"); v != handleVersion {
		c.fail("handle version")
	}
	if h.Kind = docket.Kind(c.byte("kind")); h.Kind > docket.KindBinary {
		c.fail("kind")
	}
	flags := c.byte("flags")
	if flags&^flagError != 0 {
		c.fail("flags")
	}
	h.IsError = flags&flagError != 0
	h.Created = time.Unix(0, int64(c.uint64("created"))).UTC()
	h.Chars, h.Bytes = c.size("characters"), c.size("bytes")
	copy(h.Digest[:], c.bytes(uint64(len(h.Digest)), "digest"))
	h.MemID = c.memID()
	h.CallID = docket.CallID(c.string("call id"))
	h.Tool = string(c.string("tool"))
	h.Summary = string(c.string("summary"))
	h.Schema = string(c.string("schema"))
	h.Preview = string(c.string("preview"))
	if c.err == nil && h.Chars > h.Bytes {
		c.fail("more characters than bytes")
	}
	if err := c.end(); err != nil {
		return docket.Handle{}, err
	}
	return h, nil
}

func (c *cursor) memID() docket.MemID {
	id, err := docket.ParseMemID(string(c.bytes(docket.MemIDLen, "mem id")))
	if err != nil {
		c.fail("mem id")
	}
	return id
}
