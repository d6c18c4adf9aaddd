package wire_test

import (
	"context"
	"fmt"
	"strings"

	"docket"
	"docket/compact"
	"docket/compact/wire"
	"docket/engine"
)

func ExampleAnthropic_View() {
	ledger := engine.NewMemory(nil) // or engine.Open
	dialect := wire.Anthropic{Service: &compact.Service{Ledger: ledger, Log: ledger, Policy: compact.Default()}}
	var body strings.Builder
	body.WriteString(`{"model":"m","tools":[{"name":"recall_tool_result","input_schema":{}}],"messages":[{"role":"user","content":"go"}`)
	for i := range 4 {
		fmt.Fprintf(&body, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"read","input":{}}]}`, i)
		fmt.Fprintf(&body, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"%s"}]}`, i, strings.Repeat("a line\\n", 1000))
	}
	body.WriteString(`,{"role":"assistant","content":"done"}]}`)

	view, report := dialect.View(context.Background(), "conversation 7", []byte(body.String()))
	fmt.Println(body.Len() > 32_000, len(view) < 26_000)
	for _, d := range report.Decisions {
		fmt.Println(d.Index, d.CallID, d.Tool, d.Size, d.Disposition, d.Reason, d.Applied)
	}
	// Output:
	// true true
	// 0 c0 read 7000 stub stale true
	// 1 c1 read 7000 keep protected false
	// 2 c2 read 7000 keep protected false
	// 3 c3 read 7000 keep protected false
}

func ExampleAnthropic_Trim() {
	body := `{"messages":[{"role":"user","content":"go"}, {"role":"assistant","content":"a"}, {"role":"user","content":"on"}]}`
	view, dropped, err := wire.Anthropic{}.Trim([]byte(body), 1)
	fmt.Println(string(view), dropped, err)
	// Output: {"messages":[{"role":"user","content":"on"}]} 2 <nil>
}

// The format is found out, whatever provider the body is for.
func ExampleDetect() {
	ledger := engine.NewMemory(nil)
	options := wire.Options{Service: &compact.Service{Ledger: ledger, Log: ledger}}
	page := strings.Repeat("a line of the page. ", 300)
	for _, body := range []string{
		`{"contents":[{"role":"user","parts":[{"text":"go"}]},
		  {"role":"model","parts":[{"functionCall":{"name":"read","args":{"url":"u"}}}]},
		  {"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"` + page + `"}}}]},
		  {"role":"model","parts":[{"text":"done"}]}],
		  "tools":[{"functionDeclarations":[{"name":"recall_tool_result"}]}]}`,
		`{"messages":[{"role":"user","content":[{"text":"go"}]},
		  {"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"read","input":{"url":"u"}}}]},
		  {"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"` + page + `"}]}}]},
		  {"role":"assistant","content":[{"text":"done"}]}],
		  "toolConfig":{"tools":[{"toolSpec":{"name":"recall_tool_result"}}]}}`,
	} {
		name, err := wire.Detect([]byte(body))
		if err != nil {
			fmt.Println(err)
			continue
		}
		dialect, _ := wire.New(name, options)
		view, report := dialect.View(context.Background(), docket.ThreadID(name), []byte(body))
		d := report.Decisions[0]
		fmt.Printf("%s: %s of %d characters, %s: %t; the body shrinks to a fifth: %t\n",
			name, d.Tool, d.Size, d.Disposition, d.Applied, len(view) < len(body)/5)
	}
	// Output:
	// gemini: read of 6000 characters, stub: true; the body shrinks to a fifth: true
	// converse: read of 6000 characters, stub: true; the body shrinks to a fifth: true
}
