// Command docket keeps the results of the tools that LLM agents call in one
// file, replaces stale ones on the wire by small stubs, and reads any slice back.
//
// # Terms
//
// A verb is a subcommand. Data goes to standard output, everything else to
// standard error; with --json a verb writes one object a line, with names that
// stay.
//
// # Guarantees
//
// Exit codes are documented by docket --help. Verbs that read open the file beside
// other readers; verbs that write hold it alone and wait half a second for it.
//
// # Caveats
//
// Tables and messages are for people and may change; JSON and exit codes do not.
//
// # Concurrency
//
// One invocation is one goroutine, apart from what the library starts and ends.
//
// # Where to read next
//
// root.go lists the verbs, one file each; ledger.go finds and opens the file;
// exit.go turns errors into exit codes.
package main
