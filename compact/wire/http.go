package wire

// Every Go client by one line: a middleware for the SDKs that have them, a RoundTripper
// for all others. A request to a provider goes out with the view of its body in the
// body's place; whatever is in doubt goes out as it came.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"docket"
	"docket/compact"
)

// DefaultMaxBody is the largest body, decoded, that is looked at: providers take 32 MB.
const DefaultMaxBody = 64 << 20

// The headers that docket reads; neither goes out.
const (
	HeaderSwitch = "X-Docket"        // "off": this request goes out as it came
	HeaderThread = "X-Docket-Thread" // the thread of this request
)

// HTTPOptions are what [Middleware] and [Transport] take; they need a Service, and remember
// what was sent in a [Chains] of their own where none is given. The dialect follows from
// the path of a request.
type HTTPOptions struct {
	Options
	// Thread says what thread a request belongs to, by its body, decoded. nil, or an empty
	// answer: [HeaderThread], else what [WithThread] says, else the conversation itself: a
	// digest of the caller's credentials, the session that a client names, and what the
	// user said first.
	Thread func(r *http.Request, body []byte) docket.ThreadID
	// DryRun records and reports, but every body goes out as it came, and no decision is
	// logged.
	DryRun bool
	// MaxBody is the largest body in bytes, decoded, that is looked at. 0:
	// [DefaultMaxBody].
	MaxBody int64
	// Report, if set, is told of every request to a provider's endpoint before it goes
	// out. It may be called by several goroutines at once.
	Report func(Exchange)
}

// Exchange is what became of a request.
type Exchange struct {
	Thread  docket.ThreadID
	Dialect string
	Before  int // bytes of the body, decoded
	After   int // and as it goes out, decoded; in a dry run, as it would
	Report  compact.Report
	// Err is why the body went out as it came, without a look; nil if it had one.
	Err error
}

// Why a body goes out as it came ([Exchange.Err]).
var (
	ErrOff      = errors.New("wire: docket is off for this request")
	ErrSigned   = errors.New("wire: the request is signed over its body: put docket before the signer")
	ErrEncoding = errors.New("wire: the body has an encoding other than gzip and zstd")
	ErrMaxBody  = errors.New("wire: the body is larger than MaxBody")

	errNoService = errors.New("wire: HTTPOptions have no Service")
)

// next sends a request on.
type next = func(*http.Request) (*http.Response, error)

// Middleware returns a function for option.WithMiddleware of the Anthropic and OpenAI
// SDKs. It sees the original request on every retry, and makes the same bytes of it each
// time. What comes back is not touched.
func Middleware(o HTTPOptions) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	o = o.filled()
	return func(r *http.Request, send func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		return o.do(r, send)
	}
}

// Transport returns an [http.RoundTripper] that sends requests through base; nil:
// [http.DefaultTransport].
func Transport(o HTTPOptions, base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return transport{o.filled(), base}
}

type transport struct {
	options HTTPOptions
	base    http.RoundTripper
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.options.do(r, t.base.RoundTrip)
}

func (o HTTPOptions) filled() HTTPOptions {
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Chains == nil {
		o.Chains = &Chains{}
	}
	if o.DryRun && o.Service != nil {
		dry := *o.Service
		dry.Log = &dryLog{log: dry.Log}
		o.Service = &dry
	}
	return o
}

// do sends r on, with the view of its body if it has one.
func (o HTTPOptions) do(r *http.Request, send next) (*http.Response, error) {
	off := r.Header.Get(HeaderSwitch) == "off" || isOff(r.Context())
	named := docket.ThreadID(r.Header.Get(HeaderThread))
	out := withoutHeaders(r)
	dialect, ok := dialectOfPath(r)
	if !ok || r.Body == nil || r.Body == http.NoBody {
		return send(out)
	}
	x := Exchange{Thread: named, Dialect: dialect}
	switch {
	case off:
		x.Err = ErrOff
	case isSigned(r.Header), len(r.Trailer) > 0:
		x.Err = ErrSigned
	case o.Service == nil:
		x.Err = errNoService
	}
	if x.Err == nil {
		out = o.rewrite(r, out, &x)
	}
	if o.Report != nil {
		o.Report(x)
	}
	return send(out)
}

// rewrite returns the request that goes out for r: out with another body.
func (o HTTPOptions) rewrite(r, out *http.Request, x *Exchange) *http.Request {
	buf := rawBodies.Get().(*bytes.Buffer)
	rest, err := readBody(buf, r.Body, r.ContentLength, o.MaxBody)
	if err != nil {
		x.Err = err
		return withBody(out, rest, r.ContentLength, r.GetBody)
	}
	length := int64(buf.Len())
	sent, err := o.viewOf(r, buf.Bytes(), x)
	if x.Err = err; sent == nil || o.DryRun {
		if r.GetBody != nil {
			if body, err := r.GetBody(); err == nil {
				giveBack(buf)
				return withBody(out, body, length, r.GetBody)
			}
		}
		sent = buf.Bytes() // the buffer is the request's now
	} else {
		giveBack(buf)
	}
	again := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(sent)), nil }
	body, _ := again()
	return withBody(out, body, int64(len(sent)), again)
}

// rawBodies are buffers for bodies as they came, which live as long as a view.
var rawBodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func giveBack(buf *bytes.Buffer) {
	if buf.Cap() <= arenaLimit {
		buf.Reset()
		rawBodies.Put(buf)
	}
}

// viewOf returns the bytes that go out in the place of raw, in its encoding; nil if raw
// does. A panic of ours is an error like any other: the caller's request goes on.
func (o HTTPOptions) viewOf(r *http.Request, raw []byte, x *Exchange) (sent []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			sent, err = nil, fmt.Errorf("wire: %v", p)
		}
	}()
	coding, err := codingOf(r.Header)
	if err != nil {
		return nil, err
	}
	body, err := coding.decode(raw, o.MaxBody)
	if err != nil {
		return nil, err
	}
	x.Before, x.After = len(body), len(body)
	if mustDetect(r.URL.Path) {
		if found, err := Detect(body); err != nil || found != x.Dialect {
			return nil, fmt.Errorf("%w: the body is not in that of the path, %s", ErrDialect, x.Dialect)
		}
	}
	p, err := readDialect(x.Dialect, body)
	if err != nil {
		return nil, err
	}
	x.Thread = o.threadOf(r, x.Thread, body, p)
	view, report := o.viewParsed(r.Context(), x.Thread, p)
	x.After, x.Report = len(view), report
	if len(view) == 0 || &view[0] == &body[0] {
		return nil, nil
	}
	return coding.encode(view), nil
}

// readBody reads a body to its end and closes it. With an error comes what is to be sent
// in its place: what was read, and then what the body itself has yet to give.
func readBody(buf *bytes.Buffer, body io.ReadCloser, length, most int64) (rest io.ReadCloser, err error) {
	if length > 0 && length <= most {
		buf.Grow(int(length) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(body, most+1))
	switch {
	case err != nil:
		return resumed{io.MultiReader(buf, failing{err}), body}, err
	case n > most:
		return resumed{io.MultiReader(buf, body), body}, ErrMaxBody
	}
	_ = body.Close() // read to its end: there is nothing that it could fail to give
	return nil, nil
}

// resumed reads from one reader and closes another.
type resumed struct {
	io.Reader
	io.Closer
}

// failing fails with its error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// withBody returns r with another body.
func withBody(r *http.Request, body io.ReadCloser, length int64, again func() (io.ReadCloser, error)) *http.Request {
	out := new(http.Request)
	*out = *r
	out.Body, out.ContentLength, out.GetBody = body, length, again
	if length >= 0 && r.Header.Get("Content-Length") != "" {
		out.Header = r.Header.Clone()
		out.Header.Set("Content-Length", strconv.FormatInt(length, 10))
	}
	return out
}

// withoutHeaders returns r without the headers that are for docket: r itself if it has
// none.
func withoutHeaders(r *http.Request) *http.Request {
	if r.Header.Get(HeaderSwitch) == "" && r.Header.Get(HeaderThread) == "" {
		return r
	}
	out := new(http.Request)
	*out = *r
	out.Header = r.Header.Clone()
	out.Header.Del(HeaderSwitch)
	out.Header.Del(HeaderThread)
	return out
}

// The keys of context values.
type (
	offKey    struct{}
	threadKey struct{}
)

// WithOff returns a context whose requests go out as they came.
func WithOff(ctx context.Context) context.Context { return context.WithValue(ctx, offKey{}, true) }

func isOff(ctx context.Context) bool { off, _ := ctx.Value(offKey{}).(bool); return off }

// WithThread returns a context whose requests belong to thread.
func WithThread(ctx context.Context, thread docket.ThreadID) context.Context {
	return context.WithValue(ctx, threadKey{}, thread)
}
