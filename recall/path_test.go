package recall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"docket"
	"docket/index"
)

// plainPath walks from the root to a random value, and returns its path in docket's
// spelling and in gjson's.
func plainPath(r *rand.Rand, v gjson.Result) (index.Path, string) {
	var path index.Path
	var theirs []string
	for len(path) < 20 && (v.IsObject() || v.IsArray()) && r.IntN(8) > 0 {
		var keys, values []gjson.Result
		v.ForEach(func(k, v gjson.Result) bool {
			keys, values = append(keys, k), append(values, v)
			return len(keys) < 3000
		})
		if len(keys) == 0 {
			break
		}
		n := r.IntN(len(keys))
		if v.IsArray() {
			path = append(path, index.Segment{Kind: index.SegmentNumber, Key: fmt.Sprint(n), From: int64(n)})
			theirs = append(theirs, fmt.Sprint(n))
		} else if k := keys[n].Str; k == "" || strings.ContainsAny(k, "#!{}[]()") {
			break // gjson's escapes do not reach these
		} else {
			path = append(path, index.Segment{Key: k})
			theirs = append(theirs, gjson.Escape(k))
		}
		v = values[n]
	}
	return path, strings.Join(theirs, ".")
}

// The JSON path of real payloads, through frames: the values are those that gjson
// finds in the whole payload, byte for byte.
func TestL7PathEqualsGJSON(t *testing.T) {
	l, payloads, n := corpus(t)
	for _, p := range payloads {
		if p.kind != docket.KindJSON || !gjson.ValidBytes(p.payload) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, uint64(len(p.payload))))
			root := gjson.ParseBytes(p.payload)
			for range 4 * n {
				path, theirs := plainPath(r, root)
				want := root.Raw
				if theirs != "" {
					want = gjson.GetBytes(p.payload, theirs).Raw
				}
				a, err := Fetch(context.Background(), l, "t", Request{MemID: p.id, Format: FormatFull, Path: path.String()})
				if err != nil || string(a.Text) != strings.TrimSpace(want) {
					t.Fatalf("%s: got %.100q (%v), want %.100q", path, a.Text, err, want)
				}
				if int64(len(a.Text)) < 8<<10 && a.FramesDecoded > 14 {
					t.Errorf("%s: %d frames decoded for %d bytes", path, a.FramesDecoded, len(a.Text))
				}
			}
		})
	}
}

// jsonRecord is a record of many small frames.
func jsonRecord(payload string, indexed bool) (*fake, *fakeRecord, docket.MemID) {
	rec := newFakeRecord([]byte(payload), 64, indexed)
	return newFake(rec), rec, rec.handle.MemID
}

// A path and what follows it compose; a derived value is searched and paged like
// any other.
func TestL7PathComposes(t *testing.T) {
	filler := strings.Repeat(`{"pad":"Größe 日本 `+strings.Repeat("x", 50)+`"},`, 800)
	text := `{"list":[` + filler + `{"name":"müde","text":"{\"inner\":[\"erste\",\"zweite\"]}"}],"end":1}`
	for _, indexed := range []bool{true, false} {
		l, _, id := jsonRecord(text, indexed)
		for _, c := range []struct {
			req  Request
			want string
		}{
			{Request{Path: "end"}, "1"},
			{Request{Path: "list[-1].name"}, `"müde"`},
			{Request{Path: "list[-1].name", Offset: ptr(2), MaxChars: 3}, "üde"},
			{Request{Path: "list[-1].text.inner[1]"}, `"zweite"`},
			{Request{Path: "list[-2:].name"}, `["müde"]`},
			{Request{Path: "list[-1].text.inner[*]", Offset: ptr(2), MaxChars: 5}, "erste"},
			{Request{Path: "list[-1]", Query: "müde", Window: -1}, "müde"},
			{Request{Path: "list[-1].text.inner", Query: "zweite", Window: 1}, `"zweite"`},
		} {
			c.req.MemID, c.req.Format = id, FormatFull
			a, err := Fetch(context.Background(), l, "t", c.req)
			if err != nil || string(a.Text) != c.want {
				t.Errorf("indexed %v, %+v: got %q (%v), want %q", indexed, c.req, a.Text, err, c.want)
			}
		}
	}
}

func ptr(n int64) *int64 { return &n }

// What is not JSON says where it stops being so, in characters.
func TestL7PathOfTextSaysWhere(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[\"日本\"] rest", "at character 7 "},
		{"plain text", "at character 0 "},
		{strings.Repeat(" ", 200) + "日本", "at character 200 "},
		{`{"a":1`, "at character 6 "},
		{`["` + strings.Repeat("ü", 70000) + "\n\"]", "at character 70002 "},
	} {
		l, _, id := jsonRecord(c.text, true)
		_, err := Fetch(context.Background(), l, "t", Request{MemID: id, Path: "a", Format: FormatFull})
		var bad *RequestError
		if !errors.As(err, &bad) || !strings.Contains(bad.Msg, "not valid JSON "+c.want) {
			t.Errorf("%.20q: %v, want %q", c.text, err, c.want)
		}
	}
}

// What is JSON for long is not read to its end to say where it stops.
func TestL7PathOfTextReadsABoundedPart(t *testing.T) {
	const size, frame = 8 << 20, 48 << 10
	for name, payload := range map[string]string{
		"an open string":  `"` + strings.Repeat("日", size/3),
		"an open escape":  `"` + strings.Repeat(`\u00e9`, size/6),
		"numbers":         "[" + strings.Repeat("1234567,", size/8),
		"deep at its end": "[" + strings.Repeat("0,", size/2) + strings.Repeat("[", index.MaxDepth) + strings.Repeat("]", index.MaxDepth) + "]",
		"documents":       strings.Repeat("{\"ü\":1}\n", size/9) + "}",
		"white space":     strings.Repeat(" ", size),
	} {
		rec := newFakeRecord([]byte(payload), frame, true)
		_, err := Fetch(context.Background(), newFake(rec), "t", Request{MemID: rec.handle.MemID, Path: "a", Format: FormatFull})
		var bad *RequestError
		var chars int
		if !errors.As(err, &bad) {
			t.Fatalf("%s: %v", name, err)
		}
		if n, err := fmt.Sscanf(bad.Msg, "the payload was recorded as text, not as JSON, though its first %d characters are valid", &chars); n != 1 {
			t.Errorf("%s: %s (%v)", name, bad.Msg, err)
		}
		if bytes := len(string([]rune(payload)[:chars])); bytes < 1<<20-64 || bytes > 1<<20 {
			t.Errorf("%s: %d characters, %d bytes", name, chars, bytes)
		}
		if most := (1<<20+64<<10)/frame + 4; len(rec.decoded) > most {
			t.Errorf("%s: %d frames decoded of %d, at most %d are needed", name, len(rec.decoded), len(rec.frames), most)
		}
	}
}

func TestL7PathThatIsNone(t *testing.T) {
	l, _, id := jsonRecord(`{"ü":[1]}`, true)
	_, err := Fetch(context.Background(), l, "t", Request{MemID: id, Path: "ü..x", Format: FormatFull})
	var bad *RequestError
	if !errors.As(err, &bad) || !strings.HasPrefix(bad.Msg, "at character 2: two dots") {
		t.Errorf("got %v", err)
	}
	_, err = Fetch(context.Background(), l, "t", Request{MemID: id, Path: "ü[5]", Format: FormatFull})
	var miss *index.MissError
	if !errors.As(err, &miss) || miss.Reason != index.OutOfRange || miss.Count != 1 {
		t.Errorf("got %v", err)
	}
}

// Damaged or foreign sections of any kind cost a scan and change no answer.
func TestPathWithoutUsableSections(t *testing.T) {
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, `%c"#W%05d":{"n":%d,"s":"日本"}`, "{,"[min(i, 1)], i, i)
	}
	text := b.String() + "}"
	for _, hurt := range []docket.SectionID{0, docket.SectionPaths, docket.SectionGrams, docket.SectionChars} {
		for _, how := range []string{"gone", "flipped", "cut"} {
			l, rec, id := jsonRecord(text, true)
			if s := bytes.Clone(rec.sections[hurt]); len(s) > 0 {
				switch how {
				case "gone":
					s = nil
				case "flipped":
					for i := 0; i < len(s); i += 100 {
						s[i] ^= 1
					}
				case "cut":
					s = s[:len(s)/2]
				}
				rec.sections[hurt] = s
			}
			for path, want := range map[string]string{"#W01234.n": "1234", `["#W00000"].s`: `"日本"`, "$": text} {
				a, err := Fetch(context.Background(), l, "t", Request{MemID: id, Path: path, Format: FormatFull})
				if err != nil || string(a.Text) != want {
					t.Errorf("section %q %s, %s: got %.60q (%v)", hurt, how, path, a.Text, err)
				}
			}
		}
	}
}

// A key among many small members is found without reading all of them: on average,
// since how many frames one key shares its grams with is luck.
func TestPathSkipsFramesByGrams(t *testing.T) {
	const members, asked = 30000, 60
	key := func(i int) int { return i * 7919 % 9999991 }
	var b strings.Builder
	for i := range members {
		fmt.Fprintf(&b, `%c"#W%07d":{"items":["%x"],"n":%d}`, "{,"[min(i, 1)], key(i), i*i, i)
	}
	rec := newFakeRecord([]byte(b.String()+"}"), 32<<10, true)
	l := newFake(rec)
	decoded := 0
	for n := range asked {
		i := members / asked * n
		a, err := Fetch(context.Background(), l, "t", Request{MemID: rec.handle.MemID, Format: FormatFull, Path: fmt.Sprintf("#W%07d.n", key(i))})
		if err != nil || string(a.Text) != fmt.Sprint(i) {
			t.Fatalf("got %q (%v), want %d", a.Text, err, i)
		}
		decoded += a.FramesDecoded
	}
	if most := asked * len(rec.frames) / 4; decoded > most {
		t.Errorf("%d frames of %d decoded for %d keys, want at most %d", decoded, len(rec.frames), asked, most)
	}
	t.Logf("%d keys: %.1f of %d frames decoded", asked, float64(decoded)/asked, len(rec.frames))
}
