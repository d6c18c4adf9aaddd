// Package compact is the decision which tool results of a conversation go out as
// stubs.
//
// Every request of an agent's loop replays the whole history. A [Service] gives,
// for the messages of one request, the edits that make its wire view: results that
// are large and stale are replaced by the stub of their record, everything else
// stays. [Viewer] does that for messages of any Go type, package wire for request
// bodies. [Trim] caps a history, [Faults] finds calls without results and the
// reverse.
//
// # Terms
//
// A stub is the text that replaces a payload on the wire; a wire view is the
// messages as the provider gets them. A result is exposed once the model has
// answered a request that held it: it then stands before an assistant message. An
// epoch is a set of results that were stubbed at once, the cut the earliest message
// that a view changes for the first time. A keep place is what protects one of the
// newest results. An answer is what the recall tool returned.
//
// # Guarantees
//
// Nothing is lost: a stub exists only after its payload is durable in the ledger
// and the decision in the log, in this order. What the ledger refuses stays whole,
// and [Report] says so; a view cannot fail.
//
// Nothing flickers: a decision about a result is for ever, whatever the policy
// becomes, and holds for every occurrence that the model has answered. The stub's
// bytes are a function of the handle and of the form that the thread's first epoch
// froze. So a view is a prefix of the next view, up to [Report.Cut]; where somebody
// remembers the view before, [Report.Change] says where and why a view differs from it.
//
// Nothing is a dead end: a stub goes out only if the model can call the tool that
// it names. Nothing unread is hidden, except in [ModeArrival], which is chosen.
//
// The input is never changed; when nothing changes it is the argument itself that
// comes back.
//
// Our own output in a history is recognised by verification, never by its looks:
// a stub is made again from its record and compared, an answer's tag is checked.
// Neither is recorded again. A stale answer becomes a stub that points at the
// record that it was about; the log knows it by docket.DeriveMemID of the zero
// key, its call id, and its digest: sixteen characters that no record has.
//
// # Caveats
//
// The static policies know nothing of prices. Each epoch makes the provider read
// again what follows its cut: with a cache that reads at 0.1 and writes at 1.25,
// ten results of 5,000 characters cost more compacted than not, unless
// Policy.MinSaving lets stale results wait for one another. go test -v -run
// 'TestB1|TestB4' ./compact/wire prints the figures.
//
// A message list that ends in an assistant message counts as answered by it, also
// where that message is only a prefill.
//
// What the search tool returned is an ordinary result.
//
// # Concurrency
//
// A [Service] and a [Viewer] keep no state and are safe for concurrent use. Views
// of one thread may run at once: the log makes them agree.
//
// # Where to read next
//
// plan.go is the order of the steps, policy.go and reason.go what is decided and
// why, own.go how our own output is recognised, trim.go and pairing.go the rest.
// Package wire has the first dialect.
package compact
