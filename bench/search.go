package bench

// Search across records: a rare string over many of them, docket's index against
// decoding and scanning all.

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"docket"
)

const (
	searchRecords = 1000     // of a default run; the goals take ten times as many
	searchSize    = 30 << 10 // bytes of each record
	searchTargets = 100
	recordBatch   = 500 // results of one commit while the ledgers are filled
)

// search measures it over the default number of records.
func (r *runner) search(ctx context.Context) error {
	rows, err := r.searchOver(ctx, searchRecords)
	return errors.Join(err, r.give(rows...))
}

// searchOver measures looking for identifiers that occur in one of n records.
func (r *runner) searchOver(ctx context.Context, n int) (rows []Result, err error) {
	err = r.inEmptyLanes(func(lanes []*lane) error {
		queries, err := r.fill(ctx, lanes, n, searchSize)
		if err != nil {
			return err
		}
		r.Progress(fmt.Sprintf("search, %d records of %s", n, FormatSize(searchSize)))
		if err := r.searchInTurn(ctx, lanes, queries); err != nil {
			return err
		}
		for _, l := range lanes {
			row := Result{Workload: "search", Size: int64(n) * searchSize, Kind: docket.KindJSON, Subject: l.name(), Records: n}
			row.BytesOnDisk = l.disk
			rows = append(rows, l.into(row))
		}
		return nil
	})
	return rows, err
}

// fill records n payloads in every lane and returns identifiers that occur in
// them, from random records, in random order.
func (r *runner) fill(ctx context.Context, lanes []*lane, n, size int) (queries []string, err error) {
	src := newSource(r.Seed)
	for from := 0; from < n; from += recordBatch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.Progress(fmt.Sprintf("recording %d of %d results of %s", from, n, FormatSize(int64(size))))
		batch := make([]docket.Result, min(recordBatch, n-from))
		for i := range batch {
			payload := Generate(docket.KindJSON, size, r.Seed+uint64(from+i))
			batch[i] = result(fmt.Sprintf("call-%07d", from+i), payload)
			if src.below(n) < searchTargets {
				for _, t := range newPicker(payload, docket.KindJSON, r.Seed).identifiers(1) {
					queries = append(queries, t.query)
				}
			}
		}
		for _, l := range lanes {
			if err := l.recordAll(ctx, batch); err != nil {
				return nil, fmt.Errorf("%s: %w", l.name(), err)
			}
		}
	}
	for _, l := range lanes {
		if err := l.weigh(); err != nil {
			return nil, err
		}
	}
	return queries, nil
}

// searchInTurn runs the queries; one that has no answer of the naive ledger,
// whose budget is spent first, is not compared.
func (r *runner) searchInTurn(ctx context.Context, lanes []*lane, queries []string) error {
	for _, l := range lanes {
		l.meter = newMeter()
	}
	for _, q := range queries {
		var answers [][]string
		for _, l := range lanes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if l.spent > 4*r.Budget && l.ops() >= 3 {
				continue
			}
			var calls []string
			err := l.time(func() (err error) {
				calls, err = l.search(ctx, q)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", l.name(), err)
			}
			answers = append(answers, calls)
		}
		if len(answers) == 2 && (len(answers[1]) == 0 || !slices.Equal(answers[0], answers[1])) {
			lanes[0].mismatches++
		}
	}
	return nil
}
