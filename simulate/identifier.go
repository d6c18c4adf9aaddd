package simulate

// Identifiers: the words of a text that are exact names of something, so that a model
// that writes one has read it somewhere.

import (
	"encoding/json"
	"iter"
	"strings"
)

// minIdentifier is the least length of an identifier.
const minIdentifier = 8

// identifiers returns the identifiers of a text, in order: paths, names of files, URLs,
// hashes, numbers, names in code. Each is a longest run of ASCII letters, digits and
// _ / . - @ + % ~ #, less what is no letter, digit or _ at its ends, of at least 8
// characters, with a digit, a slash, an underscore, a dot or an at sign in it, or a
// capital behind a small letter.
func identifiers(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !inIdentifier(r) }) {
			word = strings.Trim(word, "/.-@+%~#")
			if isIdentifier(word) && !yield(word) {
				return
			}
		}
	}
}

func inIdentifier(r rune) bool {
	return isSmall(r) || isCapital(r) || r >= '0' && r <= '9' || r < 0x80 && strings.ContainsRune("_/.-@+%~#", r)
}

func isSmall(r rune) bool   { return r >= 'a' && r <= 'z' }
func isCapital(r rune) bool { return r >= 'A' && r <= 'Z' }

func isIdentifier(word string) bool {
	if len(word) < minIdentifier {
		return false
	}
	if strings.ContainsAny(word, "0123456789/_.@") {
		return true
	}
	for i := 1; i < len(word); i++ {
		if isSmall(rune(word[i-1])) && isCapital(rune(word[i])) {
			return true
		}
	}
	return false
}

// isJSON tells whether a string is an object or a list in JSON.
func isJSON(s string) bool {
	t := strings.TrimLeft(s, " \t\r\n")
	return t != "" && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(s))
}
