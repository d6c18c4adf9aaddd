package recall

// The specifications of the tools, as bytes to paste into any SDK's list of tools.
// They are fixed: a tool list that changes between requests costs the whole prompt
// cache. Types are permissive, since some clients validate arguments before the
// tool sees them, and it understands what models send instead (args.go).

import (
	"encoding/json"
	"strconv"
)

// Spec is the specification of one tool.
type Spec struct {
	Name        string
	Description string // what it does, and how and when to use it
	Schema      string // JSON Schema of its arguments
}

// schemas: the members of each are in the order in which a model should think of
// them.
const (
	recallSchema = `{"type":"object","properties":{` +
		`"mem_id":{"type":"string","description":"The 16 characters after mem= in the stub."},` +
		`"query":{"type":["string","null"],"description":"Plain substring to find; the text around each match comes back."},` +
		`"json_path":{"type":["string","null"],"description":"Part of a JSON result, for example items[0].name, items[-1], items[20:40], items[*].id."},` +
		`"offset":{"type":["integer","string","null"],"description":"Character at which a range or a search begins; 0 is the first."},` +
		`"max_chars":{"type":["integer","string","null"],"description":"Most characters to return."},` +
		`"format":{"type":["string","null"],"enum":["summary","full",null],"description":"Without query, json_path, offset and max_chars: the stub again (summary, default) or the text from its beginning (full)."},` +
		`"ignore_case":{"type":["boolean","string","null"],"description":"Query matches upper and lower case alike."},` +
		`"window":{"type":["integer","string","null"],"description":"Characters shown either side of a match."},` +
		`"max_matches":{"type":["integer","string","null"],"description":"Most matches to show."}` +
		`},"required":["mem_id"]}`
	searchSchema = `{"type":"object","properties":{` +
		`"query":{"type":["string","null"],"description":"Plain substring to find. Without it the results are listed."},` +
		`"ignore_case":{"type":["boolean","string","null"],"description":"Match upper and lower case alike."},` +
		`"max_records":{"type":["integer","string","null"],"description":"Most results to show."},` +
		`"after":{"type":["integer","string","null"],"description":"Continue after this position, as an earlier answer says."},` +
		`"window":{"type":["integer","string","null"],"description":"Characters shown either side of a match."},` +
		`"max_matches":{"type":["integer","string","null"],"description":"Most matches to show of one result."}` +
		`}}`
)

// RecallSpec returns the specification of the tool that [Tool.Call] answers.
func (t Tool) RecallSpec() Spec {
	t = t.filled()
	return Spec{t.Name, "Reads back a tool result that a stub ([docket.tool_memory v1]) replaced. The call succeeded and its whole result is kept: read it here instead of calling that tool again. " +
		"Pass the stub's mem_id and the smallest slice that answers the question: query for the text around each occurrence of a substring, " +
		"json_path for a part of a JSON result (the stub's schema line shows its shape), offset and max_chars for a range of characters, " +
		"or format=full for the text from its beginning. They combine: json_path selects, query searches inside what it selected, offset and max_chars page through it. " +
		"One answer shows at most " + strconv.FormatInt(t.MaxChars, 10) + " characters; its first line says what it covers and, if there is more, the offset to continue at with the other arguments unchanged. " +
		"Offsets count Unicode characters. Use " + t.SearchName + " when you do not know which result holds something.", recallSchema}
}

// SearchSpec returns the specification of the tool that [Tool.SearchCall] answers.
func (t Tool) SearchSpec() Spec {
	t = t.filled()
	return Spec{t.SearchName, "Finds which earlier tool results of this conversation contain a substring, including results that were replaced by a stub, and shows the text around the first matches. " +
		"Each result is named by its mem_id: read more of it with " + t.Name + ". Without a query it lists the results, oldest first.", searchSchema}
}

// AppendAnthropic appends the tool for the Messages API:
// {name, description, input_schema}.
func (s Spec) AppendAnthropic(dst []byte) []byte { return s.append(dst, "input_schema") }

// AppendMCP appends the tool for the Model Context Protocol:
// {name, description, inputSchema}.
func (s Spec) AppendMCP(dst []byte) []byte { return s.append(dst, "inputSchema") }

// AppendOpenAI appends the tool for Chat Completions:
// {type, function: {name, description, parameters}}.
func (s Spec) AppendOpenAI(dst []byte) []byte {
	dst = append(dst, `{"type":"function","function":`...)
	return append(s.append(dst, "parameters"), '}')
}

func (s Spec) append(dst []byte, schema string) []byte {
	dst = appendString(append(dst, `{"name":`...), s.Name)
	dst = appendString(append(dst, `,"description":`...), s.Description)
	dst = append(append(append(dst, `,"`...), schema...), `":`...)
	return append(append(dst, s.Schema...), '}')
}

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	quoted, _ := json.Marshal(s) // a string cannot fail
	return append(dst, quoted...)
}
