// Command docket keeps the results of the tools that LLM agents call in one
// file, replaces stale ones on the wire by small stubs, and reads any slice back.
//
// One file a verb; root.go joins them, ledger.go finds and opens the file,
// exit.go turns errors into exit codes, print.go writes JSON lines and tables.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run())
}

// run is main without the exit, for script tests.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	app := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	return app.execute(ctx, os.Args[1:])
}
