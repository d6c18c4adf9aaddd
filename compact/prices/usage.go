package prices

// What providers report of a request, in each dialect's words.

import (
	"github.com/tidwall/gjson"

	"docket/compact/planner"
)

// Usage is how the tokens of one request were charged. No token is in two of them.
type Usage struct {
	Input   int64 `json:"input"`    // neither read from the cache nor put there
	Write   int64 `json:"write"`    // put into the cache
	Write1h int64 `json:"write_1h"` // and for an hour
	Read    int64 `json:"read"`     // from the cache
	Output  int64 `json:"output"`
}

// Total returns all tokens of input.
func (u Usage) Total() int64 { return u.Input + u.Write + u.Write1h + u.Read }

// Billed returns the input in tokens of uncached input that would cost the same.
func (u Usage) Billed(r planner.Rates) float64 {
	return float64(u.Input) + r.Write*float64(u.Write+u.Write1h) + r.Read*float64(u.Read)
}

// ParseUsage returns the usage of a response body, or of an event of its stream, in the named
// dialect; false if it has none. Numbers that make no sense count as none.
func ParseUsage(dialect string, body []byte) (u Usage, ok bool) {
	read := usages[dialect]
	if read == nil || !gjson.ValidBytes(body) {
		return u, false
	}
	root := gjson.ParseBytes(body)
	for _, path := range []string{"usage", "usageMetadata", "message.usage", "response.usage", "metadata.usage"} {
		if v := root.Get(path); v.IsObject() {
			u = read(v)
			return u, u.Input >= 0 && u.Write >= 0 && u.Write1h >= 0 && u.Read >= 0 && u.Output >= 0 && u != Usage{}
		}
	}
	return u, false
}

var usages = map[string]func(gjson.Result) Usage{
	"anthropic": func(v gjson.Result) Usage {
		u := Usage{
			Input: v.Get("input_tokens").Int(), Write: v.Get("cache_creation_input_tokens").Int(),
			Read: v.Get("cache_read_input_tokens").Int(), Output: v.Get("output_tokens").Int(),
		}
		if hour := v.Get("cache_creation.ephemeral_1h_input_tokens").Int(); hour > 0 && hour <= u.Write {
			u.Write, u.Write1h = u.Write-hour, hour
		}
		return u
	},
	"chat": func(v gjson.Result) Usage {
		return ofTotal(v.Get("prompt_tokens").Int(), v.Get("prompt_tokens_details"), v.Get("completion_tokens").Int())
	},
	"responses": func(v gjson.Result) Usage {
		return ofTotal(v.Get("input_tokens").Int(), v.Get("input_tokens_details"), v.Get("output_tokens").Int())
	},
	"gemini": func(v gjson.Result) Usage {
		read := v.Get("cachedContentTokenCount").Int()
		out := v.Get("candidatesTokenCount").Int() + v.Get("thoughtsTokenCount").Int()
		return Usage{Input: v.Get("promptTokenCount").Int() - read, Read: read, Output: out}
	},
	"converse": func(v gjson.Result) Usage {
		return Usage{
			Input: v.Get("inputTokens").Int(), Write: v.Get("cacheWriteInputTokens").Int(),
			Read: v.Get("cacheReadInputTokens").Int(), Output: v.Get("outputTokens").Int(),
		}
	},
}

// ofTotal takes apart a total of which the details say what was cached, as OpenAI reports it.
func ofTotal(total int64, details gjson.Result, output int64) Usage {
	u := Usage{Read: details.Get("cached_tokens").Int(), Write: details.Get("cache_write_tokens").Int(), Output: output}
	u.Input = total - u.Read - u.Write
	return u
}
