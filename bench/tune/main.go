// Command tune prints the measurements that the parameters of frames and grams were
// chosen by, over a folder of payloads and generated ones:
//
//	go run ./bench/tune -corpus DIR
//
// It is not part of the benchmarks: it compares parameters with each other, not
// docket with anything.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"docket"
	"docket/bench"
)

// payload is one to measure on.
type payload struct {
	name string
	text []byte
}

func main() {
	dir := flag.String("corpus", "", "folder of `payloads`; only files of 64 KiB and more count")
	frames := flag.Bool("frames", true, "measure frame sizes and levels")
	grams := flag.Bool("grams", true, "measure candidates by budget")
	each := flag.Bool("each", false, "a line for every payload")
	flag.Parse()
	payloads, err := load(*dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tune:", err)
		os.Exit(1)
	}
	if *frames {
		frameTable(payloads)
	}
	generated := payload{"generated JSON, 10 MB", bench.Generate(docket.KindJSON, 10_000_000, 1)}
	if *grams {
		gramTable(payloads, []payload{generated, {"numbered items, 10 MB", numbered()}}, *each)
	}
}

// numbered is JSON whose items are numbered, with random numbers around: what tells
// one item from its neighbours is a digit.
func numbered() []byte {
	r := rand.New(rand.NewPCG(3, 3))
	b := []byte(`{"items":[`)
	for i := 0; len(b) < 10_000_000; i++ {
		b = fmt.Appendf(b, `{"sku":"SKU-%06d","serial":%d,"price":%d.%02d,"stock":%d,"updated":"2026-%02d-%02dT%02d:%02d:%02dZ","weight":%.3f,"views":%d,"ratio":%.5f,"bin":"%c%d","note":"item %d of shelf %d"},`,
			i, r.IntN(1e9), r.IntN(1000), r.IntN(100), r.IntN(10000), 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), 50*r.Float64(), r.IntN(100000), r.Float64(), 'A'+rune(r.IntN(26)), r.IntN(100), i, i/40)
	}
	return append(b, `{}]}`...)
}

// load reads the payloads of a folder that are large enough to have several frames.
func load(dir string) ([]payload, error) {
	if dir == "" {
		return nil, nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	var out []payload
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		if len(text) >= 64<<10 {
			out = append(out, payload{filepath.Base(f), text})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no files of 64 KiB in %q", dir)
	}
	return out, nil
}
