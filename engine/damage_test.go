package engine_test

// Damaged images: P3 and P4. A ledger is damaged at random, thousands of times, and
// a child process does with each image all that a ledger can do. It must not crash,
// must not hang, and what it reads must be what was recorded.

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"docket"
	"docket/engine"
)

var (
	damageImages = flag.Int("damage.images", 120, "damaged images in TestDamagedImages")
	damageSeed   = flag.Uint64("damage.seed", 1, "seed of TestDamagedImages")
	damageKeep   = flag.String("damage.keep", "", "folder for the images that failed, and for what was true of them")
)

// damageLimit is how long a child may take for one image.
const damageLimit = slowdown * 5 * time.Second

// truth is what was recorded: thread and mem id to handle and digest.
type truth map[docket.ThreadID]map[docket.MemID]docket.Handle

// damageRequest is an image to try.
type damageRequest struct {
	Path  string // the image; the child may change it
	Truth string // path of the truth, as JSON
}

// damageAnswer is what came of it.
type damageAnswer struct {
	Opened  bool
	Wrong   []string // what must never be
	Lost    int      // records that were recorded and answer as if they never were
	Damaged int      // reads that said so
	Found   int      // findings of check
}

// damages are the ways to damage an image.
var damages = []struct {
	name string
	do   func(r *rand.Rand, b []byte, page int) []byte
}{
	{"flip a bit", func(r *rand.Rand, b []byte, _ int) []byte {
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		return b
	}},
	{"flip a bit of a page header", func(r *rand.Rand, b []byte, page int) []byte {
		b[r.IntN(len(b)/page)*page+r.IntN(16)] ^= 1 << r.IntN(8)
		return b
	}},
	{"flip a bit of an element table", func(r *rand.Rand, b []byte, page int) []byte {
		b[r.IntN(len(b)/page)*page+16+r.IntN(256)] ^= 1 << r.IntN(8)
		return b
	}},
	{"flip 20 bits", func(r *rand.Rand, b []byte, _ int) []byte {
		for range 20 {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		return b
	}},
	{"point elsewhere", func(r *rand.Rand, b []byte, page int) []byte {
		at := r.IntN(len(b)/page)*page + 16 + 16*r.IntN(16) + 8
		copy(b[at:], []byte{byte(r.IntN(len(b) / page)), 0, 0, 0, 0, 0, 0, 0})
		return b
	}},
	{"zero a page", func(r *rand.Rand, b []byte, page int) []byte {
		at := r.IntN(len(b)/page) * page
		clear(b[at : at+page])
		return b
	}},
	{"garbage in a page", func(r *rand.Rand, b []byte, page int) []byte {
		at := r.IntN(len(b)/page) * page
		copy(b[at:at+page], incompressible(page, r.Uint64()))
		return b
	}},
	{"swap two pages", func(r *rand.Rand, b []byte, page int) []byte {
		x, y := r.IntN(len(b)/page)*page, r.IntN(len(b)/page)*page
		saved := bytes.Clone(b[x : x+page])
		copy(b[x:x+page], b[y:y+page])
		copy(b[y:y+page], saved)
		return b
	}},
	{"a page twice, with the number of the other", func(r *rand.Rand, b []byte, page int) []byte {
		x, y := r.IntN(len(b)/page)*page, r.IntN(len(b)/page)*page
		copy(b[x+8:x+page], b[y+8:y+page])
		return b
	}},
	{"cut short", func(r *rand.Rand, b []byte, _ int) []byte { return b[:r.IntN(len(b))] }},
	{"cut short at a page", func(r *rand.Rand, b []byte, page int) []byte { return b[:r.IntN(len(b)/page)*page] }},
	{"flip a bit of both meta pages", func(r *rand.Rand, b []byte, page int) []byte {
		b[r.IntN(80)] ^= 1 << r.IntN(8)
		b[page+r.IntN(80)] ^= 1 << r.IntN(8)
		return b
	}},
}

func TestDamagedImages(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short mode")
	}
	whole, truthPath := damageBase(t)
	f := openRaw(t, whole)
	var mu sync.Mutex
	counts := map[string]int{}
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			dir := t.TempDir()
			c := start(t, "damage")
			for n := range next {
				r := rand.New(rand.NewPCG(*damageSeed, uint64(n)))
				d := damages[n%len(damages)]
				image := filepath.Join(dir, fmt.Sprintf("image-%d.docket", n))
				damaged := d.do(r, bytes.Clone(f.b), f.page)
				if err := os.WriteFile(image, damaged, 0o600); err != nil {
					t.Error(err)
					continue
				}
				var a damageAnswer
				err := c.ask(damageRequest{image, truthPath}, &a, damageLimit)
				if err != nil {
					t.Errorf("image %d (%s; -damage.seed %d): %v", n, d.name, *damageSeed, err)
					c.kill()
					c = start(t, "damage")
				}
				if err != nil || len(a.Wrong) > 0 {
					keep(t, n, damaged, truthPath)
				}
				for _, w := range a.Wrong {
					t.Errorf("image %d (%s; -damage.seed %d): %s", n, d.name, *damageSeed, w)
				}
				_ = os.Remove(image)
				mu.Lock()
				count(counts, a, err)
				mu.Unlock()
			}
		})
	}
	for n := range *damageImages {
		next <- n
	}
	close(next)
	wg.Wait()
	t.Logf("%d images: %v", *damageImages, counts)
	if counts["opened"] == 0 || counts["refused"] == 0 || counts["found by check"] == 0 {
		t.Error("not all of opened, refused, found by check occurred: the damage is not what it should be")
	}
}

// keep saves an image that failed: mem ids are random, so a seed alone does not make
// it again.
func keep(t *testing.T, n int, image []byte, truthPath string) {
	if *damageKeep == "" {
		return
	}
	known, err := os.ReadFile(truthPath)
	path := filepath.Join(*damageKeep, fmt.Sprintf("image-%d", n))
	if err := errors.Join(err, os.WriteFile(path+".docket", image, 0o600), os.WriteFile(path+".json", known, 0o600)); err != nil {
		t.Error(err)
	}
}

func count(counts map[string]int, a damageAnswer, err error) {
	for what, is := range map[string]bool{
		"crashed or hung": err != nil, "opened": a.Opened, "refused": err == nil && !a.Opened,
		"wrong": len(a.Wrong) > 0, "some reads damaged": a.Damaged > 0, "found by check": a.Found > 0, "records lost": a.Lost > 0,
	} {
		if is {
			counts[what]++
		}
	}
}

// TestPagesThatBboltWouldNotSurvive: a branch that leads to itself, and pages that
// claim gigabytes. bbolt recurses into the first until the process dies, and fills
// the memory with the others.
func TestPagesThatBboltWouldNotSurvive(t *testing.T) {
	whole, truthPath := damageBase(t)
	for name, how := range map[string]func(f *file){
		"branch to itself":  func(f *file) { f.put64(f.leaf("handles")*f.page+16+8, uint64(f.leaf("handles"))) },
		"branch to another": func(f *file) { f.put64(f.leaf("handles")*f.page+16+16+8, f.get64(f.leaf("handles")*f.page+16+8)) },
		"overflow":          func(f *file) { f.put32(int(f.get64(f.leaf("handles")*f.page+16+8))*f.page+12, 1<<31) },
		"last overflow":     func(f *file) { f.put32(f.last("handles")*f.page+12, 1<<31) },
		"last key":          func(f *file) { f.put32(f.last("handles")*f.page+16+8, 1<<31) },
		"last value":        func(f *file) { f.put32(f.last("handles")*f.page+16+12, 1<<31) },
		"mems to itself":    func(f *file) { f.put64(f.leaf("mems")*f.page+16+8, uint64(f.leaf("mems"))) },
		"freelist overflow": func(f *file) { f.put32(f.freelist()*f.page+12, 1<<31) },
		"freelist count":    func(f *file) { f.put16(f.freelist()*f.page+10, 1<<16-1) },
	} {
		t.Run(name, func(t *testing.T) {
			image := filepath.Join(t.TempDir(), "image.docket")
			b, err := os.ReadFile(whole)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(image, b, 0o600); err != nil {
				t.Fatal(err)
			}
			f := openRaw(t, image)
			how(f)
			f.close()
			var a damageAnswer
			if err := start(t, "damage").ask(damageRequest{image, truthPath}, &a, damageLimit); err != nil {
				t.Error(err)
			}
			for _, w := range a.Wrong {
				t.Error(w)
			}
			if a.Opened && a.Found == 0 {
				t.Error("check finds nothing")
			}
		})
	}
}

// damageBase makes the ledger that is damaged: trees of more than one level, free
// pages, every state of a record.
func damageBase(t *testing.T) (path, truthPath string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ledger.docket")
	l, err := engine.Open(path, &engine.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, l)
	var rs []docket.Result
	for i := range 100 {
		rs = append(rs, result(docket.CallID(fmt.Sprint("call ", i)), text(i*137%5000, uint64(i))))
	}
	hs := record(t, l, "thread", rs...)
	for _, h := range hs[:20] {
		if err := l.Expire(t.Context(), "thread", h.MemID); err != nil {
			t.Fatal(err)
		}
	}
	known := truth{}
	for _, th := range []docket.ThreadID{"thread", "other"} {
		known[th] = map[docket.MemID]docket.Handle{}
		for h, err := range l.List(t.Context(), th, 0) {
			if err != nil {
				t.Fatal(err)
			}
			known[th][h.MemID] = h
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(known)
	if err != nil {
		t.Fatal(err)
	}
	truthPath = filepath.Join(t.TempDir(), "truth.json")
	if err := os.WriteFile(truthPath, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, truthPath
}

// damageChild tries images until there are no more.
func damageChild(requests *json.Decoder, answers *json.Encoder) error {
	var known truth
	for {
		var r damageRequest
		if err := requests.Decode(&r); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if known == nil {
			b, err := os.ReadFile(r.Truth)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(b, &known); err != nil {
				return err
			}
		}
		tr := trial{path: r.Path, truth: known}
		tr.run()
		if err := answers.Encode(tr.answer); err != nil {
			return err
		}
	}
}

// trial is one image on trial.
type trial struct {
	path   string
	truth  truth
	answer damageAnswer
}

func (tr *trial) wrong(format string, args ...any) {
	tr.answer.Wrong = append(tr.answer.Wrong, fmt.Sprintf(format, args...))
}

// run reads the image, which must not change it, and then writes to it.
func (tr *trial) run() {
	before, _ := os.ReadFile(tr.path)
	if l := tr.open(&engine.Options{ReadOnly: true}); l != nil {
		tr.answer.Opened = true
		tr.read(l)
		tr.inspect(l)
		if tr.answer.Lost > 0 && tr.answer.Found == 0 {
			tr.wrong("%d records are gone and check finds nothing", tr.answer.Lost)
		}
		if err := l.Close(); err != nil {
			tr.wrong("close: %v", err)
		}
	}
	if after, _ := os.ReadFile(tr.path); !bytes.Equal(before, after) {
		tr.wrong("reading changed the file")
	}
	if l := tr.open(&engine.Options{NoSync: true}); l != nil {
		tr.write(l)
		tr.read(l)
		_ = l.Close()
		if l := tr.open(&engine.Options{NoSync: true}); l != nil {
			tr.read(l)
			_ = l.Close()
		}
	} else if after, _ := os.ReadFile(tr.path); !bytes.Equal(before, after) {
		tr.wrong("an opening that failed changed the file")
	}
}

// open opens the image. An error names the file and is one that can be told apart.
func (tr *trial) open(o *engine.Options) *engine.Ledger {
	l, err := engine.Open(tr.path, o)
	if err == nil {
		return l
	}
	if !typed(err) || !strings.Contains(err.Error(), tr.path) {
		tr.wrong("open: %v", err)
	}
	return nil
}

// typed tells whether err says that stored bytes are damaged, or are no ledger.
func typed(err error) bool {
	var damage *docket.CorruptError
	var version *docket.VersionError
	return errors.As(err, &damage) || errors.As(err, &version) || errors.Is(err, docket.ErrNotLedger)
}

// damaged counts an error of a read; one that is not typed is wrong.
func (tr *trial) damaged(what string, err error) {
	var gone *docket.ExpiredError
	switch {
	case err == nil, errors.As(err, &gone), errors.Is(err, docket.ErrErased):
	case errors.Is(err, docket.ErrNotFound), errors.Is(err, docket.ErrNoThread):
		tr.answer.Lost++
	case typed(err):
		tr.answer.Damaged++
	default:
		tr.wrong("%s: %v", what, err)
	}
}

// read reads all that is known to be there, by each way there is.
func (tr *trial) read(l *engine.Ledger) {
	for th, known := range tr.truth {
		listed := 0
		var failed error
		for h, err := range l.List(noTest, th, 0) {
			if failed = err; err != nil {
				break
			}
			listed++
			if want, is := known[h.MemID]; is {
				tr.sameHandle("list", h, want)
			} else if !strings.HasPrefix(string(h.CallID), "new") {
				tr.wrong("list: a record %s that never was", h.MemID)
			}
		}
		tr.damaged("list", failed)
		if failed == nil && listed < len(known) {
			tr.answer.Lost += len(known) - listed
		}
		for id, want := range known {
			tr.view(l, th, id, want)
		}
		for _, err := range l.Narrow(noTest, th, []byte("quick brown"), true) {
			tr.damaged("narrow", err)
		}
		_, err := l.Decided(noTest, th)
		tr.damaged("decided", err)
		for _, err := range l.Checkpoints(noTest, th) {
			tr.damaged("checkpoints", err)
		}
	}
}

func (tr *trial) sameHandle(what string, got, want docket.Handle) {
	if !got.Created.Equal(want.Created) {
		tr.wrong("%s: record %s: another time", what, want.MemID)
	}
	got.Created = want.Created
	if got != want {
		tr.wrong("%s: record %s: another handle", what, want.MemID)
	}
}

func (tr *trial) view(l *engine.Ledger, th docket.ThreadID, id docket.MemID, want docket.Handle) {
	err := l.View(noTest, th, id, func(r docket.Record) error {
		tr.sameHandle("view", r.Handle(), want)
		sum := sha256.New()
		for n := range r.Frames() {
			frame, err := r.AppendFrame(nil, n)
			if err != nil {
				return err
			}
			sum.Write(frame)
		}
		if docket.Digest(sum.Sum(nil)) != want.Digest {
			tr.wrong("view: record %s: wrong bytes", id)
		}
		for _, s := range []docket.SectionID{docket.SectionChars, docket.SectionGrams, docket.SectionPaths} {
			_ = bytes.Count(r.Section(s), []byte{0}) // touches all of it
		}
		_, err := r.Attachments()
		return err
	})
	tr.damaged("view", err)
}

// inspect runs what reads the whole file.
func (tr *trial) inspect(l *engine.Ledger) {
	report, err := l.Check(noTest, &engine.CheckOptions{ReadData: true})
	if err != nil {
		tr.wrong("check: %v", err)
	}
	tr.answer.Found = len(report.Findings)
	_, err = l.Stats(noTest)
	tr.damaged("stats", err)
	for _, err := range l.Threads(noTest) {
		tr.damaged("threads", err)
	}
	for _, err := range l.Find(noTest, "a") {
		tr.damaged("find", err)
	}
	for _, err := range l.FindCall(noTest, "thread", "small") {
		tr.damaged("find call", err)
	}
	for th := range tr.truth {
		tr.damaged("export", l.Export(noTest, th, io.Discard))
	}
	to := tr.path + ".backup"
	tr.damaged("backup", l.Backup(noTest, to, nil))
	_ = os.Remove(to)
}

// write does what changes the file. Errors that are not about damage may be the
// consequence of some: only crashes, hangs and wrong bytes count here.
func (tr *trial) write(l *engine.Ledger) {
	for i := range 5 {
		r := result(docket.CallID(fmt.Sprint("new ", i)), text(20_000*i, uint64(i)))
		if hs, err := l.Record(noTest, "thread", r); err == nil {
			if b, err := payload(l, "thread", hs[0].MemID); err == nil && !bytes.Equal(b, r.Payload) {
				tr.wrong("record: other bytes than were recorded")
			}
		}
	}
	_, _ = l.Checkpoint(noTest, "thread", "new")
	for _, at := range []docket.CheckpointID{"", "mark", "new"} {
		_ = l.Fork(noTest, "thread", at, docket.ThreadID("new fork at "+at))
	}
	for _, at := range []docket.CheckpointID{"mark", "new"} {
		_ = l.Rewind(noTest, "thread", at)
	}
	var export bytes.Buffer
	if err := l.Export(noTest, "thread", &export); err == nil {
		_, _ = l.Import(noTest, &export, &docket.ImportOptions{As: "new copy"})
	}
	for id := range tr.truth["other"] {
		_ = l.Expire(noTest, "other", id)
		_, _ = l.Append(noTest, "other", docket.Epoch{Mems: []docket.MemID{id}})
	}
	_, _ = l.Vacuum(noTest, &engine.VacuumOptions{Force: true})
}
