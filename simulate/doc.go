// Package simulate replays recorded conversations, request by request, and says what
// they would have cost under each policy.
//
// # Terms
//
// A transcript is the last request body of a conversation: the earlier ones are its
// beginnings, one before each answer of the model. A size is in bytes of the body; a
// cost is a size times a rate, where 1 is the price of uncached input, so costs are
// compared, never paid. A policy is what became of old results: none, static (the
// literal policy), trigger (nothing until a request is large, then all), clear (what a
// provider does by itself), cost (when it pays), free (cost without insurance) and
// optimum (what costs least, by one who knows the end). A fact is an identifier that an
// answer uses and a result before it held; it is at risk where only a stub can have it.
//
// # Guarantees
//
// Costs are counted on the bytes of the wire views that the dialect makes, by a
// simulated cache that knows nothing of the planner: it compares each view with those
// before it. Cache marks that are set on the way are no part of a view's identity. The
// optimum is counted so too; in which sense it is one is said in optimum.go.
//
// # Caveats
//
// Bytes stand for tokens, four for one. A client's own marks are taken to be at the end
// of every request. The cache is taken to be warm, unless messages have a "timestamp" and
// there is a TTL. The model is taken to say the same whatever it was sent: what it would
// have recalled, and what that costs, is not counted.
//
// # Concurrency
//
// A [Transcript] may be replayed by several at once; it is only read.
//
// # Where to read next
//
// run.go replays, policy.go and clear.go make the views, cache.go counts, optimum.go has
// the dynamic programme, facts.go what is at risk, plot.go the picture.
package simulate
