package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"docket/compact"
	"docket/engine"
)

// large makes a body of n results of size characters each.
func large(n, size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"m",` + tools + `,"messages":[{"role":"user","content":"go"}`)
	line := `{\"id\": 17, \"name\": \"x\", \"text\": \"a line of a payload\"}\n`
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t%d","name":"read","input":{"file":"a%d"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%d %s"}]}`, i, i, strings.Repeat(line, size/len(line)))
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{40, 2000} {
		src := large(n, 5_000_000/n)
		b.Run(fmt.Sprintf("results=%d", n), func(b *testing.B) {
			b.Run("scan", func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					d := jsontext.NewDecoder(bytes.NewBuffer(src), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
					if err := d.SkipValue(); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("parse", func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					if _, err := parseAnthropic(src); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("read", func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					bo, _ := parseAnthropic(src)
					bo.read()
				}
			})
			b.Run("view", func(b *testing.B) {
				a := dialect(engine.NewMemory(nil), compact.Policy{})
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					a.View(b.Context(), "t", src)
				}
			})
		})
	}
}
