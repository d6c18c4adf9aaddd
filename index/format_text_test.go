package index

import (
	"bytes"
	"testing"

	"docket/internal/formatdoc"
	"docket/internal/seal"
)

func TestFormatExampleOfChars(t *testing.T) {
	want := formatdoc.Example(t, "chars")
	payload, cuts := []byte("ab用户"), []int64{2, 8}
	if got := AppendChars(nil, payload, cuts); !bytes.Equal(got, want) {
		t.Errorf("FORMAT.md shows % x, AppendChars makes % x", want, got)
	}
	c, err := OpenChars(want, 2, 8, 4)
	if err != nil {
		t.Fatal(err)
	}
	if n, s, err := c.AtChar(3); n != 1 || s != (Span{Byte: 2, Char: 2, Bytes: 6, Chars: 2}) || err != nil {
		t.Errorf("character 3 is in frame %d, %+v, %v", n, s, err)
	}
}

func TestFormatExampleOfGrams(t *testing.T) {
	want := formatdoc.Example(t, "grams")
	b := gramBuilder{payload: []byte("a-12b45cABCDé"), cuts: []int64{8, 14}, rows: 20, times: 2, limits: [classes]int{allBuckets, allBuckets, 0x8000, 0}}
	b.common = []commonBucket{{uint32(gramBucket(gramHash(0x44434241, fours))), fours}} // "ABCD"
	b.setFilter()
	for w := range classes {
		b.setUsed(w)
	}
	if got := seal.Append(nil, b.fill()); !bytes.Equal(got, want) {
		t.Errorf("FORMAT.md shows % x, the builder makes % x", want, got)
	}
	if err := CheckGrams(want, 2); err != nil {
		t.Error(err)
	}
	g, err := openGrams(want)
	if err != nil || g.frames != 2 || g.rows != 20 || g.times != 2 || g.filter != 1 || g.limits != b.limits {
		t.Errorf("parsed %+v, %v", g, err)
	}
	for query, frames := range map[string][]int{"-12b45": {0}, "12B45C": {0}, "CDé": {0, 1}, "abcd": {0, 1}, "é": {0, 1}} {
		set := NewQuery([]byte(query), false).Candidates(want, 2)
		for _, k := range frames {
			if !set.Has(k) {
				t.Errorf("%q: frame %d is no candidate", query, k)
			}
		}
		if set.Len() != len(frames) {
			t.Errorf("%q: %d candidates, want %d", query, set.Len(), len(frames))
		}
	}
}
