// Package wire is the splicer of request bodies.
package wire
