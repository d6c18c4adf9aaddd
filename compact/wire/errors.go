package wire

// The errors that a caller may want to tell apart.

import (
	"errors"
	"fmt"
)

// ErrBody says that a body is not what the dialect knows; it was left alone.
var ErrBody = errors.New("wire: not an Anthropic Messages body")

// What can be wrong with a body that is JSON.
var (
	errAfter    = fmt.Errorf("%w: something follows the object", ErrBody)
	errShape    = fmt.Errorf("%w: it wants an object whose messages are a list of objects", ErrBody)
	errTwice    = fmt.Errorf("%w: a name that matters comes twice", ErrBody)
	errNoObject = fmt.Errorf("%w: it is empty", ErrBody)
)

// orShape returns err, or errShape where the decoder saw nothing wrong.
func orShape(err error) error {
	if err == nil {
		return errShape
	}
	return err
}
