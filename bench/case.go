package bench

// A case of the caller's own: one payload and what is asked of it, both ways.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"docket"
	"docket/index"
)

// Case is a payload and up to three things to fetch from it.
type Case struct {
	Name    string // as results name it
	Payload []byte
	Path    string // docket's grammar; empty: no path
	Query   string // empty: no query
	Offset  int64  // of a page of MaxChars characters; negative: no page
	// MaxChars of the page. 0: 2,000.
	MaxChars int64
}

// caseOps is how often each fetch of a case runs.
const caseOps = 500

// ErrCase is returned for a case that asks for nothing.
var ErrCase = errors.New("bench: a case needs a path, a query or an offset")

// RunCase records the payload in both ledgers and measures each fetch, as [Run]
// does its workloads; of opts it uses Cold, Budget, Dir and Progress. A path that
// gjson cannot spell is measured on docket alone.
func RunCase(ctx context.Context, c Case, opts *Options) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		r := runner{Options: opts.filled(), openers: openers, yield: yield}
		if err := r.ownCase(ctx, c); err != nil && !errors.Is(err, errStopped) {
			yield(Result{}, err)
		}
	}
}

func (r *runner) ownCase(ctx context.Context, c Case) error {
	s := sample{name: c.Name, kind: kindOf(c.Payload), payload: c.Payload}
	var fetches []race
	add := func(workload string, t target) {
		targets := make([]target, caseOps)
		for i := range targets {
			targets[i] = t
		}
		fetches = append(fetches, race{workload: workload, payload: c.Payload, targets: targets, budget: r.Budget})
	}
	if c.Path != "" {
		t, err := pathOf(c.Path, s.kind)
		if err != nil {
			return err
		}
		add("path", t)
	}
	if c.Offset >= 0 {
		add("range", target{offset: c.Offset, chars: orDefault(c.MaxChars, rangeChars)})
	}
	if c.Query != "" {
		add("query", target{query: c.Query})
	}
	if len(fetches) == 0 {
		return ErrCase
	}
	return r.inLanes(ctx, c.Payload, func(lanes []*lane) error {
		for _, f := range fetches {
			if err := r.ownFetch(ctx, s, f, lanes); err != nil {
				return err
			}
		}
		return nil
	})
}

func orDefault(n, otherwise int64) int64 {
	if n > 0 {
		return n
	}
	return otherwise
}

// ownFetch measures one fetch of a case.
func (r *runner) ownFetch(ctx context.Context, s sample, f race, lanes []*lane) error {
	r.Progress(fmt.Sprintf("%s, %s", f.workload, s))
	f.lanes = lanes
	if t := f.targets[0]; t.path != "" && t.gjson == "" {
		f.lanes, f.unchecked = lanes[:1], true
	}
	if err := r.race(ctx, s, f); err != nil || !r.Cold {
		return err
	}
	f.cold, f.targets = true, f.targets[:coldOps]
	return r.race(ctx, s, f)
}

// pathOf parses a path and spells it for gjson, where gjson has one that means
// the same: of keys and of elements from the beginning.
func pathOf(path string, kind docket.Kind) (target, error) {
	parsed, err := index.ParsePath(path)
	if err != nil {
		return target{}, err
	}
	t := target{path: path}
	var steps []string
	for _, seg := range parsed {
		switch {
		case seg.Kind == index.SegmentKey && seg.Key != "":
			steps = append(steps, gjson.Escape(seg.Key))
		case seg.Kind == index.SegmentNumber && seg.From >= 0:
			steps = append(steps, strconv.FormatInt(seg.From, 10))
		default:
			return t, nil
		}
	}
	t.gjson = strings.Join(steps, ".")
	if kind == docket.KindNDJSON {
		t.gjson = ".." + t.gjson
	}
	return t, nil
}
