package engine_test

// Check finds what is broken, by the invariant's number: a table of files, each
// with one invariant broken through bbolt itself. A rule that no row breaks fails.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"docket"
	"docket/engine"
)

// rules is the number of invariants in FORMAT.md.
const rules = 25

// fill records something of everything: small, large, empty, many frames, expired,
// erased, attachments, decisions, a checkpoint, a fork, what a rewind dropped.
func fill(t *testing.T, l *engine.Ledger) []docket.Handle {
	t.Helper()
	pictured := result("pictured", text(500, 9))
	pictured.Attachments = []docket.Attachment{{Kind: "image", Data: []byte("png")}}
	hs := record(t, l, "thread",
		result("small", "a small one"), result("large", text(900<<10, 1)), result("empty", ""),
		result("frames", text(70<<10, 2)), pictured, result("expired", text(50<<10, 3)), result("erased", text(50<<10, 4)),
		result("small", "same call id"))
	record(t, l, "other", result("small", "a small one"))
	if _, err := l.Append(t.Context(), "thread", docket.Epoch{Mems: []docket.MemID{hs[0].MemID, hs[1].MemID}}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), "thread", docket.Epoch{Mems: []docket.MemID{hs[3].MemID}}); err != nil {
		t.Fatal(err)
	}
	past(t, l, hs)
	if err := l.Expire(t.Context(), "thread", hs[5].MemID); err != nil {
		t.Fatal(err)
	}
	if err := l.Erase(t.Context(), "thread", hs[6].MemID); err != nil {
		t.Fatal(err)
	}
	return hs
}

// past gives the thread a past: a fork that sees a record later than it was recorded,
// and an epoch that a rewind dropped.
func past(t *testing.T, l *engine.Ledger, hs []docket.Handle) {
	t.Helper()
	ctx := t.Context()
	late := result("late", "recorded after the fork")
	_, err := l.Checkpoint(ctx, "thread", "mark")
	err = errors.Join(err, l.Fork(ctx, "thread", "mark", "fork"))
	record(t, l, "thread", late)
	record(t, l, "fork", late)
	_, err2 := l.Append(ctx, "thread", docket.Epoch{Mems: []docket.MemID{hs[2].MemID}})
	err = errors.Join(err, err2, l.Rewind(ctx, "thread", "mark"))
	_, err2 = l.Append(ctx, "thread", docket.Epoch{Mems: []docket.MemID{hs[4].MemID}})
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
}

// filled makes a closed ledger and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.docket")
	l, err := engine.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// inside is a file that is being broken: the buckets of the thread "thread" and its
// lineage.
type inside struct {
	t    *testing.T
	tx   *bbolt.Tx
	path string
}

// thread returns a bucket of the thread, or the thread itself.
func (in inside) thread(names ...string) *bbolt.Bucket {
	return in.at(append([]string{"threads", "thread"}, names...)...)
}

// lineage returns a bucket of the thread's lineage.
func (in inside) lineage(names ...string) *bbolt.Bucket {
	id := in.thread().Get([]byte("info"))[1:17]
	return in.at(append([]string{"lineages", string(id)}, names...)...)
}

func (in inside) at(names ...string) *bbolt.Bucket {
	b := in.tx.Bucket([]byte(names[0]))
	for _, name := range names[1:] {
		b = b.Bucket([]byte(name))
	}
	return b
}

// put writes a value, del deletes one.
func (in inside) put(b *bbolt.Bucket, key, value []byte) {
	in.t.Helper()
	if err := b.Put(key, value); err != nil {
		in.t.Fatal(err)
	}
}

func (in inside) del(b *bbolt.Bucket, key []byte) {
	in.t.Helper()
	if b.Get(key) == nil {
		in.t.Fatalf("nothing at %q", key)
	}
	if err := b.Delete(key); err != nil {
		in.t.Fatal(err)
	}
}

// flip changes a bit of a value.
func (in inside) flip(b *bbolt.Bucket, key []byte, at int) {
	in.t.Helper()
	v := bytes.Clone(b.Get(key))
	if at < 0 {
		at += len(v)
	}
	v[at] ^= 1
	in.put(b, key, v)
}

// move moves a value to another key.
func (in inside) move(b *bbolt.Bucket, from, to []byte) {
	in.t.Helper()
	v := bytes.Clone(b.Get(from))
	in.del(b, from)
	in.put(b, to, v)
}

// checkpoint sets a byte of the checkpoint "mark".
func (in inside) checkpoint(at int, b byte) {
	in.t.Helper()
	v := bytes.Clone(in.thread("checkpoints").Get([]byte("mark")))
	v[at] = b
	in.put(in.thread("checkpoints"), []byte("mark"), binary.LittleEndian.AppendUint32(v[:29], crc32.Checksum(v[:29], crc32.MakeTable(crc32.Castagnoli))))
}

func be(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// The positions of what fill records.
var (
	atSmall, atLarge, atFrames, atPictured = be(1), be(2), be(4), be(5)
	atExpired, atErased                    = be(6), be(7)
)

// breaks is the table: the rule, what is broken, how. Where raw is set it breaks
// the closed file instead.
var breaks = []struct {
	rule int
	name string
	how  func(in inside)
	raw  func(f *file)
	data bool // found with ReadData only
}{
	{rule: 1, name: "older meta page", raw: func(f *file) { f.flip(f.olderMeta()*f.page+40, 1) }},
	{rule: 2, name: "page number", raw: func(f *file) { f.flip(f.leaf("handles")*f.page, 1) }},
	{rule: 2, name: "element count", raw: func(f *file) { f.put16(f.leaf("handles")*f.page+10, 60000) }},
	{rule: 2, name: "key order", raw: func(f *file) { f.flip(f.bytes(atLarge, f.leaf("handles"))+7, 0x40) }},
	{rule: 2, name: "value outside", raw: func(f *file) { f.put32(f.leaf("handles")*f.page+16+12, 1<<30) }},
	{rule: 3, name: "free page in use", raw: func(f *file) { f.put64(f.freelist()*f.page+16, uint64(f.leaf("handles"))) }},
	{rule: 3, name: "free page outside", raw: func(f *file) { f.put64(f.freelist()*f.page+16, 1<<40) }},
	{rule: 3, name: "lost page", raw: func(f *file) { f.put16(f.freelist()*f.page+10, f.get16(f.freelist()*f.page+10)-1) }},
	{rule: 4, name: "no id", how: func(in inside) { in.del(in.at("docket"), []byte("id")) }},
	{rule: 4, name: "unknown key", how: func(in inside) { in.put(in.at("docket"), []byte("more"), nil) }},
	{rule: 4, name: "unknown bucket", how: func(in inside) { in.tx.CreateBucket([]byte("more")) }},
	{rule: 5, name: "short lineage key", how: func(in inside) { in.put(in.lineage(), []byte("key"), []byte("short")) }},
	{rule: 5, name: "no mems", how: func(in inside) { in.lineage().DeleteBucket([]byte("mems")) }},
	{rule: 5, name: "unknown key", how: func(in inside) { in.put(in.lineage(), []byte("more"), nil) }},
	{rule: 5, name: "stranger as member", how: func(in inside) { in.put(in.lineage("threads"), []byte("other"), nil) }},
	{rule: 6, name: "damaged info", how: func(in inside) { in.flip(in.thread(), []byte("info"), 20) }},
	{rule: 6, name: "no member", how: func(in inside) { in.del(in.lineage("threads"), []byte("thread")) }},
	{rule: 6, name: "no epochs", how: func(in inside) { in.thread().DeleteBucket([]byte("epochs")) }},
	{rule: 7, name: "damaged row", how: func(in inside) { in.flip(in.lineage("handles"), atSmall, -1) }},
	{rule: 7, name: "damaged state", how: func(in inside) { in.flip(in.lineage("handles"), atSmall, 0) }},
	{rule: 7, name: "sequence fell back", how: func(in inside) { in.lineage("data").SetSequence(3) }},
	{rule: 8, name: "no mem id", how: func(in inside) { in.delMem(atSmall) }},
	{rule: 8, name: "mem id of another", how: func(in inside) { in.put(in.lineage("mems"), in.mem(atSmall), atLarge) }},
	{rule: 8, name: "mem id of nothing", how: func(in inside) { in.put(in.lineage("mems"), []byte("aaaaaaaaaaaaaaaa"), be(99)) }},
	{rule: 8, name: "tombstone without mem id", how: func(in inside) { in.delMem(atErased) }},
	{rule: 8, name: "two mem ids of a tombstone", how: func(in inside) { in.put(in.lineage("mems"), []byte("aaaaaaaaaaaaaaaa"), atErased) }},
	{rule: 9, name: "another lineage key", how: func(in inside) { in.flip(in.lineage(), []byte("key"), 0) }},
	{rule: 10, name: "live without segment", how: func(in inside) { in.del(in.lineage("data"), atSmall) }},
	{rule: 10, name: "segment of an expired one", how: func(in inside) { in.copyData(atSmall, atExpired) }},
	{rule: 10, name: "segment of nothing", how: func(in inside) { in.copyData(atSmall, be(3000)) }},
	{rule: 10, name: "grams of an erased one", how: func(in inside) { in.put(in.lineage("grams"), atErased, []byte("x")) }},
	{rule: 11, name: "a section more", how: func(in inside) { in.part(atLarge, "a", func([]byte) []byte { return in.frame() }) }},
	{rule: 12, name: "position of nothing", how: func(in inside) { in.put(in.thread("order"), be(99), nil) }},
	{rule: 12, name: "key of four bytes", how: func(in inside) { in.put(in.thread("order"), []byte("abcd"), nil) }},
	{rule: 12, name: "moment of three bytes", how: func(in inside) { in.put(in.thread("order"), atSmall, []byte("abc")) }},
	{rule: 12, name: "moment to come", how: func(in inside) { in.put(in.thread("order"), atSmall, be(99)) }},
	{rule: 6, name: "checkpoints that are none", how: func(in inside) {
		in.thread().DeleteBucket([]byte("checkpoints"))
		in.put(in.thread(), []byte("checkpoints"), nil)
	}},
	{rule: 13, name: "not in calls", how: func(in inside) { k, _ := in.thread("calls").Cursor().First(); in.del(in.thread("calls"), k) }},
	{rule: 13, name: "call of nothing", how: func(in inside) { in.put(in.thread("calls"), append(make([]byte, 16), atSmall...), nil) }},
	{rule: 14, name: "damaged epoch", how: func(in inside) { in.flip(in.thread("epochs"), be(1), 3) }},
	{rule: 14, name: "gap", how: func(in inside) { in.del(in.thread("epochs"), be(1)) }},
	{rule: 15, name: "not in decided", how: func(in inside) { in.del(in.thread("decided"), in.mem(atSmall)) }},
	{rule: 15, name: "decided by another epoch", how: func(in inside) { in.put(in.thread("decided"), in.mem(atSmall), be(2)) }},
	{rule: 15, name: "decided by none", how: func(in inside) { in.put(in.thread("decided"), []byte("aaaaaaaaaaaaaaaa"), be(1)) }},
	{rule: 16, name: "damaged head", how: func(in inside) { in.flipPart(atLarge, "h", 9) }},
	{rule: 16, name: "payload of another", how: func(in inside) {
		in.part(atLarge, "h", func(h []byte) []byte {
			h[28] ^= 1
			return binary.LittleEndian.AppendUint32(h[:36], crc32.Checksum(h[:36], crc32.MakeTable(crc32.Castagnoli)))
		})
	}},
	{rule: 16, name: "unknown part", how: func(in inside) { in.part(atLarge, "x", func([]byte) []byte { return nil }) }},
	{rule: 16, name: "unknown key", how: func(in inside) { in.put(in.others(atLarge), []byte("x"), nil) }},
	{rule: 16, name: "frames among the others", how: func(in inside) { in.part(atLarge, "f", func([]byte) []byte { return in.frame() }) }},
	{rule: 16, name: "no other parts", how: func(in inside) { in.del(in.others(atLarge), others) }},
	{rule: 16, name: "damaged part table", how: func(in inside) { in.flip(in.lineage("data"), atSmall, 3) }},
	{rule: 16, name: "segment of another", how: func(in inside) { in.copyData(atPictured, atSmall) }},
	{rule: 17, name: "damaged frame table", how: func(in inside) { in.flipPart(atLarge, "t", 8) }},
	{rule: 17, name: "short group", how: func(in inside) {
		b := in.others(atLarge)
		v := b.Get(append([]byte("f"), 0, 0, 0, 0))
		in.put(b, append([]byte("f"), 0, 0, 0, 0), bytes.Clone(v[:len(v)-1]))
	}},
	{rule: 18, name: "damaged chars", how: func(in inside) { in.flipPart(atLarge, "c", 20) }},
	{rule: 18, name: "damaged grams", how: func(in inside) { in.flip(in.lineage("grams"), atFrames, 100) }},
	{rule: 19, name: "damaged frame", data: true, how: func(in inside) { in.flip(in.lineage("data", string(atLarge)), append([]byte("f"), 0, 0, 0, 0), 5000) }},
	{rule: 20, name: "payload of another", data: true, how: func(in inside) { in.swapFrames() }},
	{rule: 21, name: "chars of another", data: true, how: func(in inside) { in.shiftChars() }},
	{rule: 22, name: "grams that miss", data: true, how: func(in inside) { in.emptyGrams() }},
	{rule: 24, name: "damaged dropped epoch", how: func(in inside) { in.flip(in.thread("dropped"), append(be(1), be(3)...), 3) }},
	{rule: 24, name: "dropped epoch without the one before", how: func(in inside) { in.move(in.thread("dropped"), append(be(1), be(3)...), append(be(1), be(9)...)) }},
	{rule: 24, name: "rewind that dropped nothing", how: func(in inside) { in.thread("dropped").SetSequence(2) }},
	{rule: 24, name: "decided twice in a line", how: func(in inside) {
		in.put(in.thread("dropped"), append(be(1), be(4)...), bytes.Clone(in.thread("dropped").Get(append(be(1), be(3)...))))
	}},
	{rule: 25, name: "damaged checkpoint", how: func(in inside) { in.flip(in.thread("checkpoints"), []byte("mark"), 9) }},
	{rule: 25, name: "checkpoint to come", how: func(in inside) { in.checkpoint(9, 99) }},
	{rule: 25, name: "checkpoint of an epoch to come", how: func(in inside) { in.checkpoint(25, 99) }},
	{rule: 25, name: "checkpoint of a rewind to come", how: func(in inside) { in.checkpoint(17, 99) }},
	{rule: 23, name: "damaged aside", data: true, how: func(in inside) { in.flipPart(atLarge, "a", -3) }},
}

func TestCheckFindsEachBrokenInvariant(t *testing.T) {
	broken := map[int]bool{}
	whole, err := os.ReadFile(filled(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range breaks {
		broken[c.rule] = true
		t.Run(fmt.Sprintf("rule %d/%s", c.rule, c.name), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.docket")
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			if c.how != nil {
				update(t, path, c.how)
			} else {
				f := openRaw(t, path)
				c.raw(f)
				f.close()
			}
			found, err := check(t, path, c.data)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(found, func(f *docket.CorruptError) bool { return f.Rule == c.rule }) {
				t.Errorf("not found; found instead: %v", found)
			}
			for _, f := range found {
				if f.File != path || f.Place == "" || f.Expected == "" || f.Found == "" {
					t.Errorf("a finding that does not tell all: %+v", f)
				}
			}
		})
	}
	for rule := 1; rule <= rules; rule++ {
		if !broken[rule] {
			t.Errorf("nothing in the table breaks rule %d", rule)
		}
	}
}

// TestInvariantsAreNumberedInFormat: FORMAT.md lists as many as check has.
func TestInvariantsAreNumberedInFormat(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "FORMAT.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(b), "\n## Invariants\n")
	for rule := 1; rule <= rules+1; rule++ {
		if listed := strings.Contains(section, fmt.Sprintf("\n%d. ", rule)); listed != (rule <= rules) {
			t.Errorf("FORMAT.md lists invariant %d: %t", rule, listed)
		}
	}
}

// check opens the ledger at path for reading and checks it.
func check(t *testing.T, path string, data bool) ([]*docket.CorruptError, error) {
	t.Helper()
	l, err := engine.Open(path, &engine.Options{ReadOnly: true})
	var damage *docket.CorruptError
	if errors.As(err, &damage) {
		return []*docket.CorruptError{damage}, nil // what keeps bbolt from opening is found before
	}
	if err != nil {
		return nil, err
	}
	defer l.Close()
	report, err := l.Check(t.Context(), &engine.CheckOptions{ReadData: data})
	return report.Findings, err
}

func TestCheckOfAWholeLedger(t *testing.T) {
	path := filled(t)
	l := open(t, path, nil)
	var last, total int64
	report, err := l.Check(t.Context(), &engine.CheckOptions{ReadData: true, Progress: func(d, n int64) {
		if d < last || d > n {
			t.Errorf("progress %d of %d after %d", d, n, last)
		}
		last, total = d, n
	}})
	if err != nil || len(report.Findings) > 0 {
		t.Fatalf("error %v, findings %v", err, report.Findings)
	}
	if report.Threads != 3 || report.Records != 10 || report.Payloads != 8 || report.More != 0 {
		t.Errorf("threads, records, payloads, more: %+v", report)
	}
	if last != total || total == 0 {
		t.Errorf("progress ended at %d of %d", last, total)
	}
}

// TestCheckOfEmptyLedgers: nothing is a valid state.
func TestCheckOfEmptyLedgers(t *testing.T) {
	l := openNew(t, nil)
	if report, err := l.Check(t.Context(), nil); err != nil || len(report.Findings) > 0 {
		t.Errorf("error %v, findings %v", err, report.Findings)
	}
}

// TestCheckWhileRecording: what is written meanwhile is no damage.
func TestCheckWhileRecording(t *testing.T) {
	l := openNew(t, &engine.Options{NoSync: true})
	done := make(chan error)
	go func() {
		var err error
		for i := 0; i < 150 && err == nil; i++ {
			_, err = l.Record(t.Context(), "thread", result(docket.CallID(fmt.Sprint(i)), text(i*700, uint64(i))))
		}
		done <- err
	}()
	for n := 0; ; n++ {
		select {
		case err := <-done:
			if err != nil || n == 0 {
				t.Errorf("error %v after %d checks", err, n)
			}
			return
		default:
		}
		if report, err := l.Check(t.Context(), &engine.CheckOptions{ReadData: true}); err != nil || len(report.Findings) > 0 {
			t.Fatalf("check %d: error %v, findings %v", n, err, report.Findings)
		}
	}
}

// update changes the file at path through bbolt.
func update(t *testing.T, path string, how func(in inside)) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		how(inside{t, tx, path})
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
