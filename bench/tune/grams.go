package main

// The budget of a grams section: how many frames it leaves as candidates in vain.

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"docket/codec"
	"docket/index"
)

// kinds of queries.
const (
	absent     = "absent"
	identifier = "identifier, once"
	substring  = "12 characters, once"
)

var kinds = []string{absent, identifier, substring}

// shares are the shares of frames that were candidates in vain, by kind of query.
type shares map[string][]float64

func (s shares) add(o shares) {
	for k, v := range o {
		s[k] = append(s[k], v...)
	}
}

func (s shares) String() string {
	out := ""
	for _, k := range kinds {
		v := slices.Clone(s[k])
		slices.Sort(v)
		if len(v) == 0 {
			out += " – |"
			continue
		}
		at := func(p float64) float64 { return 100 * v[min(len(v)-1, int(p*float64(len(v))))] }
		out += fmt.Sprintf(" %.1f %.1f %.1f |", at(.5), at(.9), at(.99))
	}
	return out
}

func gramTable(payloads []payload, generated []payload, each bool) {
	queries := map[string]map[string][][]byte{}
	for i, p := range append(slices.Clone(payloads), generated...) {
		queries[p.name] = pick(p.text, payloads, i)
	}
	fmt.Println("\nframes that are candidates in vain, in percent of all: p50 p90 p99")
	fmt.Println("| frame KiB | budget | payloads | section / frames | " + absent + " | " + identifier + " | " + substring + " | build MB/s |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, kib := range []int{32, 48, 64} {
		enc := codec.NewEncoder(kib<<10, codec.LevelBetter)
		for _, percent := range []int{8, 12, 16, 20} {
			sets := map[string][]payload{"corpus": payloads}
			names := []string{"corpus"}
			for _, p := range generated {
				sets[p.name] = []payload{p}
				names = append(names, p.name)
			}
			for _, name := range names {
				t := total{shares: shares{}}
				for _, p := range sets[name] {
					one := measureGrams(p, enc, percent, queries[p.name])
					if each {
						fmt.Printf("| %d | %d %% | %s | %.3f |%s\n", kib, percent, p.name, one.sectionShare(), one.shares)
					}
					t.add(one)
				}
				if t.stored > 0 {
					fmt.Printf("| %d | %d %% | %s | %.3f |%s %.0f |\n", kib, percent, name, t.sectionShare(), t.shares, float64(t.raw)/1e6/t.building.Seconds())
				}
			}
		}
	}
}

// total is what was measured over some payloads.
type total struct {
	shares
	raw, stored, section int
	building             time.Duration
}

func (t *total) sectionShare() float64 { return float64(t.section) / float64(t.stored) }

func (t *total) add(o total) {
	t.shares.add(o.shares)
	t.raw, t.stored, t.section, t.building = t.raw+o.raw, t.stored+o.stored, t.section+o.section, t.building+o.building
}

func measureGrams(p payload, enc *codec.Encoder, percent int, queries map[string][][]byte) total {
	cuts := enc.Cut(p.text)
	t := total{shares: shares{}, raw: len(p.text)}
	start := int64(0)
	for _, end := range cuts {
		t.stored += len(enc.AppendFrame(nil, p.text[start:end]))
		start = end
	}
	begin := time.Now()
	section := index.AppendGrams(nil, p.text, cuts, t.stored*percent/100)
	t.building = time.Since(begin)
	t.section = len(section)
	for kind, list := range queries {
		for _, text := range list {
			set := index.NewQuery(text, false).Candidates(section, len(cuts))
			vain := set.Len()
			if at := bytes.Index(p.text, text); at >= 0 {
				k, _ := slices.BinarySearch(cuts, int64(at)+1)
				if !set.Has(k) {
					panic(fmt.Sprintf("%s: %q in frame %d was missed", p.name, text, k))
				}
				vain--
			}
			t.shares[kind] = append(t.shares[kind], float64(vain)/float64(len(cuts)))
		}
	}
	return t
}

var words = regexp.MustCompile(`[A-Za-z0-9_\-./:@]{8,64}`)

// pick makes queries of each kind for text; absent ones are identifiers of other
// payloads, and random letters and digits.
func pick(text []byte, others []payload, seed int) map[string][][]byte {
	const most = 100
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	q := map[string][][]byte{}
	found := words.FindAll(text, -1)
	r.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	for _, w := range found[:min(len(found), 10*most)] {
		if len(q[identifier]) < most && bytes.Count(text, w) == 1 {
			q[identifier] = append(q[identifier], w)
		}
	}
	for range 10 * most {
		w := twelve(text, r.IntN(len(text)))
		if len(q[substring]) < most && w != nil && bytes.Count(text, w) == 1 {
			q[substring] = append(q[substring], w)
		}
	}
	folded := bytes.ToUpper(text)
	for i := 0; len(q[absent]) < most; i++ {
		w := random(r)
		if i%2 == 0 && len(others) > 0 {
			o := others[r.IntN(len(others))].text
			if w = words.Find(o[r.IntN(len(o)):]); w == nil {
				continue
			}
		}
		if !bytes.Contains(folded, bytes.ToUpper(w)) {
			q[absent] = append(q[absent], w)
		}
	}
	return q
}

// twelve returns the twelve characters from the first that begins at or after i.
func twelve(text []byte, i int) []byte {
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	end := i
	for range 12 {
		if end >= len(text) {
			return nil
		}
		_, n := utf8.DecodeRune(text[end:])
		end += n
	}
	return text[i:end]
}

func random(r *rand.Rand) []byte {
	w := make([]byte, 8+r.IntN(12))
	for i := range w {
		w[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[r.IntN(36)]
	}
	return w
}
