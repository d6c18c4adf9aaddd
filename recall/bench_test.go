package recall

// The cost of a fetch beyond decoding its frames. Comparisons with the naive
// ledger are in the bench package.

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"docket"
	"docket/engine"
)

// benchPayload makes JSON of about n bytes, with an identifier that occurs once in
// the middle.
func benchPayload(n int) []byte {
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString(`{"products":[`)
	for i, put := 0, false; b.Len() < n; i++ {
		name := "plain"
		if !put && b.Len() > n/2 {
			name, put = "SKU-7f3a9c", true
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"%s","note":"größe 用户","stats":{"avg90":%.3f,"tag":"%x"}},`, i, name, rng.Float64()*100, rng.Uint64())
	}
	return []byte(strings.TrimSuffix(b.String(), ",") + "]}")
}

func BenchmarkFetch(b *testing.B) {
	for _, size := range []int{64 << 10, 1 << 20, 10 << 20} {
		l := engine.NewMemory(nil)
		handles, err := l.Record(b.Context(), "t", docket.Result{Call: docket.Call{ID: "c"}, Payload: benchPayload(size)})
		if err != nil {
			b.Fatal(err)
		}
		for name, req := range map[string]Request{
			"range":       {Offset: new(handles[0].Chars / 3), MaxChars: 400},
			"path":        {Path: "products[-1].stats.avg90"},
			"identifier":  {Query: "SKU-7f3a9c"},
			"folded":      {Query: "sku-7F3A9C", IgnoreCase: true},
			"common":      {Query: "größe"},
			"absent":      {Query: "SKU-000000"},
			"absent-1":    {Query: "€"},
			"absent-fold": {Query: "€K", IgnoreCase: true},
		} {
			req.MemID = handles[0].MemID
			b.Run(fmt.Sprintf("size=%dk/%s", size>>10, name), func(b *testing.B) {
				b.ReportAllocs()
				frames := 0
				for b.Loop() {
					a, err := Fetch(b.Context(), l, "t", req)
					if err != nil {
						b.Fatal(err)
					}
					frames = a.FramesDecoded
				}
				b.ReportMetric(float64(frames), "frames")
			})
		}
	}
}
