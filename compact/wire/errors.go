package wire

// The errors that a caller may want to tell apart.

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrBody says that a body is not what the dialect knows; it was left alone.
var ErrBody = errors.New("wire: not a request body of a known format")

// What can be wrong with a body that is JSON.
var (
	errAfter = fmt.Errorf("%w: something follows the object", ErrBody)
	errShape = fmt.Errorf("%w: it wants an object whose messages are a list of objects", ErrBody)
	errTwice = fmt.Errorf("%w: a name that matters comes twice", ErrBody)
	errEmpty = fmt.Errorf("%w: it is empty", ErrBody)
)

// bodyError makes an [ErrBody] of what a reading ended with. A decoder's own words
// are left out: they quote names out of the body.
func bodyError(err error) error {
	var bad *jsontext.SyntacticError
	switch {
	case errors.Is(err, ErrBody):
		return err
	case errors.As(err, &bad):
		return fmt.Errorf("%w: it is not valid JSON at byte %d", ErrBody, bad.ByteOffset)
	case err == io.EOF:
		return errEmpty
	}
	return fmt.Errorf("%w: it ends too early", ErrBody)
}

// orShape returns err, or errShape where the decoder saw nothing wrong.
func orShape(err error) error {
	if err == nil {
		return errShape
	}
	return err
}
