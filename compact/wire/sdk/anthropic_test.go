package sdk

import (
	"context"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"docket/compact"
	"docket/compact/wire"
	"docket/engine"
)

func ExampleMiddleware_anthropic() {
	ledger, err := engine.Open("agent.docket", nil)
	if err != nil {
		return
	}
	defer ledger.Close()
	service := &compact.Service{Ledger: ledger, Log: ledger, Policy: compact.Default()}

	client := anthropic.NewClient(option.WithMiddleware(wire.Middleware(wire.HTTPOptions{Options: wire.Options{Service: service}})))
	_ = client // as ever
}

func TestAnthropic(t *testing.T) {
	s := serve(t, true, anthropicAnswer)
	a := newAgent(t)
	client := anthropic.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey("k"), option.WithMiddleware(wire.Middleware(a.options)))
	tools := []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
		Name: pageTool, InputSchema: anthropic.ToolInputSchemaParam{Properties: schema(pageSchema)["properties"]},
	}}, {OfTool: &anthropic.ToolParam{
		Name: recallTool.Name, Description: anthropic.String(recallTool.Description),
		InputSchema: anthropic.ToolInputSchemaParam{Properties: schema(recallTool.Schema)["properties"], Required: []string{"mem_id"}},
	}}}
	history := []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("read the pages"))}
	for range pages + 2 {
		stream := client.Messages.NewStreaming(t.Context(), anthropic.MessageNewParams{Model: "m", MaxTokens: 100, Messages: history, Tools: tools})
		var m anthropic.Message
		for stream.Next() {
			if err := m.Accumulate(stream.Current()); err != nil {
				t.Fatal(err)
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		history = append(history, m.ToParam())
		if results := anthropicResults(t.Context(), a, m); len(results) > 0 {
			history = append(history, anthropic.NewUserMessage(results...))
		}
	}
	a.check(s, history)
}

// anthropicResults runs the calls of a message.
func anthropicResults(ctx context.Context, a *agent, m anthropic.Message) (results []anthropic.ContentBlockParamUnion) {
	for _, block := range m.Content {
		if use, ok := block.AsAny().(anthropic.ToolUseBlock); ok {
			results = append(results, anthropic.NewToolResultBlock(use.ID, a.call(ctx, use.Name, string(use.Input)), false))
		}
	}
	return results
}
