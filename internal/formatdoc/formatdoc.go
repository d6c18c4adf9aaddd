// Package formatdoc reads the annotated hex examples of FORMAT.md, so that the
// tests of the packages that own the bytes can execute them.
//
// An example is a fenced block whose info string is "hex NAME". A line of it
// holds bytes in hexadecimal, spaces ignored, then optionally ';' and a remark.
// Where a run of characters is easier to read as text, it stands in double
// quotes.
package formatdoc

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Example returns the bytes of the example called name. It fails the test when
// FORMAT.md has no such example or more than one.
func Example(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(path(t))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "```hex "+name+"\n")
	if len(parts) != 2 {
		t.Fatalf("FORMAT.md has %d examples named %q", len(parts)-1, name)
	}
	block, _, closed := strings.Cut(parts[1], "```")
	if !closed {
		t.Fatalf("the example %q of FORMAT.md is not closed", name)
	}
	var out []byte
	for line := range strings.Lines(block) {
		out = appendLine(t, out, line)
	}
	return out
}

func appendLine(t testing.TB, out []byte, line string) []byte {
	t.Helper()
	rest := strings.TrimSpace(line)
	for rest != "" && rest[0] != ';' {
		if rest[0] == '"' {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				t.Fatalf("FORMAT.md, line %q: %v", line, err)
			}
			s, _ := strconv.Unquote(quoted)
			out, rest = append(out, s...), strings.TrimSpace(rest[len(quoted):])
			continue
		}
		word, after, _ := strings.Cut(rest, " ")
		b, err := hex.DecodeString(word)
		if err != nil {
			t.Fatalf("FORMAT.md, line %q: %v", line, err)
		}
		out, rest = append(out, b...), strings.TrimSpace(after)
	}
	return out
}

// path finds FORMAT.md beside go.mod, upwards from the test's folder.
func path(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "FORMAT.md")
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = filepath.Dir(dir)
	}
}
