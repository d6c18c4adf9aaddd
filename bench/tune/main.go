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
		gramTable(payloads, generated, *each)
	}
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
