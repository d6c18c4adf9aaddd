package prices

// Reading a table: strictly, so that a slip of the pen is not a bill that is wrong.

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"docket/compact/planner"
)

//go:embed table.txt
var builtIn []byte

// Text returns the table that is built in as it is written, to begin one's own with.
func Text() []byte { return slices.Clone(builtIn) }

// Table is a price table. It is not changed once it was read.
type Table struct {
	Date   time.Time // of the prices
	models map[string]*Model
	names  []string // in the order of the table
}

// Model is what a table knows of one model.
type Model struct {
	Name string
	Rule planner.Rule  // how the provider finds what it can read of its cache
	TTL  time.Duration // of its cache, from the last use on; 0: unknown
	// Window is the largest request in tokens, MinCache the smallest prefix that is
	// cached. 0: unknown.
	Window, MinCache int64
	Rows             []Row // ascending; the last is for any size
}

// Row is the prices of requests up to a size.
type Row struct {
	UpTo                                int64 // tokens of the request; 0: any
	Input, Write, Write1h, Read, Output Price // 0: unknown
}

// Price is in picodollars a token, which is a millionth of a dollar per million tokens.
type Price int64

// ErrTable says that a price table cannot be read; the error names line and column.
var ErrTable = errors.New("prices: not a price table")

// Default returns the table that is built in.
func Default() *Table { return builtInTable() }

var builtInTable = sync.OnceValue(func() *Table {
	t, err := Parse(builtIn)
	if err != nil {
		panic(err) // a test reads it
	}
	return t
})

// columns are those of a row, in their order.
var columns = []string{"model", "cache", "up_to", "input", "write", "write_1h", "read", "output", "ttl", "window", "min_cache"}

// Parse reads a table in the format that the built-in one describes. Errors: [ErrTable].
func Parse(text []byte) (*Table, error) {
	t := &Table{models: map[string]*Model{}}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		var err error
		switch {
		case len(fields) == 0:
		case t.Date.IsZero():
			err = t.head(fields)
		default:
			err = t.row(fields)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrTable, n, err)
		}
	}
	switch {
	case t.Date.IsZero():
		return nil, fmt.Errorf("%w: it has no line \"prices 1 DATE\"", ErrTable)
	case len(t.names) == 0:
		return nil, fmt.Errorf("%w: it has no rows", ErrTable)
	}
	for _, name := range t.names {
		if m := t.models[name]; m.Rows[len(m.Rows)-1].UpTo != 0 {
			return nil, fmt.Errorf("%w: %s has no row for larger requests: the up_to of the last one is -", ErrTable, m.Name)
		}
	}
	return t, nil
}

// head reads the line with version and date.
func (t *Table) head(fields []string) (err error) {
	if len(fields) != 3 || fields[0] != "prices" || fields[1] != "1" {
		return errors.New("it begins with \"prices 1 DATE\", as prices 1 2026-11-30")
	}
	if t.Date, err = time.Parse(time.DateOnly, fields[2]); err != nil || t.Date.IsZero() {
		return fmt.Errorf("%.20q is no date: write 2026-11-30", fields[2])
	}
	return nil
}

// row reads one row.
func (t *Table) row(fields []string) error {
	if len(fields) != len(columns) {
		return fmt.Errorf("%d columns, want %d: %s", len(fields), len(columns), strings.Join(columns, " "))
	}
	p := rowParser{fields: fields}
	m := Model{Name: strings.ToLower(fields[0]), TTL: p.duration(8), Window: p.count(9), MinCache: p.count(10)}
	switch fields[1] {
	case "marks":
		m.Rule = planner.RuleMarks
	case "prefix":
	default:
		p.fail(1, "marks or prefix")
	}
	r := Row{UpTo: p.count(2), Input: p.price(3), Write: p.price(4), Write1h: p.price(5), Read: p.price(6), Output: p.price(7)}
	switch {
	case p.err != nil:
		return p.err
	case r.Input == 0 || r.Read == 0 || r.Write == 0:
		return fmt.Errorf("%s: input, write and read have to be known", m.Name)
	case r.Read > r.Input:
		return fmt.Errorf("%s: read is dearer than input", m.Name)
	}
	key := normal(m.Name)
	known := t.models[key]
	if known == nil {
		m.Rows = []Row{r}
		t.models[key] = &m
		t.names = append(t.names, key)
		return nil
	}
	last := known.Rows[len(known.Rows)-1]
	m.Rows = known.Rows
	switch {
	case t.names[len(t.names)-1] != key || last.UpTo == 0:
		return fmt.Errorf("%s stands in the table already", m.Name)
	case r.UpTo != 0 && r.UpTo <= last.UpTo:
		return fmt.Errorf("%s: up_to does not ascend", m.Name)
	case known.Name != m.Name || known.Rule != m.Rule || known.TTL != m.TTL || known.Window != m.Window || known.MinCache != m.MinCache:
		return fmt.Errorf("%s: the rows of a model differ in more than sizes and prices", m.Name)
	}
	known.Rows = append(known.Rows, r)
	return nil
}

// rowParser reads columns until one is wrong.
type rowParser struct {
	fields []string
	err    error
}

func (p *rowParser) fail(column int, want string) {
	p.err = cmp.Or(p.err, fmt.Errorf("%s: %.20q is no %s: want %s", p.fields[0], p.fields[column], columns[column], want))
}

// count reads a number of tokens, 0 if it is unknown.
func (p *rowParser) count(column int) int64 {
	if p.fields[column] == "-" {
		return 0
	}
	n, err := strconv.ParseInt(p.fields[column], 10, 64)
	if err != nil || n < 1 || n > 1e9 {
		p.fail(column, "a number of tokens, or -")
	}
	return n
}

// duration reads a time to live.
func (p *rowParser) duration(column int) time.Duration {
	if p.fields[column] == "-" {
		return 0
	}
	d, err := time.ParseDuration(p.fields[column])
	if err != nil || d <= 0 || d > 24*time.Hour {
		p.fail(column, "a time as 5m or 1h, or -")
	}
	return d
}

// price reads USD per million tokens: digits, and up to six of them behind a point.
func (p *rowParser) price(column int) Price {
	s := p.fields[column]
	if s == "-" {
		return 0
	}
	whole, part, _ := strings.Cut(s, ".")
	n, err := strconv.ParseUint(whole+(part + "000000")[:max(len(part), 6)], 10, 63)
	if err != nil || len(part) > 6 || strings.HasSuffix(s, ".") || whole == "" || n == 0 || n > 1e9 {
		p.fail(column, "USD per million tokens, as 12.50, or -")
		return 0
	}
	return Price(n)
}

// Models returns all models of the table, in its order.
func (t *Table) Models() (models []Model) {
	for _, name := range t.names {
		m := *t.models[name]
		m.Rows = slices.Clone(m.Rows)
		models = append(models, m)
	}
	return models
}
