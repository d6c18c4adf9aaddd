package index

// What kind of text a payload is, by how its lines begin. A format is named only
// when its own grammar shows (the header of a diff, the verdicts of a test run);
// everything else is "text".

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"docket"
)

// summarizeText says what a text is, how many lines it has and how long they get,
// and its first line that reports an error.
func summarizeText(payload []byte, v view, kind docket.Kind) string {
	if kind == docket.KindBinary {
		return "not UTF-8, " + plural(len(payload), "byte")
	}
	lines, longest := measureLines(payload)
	s := textFormat(payload, v)
	if s == "" {
		s = "text"
	}
	s += ", " + plural(lines, "line")
	if lines > 1 {
		s += ", longest " + plural(longest, "character")
	}
	if e := v.firstError(); e != nil {
		s += `; first error: "` + squeezed(e, 80) + `"`
	}
	return s
}

// measureLines counts lines, and the characters of the one of most bytes.
func measureLines(b []byte) (lines, characters int) {
	var longest []byte
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n')
		if n < 0 {
			n = len(b)
		}
		if lines++; n > len(longest) {
			longest = b[:n]
		}
		b = b[min(n+1, len(b)):]
	}
	return lines, int(CountChars(longest))
}

// textFormat names the format of a text, "" if none is certain.
func textFormat(payload []byte, v view) string {
	head := bytes.TrimLeft(v.head, " \t\r\n")
	switch {
	case hasPrefixFold(head, "<!doctype html"), hasPrefixFold(head, "<html"):
		return "HTML" + htmlTitle(head)
	case bytes.HasPrefix(head, []byte("<?xml")):
		return "XML"
	}
	if n := countLines(payload, "diff --git "); n > 0 {
		return "diff of " + plural(n, "file")
	}
	if s := goTest(payload); s != "" {
		return s
	}
	lines := sampleLines(v.head)
	if from, to, ok := numbered(lines, v.end()); ok {
		return fmt.Sprintf("numbered lines %d–%d of a file", from, to)
	}
	if located(lines) {
		return "lines of files (path:line:)"
	}
	if s := tabular(lines); s != "" {
		return s
	}
	if bytes.HasPrefix(head, []byte("# ")) {
		return `Markdown "` + squeezed(firstLine(head)[2:], 60) + `"`
	}
	return ""
}

func hasPrefixFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && strings.EqualFold(string(b[:len(prefix)]), prefix)
}

func htmlTitle(head []byte) string {
	_, after, ok := bytes.Cut(head, []byte("<title>"))
	if title, _, closed := bytes.Cut(after, []byte("</title>")); ok && closed {
		return ` "` + squeezed(title, 60) + `"`
	}
	return ""
}

// countLines counts the lines that begin with prefix.
func countLines(b []byte, prefix string) int {
	n := bytes.Count(b, []byte("\n"+prefix))
	if bytes.HasPrefix(b, []byte(prefix)) {
		n++
	}
	return n
}

// goTest recognises the output of go test by its packages' verdicts.
func goTest(b []byte) string {
	ok, failed := countLines(b, "ok  \t"), countLines(b, "FAIL\t")
	if ok+failed == 0 {
		return ""
	}
	s := fmt.Sprintf("Go test output, %s ok, %s failed", plural(ok, "package"), thousands(failed))
	if n := countLines(b, "--- FAIL: "); n > 0 {
		s += ", " + plural(n, "failed test")
	}
	return s
}

// sampleLines returns the first lines that are not blank.
func sampleLines(b []byte) [][]byte {
	var out [][]byte
	for line := range bytes.Lines(b) {
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) > 0 {
			out = append(out, line)
		}
		if len(out) == 40 {
			break
		}
	}
	return out
}

// lineNumber splits "   12→text" and "   12\ttext".
func lineNumber(line []byte) (n int, ok bool) {
	line = bytes.TrimLeft(line, " ")
	digits := digits(line, 0)
	rest := line[digits:]
	if digits == 0 || digits > 9 || !bytes.HasPrefix(rest, []byte("→")) && !bytes.HasPrefix(rest, []byte("\t")) {
		return 0, false
	}
	n, err := strconv.Atoi(string(line[:digits]))
	return n, err == nil
}

// withoutNumber returns a line without the number of [lineNumber].
func withoutNumber(line []byte) []byte {
	if _, ok := lineNumber(line); !ok {
		return line
	}
	line = bytes.TrimLeft(line, " 0123456789")
	return bytes.TrimPrefix(bytes.TrimPrefix(line, []byte("→")), []byte("\t"))
}

// numbered tells whether lines carry ascending numbers, and the first and last.
func numbered(lines [][]byte, end []byte) (from, to int, ok bool) {
	if len(lines) < 3 {
		return 0, 0, false
	}
	seen := 0
	for _, line := range lines {
		n, ok := lineNumber(line)
		switch {
		case !ok:
			continue
		case seen == 0:
			from = n
		case n <= to:
			return 0, 0, false
		}
		to = n
		seen++
	}
	if 10*seen < 9*len(lines) {
		return 0, 0, false
	}
	for rest := end; len(rest) > 0; {
		rest = bytes.TrimRight(rest, "\r\n")
		i := bytes.LastIndexByte(rest, '\n') + 1
		if n, ok := lineNumber(rest[i:]); ok {
			to = max(to, n)
			break
		}
		rest = rest[:i]
	}
	return from, to, true
}

// located tells whether most lines begin with a path and a line number.
func located(lines [][]byte) bool {
	n := 0
	for _, line := range lines {
		path, rest, ok := bytes.Cut(line, []byte(":"))
		d := digits(rest, 0)
		if ok && d > 0 && d < len(rest) && (rest[d] == ':' || rest[d] == '-') && (bytes.IndexByte(path, '/') >= 0 || isFile(path)) && bytes.IndexByte(path, ' ') < 0 {
			n++
		}
	}
	return len(lines) >= 3 && 10*n >= 8*len(lines)
}

// tabular recognises comma or tab separated rows: the same number of separators, at
// least two, in each of the first lines.
func tabular(lines [][]byte) string {
	if len(lines) < 4 {
		return ""
	}
	for _, sep := range []struct{ text, name string }{{",", "CSV"}, {"\t", "tab-separated"}} {
		n := separators(lines[0], sep.text[0])
		same := n >= 2
		for _, line := range lines[1:] {
			same = same && separators(line, sep.text[0]) == n
		}
		if same {
			return sep.name + ` of ` + plural(n+1, "column") + ` "` + squeezed(lines[0], 80) + `"`
		}
	}
	return ""
}

// separators counts c outside of double quotes.
func separators(line []byte, c byte) int {
	n, quoted := 0, false
	for _, b := range line {
		switch {
		case b == '"':
			quoted = !quoted
		case b == c && !quoted:
			n++
		}
	}
	return n
}

// errorStarts begin a line that reports an error, in many tools. A line of code or
// prose rarely begins so at the very start.
var errorStarts = [...]string{
	"error:", "Error:", "ERROR:", "ERROR ", "error[", "fatal:", "Fatal:", "FATAL", "panic:", "--- FAIL: ", "FAIL:", "FAILED ",
	"npm ERR!", "npm error", "E   ", "Traceback (most recent call last)", "Exception in thread", "Unhandled", "✗ ", "Exit code ", "AssertionError",
}

// firstError returns the first line that reports an error, nil if none does; one that
// gives no more than an exit code only where no other does.
func (v view) firstError() (found []byte) {
	for _, part := range [][]byte{v.head, v.tail} {
		for line := range bytes.Lines(part) {
			if !isError(line) || found != nil && bytes.HasPrefix(line, exitCode) {
				continue
			}
			found = bytes.TrimSpace(line)
			if !bytes.HasPrefix(line, exitCode) {
				return found
			}
		}
	}
	return found
}

var exitCode = []byte("Exit code ")

func isError(line []byte) bool {
	if len(line) < 6 || wordClass[line[0]] != 1 && line[0] != '-' && line[0] < utf8.RuneSelf {
		return false
	}
	for _, start := range errorStarts {
		if bytes.HasPrefix(line, []byte(start)) {
			return true
		}
	}
	word, _, ok := bytes.Cut(line[:min(len(line), 64)], []byte(": "))
	return ok && (bytes.HasSuffix(word, []byte("Error")) || bytes.HasSuffix(word, []byte("Exception"))) && bytes.IndexByte(word, ' ') < 0
}
