package wire

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"docket/compact"
	"docket/engine"
)

// large makes a body of n results of size bytes each.
func large(n, size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"m",` + tools + `,"messages":[{"role":"user","content":"go"}`)
	line := `  \"id\": 1734, // what a program prints: some quotes, and now and then the end of a line\n`
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t%d","name":"read","input":{"file":"a%d"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%d %s"}]}`, i, i, strings.Repeat(line, size/len(line)))
	}
	b.WriteString(`,{"role":"assistant","content":"ok"}]}`)
	return b.Bytes()
}

// BenchmarkSplice compares, on one body of 5 MB, a scan that only validates it,
// finding the spans, that with the splice of every result, and whole views.
func BenchmarkSplice(b *testing.B) {
	for _, n := range []int{40, 2000} {
		src := large(n, 5_000_000/n)
		name := func(what string) string { return fmt.Sprintf("results=%d/%s", n, what) }
		run := func(what string, fn func() error) {
			b.Run(name(what), func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					if err := fn(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("scan", func() error {
			d := jsontext.NewDecoder(bytes.NewBuffer(src), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
			return d.SkipValue()
		})
		run("parse", func() error {
			_, err := parseAnthropic(src)
			return err
		})
		stub := strings.Repeat("a stub\n", 60)
		run("parse+splice", func() error {
			p, err := parseAnthropic(src)
			if err != nil {
				return err
			}
			var edits []edit
			for _, m := range p.messages {
				for _, r := range m.results {
					edits = append(edits, r.edits(src, stub)...)
				}
			}
			splice(src, edits)
			return nil
		})
		a := dialect(engine.NewMemory(nil), compact.Policy{})
		a.View(b.Context(), "th", src) // the first records and decides
		run("view", func() error {
			_, report := a.View(b.Context(), "th", src)
			return report.Err
		})
	}
}

// BenchmarkMiddleware compares, on a body of 5 MB through the middleware with everything
// that it remembers, one of which nothing is new
// and one with 40 results to stub, with a scan that only skips over it.
func BenchmarkMiddleware(b *testing.B) {
	for _, c := range []struct {
		name    string
		n, size int
	}{{"small", 500, 10_000}, {"large", 40, 125_000}} {
		src := large(c.n, c.size)
		sv := &compact.Service{}
		l := engine.NewMemory(nil)
		sv.Ledger, sv.Log = l, l
		send := func(m func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error)) error {
			r, err := http.NewRequest(http.MethodPost, "http://host/v1/messages", bytes.NewReader(src))
			if err != nil {
				return err
			}
			_, err = m(r, func(r *http.Request) (*http.Response, error) { return nil, nil })
			return err
		}
		run := func(what string, fn func() error) {
			b.Run(c.name+"/"+what, func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					if err := fn(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("skip", func() error {
			return jsontext.NewDecoder(bytes.NewBuffer(src), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)).SkipValue()
		})
		m := Middleware(HTTPOptions{Options: Options{Service: sv}})
		if err := send(m); err != nil { // the first records and decides
			b.Fatal(err)
		}
		run("unchanged", func() error { return send(m) })
		if c.name == "large" {
			// Recorded before, decided anew each time: what recording costs is measured elsewhere.
			run("stub 40", func() error {
				fresh := &compact.Service{Ledger: l, Log: engine.NewMemory(nil)}
				return send(Middleware(HTTPOptions{Options: Options{Service: fresh}}))
			})
		}
	}
}
