// Package planner finds out when stubbing pays, and from where on.
//
// Providers cache the prefix of a prompt: reading it again costs a fraction of the
// price of input, writing it more than the price. A stub in the middle changes the
// prefix, so that all behind it is written again, once; and it saves its share of the
// reading in every later request. [Plan] weighs the two.
//
// # Terms
//
// A size is anything that is proportional to billed input: bytes of a message, or
// tokens. A cost is a size times a rate, where 1 is the price of uncached input. An
// item is a message; a cut is the first item that changes; an entry is a position that
// the provider can read its cache up to. A request holds the items before an answer of
// the model, so the requests of a conversation follow from its items.
//
// # Guarantees
//
// All functions are pure: the same conversation with the same epochs gives the same
// plan, in another process too. The cost of [Plan] is linear in the number of items,
// times the number of epochs.
//
// # Where to read next
//
// plan.go has the best cut, account.go what a conversation has cost so far.
package planner
