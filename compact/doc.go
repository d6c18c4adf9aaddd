// Package compact is the decision which tool results go out as stubs.
//
// # Terms
//
// A stub is the text that replaces a payload on the wire; a wire view is the
// messages as the provider gets them. An epoch is a set of results stubbed at
// once, the cut the earliest message that it changes. A result is exposed once
// the model has answered a request that held it.
package compact
