package arch

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The rows of the contract, and the cases of others' faults, that this release
// answers for. A row has a test function named after it; a case is named by a test
// function, or in the text of one. Whoever removes the last such test removes the
// promise, and has to say so here.
const (
	rows  = "L1 L2 L3 L4 L5 L6 L7 L8 L9 L10 S1 S2 S3 S4 S5 P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11 P12 P13 P14 H1 H2 H3 H4 H5"
	cases = "A1 A2 A3 A5 A6 A7 A9 A10 B1 B2 B3 B4 B5 B7 B10 B11 C1 C2 C3 C4 C5 C8 C9 D1 D3 D4 D5 E1 E2 E4 E5 F1 F3 F4 F6 G1 G2 G3 G4 G5"
)

func TestContractIsTested(t *testing.T) {
	var tests strings.Builder
	for _, s := range sources(t) {
		if !s.test() || s.name == "contract_test.go" {
			continue
		}
		text, err := os.ReadFile(s.fset.File(s.file.FileStart).Name())
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(text)
	}
	all := tests.String()
	for _, row := range strings.Fields(rows) {
		if !regexp.MustCompile(`func Test` + row + `[^0-9]`).MatchString(all) {
			t.Errorf("no test function is named after row %s", row)
		}
	}
	for _, c := range strings.Fields(cases) {
		if !regexp.MustCompile(`func Test\w*` + c + `\D|\b` + c + `\b`).MatchString(all) {
			t.Errorf("no test names case %s", c)
		}
	}
}
