package bench

// The naive ledger: what one writes in an afternoon, done well. The same bbolt
// with the same options and the same fsync, the whole payload as one zstd value
// at the default level, decoded whole at every fetch into a buffer that is
// reused, then gjson, strings.Index, and counting runes. It keeps no handle,
// digest or index, so its record is as cheap as durability allows. What it cuts
// from a payload is in cut.go.

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.etcd.io/bbolt"

	"docket"
)

// ErrNoPayload is returned by [Naive] for an id that was never recorded.
var ErrNoPayload = errors.New("bench: the naive ledger has no such payload")

var naiveBucket = []byte("payloads")

// Naive is the naive ledger on one file. It is safe for concurrent use; reads
// share one buffer and so take turns.
type Naive struct {
	db  *bbolt.DB
	enc *zstd.Encoder
	dec *zstd.Decoder

	mu  sync.Mutex // guards buf
	buf []byte     // the payload that was decoded last
}

// naiveOptions are the engine's, as far as they matter for speed.
func naiveOptions() *bbolt.Options {
	return &bbolt.Options{
		Timeout:         500 * time.Millisecond,
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: int(min(int64(16<<30), math.MaxInt/2)), // half of all where an int is short
	}
}

// OpenNaive opens or creates a naive ledger.
func OpenNaive(path string) (*Naive, error) {
	db, err := bbolt.Open(path, 0o600, naiveOptions())
	if err != nil {
		return nil, fmt.Errorf("bench: open %q: %w", path, err)
	}
	db.AllocSize = 1 << 20 // the default, 16 MiB, is more than most of what is recorded here
	n := &Naive{db: db}
	err = db.View(func(tx *bbolt.Tx) error {
		if tx.Bucket(naiveBucket) == nil {
			return ErrNoPayload
		}
		return nil
	})
	if err != nil {
		err = db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket(naiveBucket)
			return err
		})
	}
	if err == nil {
		n.enc, err = zstd.NewWriter(nil)
	}
	if err == nil {
		n.dec, err = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(1<<30))
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return n, nil
}

// Close releases the file.
func (n *Naive) Close() error {
	n.dec.Close()
	return n.db.Close()
}

// Record keeps payload under id; when it returns nil it is durable.
func (n *Naive) Record(id string, payload []byte) error {
	stored := n.enc.EncodeAll(payload, nil)
	return n.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(naiveBucket).Put([]byte(id), stored)
	})
}

// RecordShared is Record for many goroutines at once: they share commits
// (bbolt's Batch).
func (n *Naive) RecordShared(id string, payload []byte) error {
	stored := n.enc.EncodeAll(payload, nil)
	return n.db.Batch(func(tx *bbolt.Tx) error {
		return tx.Bucket(naiveBucket).Put([]byte(id), stored)
	})
}

// RecordAll keeps the payloads of results, under their call ids, in one commit.
func (n *Naive) RecordAll(results []docket.Result) error {
	return n.db.Update(func(tx *bbolt.Tx) error {
		for _, r := range results {
			if err := tx.Bucket(naiveBucket).Put([]byte(r.ID), n.enc.EncodeAll(r.Payload, nil)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Path returns a copy of the value at a gjson path, nil if there is none.
func (n *Naive) Path(id, path string) (value []byte, err error) {
	err = n.read(id, func(payload []byte) { value = cutPath(payload, path) })
	return value, err
}

// Range returns a copy of chars characters from the given one on.
func (n *Naive) Range(id string, offset, chars int64) (text []byte, err error) {
	err = n.read(id, func(payload []byte) { text = bytes.Clone(cutRange(payload, offset, chars)) })
	return text, err
}

// Query returns the first [maxMatches] matches of query with the text around
// them.
func (n *Naive) Query(id, query string) (found Found, err error) {
	err = n.read(id, func(payload []byte) { found = cutQuery(payload, query) })
	return found, err
}

// Search returns the ids of the payloads that hold query, in the order of ids.
func (n *Naive) Search(query string) (ids []string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	err = n.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(naiveBucket).ForEach(func(id, stored []byte) error {
			if err := n.decode(stored); err != nil {
				return err
			}
			if bytes.Contains(n.buf, []byte(query)) {
				ids = append(ids, string(id))
			}
			return nil
		})
	})
	return ids, err
}

// read decodes the payload and calls fn with it; it is valid during the call.
func (n *Naive) read(id string, fn func(payload []byte)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.db.View(func(tx *bbolt.Tx) error {
		stored := tx.Bucket(naiveBucket).Get([]byte(id))
		if stored == nil {
			return ErrNoPayload
		}
		if err := n.decode(stored); err != nil {
			return err
		}
		fn(n.buf)
		return nil
	})
}

func (n *Naive) decode(stored []byte) (err error) {
	n.buf, err = n.dec.DecodeAll(stored, n.buf[:0])
	return err
}
