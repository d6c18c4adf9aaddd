package docket

// The identifiers and what a caller hands in. What the ledger gives back is in
// handle.go, the ledger itself in ledger.go.

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
)

// ThreadID names a thread: a conversation, or one agent's part of it. It is
// chosen by the caller; any non-empty bytes up to [MaxThreadID] are valid.
type ThreadID string

// CallID is the provider's id of one tool call: opaque bytes of any length,
// verbatim. The empty id means that the provider gave none.
type CallID string

// MemID is the public address of a record: [MemIDLen] characters of lower-case
// base32 (a–z, 2–7). It is derived ([DeriveMemID]), never assigned.
type MemID string

// Digest is the SHA-256 of a payload.
type Digest [sha256.Size]byte

// LineageKey is the secret from which the mem ids and tags of a thread are
// derived. It is made with a thread and inherited by its forks.
type LineageKey [32]byte

const (
	// MemIDLen is the length of a mem id in characters: 80 bits.
	MemIDLen = 16
	// MaxThreadID is the longest thread id, in bytes.
	MaxThreadID = 1024
	// MaxPayload is the default limit of a payload, in bytes.
	MaxPayload = 256 << 20
)

// memEncoding is lower-case base32 without padding: 5 bits a character, no
// letter that differs from another by case only.
var memEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// ErrMemID is returned by [ParseMemID].
var ErrMemID = errors.New("docket: a mem id is 16 characters of a–z and 2–7")

// ParseMemID checks the one canonical spelling of a mem id. It returns
// [ErrMemID] for anything else.
func ParseMemID(s string) (MemID, error) {
	if len(s) != MemIDLen || !IsMemIDPrefix(s) {
		return "", ErrMemID
	}
	return MemID(s), nil
}

// IsMemIDPrefix tells whether s could begin a mem id.
func IsMemIDPrefix(s string) bool {
	if len(s) > MemIDLen {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// DeriveMemID gives the mem id of a result: the first 80 bits of
// HMAC-SHA256(key, call id ‖ SHA-256(payload)) in lower-case base32. The same
// result has the same mem id after replay, in a fork, and after import; nobody
// without the key can guess it.
func DeriveMemID(key LineageKey, id CallID, payload Digest) MemID {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(id))
	mac.Write(payload[:])
	return MemID(memEncoding.EncodeToString(mac.Sum(nil)[:MemIDLen*5/8]))
}

// DeriveTag gives the authentication tag of an answer's text: the first 80 bits
// of HMAC-SHA256(HMAC-SHA256(key, "docket tag"), text) in lower-case base32.
// The inner key keeps tags and mem ids apart.
func DeriveTag(key LineageKey, text []byte) string {
	inner := hmac.New(sha256.New, key[:])
	inner.Write([]byte("docket tag"))
	mac := hmac.New(sha256.New, inner.Sum(nil))
	mac.Write(text)
	return memEncoding.EncodeToString(mac.Sum(nil)[:MemIDLen*5/8])
}

// DigestOf returns the SHA-256 of payload.
func DigestOf(payload []byte) Digest { return sha256.Sum256(payload) }

// String returns the digest in lower-case hexadecimal, 64 characters.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns the same 64 characters as [Digest.String].
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is the inverse of [Digest.MarshalText].
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) != 2*len(d) {
		return fmt.Errorf("docket: a digest is %d hexadecimal characters, not %d", 2*len(d), len(text))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// Call is one invocation of a tool.
type Call struct {
	ID   CallID // the provider's id, verbatim; empty: none was given
	Tool string // the tool's name as the model knows it
	Args []byte // the arguments, verbatim JSON; nil: unknown
}

// Result is a call with what it returned, as handed to [Ledger.Record]. The
// ledger copies what it keeps; the slices stay the caller's.
type Result struct {
	Call
	Payload     []byte       // the text that the model saw, verbatim
	IsError     bool         // the tool reported a failure
	Attachments []Attachment // parts that are not text, kept beside the payload
}

// Attachment is a part of a result that is not text (an image, a document): it
// stays where it is on the wire and takes no part in the record's identity.
type Attachment struct {
	Kind string // the provider's type of the block, for example "image"
	Data []byte // the block, verbatim
}
