package prices

// Finding a model by the name that a request has for it, and what its prices mean.

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"docket/compact/planner"
)

// ErrModel says that a table has no prices of a model.
var ErrModel = errors.New("prices: no prices of this model")

// What gateways and clouds put around a model's name, and what dates and versions do.
var (
	before = regexp.MustCompile(`^(?:.*/)?(?:(?:us|eu|apac|jp|au|ca|global)\.)?(?:(?:anthropic|openai|amazon|google)\.)?`)
	after  = regexp.MustCompile(`(?:-latest|[-@]20[0-9]{6}|[-@]20[0-9]{2}-[0-9]{2}-[0-9]{2}|-v[0-9]+(?::[0-9]+)?|:[0-9]+|@default)+$`)
)

// normal returns the name that a table knows a model by.
func normal(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	name = name[len(before.FindString(name)):]
	name = strings.TrimSuffix(name, after.FindString(name))
	return strings.ReplaceAll(name, ".", "-")
}

// Model returns what the table knows of the model that a request calls name: as it is, with
// a date or a version behind it, or with the prefix of a gateway or cloud. Errors:
// [ErrModel], with the models whose names are most alike.
func (t *Table) Model(name string) (Model, error) {
	key := normal(name)
	if m := t.models[key]; m != nil {
		found := *m
		found.Rows = slices.Clone(m.Rows)
		return found, nil
	}
	return Model{}, fmt.Errorf("%w: %.80q is not in the table of %s: like it are %s; give a table of your own, or rates",
		ErrModel, name, t.Date.Format(time.DateOnly), strings.Join(t.like(key), ", "))
}

// like returns the names of three models that have most in common with key at their
// beginning.
func (t *Table) like(key string) (names []string) {
	byName := slices.Clone(t.names)
	slices.SortStableFunc(byName, func(a, b string) int { return commonPrefix(b, key) - commonPrefix(a, key) })
	for _, name := range byName[:min(3, len(byName))] {
		names = append(names, t.models[name].Name)
	}
	return names
}

func commonPrefix(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// At returns the prices of a request of a number of tokens.
func (m Model) At(tokens int64) Row {
	for _, r := range m.Rows {
		if r.UpTo == 0 || tokens <= r.UpTo {
			return r
		}
	}
	return Row{}
}

// Cliff returns the size above which a request of a number of tokens, or any larger one, is
// charged by another row; false if there is none.
func (m Model) Cliff(tokens int64) (size int64, ok bool) {
	r := m.At(tokens)
	return r.UpTo, r.UpTo != 0
}

// Rates returns the prices relative to that of uncached input, with the cache written for an
// hour if hour is set and its price is known.
func (r Row) Rates(hour bool) planner.Rates {
	write := r.Write
	if hour && r.Write1h > 0 {
		write = r.Write1h
	}
	return planner.Rates{Write: float64(write) / float64(r.Input), Read: float64(r.Read) / float64(r.Input)}
}

// Money is an amount in picodollars.
type Money int64

// String writes an amount in USD: cents with two digits more where it is small.
func (m Money) String() string {
	sign, n := "", m
	if n < 0 {
		sign, n = "-", -n
	}
	switch {
	case n >= 1e12:
		return fmt.Sprintf("%s$%.2f", sign, float64(n)/1e12)
	case n >= 1e8 || n == 0:
		return fmt.Sprintf("%s$%.4f", sign, float64(n)/1e12)
	}
	return fmt.Sprintf("%s$%.8f", sign, float64(n)/1e12)
}

// Of returns what a number of tokens costs.
func (p Price) Of(tokens int64) Money { return Money(int64(p) * tokens) }

// String writes a price as the table does: USD per million tokens, "-" if it is unknown.
func (p Price) String() string {
	if p == 0 {
		return "-"
	}
	s := fmt.Sprintf("%d.%06d", p/1e6, p%1e6)
	s = strings.TrimRight(s, "0")
	if i := strings.IndexByte(s, '.'); len(s)-i <= 2 { // whole dollars, and cents as people write them
		s = strings.TrimSuffix(s+"0", ".0")
	}
	return s
}

// Cost returns what a request with usage u costs, output included where its price is known.
// Of the two prices of writing, each token has its own.
func (r Row) Cost(u Usage) Money {
	hour := r.Write1h
	if hour == 0 {
		hour = r.Write
	}
	return r.Input.Of(u.Input) + r.Write.Of(u.Write) + hour.Of(u.Write1h) + r.Read.Of(u.Read) + r.Output.Of(u.Output)
}
