package wire

// The thread of a request that nobody named one for. It has to be the same for every
// request of a conversation, whatever the client does to its old messages, and another one
// for every other conversation: also for the parts of a session that its subagents have.

import (
	"crypto/sha256"
	"encoding/base32"
	"io"
	"net/http"
	"strings"

	"docket"
	"docket/compact"
)

// credentials are the headers that tell callers apart. Their values are hashed, and kept
// nowhere.
var credentials = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}

// session is the header in which Claude Code names its session.
const session = "X-Claude-Code-Session-Id"

// threadOf returns the thread of a request; named is what its header says.
func (o HTTPOptions) threadOf(r *http.Request, named docket.ThreadID, body []byte, p *parsed) docket.ThreadID {
	if o.Thread != nil {
		if thread := o.Thread(r, body); thread != "" {
			return thread
		}
	}
	if named != "" {
		return named
	}
	if thread, _ := r.Context().Value(threadKey{}).(docket.ThreadID); thread != "" {
		return thread
	}
	h := sha256.New()
	field := func(s string) { io.WriteString(h, s); h.Write([]byte{0}) }
	field("docket thread 1")
	for _, name := range credentials {
		field(r.Header.Get(name))
	}
	field(r.Header.Get(session))
	field(p.cacheKey())
	for _, text := range p.firstWords() {
		field(text)
	}
	return docket.ThreadID("auto-" + strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil)[:15])))
}

// cacheKey returns what OpenAI's clients name the session by.
func (p *parsed) cacheKey() (key string) {
	p.around(func(r *reader, name []byte) error {
		if string(name) != "prompt_cache_key" {
			return r.skip()
		}
		s, err := r.value()
		if err == nil {
			key = str(s.of(r.src))
		}
		return err
	})
	return key
}

// firstWords returns the texts of the first message in which the user speaks, without
// reminders.
func (p *parsed) firstWords() (texts []string) {
	for i, m := range p.messages {
		if m.Role != compact.RoleUser || !m.Speaks {
			continue
		}
		r := newReader(p.spans[i].of(p.src))
		_ = r.texts(&texts, "")
		return texts
	}
	return nil
}

// texts consumes the next value and collects the texts in it: strings that are the content
// or the text of something.
func (r *reader) texts(into *[]string, name string) error {
	switch r.next() {
	case '{':
		_, err := r.object(func(member []byte) error { return r.texts(into, string(member)) })
		return err
	case '[':
		var all span
		var doubt bool
		return r.elements(&all, &doubt, func() error { return r.texts(into, name) })
	case '"':
		s, err := r.value()
		if v := s.of(r.src); err == nil && (name == "text" || name == "content") && !isReminder(v[1:len(v)-1]) {
			*into = append(*into, str(v))
		}
		return err
	}
	return r.skip()
}
