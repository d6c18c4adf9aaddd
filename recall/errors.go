package recall

// What a caller of the library may want to tell apart, beyond the root package's
// errors and index.MissError, which says where a path ends. The model's tool turns
// each of them into a text (miss.go).

import "fmt"

// RequestError says that a request asks for something that no record can answer:
// a negative offset, an unknown format, a path that is not one.
type RequestError struct {
	Field string // the request's field "offset", "max_chars", "path", …
	Msg   string // what is wrong with it and what to do, one line
}

func (e *RequestError) Error() string { return fmt.Sprintf("recall: %s: %s", e.Field, e.Msg) }
