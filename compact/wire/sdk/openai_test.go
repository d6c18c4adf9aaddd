package sdk

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"docket/compact"
	"docket/compact/wire"
	"docket/engine"
)

func ExampleMiddleware_openai() {
	ledger, err := engine.Open("agent.docket", nil)
	if err != nil {
		return
	}
	defer ledger.Close()
	service := &compact.Service{Ledger: ledger, Log: ledger, Policy: compact.Default()}

	client := openai.NewClient(option.WithMiddleware(wire.Middleware(wire.HTTPOptions{Options: wire.Options{Service: service}})))
	_ = client // as ever
}

func TestOpenAIChat(t *testing.T) {
	s := serve(t, true, chatAnswer)
	a := newAgent(t)
	client := openai.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey("k"), option.WithMiddleware(wire.Middleware(a.options)))
	tools := []openai.ChatCompletionToolUnionParam{
		openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: pageTool, Parameters: schema(pageSchema)}),
		openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: recallTool.Name, Description: openai.String(recallTool.Description), Parameters: schema(recallTool.Schema),
		}),
	}
	history := []openai.ChatCompletionMessageParamUnion{openai.UserMessage("read the pages")}
	for range pages + 2 {
		stream := client.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{Model: "m", Messages: history, Tools: tools})
		var acc openai.ChatCompletionAccumulator
		for stream.Next() {
			acc.AddChunk(stream.Current())
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		m := acc.Choices[0].Message
		history = append(history, m.ToParam())
		for _, c := range m.ToolCalls {
			history = append(history, openai.ToolMessage(a.call(t.Context(), c.Function.Name, c.Function.Arguments), c.ID))
		}
	}
	a.check(s, history)
}

func TestOpenAIResponses(t *testing.T) {
	s := serve(t, true, responsesAnswer)
	a := newAgent(t)
	client := openai.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey("k"), option.WithMiddleware(wire.Middleware(a.options)))
	tools := []responses.ToolUnionParam{
		responses.ToolParamOfFunction(pageTool, schema(pageSchema), false),
		responses.ToolParamOfFunction(recallTool.Name, schema(recallTool.Schema), false),
	}
	history := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("read the pages", responses.EasyInputMessageRoleUser)}
	for range pages + 2 {
		stream := client.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{
			Model: "m", Input: responses.ResponseNewParamsInputUnion{OfInputItemList: history}, Tools: tools,
		})
		var done responses.Response
		for stream.Next() {
			if e := stream.Current(); e.Type == "response.completed" {
				done = e.Response
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		for _, item := range done.Output {
			if item.Type != "function_call" {
				history = append(history, responses.ResponseInputItemParamOfMessage(done.OutputText(), responses.EasyInputMessageRoleAssistant))
				continue
			}
			c := item.AsFunctionCall()
			out := responses.ResponseInputItemParamOfFunctionCallOutput(a.call(t.Context(), c.Name, c.Arguments))
			out.OfFunctionCallOutput.CallID = openai.String(c.CallID)
			history = append(history, responses.ResponseInputItemParamOfFunctionCall(c.Arguments, c.CallID, c.Name), out)
		}
	}
	a.check(s, history)
}
