package wire

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

var quotedTexts = []string{
	`""`, `"a"`, `"\n"`, `"\\"`, `"a\"b"`, `"\u0041"`, `"\u00e9\u4e2d"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00x"`, `"\ud83d\u0041"`, `"\ud83d\ud83d\ude00"`,
	`"12345678\n"`, `"1234567\n8"`, `"\n2345678"`, `"1234567\\"`, `"12345678901234\u00e9"`, `"\/\b\f\r\t"`, "\"\xff\\n\"", "\"\xc3\xa9\\n\"", "\"\xc3\\n\"", `"\u00E9"`, `"\u00eG"`,
	`"][]"`, "\"\x5d\x5b\x5c\x5c\x5d\x5b\x5c\x5c\x5d\x5b\x5d\x5b\x5d\x5b\x5d\x5b\"", `"\u0000\u001f\u007f"`, `"中文\n中文中文中文"`,
}

// Every string is decoded as jsontext does it, and as lossy.
func checkUnquote(t *testing.T, lit []byte) {
	t.Helper()
	want, err := jsontext.AppendUnquote(nil, lit)
	got, lossy := text(lit, nil)
	if lossy != (err != nil) || !lossy && !bytes.Equal(got, want) {
		t.Fatalf("%q is %q, lossy %t; want %q (%v)", lit, got, lossy, want, err)
	}
}

func TestUnquote(t *testing.T) {
	for _, s := range quotedTexts {
		checkUnquote(t, []byte(s))
		for pad := range 9 { // at every place of a word
			checkUnquote(t, []byte(`"`+"12345678"[:pad%9]+s[1:len(s)-1]+"abcdefghijk"[:pad]+`"`))
		}
	}
}

func FuzzUnquote(f *testing.F) {
	for _, s := range quotedTexts {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, lit []byte) {
		// The reader hands over what jsontext has accepted as one string.
		d := jsontext.NewDecoder(bytes.NewReader(lit), jsontext.AllowInvalidUTF8(true))
		v, err := d.ReadValue()
		if err != nil || v.Kind() != '"' {
			return
		}
		checkUnquote(t, v)
	})
}
