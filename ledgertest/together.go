package ledgertest

// One ledger, many goroutines.

import (
	"errors"
	"fmt"
	"sync"

	"docket"
)

// goroutines is how many use one ledger at once: a few per core of a small
// machine, so that they meet.
const goroutines = 8

// together runs f in that many goroutines and returns their errors.
func together(f func(g int) error) error {
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() { errs[g] = f(g) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// checkTogether: every goroutine records its own results and the ones that all
// record; whoever comes first, all get the same handle.
func checkTogether(p *probe) error {
	shared := results(10)
	var got [goroutines][]docket.Handle
	var own [goroutines][]docket.Result
	err := together(func(g int) error {
		for i, r := range shared {
			mine := result(docket.CallID(fmt.Sprintf("own %d.%d", g, i)), string(fill(100+i*9000, uint64(g))))
			hs, err := p.record(thread, r, mine)
			if err != nil {
				return err
			}
			got[g], own[g] = append(got[g], hs...), append(own[g], r, mine)
			if err := p.holds(thread, hs[1], mine); err != nil {
				return err
			}
			if err := p.ascending(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.agreed(got, own)
}

// ascending demands that what List yields meanwhile is in order.
func (p *probe) ascending() error {
	hs, err := p.list(thread, 0)
	for i := 1; i < len(hs); i++ {
		if hs[i].Seq <= hs[i-1].Seq {
			return failf("List yields Seq %d after %d", hs[i].Seq, hs[i-1].Seq)
		}
	}
	return err
}

func (p *probe) agreed(got [goroutines][]docket.Handle, recorded [goroutines][]docket.Result) error {
	byMem := map[docket.MemID]docket.Handle{}
	for g := range got {
		if err := p.holdAll(thread, got[g], recorded[g]); err != nil {
			return err
		}
		for i, h := range got[g] {
			if i%2 == 0 && sameHandle(h, got[0][i]) != nil {
				return failf("one result recorded by two goroutines: %w", sameHandle(h, got[0][i]))
			}
			byMem[h.MemID] = h
		}
	}
	listed, err := p.list(thread, 0)
	if err != nil {
		return err
	}
	if want := len(got[0])/2 + goroutines*len(got[0])/2; len(byMem) != want || len(listed) != want {
		return failf("%d results have %d mem ids and List yields %d", want, len(byMem), len(listed))
	}
	return distinct(listed)
}

// checkLogTogether: overlapping epochs from many goroutines; what one of them was
// told stays true.
func checkLogTogether(p *probe) error {
	d, err := newDecisions(p)
	if err != nil {
		return err
	}
	var told [goroutines]docket.Decisions
	err = together(func(g int) (err error) {
		for i := range 5 {
			at := (g + 3*i) % (len(d.mems) - 4)
			if told[g], err = d.append(fmt.Sprint("tool ", g), d.mems[at:at+4]...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	last, err := d.log.Decided(d.ctx, thread)
	if err != nil {
		return failf("Decided: %w", err)
	}
	for g, ds := range told {
		if ds.Form.Filled() != last.Form.Filled() {
			return failf("goroutine %d was told the form %+v, the log has %+v", g, ds.Form, last.Form)
		}
		for id, number := range ds.Epochs {
			if last.Epochs[id] != number {
				return failf("goroutine %d was told that epoch %d decided %s, the log says %d", g, number, id, last.Epochs[id])
			}
		}
	}
	return nil
}
