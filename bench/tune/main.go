package main

import (
	"docket"
	"docket/bench"
	"os"
)

func main() { os.WriteFile("/tmp/exp/bench10.json", bench.Generate(docket.KindJSON, 10<<20, 1), 0o600) }
