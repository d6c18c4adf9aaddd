package main

// Frame size and level: what cutting costs in bytes, and what decoding one costs in
// time.

import (
	"fmt"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"docket/codec"
)

var levels = []struct {
	name  string
	level codec.Level
}{{"default", codec.LevelDefault}, {"better", codec.LevelBetter}, {"best", codec.LevelBest}}

// whole returns the size of one frame over the payload at the library's default.
func whole(text []byte) int {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return len(enc.EncodeAll(text, nil))
}

func frameTable(payloads []payload) {
	raw, one := 0, 0
	for _, p := range payloads {
		raw += len(p.text)
		one += whole(p.text)
	}
	fmt.Printf("%d payloads, %d bytes; one frame each: %d bytes\n", len(payloads), raw, one)
	fmt.Println("| frame KiB | level | stored / one frame | encode MB/s | decode µs a frame, p50 |")
	fmt.Println("|---|---|---|---|---|")
	for _, kib := range []int{32, 40, 48, 64} {
		for _, l := range levels {
			stored, speed, decode := measureFrames(payloads, codec.NewEncoder(kib<<10, l.level))
			fmt.Printf("| %d | %s | %.3f | %.0f | %.1f |\n", kib, l.name, float64(stored)/float64(one), speed, decode)
		}
	}
}

func measureFrames(payloads []payload, enc *codec.Encoder) (stored int, speed, decode float64) {
	dec := codec.NewDecoder()
	var encoding time.Duration
	var times []time.Duration
	var frame, raw []byte
	bytes := 0
	for _, p := range payloads {
		start := int64(0)
		for _, end := range enc.Cut(p.text) {
			t := time.Now()
			frame = enc.AppendFrame(frame[:0], p.text[start:end])
			encoding += time.Since(t)
			stored += len(frame)
			bytes += int(end - start)
			t = time.Now()
			var err error
			if raw, err = dec.AppendFrame(raw[:0], frame, int(end-start)); err != nil {
				panic(err)
			}
			times = append(times, time.Since(t))
			start = end
		}
	}
	slices.Sort(times)
	return stored, float64(bytes) / 1e6 / encoding.Seconds(), float64(times[len(times)/2].Nanoseconds()) / 1e3
}
