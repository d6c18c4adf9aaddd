package engine

// Check: every invariant of FORMAT.md, by number. It reads pages itself (page.go),
// so that no file can crash or hang it; bbolt's own check runs in a goroutine whose
// panic nobody can recover. This file has the pages; check_thread.go what lies in
// them, check_record.go one record.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"docket"
	"docket/codec"
)

// The invariants' numbers in FORMAT.md.
const (
	ruleFile     = 1
	rulePages    = 2
	ruleFree     = 3
	ruleRoot     = 4
	ruleLineage  = 5
	ruleThread   = 6
	ruleRow      = 7
	ruleMems     = 8
	ruleMemID    = 9
	ruleState    = 10
	ruleStored   = 11
	ruleOrder    = 12
	ruleCalls    = 13
	ruleEpochs   = 14
	ruleDecided  = 15
	ruleSegment  = 16
	ruleTable    = 17
	ruleSections = 18
	ruleFrames   = 19
	ruleDigest   = 20
	ruleChars    = 21
	ruleGrams    = 22
	ruleAside    = 23

	ruleDropped     = 24
	ruleCheckpoints = 25
)

// CheckOptions of [Ledger.Check]. The zero value of each field is its default.
type CheckOptions struct {
	// ReadData also decodes every frame, and compares digests, characters and
	// signatures with the payloads. Default: all but the payloads is checked, which
	// takes about a tenth of the time.
	ReadData bool

	// Progress is called now and then with the bytes checked so far and those of
	// the whole file. Default: nobody is told.
	Progress func(done, total int64)
}

// CheckReport is what [Ledger.Check] has found.
type CheckReport struct {
	Findings []*docket.CorruptError // broken invariants, at most [MaxFindings]
	More     int                    // how many more were found and left out
	Threads  int64                  // threads checked
	Records  int64                  // records checked, in whatever state
	Payloads int64                  // payloads decoded and compared, with ReadData
}

// MaxFindings is how many findings a report holds: damage to one page may break
// the invariants of every record in it.
const MaxFindings = 1000

// errMoved says that the file went on before its state could be read.
var errMoved = errors.New("engine: the ledger was written to meanwhile")

// Check verifies the invariants of FORMAT.md on the state of the ledger at the
// moment of the call; recording goes on meanwhile. nil options are the defaults. A
// broken invariant is a finding, not an error; an error means that the check could
// not be made. It reads the file's pages once or twice, never writes, and takes
// memory for one bit a page and one frame.
func (l *Ledger) Check(ctx context.Context, opts *CheckOptions) (CheckReport, error) {
	if opts == nil {
		opts = &CheckOptions{}
	}
	var report CheckReport
	err := l.frozen(ctx, func(p *pager) error {
		c := newChecker(ctx, p, *opts)
		err := c.all()
		report = c.report
		return err
	})
	if err != nil {
		return report, fmt.Errorf("engine: check: %w", err)
	}
	return report, nil
}

// frozen runs fn with a pager for the ledger's present state, which stays as it is
// while fn runs.
func (l *Ledger) frozen(ctx context.Context, fn func(p *pager) error) error {
	err := errMoved
	for range 100 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err = l.freeze(fn); !errors.Is(err, errMoved) {
			break
		}
	}
	return err
}

func (l *Ledger) freeze(fn func(p *pager) error) error {
	s, err := l.acquire()
	if err != nil {
		return err
	}
	defer l.release(s)
	tx, err := l.begin(s, false)
	if err != nil {
		return err
	}
	defer tx.Rollback() // of a reader: it cannot fail
	p, err := newPager(s, tx, l.path)
	if err != nil {
		return err
	}
	return guard(l.path, "pages", func() error { return fn(p) })
}

// checkFile checks a file that nobody has open, as Check does.
func checkFile(ctx context.Context, path string, opts CheckOptions) (CheckReport, error) {
	f, err := openFile(path, os.O_RDONLY, 0)
	if err != nil {
		return CheckReport{}, err
	}
	defer f.Close()
	p, err := filePager(f, path)
	if err != nil {
		return CheckReport{}, err
	}
	c := newChecker(ctx, p, opts)
	err = guard(path, "check", c.all)
	return c.report, err
}

// checker is a check under way.
type checker struct {
	ctx    context.Context
	pager  *pager
	opts   CheckOptions
	dec    *codec.Decoder
	report CheckReport
	failed error // why the check cannot go on
	done   int64 // bytes of records checked

	lineages, threads tree
	hasLineages       bool
	hasThreads        bool
}

func newChecker(ctx context.Context, p *pager, o CheckOptions) *checker {
	return &checker{ctx: ctx, pager: p, opts: o, dec: codec.NewDecoder()}
}

// all runs the whole check.
func (c *checker) all() error {
	c.file()
	c.pages()
	c.root()
	if c.hasLineages {
		c.eachBucket(c.lineages, ruleLineage, c.lineage)
	}
	if c.hasThreads {
		c.eachBucket(c.threads, ruleThread, c.thread)
	}
	if !c.stopped() && c.opts.Progress != nil {
		total := c.total()
		c.opts.Progress(total, total)
	}
	return c.failed
}

func (c *checker) total() int64 { return int64(c.pager.meta.highest) * int64(c.pager.meta.pageSize) }

// stopped tells whether the check cannot or should not go on.
func (c *checker) stopped() bool {
	if c.failed == nil {
		c.failed = cmp.Or(c.ctx.Err(), c.pager.lost)
	}
	return c.failed != nil
}

// find reports a broken invariant.
func (c *checker) find(rule int, place, expected, found string) {
	if len(c.report.Findings) == MaxFindings {
		c.report.More++
		return
	}
	c.report.Findings = append(c.report.Findings, &docket.CorruptError{
		File: c.pager.path, Place: place, Rule: rule, Expected: expected, Found: found,
	})
}

// fail reports damage that the pager met. Only pages reports what it meets itself:
// it comes to every page.
func (c *checker) fail(err error) {
	var damage *docket.CorruptError
	if errors.As(err, &damage) {
		c.find(damage.Rule, damage.Place, damage.Expected, damage.Found)
	}
}

// metaLooks is how often meta pages are looked at again.
const metaLooks = 20

// file checks the meta pages and the length. Half of a meta page is no sign of a
// crash: it is written at once, and lies in one sector. To a reader it can look half
// written for as long as a commit of this process takes, so that one look is not enough.
func (c *checker) file() {
	m := c.pager.meta
	whole, _ := metas(c.pager.file)
	for again := 0; len(whole) < 2 && again < metaLooks; again++ {
		time.Sleep(time.Millisecond)
		whole, _ = metas(c.pager.file)
	}
	if len(whole) < 2 {
		c.find(ruleFile, "meta pages", "two that match their checksums", fmt.Sprint(len(whole)))
	}
	var last [1]byte
	if _, err := c.pager.file.ReadAt(last[:], c.total()-1); err != nil {
		c.find(ruleFile, "file", fmt.Sprintf("%d pages of %d bytes", m.highest, m.pageSize), "it is cut short")
	}
}

// pages walks every bucket and checks that each page has one use.
func (c *checker) pages() {
	used := newPageSet(c.pager.meta.highest)
	used.add(0, firstPage)
	for todo := []tree{c.pager.root()}; len(todo) > 0 && !c.stopped(); {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for e, err := range t.walk(used) {
			if err == nil && e.bucket {
				var sub tree
				if sub, err = t.sub(e); err == nil {
					todo = append(todo, sub)
				}
			}
			c.fail(err)
		}
	}
	c.free(used)
}

// free checks the freelist against the pages in use.
func (c *checker) free(used pageSet) {
	if c.pager.meta.freelist == noFreelist {
		return
	}
	highest, before := c.pager.meta.highest, uint64(0)
	g, err := c.pager.freelist(func(id uint64) {
		switch {
		case id < firstPage || id >= highest:
			c.find(ruleFree, "freelist", fmt.Sprintf("pages from %d to %d", firstPage, highest-1), fmt.Sprint(id))
		case id <= before:
			c.find(ruleFree, "freelist", "ascending pages", fmt.Sprintf("%d after %d", id, before))
		case !used.add(id, 1):
			c.find(ruleFree, pagePlace(id), "to be free or in use", "both")
		}
		before = id
	})
	if err != nil {
		c.fail(err)
		return
	}
	if !used.add(g.id, uint64(g.span)/uint64(c.pager.meta.pageSize)) {
		c.find(ruleFree, pagePlace(g.id), "the freelist alone", "another use")
	}
	if len(c.report.Findings) > 0 {
		return // what is unreadable is not reached either
	}
	for id := uint64(firstPage); id < highest; id++ {
		if !used.has(id) {
			c.find(ruleFree, pagePlace(id), "to be free or in use", "neither")
		}
	}
}
