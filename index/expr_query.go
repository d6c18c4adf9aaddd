package index

// Queries: `#(price>10)`, in gjson's language and evaluated by gjson, of which this
// admits one comparison. Modifiers (`@dig` takes seconds), pipes, multipaths,
// wildcards and nested queries never reach gjson: the text is taken apart here and
// put together again from parts that cannot hold them.

import (
	"strings"

	"github.com/tidwall/gjson"
)

// queryMarks are characters that change what gjson does with a path. None may
// stand in a query outside of a quoted value.
const queryMarks = "\"'@|{}[]()!*?\\"

// query reads a query that begins with "#(" at pos.
func (p *parser) query() error {
	p.pos += len("#(")
	n := queryLen(p.text[p.pos:])
	if n < 0 {
		return p.fail("'#(' without ')'", `write #(key=="value")`)
	}
	text, problem := canonicalQuery(p.text[p.pos : p.pos+n])
	if problem != "" {
		return p.fail(problem, `write one comparison, #(key=="value") or #(count>10), or a key alone, #(key)`)
	}
	p.pos += n + 1
	s := Segment{Kind: SegmentQuery, Key: text}
	if p.at("#") {
		p.pos++
		s.Kind = SegmentFilter
	}
	if !p.done() && !p.at(".") && !p.at("[") {
		return p.fail("a dot is missing after the query", "")
	}
	return p.add(s)
}

// queryLen returns the number of bytes before the parenthesis that ends a query,
// -1 if none does.
func queryLen(text string) int {
	var quote byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && c == ')':
			return i
		}
	}
	return -1
}

// canonicalQuery returns the one spelling of a query: key, operator and value
// without space between them, "==" rather than "=", double quotes. It says what is
// wrong with a query that cannot be evaluated.
func canonicalQuery(text string) (canonical, problem string) {
	key, op, value := cutQuery(text)
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if strings.ContainsAny(key, queryMarks) || key == "" && op == "" {
		return "", "the query's key is not a plain path"
	}
	if op == "" {
		return key, ""
	}
	if value == "" {
		return "", "the query's value is missing"
	}
	if value[0] == '"' || value[0] == '\'' {
		word, n, ok := unquoteWord(value)
		if !ok || n != len(value) {
			return "", "the query's value is not one JSON string"
		}
		return key + op + string(appendQuote(nil, word)), ""
	}
	if strings.ContainsAny(value, queryMarks+"=<>%&") {
		return "", "the query's value is not a number, a word or a string in quotes"
	}
	return key + op + value, ""
}

// operators in an order in which no earlier one is a prefix of a later one.
var operators = []string{"==", "!=", "<=", ">=", "!%", "=", "<", ">", "%"}

// cutQuery cuts a query at its operator.
func cutQuery(text string) (key, op, value string) {
	i := strings.IndexAny(text, "!=<>%")
	if i < 0 {
		return text, "", ""
	}
	for _, op := range operators {
		if value, ok := strings.CutPrefix(text[i:], op); ok {
			if op == "=" {
				return text[:i], "==", value
			}
			return text[:i], op, value
		}
	}
	return text, "", ""
}

// queryMatcher evaluates one query, element by element, so that an array need not
// be in memory as a whole. Equal to what gjson says of the array that holds them.
type queryMatcher struct {
	path string
	buf  []byte
}

func newQueryMatcher(query string) *queryMatcher {
	return &queryMatcher{path: "#(" + query + ")"}
}

// holds tells whether the query holds for an element, valid JSON of at most
// [MaxDepth].
func (q *queryMatcher) holds(element []byte) bool {
	q.buf = append(append(append(q.buf[:0], '['), element...), ']')
	return gjson.GetBytes(q.buf, q.path).Exists()
}
