package index

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"docket"
	"docket/internal/formatdoc"
	"docket/internal/seal"
)

var pathsFlag = flag.Int("paths", 12, "random paths of each payload, grain and frame size in the corpus tests")

// frames is a payload cut into frames of equal size, of which it counts those that
// a walk reads. What it handed out is overwritten by the next call.
type frames struct {
	payload []byte
	size    int64
	read    map[int64]bool
	last    []byte
}

func (f *frames) Bytes(start, end int64) ([]byte, error) {
	if start < 0 || end > int64(len(f.payload)) || start > end {
		return nil, fmt.Errorf("bytes %d to %d of %d", start, end, len(f.payload))
	}
	for n := start / f.size; n*f.size < end; n++ {
		f.read[n] = true
	}
	clear(f.last)
	f.last = append(f.last[:0], f.payload[start:end]...)
	return f.last, nil
}

func (f *frames) Skip(text []byte, start, end int64) int64 {
	i := bytes.Index(f.payload[start:min(int64(len(f.payload)), end+int64(len(text))-1)], text)
	if i < 0 {
		return end
	}
	return max(start, (start+int64(i))/f.size*f.size)
}

// table builds the paths section with any grain and no budget.
func table(payload []byte, grain int) (docket.Kind, []byte) {
	return built(payload, builder{grain: grain, printed: grain / printedShare})
}

// cutTable is table of a payload that is cut into frames of size bytes.
func cutTable(payload []byte, grain, size int) (docket.Kind, []byte) {
	cuts := cutsOf(payload, size)
	return built(payload, builder{grain: grain, printed: grain / printedShare, cuts: cuts[:max(len(cuts)-1, 0)]})
}

// keyTable is table without prints: the keys of large members are found by hash.
func keyTable(payload []byte, grain int) (docket.Kind, []byte) {
	return built(payload, builder{grain: grain, printed: math.MaxInt / 4})
}

func built(payload []byte, b builder) (docket.Kind, []byte) {
	b.budget = math.MaxInt
	kind := b.build(payload)
	if kind == docket.KindText {
		return kind, nil
	}
	return kind, b.append(nil, len(payload))
}

// value runs a walk and returns the text that it selects.
func value(p Payload, path Path) ([]byte, error) {
	s, err := p.Select(path)
	switch {
	case err != nil:
		return nil, err
	case s.Derived:
		return s.Text, nil
	}
	return bytes.Clone(p.Source.(*frames).payload[s.Start:s.End]), nil
}

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Helper()
	Fatalf(string, ...any)
}

// checkPath holds a walk with a table of the given grain, a walk without, and the
// oracle against each other.
func checkPath(t tester, root *tree, p Payload, path Path) {
	t.Helper()
	var want picked
	want.pick(root, path, 0, 0)
	text, ok := want.answer()
	got, err := value(p, path)
	var miss *MissError
	if err != nil && !errors.As(err, &miss) {
		t.Fatalf("path %s: %v", path, err)
	}
	if (err == nil) != ok || !bytes.Equal(got, text) {
		t.Fatalf("path %s: got %.200q (%v), want %.200q (found %v)", path, got, err, text, ok)
	}
	if miss != nil && !want.many && miss.At != want.at {
		t.Fatalf("path %s: missed at segment %d, want %d: %v", path, miss.At, want.at, err)
	}
	p.Paths = nil
	scanned, scanErr := value(p, path)
	if !bytes.Equal(got, scanned) || !reflect.DeepEqual(err, scanErr) {
		t.Fatalf("path %s: with a table %.200q (%v), without %.200q (%v)", path, got, err, scanned, scanErr)
	}
}

// randomPath makes a path that mostly exists under t.
func randomPath(r *rand.Rand, t *tree) Path {
	var path Path
	for len(path) < 20 && r.IntN(12) > 0 {
		for t.kind == '"' {
			inner, err := parseTree([]byte(spelled(t.raw())))
			if err != nil {
				break
			}
			t = inner
		}
		if len(t.kids) == 0 {
			break
		}
		k := r.IntN(len(t.kids))
		switch n := r.IntN(40); {
		case t.kind == '{' && n == 0:
			path = append(path, bare(strings.ToUpper(t.keys[k])))
		case t.kind == '{' && n == 1 && len(t.kids) < 1000:
			path = append(path, Segment{Kind: SegmentAll})
		case t.kind == '{':
			s := Segment{Key: t.keys[k]}
			if n%2 == 0 {
				s = bare(s.Key)
			}
			path = append(path, s)
		case n == 0:
			path = append(path, bare(fmt.Sprint(len(t.kids)+r.IntN(2))))
		case n == 1:
			path = append(path, Segment{Kind: SegmentAll})
		case n < 5:
			from := r.Int64N(int64(2*len(t.kids))) - int64(len(t.kids))
			path = append(path, Segment{Kind: SegmentSlice, From: from, To: from + r.Int64N(20)})
		case n == 5:
			path = append(path, Segment{Kind: SegmentSlice, From: -r.Int64N(5), To: openEnd})
		case n < 10 && t.kids[k].kind == '{' && len(t.kids[k].keys) > 0:
			path = append(path, randomQuery(r, t.kids[k]))
		case n < 14:
			path = append(path, bare(fmt.Sprint(k-len(t.kids))))
		default:
			path = append(path, bare(fmt.Sprint(k)))
		}
		t = t.kids[k]
	}
	if r.IntN(10) == 0 {
		path = append(path, bare([]string{"nope", "0", "", "a.b"}[r.IntN(4)]))
	}
	return path
}

// randomQuery makes a query that t, an element, may fulfil.
func randomQuery(r *rand.Rand, t *tree) Segment {
	k := r.IntN(len(t.keys))
	text := t.keys[k]
	if t.kids[k].kind == '"' || t.kids[k].kind == '0' {
		text += []string{"==", "!=", ">", "<="}[r.IntN(4)] + string(t.kids[k].raw())
	}
	canonical, problem := canonicalQuery(text)
	if problem != "" {
		return Segment{Kind: SegmentAll}
	}
	return Segment{Kind: SegmentQuery + SegmentKind(r.IntN(2)), Key: canonical}
}

// Every payload of the corpus, with tables of several grains and frames of several
// sizes: what paths select and what they miss is what the oracle says.
func TestCorpusPathsAgainstOracle(t *testing.T) {
	paths := *pathsFlag
	if raced {
		paths = 2
	}
	for name, payload := range corpusFiles(t) {
		if raced && len(payload) > 1<<18 {
			continue
		}
		root, err := parseTree(payload)
		kind, _ := scanKind(payload)
		if isJSON := kind != docket.KindText; isJSON != (err == nil) && name != "edge-open-100k.json" {
			t.Fatalf("%s: kind %v, oracle's error %v", name, kind, err)
		}
		if err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(len(payload))))
			for i, size := range []int64{200, 4 << 10, 32 << 10} {
				grain := []int{64, 1 << 10, pathGrain}[i]
				_, section := table(payload, grain)
				_, keyed := keyTable(payload, grain)
				p := Payload{Source: &frames{payload: payload, size: size, read: map[int64]bool{}}, Size: int64(len(payload)), Kind: kind}
				for n := range paths {
					p.Paths = [][]byte{section, keyed}[n%2]
					checkPath(t, root, p, randomPath(r, root))
				}
			}
		})
	}
}

// FORMAT.md's examples, written and read.
func TestPathsFormatExample(t *testing.T) {
	payload := []byte(`[{"key":"0123456789"},7]`)
	for name, build := range map[string]func([]byte, int) (docket.Kind, []byte){"paths": table, "paths-keys": keyTable} {
		want := formatdoc.Example(t, name)
		kind, got := build(payload, 8)
		if !bytes.Equal(got, want) {
			t.Fatalf("%s: FORMAT.md shows % x, the builder makes % x", name, want, got)
		}
		p, err := ParsePaths(want, int64(len(payload)))
		if err != nil || p.rows != 3 || p.marks != 3 || p.keys+p.prints/2 != 1 {
			t.Fatalf("%s: parsed %+v (%v)", name, p, err)
		}
		for path, text := range map[string]string{"$": string(payload), "0.key": `"0123456789"`, "[1]": "7", "[-2]": `{"key":"0123456789"}`} {
			parsed, _ := ParsePath(path)
			if got, err := value(source(payload, kind, want), parsed); string(got) != text {
				t.Errorf("%s, %s: got %q (%v), want %q", name, path, got, err, text)
			}
		}
	}
}

// source is a payload in frames of 16 bytes.
func source(payload []byte, kind docket.Kind, section []byte) Payload {
	return Payload{Source: &frames{payload: payload, size: 16, read: map[int64]bool{}}, Size: int64(len(payload)), Kind: kind, Paths: section}
}

// Whatever is in a section: no panic, and no walk without an end.
func FuzzParsePaths(f *testing.F) {
	payload := []byte(`[{"key":"0123456789","k\u0065y":[1,2,3]},7,{"a":{"b":{"c":"0123456789"}}}]`)
	for grain := range 20 {
		_, section := table(payload, grain+1)
		if grain%2 == 0 {
			_, section = keyTable(payload, grain+1)
		}
		body := section[:len(section)-4]
		f.Add(body, "[0].key")
		f.Add(body, "2.a.b.c")
		f.Add(body, "[*].key[1]")
	}
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		section := seal.Append(nil, body)
		p, err := ParsePath(path)
		if err != nil {
			return
		}
		if _, err := ParsePaths(section, int64(len(payload))); err != nil {
			return
		}
		value(source(payload, docket.KindJSON, section), p)
	})
}

// Every byte of a table, damaged: a walk gives what it gives without one.
func TestDamagedTableIsNotBelieved(t *testing.T) {
	payload := bytes.Repeat([]byte(`{"list":[1,2,{"deep":"0123456789"},[3,4]],"tw\u0069n":{"x":"0123456789"},"twin":0,"last":[0,0,0,0,0,0,0]},`), 3)
	payload = append(append([]byte{'['}, bytes.TrimSuffix(payload, []byte{','})...), ']')
	paths := []string{"$", "[1].list[2].deep", "[-1].twin.x", "[0].last[5]", "[1].nope", "[*].list[3]", "[0:2].twin", "[9]", "[1].list.#(deep)"}
	want := map[string]string{}
	answers := func(section []byte, path string) string {
		p, _ := ParsePath(path)
		text, err := value(source(payload, docket.KindJSON, section), p)
		return fmt.Sprintf("%s %v", text, err)
	}
	for _, path := range paths {
		want[path] = answers(nil, path)
	}
	for name, build := range map[string]func([]byte, int) (docket.Kind, []byte){"prints": table, "keys": keyTable} {
		_, section := build(payload, 16)
		for i := range section {
			hurt := bytes.Clone(section)
			hurt[i] ^= 1 << (i % 8)
			for _, path := range paths {
				if got := answers(hurt, path); got != want[path] {
					t.Fatalf("%s, byte %d flipped, path %s: got %s, want %s", name, i, path, got, want[path])
				}
			}
		}
		for n := range len(section) {
			if got := answers(section[:n], "$"); got != want["$"] {
				t.Fatalf("%s, cut to %d bytes: %q", name, n, got)
			}
		}
	}
}
