package ledgertest

// What the checks record: payloads of every kind and around every border that a
// ledger may have inside, made by arithmetic so that a failure repeats.

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"

	"docket"
)

// thread is where a check records when one thread is enough.
const thread docket.ThreadID = "ledgertest"

// result makes a result of a call.
func result(id docket.CallID, payload string) docket.Result {
	return docket.Result{Call: docket.Call{ID: id, Tool: "probe", Args: []byte(`{"n":1}`)}, Payload: []byte(payload)}
}

// results makes n small results with ids and payloads of their own.
func results(n int) []docket.Result {
	rs := make([]docket.Result, n)
	for i := range rs {
		rs[i] = result(docket.CallID(fmt.Sprintf("call_%d", i)), fmt.Sprintf(`{"number":%d,"name":"result %d"}`, i, i))
	}
	return rs
}

// varied makes one result for each payload of the table.
func varied() []docket.Result {
	rs := make([]docket.Result, 0, 32)
	for name, p := range payloads() {
		r := docket.Result{Call: docket.Call{ID: docket.CallID("varied " + name), Tool: name}, Payload: p}
		switch len(rs) % 4 {
		case 1:
			r.Args = []byte(`{"path": "/etc/hosts", "n": 1.50}`)
		case 2:
			r.Args, r.IsError = []byte{}, true
		case 3:
			r.Attachments = []docket.Attachment{{Kind: "image", Data: fill(9000, 7)}, {Kind: "empty"}}
		}
		rs = append(rs, r)
	}
	return rs
}

// payloads yields the table by name.
func payloads() func(yield func(string, []byte) bool) {
	table := []struct{ name, payload string }{
		{"empty", ""},
		{"one byte", "x"},
		{"space", " \n"},
		{"text", "The quick brown fox.\nIt jumped.\r\n"},
		{"json", `{"products":[{"id":1,"name":"café"},{"id":2,"name":"x"}],"a.b":null}`},
		{"json number", "1234567890123456789012345678901234567890"},
		{"ndjson", "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n"},
		{"duplicate keys", `{"a":1,"a":2}`},
		{"lone surrogate escape", `{"a":"\ud800"}`},
		{"byte order mark", "\ufeff{}"},
		{"NUL", "a\x00b\x00"},
		{"no UTF-8", "a\xff\xfe\x80z\xed\xa0\x80"},
		{"cut rune", "abc\xe2\x82"},
		{"stub of another", docket.StubHeader + "\ntool=x call_id=y\n"},
		{"hidden characters", "a\u202eb\u200bc\U000e0041d"},
		{"long line", strings.Repeat("a", 300<<10)},
		{"long runes", strings.Repeat("日本語😀é", 20<<10)},
		{"long with cut runes", strings.Repeat("\xe2\x82", 80<<10)},
		{"long json", longJSON(400 << 10)},
		{"deep json", strings.Repeat("[", 100_000)},
		{"random bytes", string(fill(200<<10, 1))},
	}
	return func(yield func(string, []byte) bool) {
		for _, c := range table {
			if !yield(c.name, []byte(c.payload)) {
				return
			}
		}
	}
}

// longJSON makes one JSON value of about n bytes.
func longJSON(n int) string {
	var b strings.Builder
	b.WriteString(`{"rows":[`)
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"sku":"K%07x","title":"Öl-Filter %d 日本","price":%d.%02d}`, i, int64(i)*2654435761%(1<<28), i, i%997, i%100)
	}
	b.WriteString(`]}`)
	return b.String()
}

// fill makes n pseudo-random bytes.
func fill(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0xd0c4e7))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// hostileIDs are call ids and thread ids that broke ledgers which used them as a
// path, a URL, a C string or a key of limited length.
func hostileIDs() []string {
	return []string{
		"../../x", "..", ".", "/", "a/b", "a", "b", `a\b`, "%2e%2e%2f", "a\x00b", "a\x00", "\x00", "~", "*",
		"functions.eval:301", "😀", "é", "e\u0301", " ", " a", "\n", "\xff\xfe", "nul", "CON", "calls", "order",
	}
}

// longIDs differ only in their last byte, or only in length.
func longIDs() []string {
	base := strings.Repeat("x", 9_999)
	return []string{base + "a", base + "b", base, strings.Repeat("y", 40_000)}
}

// charCount counts characters as the contract does: code points, and each byte
// that is no UTF-8.
func charCount(payload []byte) int64 { return int64(len(bytes.Runes(payload))) }
