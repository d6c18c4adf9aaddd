package seal

// A checksum over the whole section would make every fetch cost the whole
// section; one for each page makes it cost what the lookup touches.

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// Page is the size of a protected page: one checksum adds four thousandths. A lookup
// touches pages that nobody has touched for long, so that with pages of 4 KiB fetching
// their bytes took longer than all the rest of it.
const Page = 1024

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged is returned by [Open] for a length that no sealed bytes can have and
// by [Bytes.Read] for a page whose checksum does not match.
var ErrDamaged = errors.New("seal: checksum mismatch")

// ErrRange is returned by [Bytes.Read] for bytes outside of the body.
var ErrRange = errors.New("seal: read outside of the body")

// Sum returns the CRC32C of b.
func Sum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Append appends the sealed form of body to dst. dst and body must not overlap.
func Append(dst, body []byte) []byte {
	dst = append(dst, body...)
	for len(body) > 0 {
		n := min(Page, len(body))
		dst = binary.LittleEndian.AppendUint32(dst, Sum(body[:n]))
		body = body[n:]
	}
	return dst
}

// Bytes is an opened sealed byte string. It aliases what it was opened on.
type Bytes struct {
	body, sums []byte
	verified   int // 1 + the page verified last
}

// Open splits sealed bytes into body and checksums. It verifies no page. An
// impossible length is [ErrDamaged].
func Open(sealed []byte) (Bytes, error) {
	pages := (len(sealed) + Page + 3) / (Page + 4)
	body := len(sealed) - 4*pages
	if body < 0 || (body+Page-1)/Page != pages {
		return Bytes{}, ErrDamaged
	}
	return Bytes{body: sealed[:body:body], sums: sealed[body:]}, nil
}

// Len returns the length of the body in bytes.
func (b *Bytes) Len() int { return len(b.body) }

// Read returns n bytes of the body from off, after verifying the pages that they
// lie in. The result aliases the sealed bytes. Errors: [ErrRange], [ErrDamaged].
func (b *Bytes) Read(off, n int) ([]byte, error) {
	if off < 0 || n < 0 || off > len(b.body)-n {
		return nil, ErrRange
	}
	if n == 0 {
		return nil, nil
	}
	for p := off / Page; p <= (off+n-1)/Page; p++ {
		if p+1 == b.verified {
			continue
		}
		page := b.body[p*Page : min((p+1)*Page, len(b.body))]
		if Sum(page) != binary.LittleEndian.Uint32(b.sums[4*p:]) {
			return nil, ErrDamaged
		}
		b.verified = p + 1
	}
	return b.body[off : off+n : off+n], nil
}

// Verify checks every page.
func (b *Bytes) Verify() error {
	_, err := b.Read(0, len(b.body))
	return err
}
