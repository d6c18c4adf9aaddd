package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.etcd.io/bbolt"

	"docket/engine"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"docket": func() { os.Exit(run()) }})
}

// One script a topic, in testdata/script. None of them is a failure.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"newer": makeNewer, "hold": hold},
		Condition:     condition,
		Setup: func(env *testscript.Env) error {
			env.Setenv("DOCKET_DB", filepath.Join(env.WorkDir, "ledger", "test.docket"))
			env.Setenv("TZ", "UTC")
			return nil
		},
	})
}

// makeNewer is the command "newer FILE": it gives a ledger format 99.
func makeNewer(ts *testscript.TestScript, _ bool, args []string) {
	db, err := bbolt.Open(ts.MkAbs(args[0]), 0o600, nil)
	ts.Check(err)
	defer db.Close()
	ts.Check(db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("docket")).Put([]byte("format"), binary.LittleEndian.AppendUint32(nil, 99))
	}))
}

// hold is the command "hold FILE": the test itself has a ledger open for writing, to
// the end of the script.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	l, err := engine.Open(ts.MkAbs(args[0]), nil)
	ts.Check(err)
	ts.Defer(func() { l.Close() })
}

// condition is true of "mounts" where a script may mount a disk of its own, in a
// namespace that ends with it.
func condition(name string) (bool, error) {
	if name != "mounts" {
		return false, fmt.Errorf("there is no condition %q", name)
	}
	return exec.Command("unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", os.TempDir()).Run() == nil, nil
}
