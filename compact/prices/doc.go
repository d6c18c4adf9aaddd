// Package prices knows what models charge for input, and about how many tokens a text is.
//
// # Terms
//
// A model has rows: prices in USD per million tokens, each for requests up to a size; the
// border between two is a cliff, and the whole request is charged by the row that it falls
// into. Write is the price of input that goes into the provider's cache, read of what comes
// from there. Rates are prices relative to that of uncached input.
//
// # Guarantees
//
// Prices change, and are data: [Default] is a dated table that is built in, [Parse] reads a
// user's own, in the same format; its header says what that is. Nothing is guessed: a model
// that is not in the table is an error that names those like it, and what a table does not
// say is unknown. Money is counted in whole picodollars.
//
// # Caveats
//
// [Tokens] is an estimate; on recorded payloads half of them were within 6 % of the count of
// a real tokenizer and 19 of 20 within 19 % (four bytes a token: 16 % and 46 %).
// [Calibrator] corrects it by what the provider reports.
//
// # Where to read next
//
// table.txt is the table; table.go reads it, model.go finds a model and its rates, tokens.go
// estimates, usage.go reads what providers report.
package prices
