package main

import (
	"github.com/spf13/cobra"

	"docket"
	"docket/recall"
)

func (a *app) toolCommand() *cobra.Command {
	var format string
	var search bool
	tool := recall.Tool{}
	c := verb("look", &cobra.Command{
		Use:   "tool [--format anthropic|openai|mcp] [--name NAME] [--search]",
		Short: "print the recall tool's specification, to paste into a request",
		Long: `Print the specification of the tool by which a model reads records: name,
description and JSON schema, as the provider's "tools" list takes it. It must be in
that list from the first request on: no tool, no stub.`,
	}, cobra.NoArgs)
	c.Flags().StringVar(&format, "format", "anthropic", "whose `shape`: anthropic, openai or mcp")
	c.Flags().StringVar(&tool.Name, "name", docket.DefaultRecallTool, "the tool's `name`")
	c.Flags().BoolVar(&search, "search", false, "the tool that searches all records of the thread")
	c.RunE = func(c *cobra.Command, _ []string) error {
		spec := tool.RecallSpec()
		if search {
			if c.Flags().Changed("name") {
				tool.SearchName = tool.Name
			}
			spec = tool.SearchSpec()
		}
		appendSpec, ok := map[string]func([]byte) []byte{
			"anthropic": spec.AppendAnthropic, "openai": spec.AppendOpenAI, "mcp": spec.AppendMCP,
		}[format]
		if !ok {
			return usagef("--format is anthropic, openai or mcp, not %q", format)
		}
		_, err := a.out.Write(append(appendSpec(nil), '\n'))
		return err
	}
	return c
}
