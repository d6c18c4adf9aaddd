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
