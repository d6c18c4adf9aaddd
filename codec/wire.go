package codec

// The smallest pieces of the encodings: strings and integers in their one
// spelling. binary.Uvarint is not enough, it reads padded spellings.

import "encoding/binary"

func appendString[S ~string | ~[]byte](dst []byte, s S) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// cursor reads an encoding front to back. After the first fault it reads zeros
// and keeps the fault, so that callers check once.
type cursor struct {
	rest []byte
	err  error
}

func (c *cursor) fail(what string) {
	if c.err == nil {
		c.err = damaged(what)
	}
	c.rest = nil
}

// bytes returns the next n bytes, which alias the input; nil after a fault.
func (c *cursor) bytes(n uint64, what string) []byte {
	if n > uint64(len(c.rest)) {
		c.fail(what + " is cut short")
		return nil
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) byte(what string) byte {
	if b := c.bytes(1, what); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint32(what string) uint32 {
	if b := c.bytes(4, what); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64(what string) uint64 {
	if b := c.bytes(8, what); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// uvarint reads an unsigned varint and refuses a longer spelling than needed.
func (c *cursor) uvarint(what string) uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 || (n > 1 && c.rest[n-1] == 0) {
		c.fail(what + " is no varint in its shortest spelling")
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

// size reads an uvarint that must fit an int64.
func (c *cursor) size(what string) int64 {
	v := c.uvarint(what)
	if v > 1<<63-1 {
		c.fail(what + " is out of range")
		return 0
	}
	return int64(v)
}

func (c *cursor) string(what string) []byte { return c.bytes(c.uvarint(what), what) }

// end reports the first fault, or that bytes are left.
func (c *cursor) end() error {
	if c.err == nil && len(c.rest) > 0 {
		c.fail("bytes after the end")
	}
	return c.err
}
