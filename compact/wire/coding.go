package wire

// Compressed bodies: some clients send gzip or zstd. They are decoded within a limit, and a
// view goes out in the same encoding.

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// coding is a content coding of HTTP.
type coding string

// codingOf returns the coding of a body.
func codingOf(h http.Header) (coding, error) {
	switch c := strings.ToLower(strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ","))); c {
	case "", "identity":
		return "", nil
	case "gzip", "zstd":
		return coding(c), nil
	default:
		return "", fmt.Errorf("%w: %.40q", ErrEncoding, c)
	}
}

// decode returns the bytes that raw encodes, most at most.
func (c coding) decode(raw []byte, most int64) ([]byte, error) {
	switch c {
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, fmt.Errorf("wire: gzip body: %w", err)
		}
		return bounded(r, most)
	case "zstd":
		// A window is memory before anything is decoded: more than a body is never needed.
		r, err := zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(uint64(most)+1))
		if err != nil {
			return nil, fmt.Errorf("wire: zstd body: %w", err)
		}
		defer r.Close()
		return bounded(r, most)
	}
	return raw, nil
}

// maxWindow is the largest window of a zstd body: RFC 9659 allows 8 MiB in HTTP.
const maxWindow = 8 << 20

func bounded(r io.Reader, most int64) ([]byte, error) {
	var buf bytes.Buffer
	n, err := buf.ReadFrom(io.LimitReader(r, most+1))
	switch {
	case n > most, errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return nil, ErrMaxBody
	case err != nil:
		return nil, fmt.Errorf("wire: encoded body: %w", err)
	}
	return buf.Bytes(), nil
}

// encoder is shared by all views: making one takes longer than encoding a body.
var encoder = sync.OnceValues(func() (*zstd.Encoder, error) { return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)) })

// encode is the inverse of decode. The same bytes give the same bytes.
func (c coding) encode(body []byte) []byte {
	switch c {
	case "gzip":
		var buf bytes.Buffer
		w := gzip.NewWriter(&buf)
		_, _ = w.Write(body) // to memory: it cannot fail
		_ = w.Close()
		return buf.Bytes()
	case "zstd":
		e, err := encoder()
		if err != nil {
			panic(err) // of options that are constants
		}
		return e.EncodeAll(body, nil)
	}
	return body
}
