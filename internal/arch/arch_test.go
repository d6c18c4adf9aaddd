package arch

// The import table. Parsed with go/parser, not asked of the go command, so that
// files behind build constraints count too.

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "docket"

// anything marks the packages that wire: they may import all of ours.
const anything = "*"

// ours says what of ours each package may import. The folder is the key; "." is
// the root.
var ours = map[string][]string{
	".":                  {},
	"internal/seal":      {},
	"internal/formatdoc": {},
	"internal/arch":      {},
	"codec":              {".", "internal/seal"},
	"index":              {".", "internal/seal"},
	"engine":             {".", "codec", "index", "internal/seal"},
	"ledgertest":         {".", "index"},
	"recall":             {".", "index"},
	"compact":            {".", "index", "compact/planner"},
	"compact/planner":    {},
	"compact/prices":     {"compact/planner"},
	"compact/wire":       {".", "index", "compact", "compact/planner"},
	"simulate":           {".", "compact", "compact/planner", "compact/wire", "engine"},
	"bench":              {anything},
	"bench/tune":         {anything},
	"cmd/docket":         {anything},
}

// libraries says who may import which module.
var libraries = map[string][]string{
	"go.etcd.io/bbolt":                        {"engine", "bench"},
	"github.com/klauspost/compress":           {"codec", "compact/wire", "bench", "bench/tune"},
	"github.com/tidwall/gjson":                {"index", "compact/prices", "bench", "simulate"},
	"github.com/go-json-experiment/json":      {"index", "recall", "compact/wire", "bench"},
	"github.com/google/uuid":                  {"engine"},
	"github.com/gofrs/flock":                  {"engine"},
	"github.com/HdrHistogram/hdrhistogram-go": {"bench"},
	"github.com/spf13/cobra":                  {"cmd/docket"},
	"golang.org/x/sys":                        {"engine", "bench", "cmd/docket"},
	"golang.org/x/term":                       {"cmd/docket"},
	"github.com/rogpeppe/go-internal":         {},
	"pgregory.net/rapid":                      {},
}

// banned is what no package of ours may import, with the reason.
var banned = map[string]string{
	"unsafe":       "store memory would be reachable without checks",
	"reflect":      "bytes are written by functions that show them",
	"encoding/gob": "its bytes depend on Go's type descriptions",
}

// source is one file that ships.
type source struct {
	folder, name string
	imports      []string
	file         *ast.File
	fset         *token.FileSet
}

func TestImportsFollowTheTable(t *testing.T) {
	files := sources(t)
	for _, f := range files {
		for _, imp := range f.imports {
			if err := judge(f.folder, imp, f.test()); err != nil {
				t.Errorf("%s: %v", path.Join(f.folder, f.name), err)
			}
		}
	}
}

// judge says why folder may not import imp; tests may import all of ours, and
// every library that the table knows.
func judge(folder, imp string, test bool) error {
	if reason, is := banned[imp]; is && !test {
		return fmt.Errorf("imports %s: %s", imp, reason)
	}
	allowed, known := ours[folder]
	if !known {
		return fmt.Errorf("the package %q is not in the table", folder)
	}
	if imp == module || strings.HasPrefix(imp, module+"/") {
		target := strings.TrimPrefix(strings.TrimPrefix(imp, module), "/")
		if target == "" {
			target = "."
		}
		if !test && !slices.Contains(allowed, target) && !slices.Contains(allowed, anything) {
			return fmt.Errorf("%q may not import %q", folder, target)
		}
		return nil
	}
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		return nil // the standard library
	}
	for lib, users := range libraries {
		if imp == lib || strings.HasPrefix(imp, lib+"/") {
			if !test && !slices.Contains(users, folder) {
				return fmt.Errorf("%q may not import %s", folder, lib)
			}
			return nil
		}
	}
	return fmt.Errorf("the library %s is not in the table", imp)
}

// TestJudge is the positive control: what the table must refuse.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		folder, imp string
		test, ok    bool
	}{
		{"engine", "docket/codec", false, true},
		{"engine", "docket", false, true},
		{"engine", "docket/recall", false, false},
		{"engine", "docket/recall", true, true},
		{"recall", "docket/engine", false, false},
		{"recall", "docket/codec", false, false},
		{".", "docket/index", false, false},
		{"compact", "go.etcd.io/bbolt", false, false},
		{"engine", "go.etcd.io/bbolt/errors", false, true},
		{"engine", "go.etcd.io/bbolted", false, false},
		{"engine", "github.com/klauspost/compress/zstd", false, false},
		{"cmd/docket", "docket/engine", false, true},
		{"cmd/docket", "example.com/new", true, false},
		{"util", "fmt", false, false},
		{"codec", "unsafe", false, false},
		{"codec", "encoding/json", false, true},
	} {
		if err := judge(c.folder, c.imp, c.test); (err == nil) != c.ok {
			t.Errorf("judge(%q, %q, test %t) = %v, want allowed: %t", c.folder, c.imp, c.test, err, c.ok)
		}
	}
}

func TestEachPackageSaysWhatItIs(t *testing.T) {
	shipped := map[string][]source{}
	for _, f := range sources(t) {
		if !f.test() {
			shipped[f.folder] = append(shipped[f.folder], f)
		}
	}
	for folder := range ours {
		if !slices.ContainsFunc(shipped[folder], func(f source) bool {
			return f.file.Doc != nil && (f.name == "doc.go" || f.file.Name.Name == "main" && f.name == "main.go" || len(shipped[folder]) == 1)
		}) {
			t.Errorf("the package %q has no doc.go with a comment", folder)
		}
	}
}

func (s source) test() bool { return strings.HasSuffix(s.name, "_test.go") }

// sources parses every Go file of the module, nested modules and testdata aside.
// None at all is a failure.
func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var all []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(root, p, d)
		case filepath.Ext(p) != ".go":
			return nil
		}
		s, err := parse(root, p)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no Go files found")
	}
	return all
}

// enter leaves out folders that are no part of the module.
func enter(root, p string, d fs.DirEntry) error {
	if p == root {
		return nil
	}
	if d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func parse(root, p string) (source, error) {
	rel, err := filepath.Rel(root, p)
	if err != nil {
		return source{}, err
	}
	s := source{folder: path.Dir(filepath.ToSlash(rel)), name: filepath.Base(p), fset: token.NewFileSet()}
	if s.file, err = parser.ParseFile(s.fset, p, nil, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return s, err
	}
	for _, imp := range s.file.Imports {
		name, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			return s, err
		}
		s.imports = append(s.imports, name)
	}
	return s, nil
}
