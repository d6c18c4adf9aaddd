package sdk

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"google.golang.org/genai"

	"docket/compact"
	"docket/compact/wire"
	"docket/engine"
)

func ExampleTransport_genai() {
	ledger, err := engine.Open("agent.docket", nil)
	if err != nil {
		return
	}
	defer ledger.Close()
	service := &compact.Service{Ledger: ledger, Log: ledger, Policy: compact.Default()}

	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		HTTPClient: &http.Client{Transport: wire.Transport(wire.HTTPOptions{Options: wire.Options{Service: service}}, nil)},
	})
	_, _ = client, err // as ever
}

func TestGenAI(t *testing.T) {
	s := serve(t, false, geminiAnswer)
	a := newAgent(t)
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: s.URL},
		HTTPClient: &http.Client{Transport: wire.Transport(a.options, s.Client().Transport)},
	})
	if err != nil {
		t.Fatal(err)
	}
	config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{
		{Name: pageTool, ParametersJsonSchema: schema(pageSchema)},
		{Name: recallTool.Name, Description: recallTool.Description, ParametersJsonSchema: schema(recallTool.Schema)},
	}}}}
	history := genai.Text("read the pages")
	for range pages + 2 {
		answer := &genai.Content{Role: "model"}
		for part, err := range client.Models.GenerateContentStream(t.Context(), "m", history, config) {
			if err != nil {
				t.Fatal(err)
			}
			answer.Parts = append(answer.Parts, part.Candidates[0].Content.Parts...)
		}
		history = append(history, answer)
		results := &genai.Content{Role: "user"}
		for _, p := range answer.Parts {
			if c := p.FunctionCall; c != nil {
				args, err := json.Marshal(c.Args)
				if err != nil {
					t.Fatal(err)
				}
				out := a.call(t.Context(), c.Name, string(args))
				results.Parts = append(results.Parts, genai.NewPartFromFunctionResponse(c.Name, map[string]any{"output": out}))
			}
		}
		if len(results.Parts) > 0 {
			history = append(history, results)
		}
	}
	a.check(s, history)
}
