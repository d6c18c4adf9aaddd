// Package arch holds the architecture as tests: who may import whom, which folder
// may know which library, and the budgets of functions and files.
//
// # Terms
//
// The table is in arch_test.go. A package that is not in it may not exist, a
// library that is not in it may not be imported.
//
// # Caveats
//
// Tests of a package may import more than the package: the rules are about what
// ships. The budgets are the house's p90 and maxima; what they report is printed
// with go test -v.
//
// # Where to read next
//
// DESIGN.md argues for the layout.
package arch
