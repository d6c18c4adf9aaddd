package wire

// The content of a tool result, as the dialects that have lists of blocks spell it: a
// string, or blocks with a type, of which those of text are the payload. What stands
// for it: a string stays a string; of a list the first text becomes the stub, later
// texts go, everything else stays in its order. A cache mark is never lost and never
// multiplied: four are allowed and a fifth is a 400, a missing one a cache that is not
// read.

import (
	"docket"
	"docket/compact"
)

// content is the content of a result.
type content struct {
	value span   // absent, or all of it
	parts []part // of a list
	doubt bool   // a member that matters stands there twice, or has a strange type
	arena *arena // what decoded texts are in
}

// part is one block of a content.
type part struct {
	span
	kind   string // its type
	text   span   // the value of "text"
	isText bool   // it is a block of text, with a text
	mark   span   // the value of its cache mark
	name   string // what the mark is called
}

// markNames are what cache marks are called.
var markNames = []string{"cache_control", "prompt_cache_breakpoint"}

// parse reads the next value into c.
func (c *content) parse(r *reader) error {
	c.arena = r.arena
	return r.elements(&c.value, &c.doubt, func() error { return c.parsePart(r) })
}

func (c *content) parsePart(r *reader) (err error) {
	var p part
	var kind span
	p.span, err = r.ifObject(func(name []byte) error {
		switch string(name) {
		case "type":
			return r.into(&kind, &c.doubt)
		case "text":
			return r.into(&p.text, &c.doubt)
		case markNames[0], markNames[1]:
			p.name = string(name)
			return r.into(&p.mark, &c.doubt)
		}
		return r.skip()
	})
	if err != nil {
		return err
	}
	if string(p.mark.of(r.src)) == "null" {
		p.mark = span{}
	}
	p.kind = str(kind.of(r.src))
	p.isText = (p.kind == "text" || p.kind == "input_text") && isString(p.text.of(r.src))
	c.parts = append(c.parts, p)
	return nil
}

// read derives the payload: a string as it is; of blocks the texts, joined by a
// newline, other blocks as attachments.
func (c content) read(src []byte) (r compact.Result) {
	value := c.value.of(src)
	lossy := false
	switch {
	case isString(value):
		r.Payload, lossy = text(value, c.arena)
		r.Size = int64(len(value))
	case len(value) > 0 && value[0] == '[':
		lossy = c.readParts(src, &r)
	case len(value) > 0 && string(value) != "null":
		c.doubt = true
	}
	switch {
	case c.doubt:
		r.Hold = compact.ReasonAmbiguous
	case lossy:
		r.Hold = compact.ReasonLossy
	case r.Hold == "" && len(r.Payload) == 0 && len(r.Attachments) > 0:
		r.Hold = compact.ReasonViewable
	}
	return r
}

// readParts reads a list of blocks into r and tells whether a text was lossy.
func (c content) readParts(src []byte, r *compact.Result) (lossy bool) {
	texts := 0
	for _, p := range c.parts {
		if !p.isText {
			r.Attachments = append(r.Attachments, docket.Attachment{Kind: p.kind, Data: p.of(src)})
			if p.kind == "tool_reference" {
				r.Hold = compact.ReasonReference
			}
			continue
		}
		s, bad := text(p.text.of(src), c.arena)
		r.Size += int64(len(p.text.of(src)))
		lossy = lossy || bad
		switch texts++; texts {
		case 1:
			r.Payload = s[:len(s):len(s)] // appending copies: s may alias the body
		case 2:
			r.Payload = append(append(append([]byte(nil), r.Payload...), '\n'), s...)
		default:
			r.Payload = append(append(r.Payload, '\n'), s...)
		}
	}
	return lossy
}

// continued is what a later text leaves when it must stay for its cache mark.
const continued = "(part of the result above)"

// edits returns what puts stub in the place of the texts of c.
func (c content) edits(src []byte, stub string) []edit {
	if isString(c.value.of(src)) {
		return []edit{{c.value, appendString(nil, stub)}}
	}
	first := c.firstText()
	hoist := c.hoistable(first)
	var edits []edit
	for i := first; i < len(c.parts); i++ {
		p := c.parts[i]
		switch {
		case i == first:
			edits = append(edits, edit{p.text, appendString(nil, stub)})
			if hoist > 0 {
				mark := append([]byte(`,"`+c.parts[hoist].name+`":`), c.parts[hoist].mark.of(src)...)
				edits = append(edits, edit{span{p.end - 1, p.end - 1}, mark})
			}
		case !p.isText:
		case p.mark.absent() || i == hoist:
			// from the end of the block before, so that its comma goes too
			edits = append(edits, edit{span: span{c.parts[i-1].end, p.end}})
		default:
			edits = append(edits, edit{p.text, appendString(nil, continued)})
		}
	}
	return edits
}

// firstText is the part that becomes the stub: a result that is stubbed has one.
func (c content) firstText() int {
	for i, p := range c.parts {
		if p.isText {
			return i
		}
	}
	return len(c.parts)
}

// hoistable returns the later text whose mark can move to the stub's block: the
// first marked part after it, if it is a text and the stub's block has no mark;
// otherwise 0. Clients move their marks from request to request; with the mark on
// the stub's own block the texts are the same bytes with and without it.
func (c content) hoistable(first int) int {
	if first >= len(c.parts) || !c.parts[first].mark.absent() {
		return 0
	}
	for i := first + 1; i < len(c.parts); i++ {
		if p := c.parts[i]; !p.mark.absent() {
			if p.isText {
				return i
			}
			return 0
		}
	}
	return 0
}
