package engine_test

// Tests that need another process run this test binary again. What a child does is
// named by an environment variable; it reads requests on standard input, one JSON
// value a line, and answers on standard output.

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// childVariable says which child a process is.
const childVariable = "DOCKET_TEST_CHILD"

// children are what a child may do. Each ends with its standard input.
var children = map[string]func(requests *json.Decoder, answers *json.Encoder) error{
	"damage": damageChild,
	"kill":   killChild,
	"past":   pastChild,
	"lock":   lockChild,
}

func TestMain(m *testing.M) {
	name := os.Getenv(childVariable)
	if name == "" {
		flag.Parse()
		os.Exit(m.Run())
	}
	run := children[name]
	if run == nil {
		fmt.Fprintf(os.Stderr, "no child %q\n", name)
		os.Exit(2)
	}
	if err := run(json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is a running child.
type child struct {
	cmd      *exec.Cmd
	requests *json.Encoder
	answers  chan []byte // one a line; closed when the child ends
	stderr   *tail
	exited   chan struct{}
	err      error // set before exited is closed
	close    func() error
}

// start starts a child; it is killed with the test if it still runs.
func start(t *testing.T, name string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.Command(exe), answers: make(chan []byte, 1<<10), stderr: &tail{}, exited: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), childVariable+"="+name)
	c.cmd.Stderr = c.stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.requests, c.close = json.NewEncoder(in), in.Close
	go func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			c.answers <- append([]byte(nil), lines.Bytes()...)
		}
		close(c.answers)
		c.err = c.cmd.Wait()
		close(c.exited)
	}()
	t.Cleanup(c.kill)
	return c
}

// kill ends the child at once and waits for it.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	for range c.answers {
	}
	<-c.exited
}

// errSilent says that a child did not answer in time.
var errSilent = errors.New("no answer in time")

// ask sends a request and reads the answer. A child that ends instead is an error
// with the end of what it wrote on standard error.
func (c *child) ask(request, answer any, limit time.Duration) error {
	if err := c.requests.Encode(request); err != nil {
		c.kill()
		return fmt.Errorf("the child is gone: %v\n%s", c.err, c.stderr)
	}
	select {
	case line, ok := <-c.answers:
		if !ok {
			<-c.exited
			return fmt.Errorf("the child died: %v\n%s", c.err, c.stderr)
		}
		return json.Unmarshal(line, answer)
	case <-time.After(limit):
		return errSilent
	}
}

// tail keeps the beginning of what a child writes on standard error: of a crash the
// reason comes first.
type tail struct{ b []byte }

func (w *tail) Write(p []byte) (int, error) {
	if room := 4000 - len(w.b); room > 0 {
		w.b = append(w.b, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (w *tail) String() string { return string(w.b) }
