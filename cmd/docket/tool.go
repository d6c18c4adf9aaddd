package main

import (
	"github.com/spf13/cobra"

	"docket"
	"docket/recall"
)

func (a *app) toolCommand() *cobra.Command {
	var format, name string
	c := verb("look", &cobra.Command{
		Use:   "tool [--format anthropic|openai|mcp] [--name NAME]",
		Short: "print the recall tool's specification, to paste into a request",
		Long: `Print the specification of the tool by which a model reads records: name,
description and JSON schema, as the provider's "tools" list takes it. It must be in
that list from the first request on: no tool, no stub.`,
	}, cobra.NoArgs)
	c.Flags().StringVar(&format, "format", "anthropic", "whose `shape`: anthropic, openai or mcp")
	c.Flags().StringVar(&name, "name", docket.DefaultRecallTool, "the tool's `name`")
	c.RunE = func(c *cobra.Command, _ []string) error {
		spec, err := recall.Tool{Name: name}.Spec(format)
		if err != nil {
			return usageError{err}
		}
		_, err = a.out.Write(append(spec, '\n'))
		return err
	}
	return c
}
