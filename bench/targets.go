package bench

// What a workload asks of a payload. Targets are derived from the payload itself,
// whatever it is, so that the same workloads run over generated payloads and over
// a folder of recorded ones; each operation gets a target of its own, at a random
// place. A target that does not exist often enough in a payload gives fewer, or
// none: a workload without targets is left out of the results.

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"docket"
)

// target is one fetch: exactly one of path, query and chars is set.
type target struct {
	path  string // as docket spells it
	gjson string // the same path as gjson spells it
	query string
	// A range, in characters.
	offset, chars int64
}

// rangeChars is what one page of a payload is in the range workload.
const rangeChars = 2000

// picker picks targets from a payload.
type picker struct {
	*source
	payload []byte
	kind    docket.Kind
}

func newPicker(payload []byte, kind docket.Kind, seed uint64) *picker {
	return &picker{source: newSource(seed), payload: payload, kind: kind}
}

// fetchWorkload is a workload of fetches, named by what it asks for.
type fetchWorkload struct {
	workload string
	about    string
	pick     func(p *picker, n int) []target
}

// pickers are the fetch workloads, in the order of a report.
var pickers = []fetchWorkload{
	{"path", "one value, by its JSON path", (*picker).paths},
	{"range", "2,000 characters from an offset", (*picker).ranges},
	{"query-once", "an identifier that occurs once", (*picker).identifiers},
	{"query-substring", "12 characters that occur once", (*picker).substrings},
	{"query-common", "a word that occurs often", (*picker).common},
	{"query-absent", "an identifier that does not occur", (*picker).absent},
}

// ranges picks pages at random offsets.
func (p *picker) ranges(n int) []target {
	total := utf8.RuneCount(p.payload)
	var out []target
	for range n {
		out = append(out, target{offset: int64(p.below(max(total-rangeChars, 1))), chars: rangeChars})
	}
	return out
}

// identifiers picks words of ten bytes or more with a letter and a digit in them
// that occur once.
func (p *picker) identifiers(n int) []target {
	return p.queries(n, func(at int) []byte {
		word := wordAt(p.payload, at)
		if len(word) < 10 || len(word) > 64 || !isIdentifier(word) || !p.once(word) {
			return nil
		}
		return word
	})
}

// substrings picks twelve characters, wherever they begin, that occur once.
func (p *picker) substrings(n int) []target {
	return p.queries(n, func(at int) []byte {
		at = charStart(p.payload, at)
		s := p.payload[at : at+skipChars(p.payload[at:], 12)]
		if utf8.RuneCount(s) < 12 || !utf8.Valid(s) || !p.once(s) {
			return nil
		}
		return s
	})
}

// common picks words that occur as often as an answer has matches, in a small
// payload once a kilobyte.
func (p *picker) common(n int) []target {
	often := min(maxMatches, max(2, len(p.payload)>>10))
	return p.queries(n, func(at int) []byte {
		word := wordAt(p.payload, at)
		if len(word) < 3 || len(word) > 64 || !occurs(p.payload, word, often) {
			return nil
		}
		return word
	})
}

// absent picks identifiers of sixteen characters that do not occur.
func (p *picker) absent(n int) []target {
	return p.queries(n, func(int) []byte {
		id := p.appendID(nil, 16)
		if bytes.Contains(p.payload, id) {
			return nil
		}
		return id
	})
}

// queries calls try with random places until it has given n queries, or twenty
// times as many failures.
func (p *picker) queries(n int, try func(at int) []byte) []target {
	var out []target
	for failed := 0; len(out) < n && failed < 20*n && len(p.payload) > 0; {
		q := try(p.below(len(p.payload)))
		if q == nil {
			failed++
			continue
		}
		out = append(out, target{query: string(q)})
	}
	return out
}

func (p *picker) once(s []byte) bool {
	i := bytes.Index(p.payload, s)
	return i >= 0 && !bytes.Contains(p.payload[i+1:], s)
}

// occurs tells whether s occurs in payload n times or more.
func occurs(payload, s []byte, n int) bool {
	for range n {
		i := bytes.Index(payload, s)
		if i < 0 {
			return false
		}
		payload = payload[i+len(s):]
	}
	return true
}

// wordAt returns the word that at lies in, empty if it lies in none.
func wordAt(b []byte, at int) []byte {
	from, to := at, at
	for from > 0 && isWord(b[from-1]) {
		from--
	}
	for to < len(b) && isWord(b[to]) {
		to++
	}
	return b[from:to]
}

func isWord(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '-' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isIdentifier(word []byte) bool {
	letter := slices.ContainsFunc(word, isLetter)
	return letter && slices.ContainsFunc(word, isDigit)
}

// paths picks scalars at random places of a JSON or NDJSON payload, in one pass.
// A path that means something else in a second reading (a repeated or an empty
// key) is left out.
func (p *picker) paths(n int) []target {
	if p.kind != docket.KindJSON && p.kind != docket.KindNDJSON {
		return nil
	}
	at := make([]int, n)
	for i := range at {
		at[i] = p.below(len(p.payload))
	}
	slices.Sort(at)
	out := slices.DeleteFunc(p.scalars(at), func(t target) bool { return t.path == "" })
	p.shuffle(out)
	return out
}

// scalars returns the first scalar at or after each of the ascending places.
func (p *picker) scalars(at []int) []target {
	dec := jsontext.NewDecoder(bytes.NewReader(p.payload), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var out []target
	for line := 0; len(at) > 0; {
		value, ok, err := nextScalar(dec)
		if err != nil {
			return out // io.EOF, or no JSON after all
		}
		if end := int(dec.InputOffset()); ok && end > at[0] {
			out = append(out, p.pathTarget(line, dec.StackPointer(), value))
			for len(at) > 0 && at[0] < end {
				at = at[1:]
			}
		}
		if dec.StackDepth() == 0 {
			line++
		}
	}
	return out
}

// nextScalar reads one token; ok tells that it was a scalar and not a name.
func nextScalar(dec *jsontext.Decoder) (value []byte, ok bool, err error) {
	kind, length := dec.StackIndex(dec.StackDepth())
	name := kind == '{' && length%2 == 0
	switch dec.PeekKind() {
	case '{', '}', '[', ']':
		_, err = dec.ReadToken()
		return nil, false, err
	case 0:
		_, err = dec.ReadToken()
		return nil, false, cmp.Or(err, io.ErrUnexpectedEOF)
	}
	value, err = dec.ReadValue()
	return value, !name, err
}

// pathTarget spells the path of a scalar in both ways and checks that gjson
// finds the scalar there.
func (p *picker) pathTarget(line int, pointer jsontext.Pointer, value []byte) target {
	if pointer == "" {
		return target{}
	}
	var dotted, other []string
	for token := range pointer.Tokens() {
		dotted, other = append(dotted, token), append(other, gjson.Escape(token))
	}
	t := target{path: string(pointer), gjson: strings.Join(other, ".")}
	if plainTokens(dotted) {
		t.path = strings.Join(dotted, ".")
	}
	if p.kind == docket.KindNDJSON {
		t.path = strconv.Itoa(line) + "." + strings.Join(dotted, ".")
		t.gjson = ".." + strconv.Itoa(line) + "." + t.gjson
		if !plainTokens(dotted) {
			return target{}
		}
	}
	// In a large payload the check would cost more than the workload; large ones
	// are generated and have no such keys.
	if len(p.payload) < 8<<20 && !bytes.Equal(cutPath(p.payload, t.gjson), value) {
		return target{}
	}
	return t
}

// plainTokens tells whether the tokens can stand in a dotted path as they are.
func plainTokens(tokens []string) bool {
	return !slices.ContainsFunc(tokens, func(s string) bool {
		return s == "" || strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) })
	})
}

func (p *picker) shuffle(ts []target) {
	for i := range ts {
		j := i + p.below(len(ts)-i)
		ts[i], ts[j] = ts[j], ts[i]
	}
}
