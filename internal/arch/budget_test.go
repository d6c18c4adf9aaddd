package arch

// The budgets: measured over the trees that the house style names, the median
// function is 6 to 12 lines. Tests are reported, not judged: a table is as long as
// its cases.

import (
	"go/ast"
	"path"
	"slices"
	"testing"
)

const (
	maxFile     = 500
	maxFunction = 100
	maxP90      = 40
)

type function struct {
	name            string
	lines           int
	params, results int
}

func functions(s source) []function {
	var fs []function
	for _, decl := range s.file.Decls {
		f, is := decl.(*ast.FuncDecl)
		if !is {
			continue
		}
		lines := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
		name := path.Join(s.folder, s.name) + " " + f.Name.Name
		fs = append(fs, function{name, lines, f.Type.Params.NumFields(), f.Type.Results.NumFields()})
	}
	return fs
}

func TestBudgets(t *testing.T) {
	var shipped, tests []function
	for _, s := range sources(t) {
		lines := s.fset.Position(s.file.FileEnd).Line
		name := path.Join(s.folder, s.name)
		switch {
		case s.test():
			tests = append(tests, functions(s)...)
			if lines > maxFile {
				t.Logf("%s has %d lines; more than %d is more than one topic", name, lines, maxFile)
			}
			continue
		case lines > maxFile:
			t.Errorf("%s has %d lines, the budget is %d", name, lines, maxFile)
		}
		shipped = append(shipped, functions(s)...)
	}
	for _, f := range shipped {
		if f.lines > maxFunction {
			t.Errorf("%s has %d lines, the budget is %d", f.name, f.lines, maxFunction)
		}
		if f.params > 4 || f.results > 3 {
			t.Logf("%s has %d parameters and %d results; the house has 4 and 3", f.name, f.params, f.results)
		}
	}
	if p90 := report(t, "functions that ship", shipped); p90 > maxP90 {
		t.Errorf("p90 of the functions that ship is %d lines, the budget is %d", p90, maxP90)
	}
	report(t, "functions of tests", tests)
}

// report prints the distribution of lengths and returns its p90.
func report(t *testing.T, what string, fs []function) int {
	t.Helper()
	if len(fs) == 0 {
		return 0
	}
	slices.SortFunc(fs, func(a, b function) int { return a.lines - b.lines })
	at := func(share float64) int { return fs[int(share*float64(len(fs)-1))].lines }
	longest := fs[len(fs)-1]
	t.Logf("%d %s: median %d lines, p90 %d, longest %d (%s)", len(fs), what, at(0.5), at(0.9), longest.lines, longest.name)
	return at(0.9)
}
