package compact

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// Every reason has its text.
func TestReasonTexts(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		n++
		value := Reason(strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
		if reasonTexts[value] == "" {
			t.Errorf("%s has no text", spec.Names[0].Name)
		}
		return true
	})
	if n < 20 || len(reasonTexts) != n {
		t.Errorf("%d reasons, %d texts", n, len(reasonTexts))
	}
	if got := Reason("other").Text(); got != "other" {
		t.Errorf("an unknown reason says %q", got)
	}
}
