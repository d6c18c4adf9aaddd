package recall

// The arguments of the model's tool. Models send numbers as strings, null for what
// they leave out, other spellings of names, and objects wrapped in a string: all
// of that is understood. What cannot be understood becomes a text, never an error,
// and nothing that is understood depends on the order of the members.

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"docket"
)

// arguments is what a model sent.
type arguments struct {
	values map[string]any // by normalised name, what is absent left out
	err    error          // the first argument that could not be understood: a [*RequestError]
}

// aliases are the names under which an argument is found, normalised, the proper
// one first.
var aliases = map[string][]string{
	"mem_id":      {"memid", "id", "mem", "memoryid"},
	"format":      {"format"},
	"query":       {"query", "substring", "q"},
	"ignore_case": {"ignorecase", "caseinsensitive"},
	"window":      {"window"},
	"max_matches": {"maxmatches"},
	"offset":      {"offset", "start"},
	"max_chars":   {"maxchars", "limit", "length"},
	"json_path":   {"jsonpath", "path"},
	"max_records": {"maxrecords", "limit"},
	"after":       {"after"},
}

// parseArguments reads a JSON object, or a string that holds one; a plain string
// is a mem id or a query, whatever the tool's first argument is called.
func parseArguments(text []byte, first string) arguments {
	return objectArguments(decode(text), first, 2)
}

// decode returns the JSON value of text, text itself if it is none.
func decode(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return strings.TrimSpace(string(text))
	}
	return v
}

func objectArguments(v any, first string, depth int) arguments {
	switch v := v.(type) {
	case map[string]any:
		return normalised(v)
	case []any:
		if len(v) > 0 && depth > 0 {
			return objectArguments(v[0], first, depth-1)
		}
	case string:
		if strings.HasPrefix(strings.TrimSpace(v), "{") && depth > 0 {
			if inner, ok := decode([]byte(v)).(map[string]any); ok {
				return normalised(inner)
			}
		}
		return arguments{values: map[string]any{aliases[first][0]: v}}
	}
	return arguments{}
}

// normalised drops what is absent and spells names without case and separators. Of
// two spellings of a name the first in byte order counts.
func normalised(object map[string]any) arguments {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	out := map[string]any{}
	strip := strings.NewReplacer("_", "", "-", "", " ", "")
	for _, name := range names {
		short := strings.ToLower(strip.Replace(name))
		if _, taken := out[short]; !taken && object[name] != nil && object[name] != "" {
			out[short] = object[name]
		}
	}
	return arguments{values: out}
}

// value returns the argument called name, nil if it is absent.
func (a *arguments) value(name string) any {
	for _, alias := range aliases[name] {
		if v, ok := a.values[alias]; ok {
			return v
		}
	}
	return nil
}

// text returns an argument as text: a number or a boolean as it was spelled,
// "" for an absent one.
func (a *arguments) text(name string) string {
	switch v := a.value(name).(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return ""
	default:
		spelled, _ := json.Marshal(v)
		return string(spelled)
	}
}

// flag returns an argument as a boolean.
func (a *arguments) flag(name string) bool {
	switch strings.ToLower(strings.TrimSpace(a.text(name))) {
	case "true", "1", "yes", "on", "y":
		return true
	}
	return false
}

// number returns an argument as a whole number, rounded towards zero; given tells
// whether it is there and is one.
func (a *arguments) number(name string) (n int64, given bool) {
	text := strings.TrimSpace(a.text(name))
	if text == "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) || math.IsNaN(f) {
		if a.err == nil {
			a.err = &RequestError{name, "it is a whole number, not " + quote(text)}
		}
		return 0, false
	}
	return int64(max(-maxNumber, min(maxNumber, f))), true
}

// limit returns an argument that is a limit of at most most, and otherwise where it
// is absent or says nothing.
func (a *arguments) limit(name string, otherwise int, most int64) int {
	if n, given := a.number(name); given && n > 0 {
		return int(min(n, most))
	}
	return otherwise
}

// window returns how many characters are shown either side of a match, as in a
// [Request]: none for 0.
func (a *arguments) window(otherwise int, most int64) int {
	if n, given := a.number("window"); given && n <= 0 {
		return -1
	}
	return a.limit("window", otherwise, most)
}

// maxNumber is the largest number that is told apart: every integer up to it is a
// float64.
const maxNumber = 1 << 53

// cleanID strips what models put around a mem id.
func cleanID(s string) docket.MemID {
	s = strings.Trim(s, " \t\r\n\"'`<>[](),.;")
	for _, prefix := range []string{"docket://record/", "mem_id=", "mem=", "mem:"} {
		s = strings.TrimPrefix(s, prefix)
	}
	return docket.MemID(strings.ToLower(strings.Trim(s, " \"'`")))
}
