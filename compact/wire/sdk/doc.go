// Package sdk runs docket in the clients that people use: Anthropic's SDK for Go in both
// major versions, OpenAI's, and Google's, each through a loop of tool calls against a
// scripted provider. It is a module of its own so that docket imports none of them.
//
// Each example is the one line that a program needs.
package sdk
