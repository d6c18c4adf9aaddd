package engine

// A thread through time, as plain values: what it sees and since when, its decision
// log with what rewinds dropped, its checkpoints. Nothing here reads or writes: the
// file's half is in fork.go and fill.go, memory's in memory_fork.go. A fork, an import
// and a rewind are one image made from another, so that the rules are here once.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"docket"
)

// sight is a record that a thread sees.
type sight struct {
	seq docket.Seq
	// moment is the lineage's position at which the thread began to see the record:
	// seq, where it was recorded in this thread, else a later one. A checkpoint at a
	// position has what became visible up to there.
	moment docket.Seq
	mem    docket.MemID // may be left out where nobody compares
}

// dropped is an epoch that a rewind took off the log.
type dropped struct {
	rewind uint64 // which rewind: 1 for the first that dropped any
	epoch  docket.Epoch
}

// epochLog is a decision log. A line is the epochs that the log had at one time; a
// rewind ends one line and begins another, with a beginning in common.
type epochLog struct {
	epochs  []docket.Epoch // the present line, numbered from 1
	dropped []dropped      // ascending by rewind and number
	rewinds uint64         // how many rewinds dropped something
}

// walk calls fn with every line from the present one back, and how many rewinds there
// had been. The line has kept epochs in common with the one before it; it is valid until
// fn returns. fn ends the walk with false. All lines together cost one look at each
// epoch.
func (g *epochLog) walk(fn func(rewinds uint64, kept int, line []docket.Epoch) bool) {
	line := slices.Clone(g.epochs)
	if !fn(g.rewinds, 0, line) {
		return
	}
	for end := len(g.dropped); end > 0; {
		rewind, begin := g.dropped[end-1].rewind, end
		for begin > 0 && g.dropped[begin-1].rewind == rewind {
			begin--
		}
		kept := int(min(g.dropped[begin].epoch.Number-1, uint64(len(line))))
		line = line[:kept]
		for _, d := range g.dropped[begin:end] {
			line = append(line, d.epoch)
		}
		if !fn(rewind-1, kept, line) {
			return
		}
		end = begin
	}
}

// line returns the line of the time with so many rewinds.
func (g *epochLog) line(rewinds uint64) (found []docket.Epoch) {
	g.walk(func(r uint64, _ int, line []docket.Epoch) bool {
		if r == rewinds {
			found = slices.Clone(line)
		}
		return r > rewinds
	})
	return found
}

// common returns how many epochs each line, by its number of rewinds, has in common
// with the given one.
func (g *epochLog) common(with []docket.Epoch) map[uint64]int {
	common, n := map[uint64]int{}, 0
	g.walk(func(r uint64, kept int, line []docket.Epoch) bool {
		if n = min(n, kept); n == kept {
			n += commonEpochs(line[n:], with[min(n, len(with)):])
		}
		common[r] = n
		return true
	})
	return common
}

// fault says what is wrong with the log, "" if nothing is, and returns the length of
// each line by its number of rewinds.
func (g *epochLog) fault() (lengths []int, fault string) {
	last, n := uint64(0), uint64(0)
	for _, d := range g.dropped {
		switch {
		case d.rewind == last && d.epoch.Number == n+1:
		case d.rewind == last+1 && d.epoch.Number > 0:
		default:
			return nil, fmt.Sprintf("epoch %d of rewind %d after epoch %d of rewind %d", d.epoch.Number, d.rewind, n, last)
		}
		last, n = d.rewind, d.epoch.Number
	}
	if last != g.rewinds {
		return nil, fmt.Sprintf("epochs of %d rewinds of %d", last, g.rewinds)
	}
	lengths = make([]int, last+1)
	var before []docket.Epoch // the line that was looked at before
	decided := map[docket.MemID]bool{}
	g.walk(func(r uint64, kept int, line []docket.Epoch) bool {
		for _, e := range before[kept:] {
			for _, id := range e.Mems {
				delete(decided, id)
			}
		}
		before = append(before[:kept], line[kept:]...)
		lengths[r], fault = len(line), faultOf(line, kept, decided)
		return fault == ""
	})
	return lengths, fault
}

// faultOf says what is wrong with the epochs of a line from number kept on, given what
// those before decide.
func faultOf(line []docket.Epoch, kept int, decided map[docket.MemID]bool) string {
	for i, e := range line[kept:] {
		if e.Number != uint64(kept+i)+1 {
			return fmt.Sprintf("epoch %d in the place of %d", e.Number, kept+i+1)
		}
		if e.Form != line[0].Form {
			return fmt.Sprintf("another form in epoch %d", e.Number)
		}
		for _, id := range e.Mems {
			if decided[id] {
				return fmt.Sprintf("%s decided twice", id)
			}
			decided[id] = true
		}
	}
	return ""
}

// set makes line the present one, and tells whether that changed anything.
func (g *epochLog) set(line []docket.Epoch) bool {
	same := commonEpochs(g.epochs, line)
	if same == len(g.epochs) && same == len(line) {
		return false
	}
	if same < len(g.epochs) {
		g.rewinds++
		for _, e := range g.epochs[same:] {
			g.dropped = append(g.dropped, dropped{g.rewinds, e})
		}
	}
	g.epochs = slices.Clone(line)
	return true
}

// begins tells whether g is an earlier state of the log of, or the same.
func (g *epochLog) begins(of *epochLog) bool {
	if g.rewinds > of.rewinds || len(g.dropped) > len(of.dropped) {
		return false
	}
	for i, d := range g.dropped {
		if o := of.dropped[i]; o.rewind != d.rewind || !sameEpoch(o.epoch, d.epoch) {
			return false
		}
	}
	if n := len(g.dropped); n < len(of.dropped) && of.dropped[n].rewind <= g.rewinds {
		return false
	}
	return commonEpochs(g.epochs, of.line(g.rewinds)) == len(g.epochs)
}

// decisions returns what the present line decides.
func (g *epochLog) decisions() docket.Decisions {
	d := docket.Decisions{Epochs: map[docket.MemID]uint64{}}
	for _, e := range g.epochs {
		d.Add(&e)
	}
	return d
}

// commonEpochs returns how many epochs a and b begin with in common.
func commonEpochs(a, b []docket.Epoch) (n int) {
	for n < min(len(a), len(b)) && sameEpoch(a[n], b[n]) {
		n++
	}
	return n
}

func sameEpoch(a, b docket.Epoch) bool {
	return a.Number == b.Number && a.Form == b.Form && a.Messages == b.Messages && a.Created.Equal(b.Created) && slices.Equal(a.Mems, b.Mems)
}

// checkpoint is a checkpoint with the line that it is on.
type checkpoint struct {
	docket.Checkpoint
	rewinds uint64 // of the log, when it was made
}

func (c checkpoint) same(o checkpoint) bool {
	return c.ID == o.ID && c.Created.Equal(o.Created) && c.Seq == o.Seq && c.Epochs == o.Epochs && c.rewinds == o.rewinds
}

// image is all of a thread but what its records hold.
type image struct {
	created     time.Time
	sights      []sight // ascending by seq
	log         epochLog
	checkpoints []checkpoint // ascending by id
}

// past is a thread and a moment of it.
type past struct {
	image
	moment checkpoint
}

// checkpoint returns the checkpoint called id.
func (m *image) checkpoint(id docket.CheckpointID) (checkpoint, bool) {
	i, ok := slices.BinarySearchFunc(m.checkpoints, id, func(c checkpoint, id docket.CheckpointID) int { return cmp.Compare(c.ID, id) })
	if !ok {
		return checkpoint{}, false
	}
	return m.checkpoints[i], true
}

// epochsAt returns the decision log as it was at c.
func (m *image) epochsAt(c checkpoint) []docket.Epoch {
	line := m.log.line(c.rewinds)
	return line[:min(c.Epochs, len(line))]
}

// now is a checkpoint of the present.
func (m *image) now() checkpoint {
	return checkpoint{Checkpoint: docket.Checkpoint{Seq: math.MaxInt64, Epochs: len(m.log.epochs)}, rewinds: m.log.rewinds}
}

// at returns the image that a fork at c begins with. Of the checkpoints it has those
// whose records and decisions are all part of it.
func (m *image) at(c checkpoint, created time.Time) image {
	fork := image{created: created, log: epochLog{epochs: m.epochsAt(c)}}
	for _, s := range m.sights {
		if s.moment <= c.Seq {
			fork.sights = append(fork.sights, s)
		}
	}
	common, last := m.log.common(fork.log.epochs), m.lastSeen()
	for _, o := range m.checkpoints {
		if last(o.Seq) <= c.Seq && o.Epochs <= common[o.rewinds] {
			o.rewinds = 0
			fork.checkpoints = append(fork.checkpoints, o)
		}
	}
	return fork
}

// lastSeen returns a function that tells at which moment, up to a given one, the thread
// last came to see a record; 0 if never.
func (m *image) lastSeen() func(docket.Seq) docket.Seq {
	moments := []docket.Seq{0}
	for _, s := range m.sights {
		moments = append(moments, s.moment)
	}
	slices.Sort(moments)
	return func(at docket.Seq) docket.Seq {
		i, found := slices.BinarySearch(moments, at)
		if found {
			return at
		}
		return moments[i-1]
	}
}

// is tells whether c is the present moment.
func (m *image) is(c checkpoint) bool {
	for _, s := range m.sights {
		if s.moment > c.Seq {
			return false
		}
	}
	at := m.epochsAt(c)
	return len(at) == len(m.log.epochs) && commonEpochs(at, m.log.epochs) == len(at)
}

// begins tells whether m is an earlier state of the thread of, or the same. Both have
// mem ids.
func (m *image) begins(of *image) bool {
	seen := map[docket.MemID]bool{}
	for _, s := range of.sights {
		seen[s.mem] = true
	}
	for _, s := range m.sights {
		if !seen[s.mem] {
			return false
		}
	}
	for _, c := range m.checkpoints {
		if o, ok := of.checkpoint(c.ID); !ok || !o.same(c) {
			return false
		}
	}
	return m.log.begins(&of.log)
}

// byTime sorts checkpoints as they are listed.
func byTime(cs []checkpoint) {
	slices.SortStableFunc(cs, func(a, b checkpoint) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
}

// checkCheckpoint returns the id that a checkpoint is to have, a new one for an empty
// id.
func checkCheckpoint(id docket.CheckpointID) (docket.CheckpointID, error) {
	if id == "" {
		return newCheckpointID()
	}
	if len(id) > docket.MaxCheckpointID {
		return "", docket.ErrCheckpointID
	}
	return id, nil
}
