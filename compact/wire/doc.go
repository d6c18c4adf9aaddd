// Package wire is the splicer of request bodies: JSON in, the same bytes out but
// for the results that became stubs.
//
// A [Dialect] is one provider's format: [Anthropic] is that of the Messages API, [Chat]
// and [Responses] are OpenAI's, [Gemini] is Google's, [Converse] Bedrock's.
// [Detect] tells which one a body is in. Which results become stubs is decided in
// package compact; here is what of a body is a call, a result, a payload, and which
// bytes replace it.
//
// # Terms
//
// A dialect is one provider's format. A span is a range of bytes of a body, an edit
// the replacement of a span. A cache mark is a cache_control member.
//
// # Guarantees
//
// Output minus edits is input minus edits, byte for byte: key order, escapes,
// numbers, white space, unknown members, duplicate names. Edits lie only inside the
// content of results: of tool_result blocks of user messages, of tool messages, of
// function_call_output items and their kin, of functionResponse and toolResult. Beside
// them there are only the cache marks that an epoch asks for, in the Anthropic dialect;
// a client's own are never lost and never multiplied. Without an edit it is the argument
// itself that comes back. A body that is not what the dialect knows is not touched, and
// neither is a result that could be read in two ways.
//
// The payload of a result is its content if that is a string, else its text blocks
// joined by a newline; other blocks stay where they are and are recorded as
// attachments. Of Gemini and Converse a JSON value is the payload, in its own bytes. A
// result without text has size 0: it is not recorded and stays. The stub takes the
// place of the string or of the first text block; later text blocks go, unless a second
// cache mark must stay where it is, for which a fixed short text is left. Where the
// format wants an object the stub is its one member.
//
// # Caveats
//
// A body's own tools are searched for docket.DefaultRecallTool, exact or after a
// prefix that ends in no letter or digit; Options.RecallTool names one that the
// body does not show. Without either results are recorded and stay whole. The tool
// is never added: a client that toggles its tools pays for the whole prompt again.
//
// Where the history is the provider's (previous_response_id, conversation, cachedContent,
// a thread that continues) or the provider clears results itself, results are recorded
// and stay whole.
//
// Bodies nested deeper than jsontext allows (10,000) are not touched.
//
// # Concurrency
//
// Dialects are plain data and safe for concurrent use, and so is a [Chains].
//
// # Where to read next
//
// dialect.go has what all dialects share, content.go the content of a result; of
// Messages, anthropic.go reads, anthropic_mark.go sets cache marks, anthropic_mend.go
// keeps requests acceptable; chat.go, responses.go, gemini.go and
// converse.go are a dialect each. reader.go and splice.go are below them. chain.go is
// what a long-lived process remembers, canonical.go what it compares.
package wire
