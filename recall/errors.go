package recall

// What a caller of the library may want to tell apart, beyond the root package's
// errors. The model's tool turns each of them into a text (miss.go).

import "fmt"

// RequestError says that a request asks for something that no record can answer:
// a negative offset, an unknown format, a path that is not one.
type RequestError struct {
	Field string // the request's field: "offset", "format", "path", …
	Msg   string // what is wrong with it and what to do, one line
}

func (e *RequestError) Error() string { return fmt.Sprintf("recall: %s: %s", e.Field, e.Msg) }

// PathError says that a path leads nowhere in a payload.
type PathError struct {
	Path  string // as asked for
	Found string // the deepest prefix of it that exists; empty: the payload itself
	There string // what is there, one line: its kind and its keys or length
}

func (e *PathError) Error() string {
	at := "the payload"
	if e.Found != "" {
		at = fmt.Sprintf("%q", e.Found)
	}
	return fmt.Sprintf("recall: path %q leads nowhere: %s is %s", e.Path, at, e.There)
}
