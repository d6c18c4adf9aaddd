package main

// Input: a file or standard input, read whole within a limit.

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"docket"
)

// read returns what name holds; "-" and "" are standard input.
func (a *app) read(name string, limit int64) ([]byte, error) {
	if name == "-" || name == "" {
		return readAll(a.in, "standard input", limit)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, usagef("%q is a folder: name a file, or - for standard input", name)
	}
	return readAll(f, fmt.Sprintf("%q", name), limit)
}

func readAll(r io.Reader, name string, limit int64) ([]byte, error) {
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if n > limit {
		return nil, fmt.Errorf("read %s: more than %s: %w", name, size(limit), docket.ErrTooLarge)
	}
	return b.Bytes(), nil
}

// argument returns the i-th positional argument, or "".
func argument(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}
