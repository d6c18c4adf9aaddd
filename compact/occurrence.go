package compact

// One place in a transcript where a result stands, and what a run finds out about
// it. Call ids repeat in practice with other payloads, so nothing here is keyed by
// a call id alone.

import (
	"encoding/binary"
	"unicode/utf8"

	"docket"
)

// state is what an occurrence was recognised as.
type state uint8

const (
	statePlain  state = iota
	stateStub         // the client's history holds our stub
	stateAnswer       // the output of the recall tool
)

// occurrence is a result on its way through a run.
type occurrence struct {
	Decision
	result    docket.Result // with tool and arguments of its call
	hold      Reason
	size      int64 // of the payload in the message, in bytes; 0: as many as it has
	at        int   // position in its message
	round     int   // how many runs of assistant messages precede it
	state     state
	protected bool
	withheld  bool
	key       docket.MemID  // what the log knows it by; empty: unknown
	handle    docket.Handle // what its stub is made from, when key is set
	text      []byte        // its stub, once it was made
	form      docket.Form   // and in what form
}

// stub returns the stub of o, made once for each form.
func (o *occurrence) stub(form docket.Form) []byte {
	if o.text == nil || o.form != form {
		o.text, o.form = o.handle.AppendStub(nil, form), form
	}
	return o.text
}

// gains tells whether the stub of o is worth it.
func (o *occurrence) gains(form docket.Form) bool { return o.handle.StubGains(o.stub(form)) }

// flatten lists the results of messages, each with the call that it answers: the
// nearest before it that has its id.
func flatten(messages []Message) []occurrence {
	var list []occurrence
	calls := map[docket.CallID]docket.Call{}
	round, speaking := 0, false
	for i, m := range messages {
		if m.Role == RoleAssistant && !speaking {
			round++
		}
		speaking = m.Role == RoleAssistant
		for _, c := range m.Calls {
			calls[c.ID] = c
		}
		for at, res := range m.Results {
			o := occurrence{result: res.Result, hold: res.Hold, size: res.Size, at: at, round: round}
			o.result.Call = fillCall(res.Call, calls)
			o.Decision = Decision{Index: len(list), Message: i, CallID: res.ID, Tool: o.result.Tool, Size: chars(res.Payload)}
			list = append(list, o)
		}
	}
	return list
}

// fillCall adds to c what the call with its id knows (P10).
func fillCall(c docket.Call, calls map[docket.CallID]docket.Call) docket.Call {
	call, known := calls[c.ID]
	known = known && c.ID != ""
	if c.Tool == "" && known {
		c.Tool = call.Tool
	}
	if c.Tool == "" {
		c.Tool = docket.UnknownTool
	}
	if c.Args == nil && known {
		c.Args = call.Args
	}
	return c
}

// chars counts characters: each byte that is not part of valid UTF-8 is one. Most payloads
// are ASCII, or begin with much of it.
func chars(payload []byte) int64 {
	n := 0
	for len(payload)-n >= 8 && binary.LittleEndian.Uint64(payload[n:])&0x8080808080808080 == 0 {
		n += 8
	}
	return int64(n + utf8.RuneCount(payload[n:]))
}

// answered returns the position after the last assistant message: what stands
// from there on the model has not been sent yet.
func answered(messages []Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == RoleAssistant {
			return i + 1
		}
	}
	return 0
}

// turnBoundary returns the last user message that says something itself, 0 if
// there is none.
func turnBoundary(messages []Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == RoleUser && messages[i].Speaks {
			return i
		}
	}
	return 0
}
