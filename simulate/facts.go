package simulate

// Facts at risk: what the model says next and could only have read in a result that went
// out as a stub. Recorded answers were given with everything in view, so such a fact is
// one that the model would have had to recall, or to know otherwise.

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Facts counts the identifiers ([identifiers]) that answers of the model use, calls
// included; each once an answer.
type Facts struct {
	// Used: a result before the answer held it, as a word of its own.
	Used int `json:"facts_used"`
	// AtRisk: of those, nothing in the view that was answered but stubs can have it.
	AtRisk int `json:"facts_at_risk"`
	// InStub: of those, a stub in the view shows it.
	InStub int `json:"facts_in_stub"`
}

// facts follows the views of one conversation.
type facts struct {
	Facts
	transcript *Transcript
	places     []holder
	of         [][]int          // by message: its places
	held       map[string][]int // by identifier: the results that hold it
	found      map[string][]int // by identifier, once it was asked for: the places whose text has it
}

// holder is a part of a conversation that can hold a fact: a result, or what else a message
// says, or what stands beside the messages.
type holder struct {
	message int // -1: beside them
	text    string
	result  bool
	raw     string // of a result
	stub    string // what stands in its place, once something does
}

func newFacts(t *Transcript) *facts {
	f := &facts{transcript: t, held: map[string][]int{}, found: map[string][]int{}}
	body := t.conv.Request(0)
	f.add(holder{message: -1, text: words(gjson.ParseBytes(withoutMember(body, places[t.Dialect].list)), true)})
	for i, m := range t.conv.Messages {
		f.of = append(f.of, nil)
		list := listOf(m.Bytes)
		rest, results := takeApart(t.Dialect, list)
		f.of[i] = append(f.of[i], f.add(holder{message: i, text: words(gjson.Parse(rest), false)}))
		for _, p := range results {
			n := f.add(holder{message: i, text: words(p, true), result: true, raw: p.Raw})
			f.of[i] = append(f.of[i], n)
			for id := range identifiers(f.places[n].text) {
				f.held[id] = append(f.held[id], n)
			}
		}
	}
	return f
}

func (f *facts) add(h holder) int {
	f.places = append(f.places, h)
	return len(f.places) - 1
}

// listOf makes a list of a message, or run of messages, as it stands in a body.
func listOf(message []byte) gjson.Result {
	return gjson.Parse("[" + string(message) + "]")
}

// takeApart returns a list of messages without the payloads of its results, and these.
func takeApart(dialect string, list gjson.Result) (rest string, results []gjson.Result) {
	results = payloads(dialect, list)
	var b strings.Builder
	at := 0
	for _, p := range results {
		b.WriteString(list.Raw[at:p.Index] + `""`)
		at = p.Index + len(p.Raw)
	}
	b.WriteString(list.Raw[at:])
	return b.String(), results
}

// withoutMember returns an object without the member of the given name.
func withoutMember(object []byte, name string) []byte {
	v := gjson.GetBytes(object, name)
	if v.Index == 0 {
		return object
	}
	return slices.Concat(object[:v.Index], []byte("null"), object[v.Index+len(v.Raw):])
}

// see counts the facts of the answer to a view.
func (f *facts) see(v view) {
	for i, m := range v.messages {
		if !bytes.Equal(m, f.transcript.conv.Messages[i].Bytes) {
			f.stubs(i, m)
		}
	}
	said := map[string]bool{}
	for i := len(v.messages); i < len(f.of) && f.transcript.conv.Messages[i].Answer; i++ {
		for id := range identifiers(f.places[f.of[i][0]].text) {
			said[id] = true
		}
	}
	for id := range said {
		f.count(id, len(v.messages))
	}
}

// stubs takes in a message that went out changed.
func (f *facts) stubs(i int, m []byte) {
	for at, p := range payloads(f.transcript.Dialect, listOf(m)) {
		if at+1 < len(f.of[i]) && f.places[f.of[i][at+1]].raw != p.Raw {
			f.places[f.of[i][at+1]].stub = words(p, false)
		}
	}
}

// count counts an identifier of the answer to the first n messages.
func (f *facts) count(id string, n int) {
	held, whole := false, false
	for _, at := range f.held[id] {
		if p := f.places[at]; p.message < n {
			held, whole = true, whole || p.stub == ""
		}
	}
	if !held {
		return
	}
	if f.Used++; whole || f.elsewhere(id, n) {
		return
	}
	f.AtRisk++
	for _, p := range f.places {
		if p.message < n && p.stub != "" && strings.Contains(p.stub, id) {
			f.InStub++
			return
		}
	}
}

// elsewhere tells whether the text of anything in the first n messages, or beside them,
// that is no stub has id.
func (f *facts) elsewhere(id string, n int) bool {
	found, asked := f.found[id]
	if !asked {
		for at, p := range f.places {
			if strings.Contains(p.text, id) {
				found = append(found, at)
			}
		}
		f.found[id] = found
	}
	return slices.ContainsFunc(found, func(at int) bool {
		p := f.places[at]
		return p.message < n && p.stub == ""
	})
}

// technical are members of messages that say nothing to the model, or not in words.
var technical = map[string]bool{
	"type": true, "role": true, "id": true, "tool_use_id": true, "tool_call_id": true, "call_id": true, "toolUseId": true,
	"signature": true, "thoughtSignature": true, "encrypted_content": true, "data": true,
}

// words returns the strings and numbers in v, decoded, a line each; JSON in a string is
// read too. In a payload the names of members count, and every member.
func words(v gjson.Result, payload bool) string {
	var b strings.Builder
	addWords(&b, v, payload, 0)
	return b.String()
}

// maxNested is how deep words looks: deeper text counts as it stands.
const maxNested = 64

func addWords(b *strings.Builder, v gjson.Result, payload bool, depth int) {
	switch {
	case depth < maxNested && (v.IsObject() || v.IsArray()):
		v.ForEach(func(key, value gjson.Result) bool {
			if !payload && technical[key.Str] {
				return true
			}
			if payload && key.Type == gjson.String {
				b.WriteString(key.Str + "\n")
			}
			addWords(b, value, payload, depth+1)
			return true
		})
	case v.Type == gjson.String && depth < maxNested && isJSON(v.Str):
		addWords(b, gjson.Parse(v.Str), payload, depth+1)
	case v.Type == gjson.String:
		b.WriteString(v.Str + "\n")
	default:
		b.WriteString(v.Raw + "\n")
	}
}
