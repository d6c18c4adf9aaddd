package docket_test

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docket/compact"
	"docket/compact/wire"
	"docket/engine"
	"docket/recall"
)

// request is a conversation's request body: one large result, answered long ago.
func request() []byte {
	var rows []string
	for i := range 200 {
		rows = append(rows, fmt.Sprintf(`{\"id\":\"ord-%d\",\"total\":%d.50}`, i, 3*i))
	}
	return []byte(`{"model":"m","tools":[` + string(recall.Tool{}.RecallSpec().AppendAnthropic(nil)) + `],"messages":[` +
		`{"role":"user","content":"which order is the largest?"},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"list_orders","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"[` + strings.Join(rows, ",") + `]"}]},` +
		`{"role":"assistant","content":"ord-199"},` +
		`{"role":"user","content":"and its total?"}]}`)
}

func Example() {
	ctx, body, dir := context.Background(), request(), tempDir()
	defer os.RemoveAll(dir)

	ledger, err := engine.Open(filepath.Join(dir, "agent.docket"), nil) // one file, made where it is missing
	if err != nil {
		panic(err)
	}
	defer ledger.Close()
	dialect := wire.Anthropic{Service: &compact.Service{Ledger: ledger, Log: ledger, Policy: compact.Policy{Threshold: 2000}}}

	view, report := dialect.View(ctx, "conversation-17", body) // send view, keep body
	fmt.Printf("%d bytes instead of %d\n", len(view)/1000*1000, len(body)/1000*1000)

	args := fmt.Appendf(nil, `{"mem_id": %q, "json_path": "[199].total"}`, report.Decisions[0].MemID) // what the model asks
	_, value, _ := strings.Cut(recall.Call(ctx, ledger, "conversation-17", args), "\n")
	fmt.Println(value)
	// Output:
	// 2000 bytes instead of 9000
	// 597.50
}

func tempDir() string {
	dir, err := os.MkdirTemp("", "docket-example-")
	if err != nil {
		panic(err)
	}
	return dir
}

// The README shows the example as it is tested, word for word.
func TestReadmeShowsTheExample(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "Example" {
			body = source[f.Body.Lbrace : f.Body.Rbrace-1]
		}
	}
	_, body, _ = bytes.Cut(body, []byte("defer os.RemoveAll(dir)\n\n"))
	body, _, _ = bytes.Cut(body, []byte("\t// Output:"))
	want := strings.TrimSpace(strings.ReplaceAll("\n"+string(body), "\n\t", "\n"))
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if want == "" || !strings.Contains(string(readme), "```go\n"+want+"\n```\n") {
		t.Errorf("README.md does not show the example as it is tested:\n%s", want)
	}
}
