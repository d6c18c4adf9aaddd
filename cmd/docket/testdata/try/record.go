//go:build ignore

// Command record makes the input of "docket try": transcript.json, the request
// body of an agent that looks into this very project, and slices.json, what its
// user asks next and where the answers are. Every tool result is the output of a
// program that this command runs here and now; what the assistant says in between
// is scripted, its figures are taken from those outputs. Run it in a checkout of
// the project, with git, go and a POSIX shell:
//
//	go run cmd/docket/testdata/try/record.go
//
// Paths of the machine are replaced (neutral), and nothing is written while
// something of it is left. No output holds source text or documentation of other
// projects: names, sizes and import paths only.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"docket/recall"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("record: ")
	r, err := newRecorder()
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(r.temp)
	r.story()
	if err := r.write(filepath.Join(r.root, "cmd/docket/testdata/try")); err != nil {
		log.Fatal(err)
	}
}

// The parts of a request body, in the order in which they are written.
type (
	body struct {
		Model     string            `json:"model"`
		MaxTokens int               `json:"max_tokens"`
		System    string            `json:"system"`
		Tools     []json.RawMessage `json:"tools"`
		Messages  []message         `json:"messages"`
	}
	message struct {
		Role    string `json:"role"`
		Content []any  `json:"content"`
	}
	text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	toolUse struct {
		Type  string         `json:"type"`
		ID    string         `json:"id"`
		Name  string         `json:"name"`
		Input map[string]any `json:"input"`
	}
	toolResult struct {
		Type      string `json:"type"`
		ToolUseID string `json:"tool_use_id"`
		Content   string `json:"content"`
		IsError   bool   `json:"is_error,omitempty"`
	}
)

// slice is something to recall: of the result of a call, by exactly one key.
type slice struct {
	Question string   `json:"question"`
	CallID   string   `json:"call_id"`
	Path     string   `json:"path,omitempty"`
	Query    string   `json:"query,omitempty"`
	Offset   int      `json:"offset,omitempty"`
	MaxChars int      `json:"max_chars,omitempty"`
	Holds    []string `json:"holds"` // the facts that answer the question, as the slice has them
}

// recorder runs programs and writes down what happened.
type recorder struct {
	root, temp string
	neutral    *strings.Replacer
	foreign    []string // what may not be left in the transcript
	messages   []message
	slices     []slice
	calls      int

	shares, slowest string // what the report says
}

func newRecorder() (*recorder, error) {
	root, err := output("go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "docket-try-")
	if err != nil {
		return nil, err
	}
	env, err := output("go", "env", "GOROOT", "GOMODCACHE", "GOCACHE")
	if err != nil {
		return nil, err
	}
	dirs := strings.Split(env, "\n")
	home, _ := os.UserHomeDir()
	host, _ := os.Hostname()
	return &recorder{
		root: root, temp: temp,
		neutral: strings.NewReplacer(
			temp, "/tmp/out", root, "/home/agent/docket", dirs[0], "/usr/local/go",
			dirs[1], "/home/agent/go/pkg/mod", dirs[2], "/home/agent/.cache/go-build", home+"/", "/home/agent/"),
		foreign: []string{root, temp, home + "/", dirs[1], dirs[2], host},
	}, nil
}

// output runs a program and returns what it printed, without the last newline.
func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	return strings.TrimSuffix(string(out), "\n"), err
}

// user says something.
func (r *recorder) user(say string) {
	r.messages = append(r.messages, message{"user", []any{text{"text", say}}})
}

// bash lets the assistant say something and run commands, all of them in one
// message, and returns their outputs.
func (r *recorder) bash(say string, commands ...string) (outputs []string) {
	use, results := message{Role: "assistant"}, message{Role: "user"}
	if say != "" {
		use.Content = append(use.Content, text{"text", say})
	}
	for _, command := range commands {
		r.calls++
		id := fmt.Sprintf("toolu_01docketTryCall%04d", r.calls)
		out, failed := r.run(command)
		if failed && command != mistyped {
			log.Fatalf("%s:\n%s", command, out)
		}
		use.Content = append(use.Content, toolUse{"tool_use", id, "bash", map[string]any{"command": command}})
		results.Content = append(results.Content, toolResult{"tool_result", id, out, failed})
		outputs = append(outputs, out)
		log.Printf("%7d bytes: %s", len(out), command)
	}
	r.messages = append(r.messages, use, results)
	return outputs
}

// say lets the assistant end its turn.
func (r *recorder) say(what string) {
	r.messages = append(r.messages, message{"assistant", []any{text{"text", what}}})
}

// workDir is the go command's temporary folder; its name is random.
var workDir = regexp.MustCompile(`/tmp/go-build[0-9]+`)

// run runs a command as an agent's tool does: both streams, and the exit code when
// it failed.
func (r *recorder) run(command string) (out string, failed bool) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "OUT="+r.temp, "LC_ALL=C", "TZ=UTC", "GIT_PAGER=cat")
	both, err := cmd.CombinedOutput()
	out = workDir.ReplaceAllString(r.neutral.Replace(string(both)), "/tmp/go-build")
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return fmt.Sprintf("%sexit status %d", out, exit.ExitCode()), true
	case err != nil:
		log.Fatalf("%s: %v", command, err)
	}
	return out, false
}

// last returns the id of the last call.
func (r *recorder) last() string { return fmt.Sprintf("toolu_01docketTryCall%04d", r.calls) }

// write checks that nothing of the machine is left and writes both files.
func (r *recorder) write(dir string) error {
	transcript, err := marshal(body{Model: "claude-sonnet-4-5", MaxTokens: 8192, System: system, Tools: tools(), Messages: r.messages}, " ")
	if err != nil {
		return err
	}
	for _, s := range r.foreign {
		if len(s) > 3 && bytes.Contains(transcript, []byte(s)) {
			return fmt.Errorf("the transcript still holds %q", s)
		}
	}
	slices, err := marshal(r.slices, "  ")
	if err != nil {
		return err
	}
	log.Printf("%d calls, %d bytes", r.calls, len(transcript))
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "transcript.json"), transcript, 0o644),
		os.WriteFile(filepath.Join(dir, "slices.json"), slices, 0o644))
}

func marshal(v any, indent string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return buf.Bytes(), err
}

const system = "You are a careful engineer working in a Go checkout at /home/agent/docket. Answer from what programs print, not from memory. " +
	"You may run anything that only reads or that writes to $OUT; you change no file of the checkout. " +
	"Older tool results may be replaced by a short stub; recall_tool_result gives you any part of the original back."

// tools are the agent's: a shell, and the recall of what docket replaced.
func tools() []json.RawMessage {
	bash := `{"name":"bash","description":"Run a POSIX shell command in the checkout and return what it printed, both streams.",` +
		`"input_schema":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}`
	return []json.RawMessage{json.RawMessage(bash), recall.Tool{}.RecallSpec().AppendAnthropic(nil)}
}

// story is the conversation.
func (r *recorder) story() {
	r.user("The docket binary is larger than I expected for what it does. Please find out what makes it large: which module brings the bytes in, " +
		"which of our packages pulls that module, and whether a program that only embeds the library would carry all of it too. " +
		"While you are there: which tests take longest? Do not change anything, just report with numbers.")
	r.lookAround()
	r.measure()
	r.whoPulls()
	r.tests()
	r.report()
}

func (r *recorder) lookAround() {
	r.bash("I'll start with the shape of the project and its recent history.",
		"ls -lRgo --time-style=+%F .",
		"git log --stat=160 --date=short --format='commit %h  %ad%n%n    %s%n'")
	r.slices = append(r.slices, r.history())
	r.bash("Now the toolchain and the modules.", "go env -json GOVERSION GOOS GOARCH GOROOT GOMODCACHE CGO_ENABLED")
	mods := r.bash("", "go list -m -json all")[0]
	r.bash(fmt.Sprintf("%d modules in the build list, the project itself included. Which of them end up in a build is another question; the go.mod first.",
		strings.Count(mods, "\"Path\":")), "cat go.mod", "go mod graph")
}

// history is a range: the end of the log, where the first commit is.
func (r *recorder) history() slice {
	// The log was the second of two calls in one message.
	history := r.content(r.last())
	first := strings.Split(history[strings.LastIndex(history, "commit "):], "\n")
	total := utf8.RuneCountInString(history)
	return slice{
		Question: "How did the project begin: what was its first commit, and which files did it add?",
		CallID:   r.last(), Offset: max(total-1000, 0), MaxChars: 1000,
		Holds: []string{first[0], strings.TrimSpace(first[2])},
	}
}

// content returns the result of a call.
func (r *recorder) content(id string) string {
	for _, m := range r.messages {
		for _, b := range m.Content {
			if t, ok := b.(toolResult); ok && t.ToolUseID == id {
				return t.Content
			}
		}
	}
	log.Fatalf("no call %s", id)
	return ""
}

func (r *recorder) measure() {
	size := r.bash("Build it and look at the file.", `go build -trimpath -o "$OUT/docket" ./cmd/docket && wc -c < "$OUT/docket"`)[0]
	r.bash(fmt.Sprintf("%s bytes with symbols. How much of that is not code?", strings.TrimSpace(size)),
		`go build -trimpath -ldflags='-s -w' -o "$OUT/stripped" ./cmd/docket && wc -c < "$OUT/stripped"; go version -m "$OUT/stripped"`)
	symbols := r.bash("The symbols by size tell which packages the rest belongs to.", `go tool nm -size -sort size "$OUT/docket" | head -n 2400`)[0]
	r.slices = append(r.slices, r.symbol(symbols))
	sums := r.bash("Summed by package, so that I compare like with like.",
		`go tool nm -size -sort size "$OUT/docket" | awk '$3 ~ /^[TtRr]$/ { p = $4; sub(/\.[^\/]*$/, "", p); n[p] += $2 } END { for (p in n) printf "%9d %s\n", n[p], p }' | sort -rn | head -n 60`)[0]
	r.shares = shares(sums)
}

// shares adds up a list of sizes and packages by where the packages come from.
func shares(sums string) string {
	var ours, modules, standard int
	for line := range strings.Lines(sums) {
		var n int
		var name string
		if _, err := fmt.Sscan(line, &n, &name); err != nil {
			continue
		}
		first, _, _ := strings.Cut(name, "/")
		switch {
		case first == "docket" || first == "main":
			ours += n
		case strings.Contains(first, "."):
			modules += n
		default:
			standard += n
		}
	}
	return fmt.Sprintf("of code and read-only data the standard library and the runtime take %d KB, other modules %d KB (zstd first, then bbolt, gjson and cobra), our own packages %d KB",
		standard>>10, modules>>10, ours>>10)
}

// slowestTest names the test that took longest, of the events of go test -json.
func slowestTest(events string) string {
	var slowest struct {
		Package, Test string
		Elapsed       float64
	}
	for line := range strings.Lines(events) {
		e := slowest
		e.Test, e.Elapsed = "", 0
		if err := json.Unmarshal([]byte(line), &e); err == nil && e.Test != "" && e.Elapsed > slowest.Elapsed {
			slowest = e
		}
	}
	return fmt.Sprintf("%s in %s, %.2f s", slowest.Test, slowest.Package, slowest.Elapsed)
}

// symbol is a query: the size of one function of ours in the list of symbols.
func (r *recorder) symbol(symbols string) slice {
	for line := range strings.Lines(symbols) {
		f := strings.Fields(line)
		if len(f) == 4 && f[2] == "T" && strings.HasPrefix(f[3], "docket/engine.(*Ledger)") {
			return slice{
				Question: fmt.Sprintf("How many bytes of code does %s take in the binary?", f[3]),
				CallID:   r.last(), Query: " " + f[3], Holds: []string{" " + f[1] + " T " + f[3]},
			}
		}
	}
	log.Fatal("no function of the engine among the symbols")
	return slice{}
}

// mistyped is the one command that is to fail.
const mistyped = `go list -deps -f '{{if not .Standard}}{{.ImportPath}}{{end}}' ./cmd/dockt`

// listPackages prints every package of the build and the tests as one JSON array.
const listPackages = `go list -deps -test -json=ImportPath,Name,Standard,Module,GoFiles,Imports,Deps ./... | awk 'BEGIN { print "[" } /^{/ && n++ { print "," } { print } END { print "]" }'`

func (r *recorder) whoPulls() {
	r.bash("Which packages import what: first the ones that are not the standard library's.", mistyped)
	r.bash("A typo of mine: the folder is cmd/docket.",
		`go list -deps -f '{{if not .Standard}}{{.ImportPath}}{{end}}' ./cmd/docket`,
		`go list -deps -f '{{if not .Standard}}{{.ImportPath}}{{end}}' ./engine ./recall ./compact/...`)
	packages := r.bash("For the whole picture I want every package of the build and of the tests with its direct imports and all that it depends on, as one document that I can address.", listPackages)[0]
	r.slices = append(r.slices, r.imports(packages))
	r.bash("And from the other side: who in the project imports the two candidates.",
		`grep -rn --include='*.go' -e 'klauspost/compress' -e 'spf13/cobra' -e 'go.etcd.io/bbolt' -e 'tidwall/gjson' .`,
		`go mod why github.com/tidwall/gjson github.com/spf13/cobra github.com/klauspost/compress/zstd golang.org/x/sys/unix`)
}

// imports is a path: the direct imports of the engine.
func (r *recorder) imports(packages string) slice {
	var list []struct {
		ImportPath string
		Imports    []string
	}
	if err := json.Unmarshal([]byte(packages), &list); err != nil {
		log.Fatal(err)
	}
	for i, p := range list {
		if p.ImportPath == "docket/engine" {
			return slice{
				Question: "Which packages does docket/engine import directly?",
				CallID:   r.last(), Path: fmt.Sprintf("%d.Imports", i), Holds: p.Imports,
			}
		}
	}
	log.Fatal("no package docket/engine")
	return slice{}
}

func (r *recorder) tests() {
	r.bash("Now the tests. One package as events first, to see what the output looks like.", "go test -count=1 -json ./internal/seal")
	events := r.bash("Then the packages below the ledger, the ends of their tests only, and what vet says meanwhile.",
		"go test -count=1 -json ./codec ./index | grep -e '\"Action\":\"pass' -e '\"Action\":\"fail' -e '\"Action\":\"skip'", "go vet ./... && echo no findings")[0]
	r.slowest = slowestTest(events)
	r.bash("What a clean build of the codec runs, to see how much of it is the compressor.", "go build -n -a ./codec 2>&1")
	r.bash("Last, lines of code by file, ours only.", `git ls-files '*.go' | xargs wc -l | sort -rn`)
}

// report ends the turn, and the user asks for three things that are by then only
// in results.
func (r *recorder) report() {
	r.say("What makes it large, among the sixty largest packages: " + r.shares + ". Most of the rest is tables for stack traces, symbols and debug information; -ldflags='-s -w' leaves out what only a debugger needs. " +
		"A program that embeds engine and recall carries zstd and bbolt, and not the packages of the command line. " +
		"The test that took longest below the ledger is " + r.slowest + "; vet has no findings. I changed nothing.")
	questions := make([]string, len(r.slices))
	for i, s := range r.slices {
		questions[i] = fmt.Sprintf("%d. %s", i+1, s.Question)
	}
	r.user("Thank you. Three details for the write-up:\n" + strings.Join(questions, "\n"))
}
