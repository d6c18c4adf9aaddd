package prices

// How many tokens a text is, about: by counting what tokenizers make tokens of. The weights
// were fitted by least squares on 62 recorded payloads, each in the count of a public
// tokenizer (o200k), up to 60,000 characters of it; DESIGN.md has the errors.

import (
	"sync"
	"unicode/utf8"
)

// Weights in tokens.
const (
	perWord    = 1.10 // letters of ASCII that stand together
	perCase    = 1.33 // a capital inside of them
	perDigits  = 1.27 // three digits, or what is left of them
	perPunct   = 0.36 // any other byte of ASCII
	perMarks   = 0.19 // a run of those
	perIndent  = 1.00 // blanks, if more than one stand together
	perNewline = 0.90 // ends of lines that stand together
	perCJK     = 0.79 // a character of Chinese, Japanese or Korean
	perOther   = 0.63 // any other character
)

// Tokens estimates how many tokens text is. It allocates nothing.
func Tokens(text []byte) int64 {
	var sum float64
	for len(text) > 0 {
		n, weight := piece(text)
		sum += weight
		text = text[n:]
	}
	return int64(sum + 0.5)
}

// class is what kind of byte one is.
type class byte

const (
	control class = iota
	letter
	digit
	blank
	newline
	punct
	wide // not ASCII
)

var classes = func() (t [256]class) {
	for c := range t {
		b := byte(c)
		switch {
		case b >= utf8.RuneSelf:
			t[c] = wide
		case b|0x20 >= 'a' && b|0x20 <= 'z':
			t[c] = letter
		case b >= '0' && b <= '9':
			t[c] = digit
		case b == ' ' || b == '\t':
			t[c] = blank
		case b == '\n' || b == '\r':
			t[c] = newline
		default:
			t[c] = punct
		}
	}
	return t
}()

// piece returns the length of the run that text begins with, and about how many tokens it is.
func piece(text []byte) (n int, weight float64) {
	c := classes[text[0]]
	if c == wide {
		r, size := utf8.DecodeRune(text)
		if isCJK(r) {
			return size, perCJK
		}
		return size, perOther
	}
	capitals := 0
	for n = 1; n < len(text) && classes[text[n]] == c; n++ {
		if c == letter && text[n] < 'a' && text[n-1] >= 'a' {
			capitals++
		}
	}
	switch c {
	case letter:
		return n, perWord + perCase*float64(capitals)
	case digit:
		return n, perDigits * float64((n+2)/3)
	case blank:
		if n == 1 {
			return n, 0
		}
		return n, perIndent
	case newline:
		return n, perNewline
	}
	return n, perMarks + perPunct*float64(n)
}

// isCJK tells whether r is of a script that has a token for about each character.
func isCJK(r rune) bool {
	return r >= 0x3000 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff ||
		r >= 0xff00 && r <= 0xffef || r >= 0x20000 && r < 0x30000
}

// Calibrator corrects estimates by what providers report: models have tokenizers of their
// own, and requests parts that no text shows. The zero value corrects nothing; it is safe for
// concurrent use and keeps a number a model.
type Calibrator struct {
	mu     sync.Mutex
	ratios map[string]float64
}

// The bounds of a correction, and how much of one request goes into it.
const (
	minRatio, maxRatio = 0.5, 2
	learning           = 0.2
)

// Learn takes in that a request to model, estimated at so many tokens, was counted as others.
// What is far out of bounds is a mistake of somebody's and is left out.
func (c *Calibrator) Learn(model string, estimated, counted int64) {
	if estimated <= 0 || counted <= 0 {
		return
	}
	ratio := float64(counted) / float64(estimated)
	if ratio < minRatio/2 || ratio > maxRatio*2 {
		return
	}
	ratio = min(max(ratio, minRatio), maxRatio)
	key := normal(model)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ratios == nil {
		c.ratios = map[string]float64{}
	}
	if was, ok := c.ratios[key]; ok {
		ratio = was + learning*(ratio-was)
	}
	c.ratios[key] = ratio
}

// Correct returns the estimate for model, corrected.
func (c *Calibrator) Correct(model string, estimated int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ratio, ok := c.ratios[normal(model)]; ok {
		return int64(float64(estimated)*ratio + 0.5)
	}
	return estimated
}
