package codec

import (
	"errors"
	"fmt"
)

// ErrDamaged is wrapped by every error of a Parse or a read: the bytes are not
// what FORMAT.md allows.
var ErrDamaged = errors.New("codec: damaged")

// ErrLimit is wrapped, together with [ErrDamaged], where a frame claims more raw
// bytes than the caller allows.
var ErrLimit = errors.New("more raw bytes than allowed")

func damaged(what string) error { return fmt.Errorf("%w: %s", ErrDamaged, what) }
