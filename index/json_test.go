package index

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpusFiles yields the payloads of the corpus. It skips the test, loudly, where
// there is none.
func corpusFiles(t testing.TB) iter.Seq2[string, []byte] {
	t.Helper()
	dir := os.Getenv("DOCKET_CORPUS")
	if dir == "" {
		t.Skip("DOCKET_CORPUS is not set: the real payloads are not tested")
	}
	files, err := os.ReadDir(filepath.Join(dir, "payloads"))
	if err != nil || len(files) == 0 {
		t.Fatalf("DOCKET_CORPUS has no payloads: %v", err)
	}
	return func(yield func(string, []byte) bool) {
		for _, f := range files {
			text, err := os.ReadFile(filepath.Join(dir, "payloads", f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if !yield(f.Name(), text) {
				return
			}
		}
	}
}

// corpusJSON yields those that are JSON or NDJSON by name.
func corpusJSON(t testing.TB) iter.Seq2[string, []byte] {
	files := corpusFiles(t)
	return func(yield func(string, []byte) bool) {
		for name, text := range files {
			if strings.Contains(name, "json") || strings.HasPrefix(name, "ipynb") {
				if !yield(name, text) {
					return
				}
			}
		}
	}
}
