package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"docket"
	"docket/compact"
	"docket/engine"
)

// upstream is a provider that keeps what it got.
type upstream struct {
	*httptest.Server
	mu     sync.Mutex
	bodies [][]byte
	heads  []http.Header
	sizes  []int64
}

func newUpstream(t *testing.T) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		u.mu.Lock()
		defer u.mu.Unlock()
		if err == nil {
			u.bodies, u.heads, u.sizes = append(u.bodies, body), append(u.heads, r.Header), append(u.sizes, r.ContentLength)
		}
		fmt.Fprint(w, "answer")
	}))
	t.Cleanup(u.Close)
	return u
}

// last is the newest body, and its header.
func (u *upstream) last() ([]byte, http.Header) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.bodies) == 0 {
		return nil, nil
	}
	return u.bodies[len(u.bodies)-1], u.heads[len(u.heads)-1]
}

// talk is an Anthropic body with one large result that is stale.
func talk(words string) []byte {
	return request(`"max_tokens":9,`+tools, `,"content":"`+strings.Repeat(words+" of it ", 900)+`"`)
}

func service() *compact.Service {
	l := engine.NewMemory(nil)
	return &compact.Service{Ledger: l, Log: l}
}

// sender sends requests through a transport of ours and remembers its reports.
type sender struct {
	t *testing.T
	*upstream
	client  *http.Client
	reports []Exchange
	mu      sync.Mutex
}

func newSender(t *testing.T, o HTTPOptions) *sender {
	s := &sender{t: t, upstream: newUpstream(t)}
	if o.Service == nil {
		o.Service = service()
	}
	o.Report = func(x Exchange) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reports = append(s.reports, x)
	}
	s.client = &http.Client{Transport: Transport(o, s.Client().Transport)}
	return s
}

func (s *sender) post(path string, body io.Reader, header ...string) error {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.URL+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return s.do(r)
}

func (s *sender) do(r *http.Request) error {
	s.t.Helper()
	resp, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if answer, err := io.ReadAll(resp.Body); string(answer) != "answer" || err != nil {
		s.t.Errorf("the answer is %q (%v)", answer, err)
	}
	return nil
}

func (s *sender) report() Exchange {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.reports) == 0 {
		s.t.Fatal("nothing was reported")
	}
	return s.reports[len(s.reports)-1]
}

const messages = "/v1/messages?beta=true"

// The view goes out, with its own length; the request that came is as it was, and so is
// what the caller sees of it. A second try sends the same bytes.
func TestTransportSendsTheView(t *testing.T) {
	s := newSender(t, HTTPOptions{})
	body := talk("a word")
	kept := bytes.Clone(body)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+messages, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(HeaderThread, "mine")
	r.Header.Set("Content-Length", fmt.Sprint(len(body)))
	length := r.ContentLength
	if err := s.do(r); err != nil {
		t.Fatal(err)
	}
	got, head := s.last()
	x := s.report()
	if !bytes.Contains(got, []byte("[docket.tool_memory v1]")) || len(got) > len(body)/2 || int64(len(got)) != s.sizes[0] || head.Get(HeaderThread) != "" {
		t.Errorf("%d bytes of %d (%d) went out: %.200s", len(got), len(body), s.sizes[0], got)
	}
	if x.Thread != "mine" || x.Dialect != "anthropic" || x.Err != nil || x.Before != len(body) || x.After != len(got) || applied(x.Report) != 1 {
		t.Errorf("reported %+v", x)
	}
	if !bytes.Equal(body, kept) || r.ContentLength != length || r.Header.Get(HeaderThread) != "mine" {
		t.Error("the request changed")
	}
	r.Body, _ = r.GetBody()
	if err := s.do(r); err != nil {
		t.Fatal(err)
	}
	if again, _ := s.last(); !bytes.Equal(again, got) {
		t.Error("a second try sends other bytes")
	}
}

// As an SDK uses it: the function sees the original on every try.
func TestMiddleware(t *testing.T) {
	u := newUpstream(t)
	m := Middleware(HTTPOptions{Options: Options{Service: service()}})
	for range 2 {
		r, _ := http.NewRequestWithContext(WithThread(t.Context(), "th"), http.MethodPost, u.URL+messages, bytes.NewReader(talk("x")))
		resp, err := m(r, func(r *http.Request) (*http.Response, error) {
			if r.GetBody == nil || r.ContentLength <= 0 {
				t.Error("the body cannot be sent again")
			}
			return http.DefaultClient.Do(r)
		})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if !bytes.Equal(u.bodies[0], u.bodies[1]) || !bytes.Contains(u.bodies[0], []byte("docket.tool_memory")) {
		t.Errorf("%.200s\n%.200s", u.bodies[0], u.bodies[1])
	}
}

// What goes out as it came, byte for byte, and why.
func TestWhatIsLeftAlone(t *testing.T) {
	body := talk("a word")
	for name, c := range map[string]struct {
		path   string
		body   []byte
		header []string
		want   error // reported; nil: nothing is
		none   bool  // not reported at all
	}{
		"control":         {path: messages, body: body},
		"off":             {path: messages, body: body, header: []string{HeaderSwitch, "off"}, want: ErrOff},
		"another path":    {path: "/v1/models", body: body, none: true},
		"a batch":         {path: "/v1/messages/batches", body: body, none: true},
		"signed":          {path: "/model/m/converse", body: body, header: []string{"Authorization", "AWS4-HMAC-SHA256 Credential=x"}, want: ErrSigned},
		"digested":        {path: messages, body: body, header: []string{"Content-Digest", "sha-256=:x:"}, want: ErrSigned},
		"brotli":          {path: messages, body: body, header: []string{"Content-Encoding", "br"}, want: ErrEncoding},
		"not gzip":        {path: messages, body: body, header: []string{"Content-Encoding", "gzip"}, want: gzip.ErrHeader},
		"broken":          {path: messages, body: body[:len(body)-1], want: ErrBody},
		"not JSON":        {path: messages, body: []byte("hello"), want: ErrBody},
		"too large":       {path: messages, body: append(bytes.Repeat([]byte(" "), 1<<16), body...), want: ErrMaxBody},
		"another format":  {path: "/model/m/invoke", body: []byte(`{"prompt":"x"}`), want: ErrDialect},
		"of two formats":  {path: "/v1/threads/t/messages", body: []byte(`{"role":"user","content":"x"}`), want: ErrBody},
		"nothing to stub": {path: messages, body: []byte(`{"max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`)},
	} {
		s := newSender(t, HTTPOptions{MaxBody: 1 << 16})
		if err := s.post(c.path, bytes.NewReader(c.body), c.header...); err != nil {
			t.Fatal(err)
		}
		got, head := s.last()
		if name == "control" {
			if bytes.Equal(got, c.body) {
				t.Error("the control is left alone")
			}
			continue
		}
		if !bytes.Equal(got, c.body) || head.Get(HeaderSwitch) != "" {
			t.Errorf("%s: %d bytes of %d went out", name, len(got), len(c.body))
		}
		if c.none != (len(s.reports) == 0) {
			t.Errorf("%s: %d reports", name, len(s.reports))
		} else if !c.none && !errors.Is(s.report().Err, c.want) {
			t.Errorf("%s: %v, want %v", name, s.report().Err, c.want)
		}
	}
	s := newSender(t, HTTPOptions{})
	r, _ := http.NewRequestWithContext(WithOff(t.Context()), http.MethodPost, s.URL+messages, bytes.NewReader(body))
	if err := s.do(r); err != nil || !errors.Is(s.report().Err, ErrOff) {
		t.Errorf("off by context: %v, %v", err, s.report().Err)
	}
	s.client.Transport = Transport(HTTPOptions{}, s.Client().Transport)
	if err := s.post(messages, bytes.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.last(); !bytes.Equal(got, body) {
		t.Error("without a service the body changed")
	}
}

func squeeze(t *testing.T, c string, body []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	switch c {
	case "gzip":
		w, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression)
		w.Write(body)
		w.Close()
	case "zstd":
		w, err := zstd.NewWriter(&buf)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(body)
		w.Close()
	}
	return buf.Bytes()
}

// Encoded bodies: a view goes out in the same encoding; without one the very bytes that
// came. Bombs cost no more than MaxBody.
func TestEncodedBodies(t *testing.T) {
	for _, c := range []string{"gzip", "zstd"} {
		s := newSender(t, HTTPOptions{MaxBody: 1 << 20})
		if err := s.post(messages, bytes.NewReader(squeeze(t, c, talk("a word"))), "Content-Encoding", c); err != nil {
			t.Fatal(err)
		}
		got, head := s.last()
		plain, err := coding(c).decode(got, 1<<20)
		if err != nil || !bytes.Contains(plain, []byte("docket.tool_memory")) || head.Get("Content-Encoding") != c {
			t.Errorf("%s: %v, %.100q", c, err, plain)
		}
		for name, raw := range map[string][]byte{
			"unchanged": squeeze(t, c, []byte(`{"max_tokens":1,"messages":[]}`)),
			"bomb":      squeeze(t, c, bytes.Repeat([]byte(" "), 50<<20)),
			"cut":       squeeze(t, c, talk("b"))[:200],
			"empty":     squeeze(t, c, nil),
		} {
			if err := s.post(messages, bytes.NewReader(raw), "Content-Encoding", c); err != nil {
				t.Fatal(err)
			}
			if got, _ := s.last(); !bytes.Equal(got, raw) {
				t.Errorf("%s, %s: other bytes went out", c, name)
			}
			if name == "bomb" && !errors.Is(s.report().Err, ErrMaxBody) {
				t.Errorf("%s: a bomb is %v", c, s.report().Err)
			}
		}
	}
}

// half is a body that fails in the middle.
type half struct {
	io.Reader
	closed int
}

func (h *half) Close() error { h.closed++; return nil }

// A body that fails while it is read fails the request as it would without us; every body
// is closed once.
func TestBodiesThatFail(t *testing.T) {
	broken := errors.New("the disk is gone")
	s := newSender(t, HTTPOptions{MaxBody: 1 << 16})
	for name, c := range map[string]struct {
		body io.Reader
		want error
	}{
		"whole":     {bytes.NewReader(talk("x")), nil},
		"fails":     {io.MultiReader(bytes.NewReader(talk("x")), failing{broken}), broken},
		"too large": {bytes.NewReader(bytes.Repeat([]byte(" "), 1<<17)), nil},
		"late":      {io.MultiReader(bytes.NewReader(bytes.Repeat([]byte(" "), 1<<17)), failing{broken}), broken},
	} {
		h := &half{Reader: c.body}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+messages, h)
		if err := s.do(r); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
		if h.closed != 1 {
			t.Errorf("%s: closed %d times", name, h.closed)
		}
	}
}

// panics is a ledger with a bug.
type panics struct{ ledger }

func (panics) Record(context.Context, docket.ThreadID, ...docket.Result) ([]docket.Handle, error) {
	panic("a bug")
}

// A ledger that fails, or panics, costs the stubs and nothing else.
func TestTransportFailsOpen(t *testing.T) {
	l := engine.NewMemory(nil)
	s := newSender(t, HTTPOptions{Options: Options{Service: &compact.Service{Ledger: panics{l}, Log: l}}})
	body := talk("x")
	if err := s.post(messages, bytes.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.last(); !bytes.Equal(got, body) || s.report().Err == nil {
		t.Errorf("%d bytes of %d went out, reported %v", len(got), len(body), s.report().Err)
	}
}

// A dry run sends what came, says what it would have sent, and leaves no decision.
func TestDryRun(t *testing.T) {
	sv := service()
	s := newSender(t, HTTPOptions{Options: Options{Service: sv}, DryRun: true})
	body := talk("x")
	for range 2 {
		if err := s.post(messages, bytes.NewReader(body), HeaderThread, "th"); err != nil {
			t.Fatal(err)
		}
		if got, _ := s.last(); !bytes.Equal(got, body) {
			t.Error("other bytes went out")
		}
	}
	first, second := s.reports[0], s.reports[1]
	if first.After >= first.Before/2 || second.After != first.After || applied(first.Report) != 1 {
		t.Errorf("%+v, %+v", first, second)
	}
	if _, opened := second.Report.Cut(); opened {
		t.Error("the second run decides again")
	}
	if d, err := sv.Log.Decided(t.Context(), "th"); err != nil || len(d.Epochs) != 0 {
		t.Errorf("decided: %v (%v)", d, err)
	}
}

func TestRoutes(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/messages": "anthropic", "/anthropic/v1/messages/": "anthropic", "/v1/messages/count_tokens": "anthropic",
		"/v1/messages/batches": "", "/v1/messages/msg_1": "",
		"/v1/chat/completions": "chat", "/openai/deployments/gpt/chat/completions": "chat", "/v1/completions": "",
		"/v1/responses": "responses", "/v1/responses/resp_1/cancel": "", "/backend-api/codex/responses": "responses",
		"/v1beta/models/gemini-9:generateContent": "gemini", "/v1beta/models/g:streamGenerateContent": "gemini", "/v1/models/g:embedContent": "",
		"/model/anthropic.claude/converse": "converse", "/model/arn%3Aaws/converse-stream": "converse", "/model/m/invoke": "anthropic",
		"/v1/projects/p/locations/l/publishers/anthropic/models/c:streamRawPredict": "anthropic", "": "", "/": "",
	} {
		r := httptest.NewRequest(http.MethodPost, "http://host"+path, nil)
		if got, _ := dialectOfPath(r); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
		r.Method = http.MethodGet
		if _, ok := dialectOfPath(r); ok {
			t.Errorf("GET %s is taken", path)
		}
	}
}

// The thread that follows from a conversation: the same through what clients do to their
// messages, another for another caller, session, or first words.
func TestDerivedThread(t *testing.T) {
	of := func(dialect, body string, header ...string) docket.ThreadID {
		t.Helper()
		p, err := readDialect(dialect, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "http://host/", nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return HTTPOptions{}.threadOf(r, "", []byte(body), p)
	}
	first := of("anthropic", `{"messages":[{"role":"user","content":"go"}]}`, "x-api-key", "k")
	for _, body := range []string{
		`{"messages":[{"role":"user","content":[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":"yes"}],"system":"now"}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"g\u006f"}]}]}`,
		`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"go"},{"role":"user","content":"on"}]}`,
	} {
		if got := of("anthropic", body, "x-api-key", "k"); got != first {
			t.Errorf("%s is another thread", body)
		}
	}
	seen := map[docket.ThreadID]string{first: "the first"}
	for name, got := range map[string]docket.ThreadID{
		"caller":     of("anthropic", `{"messages":[{"role":"user","content":"go"}]}`, "x-api-key", "l"),
		"credential": of("anthropic", `{"messages":[{"role":"user","content":"go"}]}`, "authorization", "k"),
		"session":    of("anthropic", `{"messages":[{"role":"user","content":"go"}]}`, "x-api-key", "k", "x-claude-code-session-id", "s"),
		"words":      of("anthropic", `{"messages":[{"role":"user","content":"stop"}]}`, "x-api-key", "k"),
		"cache key":  of("chat", `{"prompt_cache_key":"p","messages":[{"role":"user","content":"go"}]}`, "x-api-key", "k"),
		"nothing":    of("anthropic", `{"messages":[]}`),
	} {
		if other, taken := seen[got]; taken || len(got) < 20 || strings.Contains(string(got), "k,") {
			t.Errorf("%s: %q is that of %s", name, got, other)
		}
		seen[got] = name
	}
	for dialect, body := range map[string]string{
		"chat":      `{"messages":[{"role":"user","content":"go"}]}`,
		"responses": `{"input":[{"role":"user","content":[{"type":"input_text","text":"go"}]}]}`,
		"gemini":    `{"contents":[{"role":"user","parts":[{"text":"go"}]}]}`,
		"converse":  `{"messages":[{"role":"user","content":[{"text":"go"}]}]}`,
	} {
		if got := of(dialect, body, "x-api-key", "k"); got != first {
			t.Errorf("%s: the first words are read otherwise", dialect)
		}
	}
	// Who names the thread, in order.
	r := httptest.NewRequest(http.MethodPost, "http://host/", nil).WithContext(WithThread(t.Context(), "context"))
	p := &parsed{src: []byte(`{}`)}
	if got := (HTTPOptions{}).threadOf(r, "", nil, p); got != "context" {
		t.Errorf("%q", got)
	}
	if got := (HTTPOptions{}).threadOf(r, "header", nil, p); got != "header" {
		t.Errorf("%q", got)
	}
	asked := HTTPOptions{Thread: func(*http.Request, []byte) docket.ThreadID { return "asked" }}
	if got := asked.threadOf(r, "header", nil, p); got != "asked" {
		t.Errorf("%q", got)
	}
}

// Many clients at once, each its own conversation.
func TestTransportIsConcurrent(t *testing.T) {
	s := newSender(t, HTTPOptions{})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 4 {
				if err := s.post(messages, bytes.NewReader(talk(fmt.Sprint("word", i)))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, b := range s.bodies {
		if !bytes.Contains(b, []byte("docket.tool_memory")) {
			t.Fatal("a payload went out whole")
		}
	}
	if len(s.bodies) != 64 {
		t.Errorf("%d requests", len(s.bodies))
	}
}

// Whatever is sent anywhere: nothing panics, and what goes out is what came unless an edit
// is reported.
func FuzzTransport(f *testing.F) {
	f.Add(messages, "", "", talk("a"))
	f.Add("/v1/responses", "gzip", "k", []byte{0x1f, 0x8b})
	f.Add("/m:generateContent", "zstd", "AWS4-x", []byte("{}"))
	sv := service()
	f.Fuzz(func(t *testing.T, path, encoding, auth string, body []byte) {
		if strings.ContainsAny(path, "\x00 \t\r\n%?#\\") || len(path) > 100 {
			return
		}
		var x *Exchange
		var sent []byte
		m := Middleware(HTTPOptions{Options: Options{Service: sv}, MaxBody: 1 << 16, Report: func(e Exchange) { x = &e }})
		r := &http.Request{Method: http.MethodPost, Header: http.Header{"Content-Encoding": {encoding}, "Authorization": {auth}}, Body: io.NopCloser(bytes.NewReader(body))}
		r.URL = httptest.NewRequest(http.MethodGet, "http://host/", nil).URL
		r.URL.Path = path
		_, err := m(r, func(r *http.Request) (*http.Response, error) {
			sent, _ = io.ReadAll(r.Body)
			return &http.Response{}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if edited := x != nil && x.Err == nil && applied(x.Report) > 0; bytes.Equal(sent, body) == edited {
			t.Fatalf("%q became %q, reported %+v", body, sent, x)
		}
	})
}
