package engine

// Where things lie in the file: bucket names, keys, and the small values. FORMAT.md,
// "The file", is normative.

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"go.etcd.io/bbolt"

	"docket"
	"docket/codec"
	"docket/internal/seal"
)

// formatVersion is the only version that this release writes, and the newest that
// it reads.
const formatVersion = 1

// Bucket and key names.
var (
	bucketDocket   = []byte("docket")
	keyFormat      = []byte("format")
	keyOthers      = []byte("r")
	keyID          = []byte("id")
	keyCreated     = []byte("created")
	bucketLineages = []byte("lineages")
	keyKey         = []byte("key")
	bucketMembers  = []byte("threads")
	bucketMems     = []byte("mems")
	bucketHandles  = []byte("handles")
	bucketGrams    = []byte("grams")
	bucketData     = []byte("data")
	bucketThreads  = []byte("threads")
	keyInfo        = []byte("info")
	bucketOrder    = []byte("order")
	bucketCalls    = []byte("calls")
	bucketEpochs   = []byte("epochs")
	bucketDecided  = []byte("decided")

	bucketCheckpoints = []byte("checkpoints")
	bucketDropped     = []byte("dropped")
)

// lineageID names a lineage in the file: a random UUID.
type lineageID [16]byte

func seqKey(seq docket.Seq) []byte { return binary.BigEndian.AppendUint64(nil, uint64(seq)) }

// parseSeq reads a key or value that is a position.
func parseSeq(b []byte) (docket.Seq, bool) {
	if len(b) != 8 {
		return 0, false
	}
	return docket.Seq(binary.BigEndian.Uint64(b)), true
}

// callPrefix is what the keys of a call id's records in a thread begin with: a
// digest, because an id may be longer than a key and hold any byte.
func callPrefix(id docket.CallID) []byte {
	sum := sha256.Sum256([]byte(id))
	return sum[:16:16]
}

func callKey(id docket.CallID, seq docket.Seq) []byte {
	return binary.BigEndian.AppendUint64(callPrefix(id), uint64(seq))
}

// momentValue is the value in order of a record that a thread began to see at moment.
func momentValue(seq, moment docket.Seq) []byte {
	if seq == moment {
		return present
	}
	return seqKey(moment)
}

// parseMoment is the inverse of [momentValue].
func parseMoment(seq docket.Seq, v []byte) (moment docket.Seq, ok bool) {
	if len(v) == 0 {
		return seq, true
	}
	moment, ok = parseSeq(v)
	return moment, ok && moment != 0 && moment != seq
}

// droppedKey is the key of an epoch that a rewind dropped.
func droppedKey(rewind, number uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, rewind), number)
}

const checkpointVersion = 1

// appendCheckpoint appends the value of a checkpoint: all but thread and id.
func appendCheckpoint(dst []byte, c checkpoint) []byte {
	start := len(dst)
	dst = append(dst, checkpointVersion)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(c.Created.UnixNano()))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(c.Seq))
	dst = binary.LittleEndian.AppendUint64(dst, c.rewinds)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(c.Epochs))
	return binary.LittleEndian.AppendUint32(dst, seal.Sum(dst[start:]))
}

// parseCheckpoint is the inverse of [appendCheckpoint].
func parseCheckpoint(b []byte) (c checkpoint, ok bool) {
	const size = 1 + 8 + 8 + 8 + 4 + 4
	if len(b) != size || b[0] != checkpointVersion || seal.Sum(b[:size-4]) != binary.LittleEndian.Uint32(b[size-4:]) {
		return c, false
	}
	c.Created = time.Unix(0, int64(binary.LittleEndian.Uint64(b[1:]))).UTC()
	c.Seq = docket.Seq(binary.LittleEndian.Uint64(b[9:]))
	c.rewinds = binary.LittleEndian.Uint64(b[17:])
	epochs := binary.LittleEndian.Uint32(b[25:])
	c.Epochs = int(epochs)
	return c, epochs <= 1<<31-1
}

// threadInfo is the value of a thread's info.
type threadInfo struct {
	lineage lineageID
	created time.Time
}

const infoVersion = 1

func appendInfo(dst []byte, t threadInfo) []byte {
	start := len(dst)
	dst = append(dst, infoVersion)
	dst = append(dst, t.lineage[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(t.created.UnixNano()))
	return binary.LittleEndian.AppendUint32(dst, seal.Sum(dst[start:]))
}

func parseInfo(b []byte) (t threadInfo, ok bool) {
	const size = 1 + 16 + 8 + 4
	if len(b) != size || b[0] != infoVersion || seal.Sum(b[:size-4]) != binary.LittleEndian.Uint32(b[size-4:]) {
		return t, false
	}
	copy(t.lineage[:], b[1:])
	t.created = time.Unix(0, int64(binary.LittleEndian.Uint64(b[17:]))).UTC()
	return t, true
}

// state is what has become of a record.
type state byte

const (
	live    state = 0
	expired state = 1 // handle only
	erased  state = 2 // neither payload nor handle: a tombstone
)

// row is the value of a record in handles: its state and, unless it is erased, its
// handle.
type row struct {
	state  state
	since  time.Time // when it expired or was erased; zero for a live record
	stored int64     // bytes that segment and grams take
	handle docket.Handle
}

const rowHead = 1 + 8 + 8 + 4

func appendRow(dst []byte, r row) []byte {
	start := len(dst)
	since := int64(0)
	if r.state != live {
		since = r.since.UnixNano()
	}
	dst = append(dst, byte(r.state))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(since))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.stored))
	dst = binary.LittleEndian.AppendUint32(dst, seal.Sum(dst[start:]))
	if r.state == erased {
		return dst
	}
	return codec.AppendHandle(dst, r.handle)
}

// parseRow is the inverse of [appendRow]. The result is a copy.
func parseRow(b []byte) (r row, ok bool) {
	if r, ok = parseRowHead(b); !ok || r.state == erased {
		return r, ok && len(b) == rowHead
	}
	var err error
	r.handle, err = codec.ParseHandle(b[rowHead:])
	return r, err == nil
}

// parseRowHead reads all but the handle.
func parseRowHead(b []byte) (r row, ok bool) {
	if len(b) < rowHead || seal.Sum(b[:rowHead-4]) != binary.LittleEndian.Uint32(b[rowHead-4:]) {
		return r, false
	}
	r.state = state(b[0])
	since := int64(binary.LittleEndian.Uint64(b[1:]))
	r.stored = int64(binary.LittleEndian.Uint64(b[9:]))
	if r.state > erased || r.stored < 0 || (r.state == live && since != 0) || (r.state != live && r.stored != 0) {
		return r, false
	}
	if r.state != live {
		r.since = time.Unix(0, since).UTC()
	}
	return r, true
}

// bucketParts are the parts of a segment that has a bucket of its own.
type bucketParts struct {
	tx            txn
	b             *bbolt.Bucket
	*codec.Packed // all but the frame groups
}

func (p bucketParts) Part(id codec.PartID, group uint32) []byte {
	if id != codec.PartFrames {
		return p.Packed.Part(id, group)
	}
	v, err := p.tx.get(p.b, codec.AppendGroupKey(make([]byte, 0, 8), group))
	if err != nil {
		return nil // as if it were missing, which is as damaged
	}
	return v
}
