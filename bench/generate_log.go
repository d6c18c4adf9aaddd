package bench

// The two kinds of payload that are read by the line: the events of a service,
// and its log with stack traces and reports in between.

// events is NDJSON: one event a line, the last filled up to the size.
func (g *generator) events() {
	const open, end = `{"event":"end","note":"`, "\"}\n"
	g.repeat(g.size-len(open)-len(end), "", g.event)
	g.lit(open)
	g.fill(g.size - len(end))
	g.lit(end)
}

func (g *generator) event(n int) {
	g.lit(`{"seq":`).num(n).lit(`,"time":"`).time().lit(`","level":"`).one("debug", "info", "info", "info", "warn", "error").lit(`","service":"`)
	g.one("checkout", "catalog", "search", "billing").lit(`","host":"node-`).num(g.below(24)).lit(`.eu-central.example.com","env":"production","version":"4.18.2","trace":{"trace_id":"`).id(20).lit(`","span_id":"`).id(8)
	g.lit(`","sampled":`).one("true", "false").lit(`},`)
	switch g.below(3) {
	case 0:
		g.lit(`"http":{"method":"`).one("GET", "GET", "POST", "PUT").lit(`","path":"/v2/`).one("products", "orders", "carts").lit(`/`).id(8).lit(`","status":`)
		g.one("200", "200", "201", "304", "404", "500").lit(`,"bytes":`).num(g.below(80000)).lit(`,"duration_ms":`).decimal(900000, 3).lit(`}`)
	case 1:
		g.lit(`"db":{"statement":"select `).prose(2).lit(` from `).lit(g.word()).lit(` where id = $1","rows":`).num(g.below(500)).lit(`,"duration_ms":`).decimal(90000, 3).lit(`}`)
	default:
		g.lit(`"job":{"name":"`).lit(g.word()).lit(`","attempt":`).num(g.between(1, 5)).lit(`,"queue":{"depth":`).num(g.below(4000)).lit(`,"lag_s":`).decimal(9000, 2).lit(`}}`)
	}
	g.lit(`,"message":"`).prose(g.between(3, 14)).lit(`"`)
	g.title()
	g.lit("}\n")
}

// log is text: log lines, now and then a stack trace or a paragraph of prose.
func (g *generator) log() {
	g.repeat(g.size, "", func(int) {
		switch n := g.below(40); {
		case n == 0:
			g.stackTrace()
		case n < 3:
			g.paragraph()
		default:
			g.logLine()
		}
	})
	g.fill(g.size)
}

func (g *generator) logLine() {
	g.time().lit(" ").one("INFO ", "INFO ", "INFO ", "DEBUG", "WARN ", "ERROR").lit(" [").one("http", "worker", "store", "cache", "auth").lit("-").num(g.below(32))
	g.lit("] request=").id(16).lit(" ")
	switch g.below(8) {
	case 0:
		g.lit("served GET /api/v2/").lit(g.word()).lit("/").num(g.below(100000)).lit(" status=").one("200", "204", "404", "503").lit(" took=").decimal(900000, 3).lit("ms")
	case 1:
		g.lit("retry ").num(g.between(1, 5)).lit(" of 5 after ").num(g.below(4000)).lit("ms: ").prose(g.between(4, 12))
	case 2:
		g.lit("evicted ").num(g.below(5000)).lit(" of ").num(g.between(5000, 90000)).lit(" keys, hit ratio ").decimal(100000, 3).lit("%")
	case 3:
		g.prose(g.between(5, 16))
	case 4:
		g.lit("connection pool: 32 open, ").num(g.below(32)).lit(" idle, 0 waiting, max lifetime 30m0s")
	case 5:
		g.lit("authorized user=").num(g.below(900)).lit(" scope=catalog.read,orders.read via=session-cookie")
	default:
		g.lit("query plan cached for statement ").num(g.below(60)).lit(" (prepared, index scan, no rows estimated)")
	}
	g.lit("\n")
}

func (g *generator) stackTrace() {
	g.time().lit(" ERROR [worker-").num(g.below(32)).lit("] panic: ").prose(4).lit(": code=E").num(g.between(1000, 9999)).lit("\n")
	for range g.between(3, 12) {
		g.lit("\tat com.example.").lit(g.word()).lit(".").lit(g.word()).lit("(").lit(g.word()).lit(".java:").num(g.below(900)).lit(")\n")
	}
}

func (g *generator) paragraph() {
	g.lit("\n## ").prose(g.between(2, 6)).lit("\n\n")
	for range g.between(2, 5) {
		g.prose(g.between(8, 22)).lit(". ")
	}
	if g.below(3) == 0 {
		g.lit(g.pick(cjkRemarks)).lit(g.pick(emoji))
	}
	g.lit("\n\n")
}
