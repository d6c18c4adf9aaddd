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
// The end of a conversation is not known. How many requests are still expected grows
// with how many there were, and is doubted by some: an epoch is worth it if it pays over
// the more of them, and is insured if it pays over the fewer, or earlier epochs have
// saved what it costs. See [Options].
//
// # Guarantees
//
// All functions are pure: the same conversation with the same epochs gives the same
// plan, in another process too. The cost of [Plan] is linear in the number of items, and
// in what the epochs before took from them, times its logarithm; 2,000 messages take some
// 0.2 ms (go test -bench Plan ./compact/planner).
//
// With a limit, whenever a conversation ends it has cost at most so much more than
// without any stub, if sizes are what is billed.
//
// # Caveats
//
// Sizes of items and savings have to be in the same unit: savings in bytes of text beside
// sizes in bytes of JSON are taken for less than they are.
//
// # Where to read next
//
// plan.go has the best cut, account.go what a conversation has cost so far.
package planner
