// Package simulate replays recorded conversations, request by request, and says what
// they would have cost under each policy.
//
// # Terms
//
// A transcript is the last request body of a conversation: the earlier ones are its
// beginnings, one before each answer of the model. A size is in bytes of the body; a
// cost is a size times a rate, where 1 is the price of uncached input, so costs are
// compared, never paid. A policy is what became of old results: none, static (the
// literal policy), cost (when it pays) and free (cost without insurance).
//
// # Guarantees
//
// Costs are counted on the bytes of the wire views that the dialect makes, by a
// simulated cache that knows nothing of the planner: it compares each view with those
// before it. Cache marks that are set on the way are no part of a view's identity.
//
// # Caveats
//
// Bytes stand for tokens. A client's own marks are taken to be at the end of every
// request. Times are not replayed: the cache is taken to be warm.
//
// # Where to read next
//
// run.go replays, cache.go counts.
package simulate
