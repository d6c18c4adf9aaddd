package index

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"docket"
)

// jsonText draws JSON with everything that the grammar allows and payloads seldom
// have: white space anywhere, keys that repeat, escapes, bytes that are not UTF-8.
func jsonText(t *rapid.T, depth int) string {
	blank := func() string {
		return rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "          "}).Draw(t, "blank")
	}
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 {
		kind = rapid.IntRange(0, 3).Draw(t, "leaf")
	}
	switch kind {
	case 0:
		return rapid.SampledFrom([]string{"0", "-1.50e+2", "true", "false", "null", "12345678901234567890"}).Draw(t, "scalar")
	case 1, 2:
		return `"` + rapid.SampledFrom(words).Draw(t, "string") + `"`
	case 3:
		inner := rapid.SampledFrom([]string{`[1,[2,{"a":3}]]`, `{"a":{"b":"[4]"}}`, "{}{\"a\":1}", "\uFEFF[5]", "7", "[", "", `"[6]"`, `"x"`, ` " {\"a\":[8]} " `}).Draw(t, "inner")
		return string(appendQuote(nil, inner))
	}
	out, n := "", rapid.IntRange(0, 6).Draw(t, "members")
	for i := range n {
		if i > 0 {
			out += blank() + ","
		}
		out += blank()
		if kind > 5 {
			out += `"` + rapid.SampledFrom(words).Draw(t, "key") + `"` + blank() + ":" + blank()
		}
		out += jsonText(t, depth-1)
	}
	if kind > 5 {
		return "{" + out + blank() + "}"
	}
	return "[" + out + blank() + "]"
}

// words are what strings and keys hold, as they stand in JSON.
var words = []string{
	"", "a", "b", "a.b", "0", "1", "-1", "x y", `\u0061`, `\"`, `a\\`, `\ud83d\ude00`, `\ud800`, "😀", "\xff", "#", "[0]",
	"a much longer word than the others are", "{", "}]",
}

// Random JSON and NDJSON, every small grain: walks with the table, without it and
// over the oracle's tree agree.
func TestRandomJSONAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsonText(t, 4)
		for range rapid.IntRange(0, 3).Draw(t, "documents") {
			text += rapid.SampledFrom([]string{"", "\n", " \r\n"}).Draw(t, "between") + jsonText(t, 3)
		}
		payload := []byte(text)
		root, err := parseTree(payload)
		kind, scanErr := scanKind(payload)
		if (err == nil) != (scanErr == nil) {
			t.Fatalf("%q: kind %v, oracle says %v", text, kind, err)
		}
		if err != nil {
			return
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for _, grain := range []int{1, 2, 5, 20, 60, 200} {
			built, section := table(payload, grain)
			if built != kind {
				t.Fatalf("%q: built as %v, scanned as %v", text, built, kind)
			}
			_, keyed := keyTable(payload, grain)
			_, cut := cutTable(payload, grain, rapid.IntRange(1, 3*grain).Draw(t, "frame"))
			for range 5 {
				checkPath(t, root, source(payload, kind, cut), randomPath(r, root))
				checkPath(t, root, source(payload, kind, section), randomPath(r, root))
				checkPath(t, root, source(payload, kind, keyed), randomPath(r, root))
			}
		}
	})
}

// A first document of just a grain, the second at once behind it.
func TestDocumentOfOneGrain(t *testing.T) {
	payload := []byte(`[` + "1234567890,1234567890,1234567890,12345678901234567890123456" + `][]`)
	kind, section := table(payload, len(payload)-2)
	path, err := ParsePath("[0:]")
	if err != nil {
		t.Fatal(err)
	}
	p := source(payload, kind, section)
	got, err := value(p, path)
	want := "[" + string(payload[:len(payload)-2]) + ",[]]"
	if string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

// An object of many small members, as a search by key meets it: the key is found
// in the frame that holds it, a missing one costs the frames of the miss.
func TestSmallMembersAreFoundByFrame(t *testing.T) {
	payload := []byte{'{'}
	for i := range 20000 {
		payload = fmt.Appendf(payload, `"#W%07d":{"items":[%d,2,3],"status":"pending"},`, i*7919%1000003, i)
	}
	payload = append(payload, `"last":0}`...)
	kind, section := scanPaths(payload, nil)
	if kind != docket.KindJSON || section == nil {
		t.Fatalf("kind %v, a section of %d bytes", kind, len(section))
	}
	for _, c := range []struct {
		path string
		want string
		most int
	}{
		{fmt.Sprintf("#W%07d.items[0]", 12345*7919%1000003), "12345", 2},
		{`["last"]`, "0", 2},
		{"#W9999999", "", 3},
	} {
		f := &frames{payload: payload, size: 32 << 10, read: map[int64]bool{}}
		path, err := ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := value(Payload{Source: f, Size: int64(len(payload)), Kind: kind, Paths: section}, path)
		if string(got) != c.want || (err != nil) != (c.want == "") || len(f.read) > c.most {
			t.Errorf("%s: got %q (%v) from %d frames, want %q from at most %d", c.path, got, err, len(f.read), c.want, c.most)
		}
	}
}
