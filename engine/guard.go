package engine

// A damaged or truncated file makes bbolt panic and the memory map fault. Both end
// here, as errors that name the place, instead of ending the process. A panic of
// the caller's own code passes through unchanged.

import (
	"fmt"
	"runtime/debug"

	"docket"
)

// userPanic carries a panic of the caller's code through a guard.
type userPanic struct{ value any }

// guard runs fn and turns a panic or a memory fault in it into a
// [*docket.CorruptError] that names file and place.
func guard(file, place string, fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		switch p := recover().(type) {
		case nil:
		case userPanic:
			panic(p.value)
		default:
			err = &docket.CorruptError{File: file, Place: place, Expected: "a readable structure", Found: fmt.Sprint(p)}
		}
	}()
	return fn()
}

// callUser runs the caller's code inside of a guard. A fault in it comes from
// reading the memory map and is the guard's; every other panic is the caller's.
func callUser(fn func() error) error {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if _, fault := p.(interface{ Addr() uintptr }); fault {
			panic(p)
		}
		panic(userPanic{p})
	}()
	return fn()
}
