package bench

// Payloads like those that tools return: the JSON of a shop's interface, the
// events of a service a line, its log with reports in between. Random bytes would
// not compress and a repeated template would compress a hundredfold; these are
// tuned to what zstd makes of recorded payloads of the same kind (a test holds
// them to it). What is asked about them is in targets.go.

import (
	"fmt"
	"strconv"

	"docket"
)

// Generate returns a payload of exactly size bytes (at least 256): kind is
// docket.KindJSON, docket.KindNDJSON or docket.KindText. The same arguments give
// the same bytes in every release. It panics on another kind.
func Generate(kind docket.Kind, size int, seed uint64) []byte {
	g := newGenerator(size, seed)
	switch kind {
	case docket.KindJSON:
		g.shop()
	case docket.KindNDJSON:
		g.events()
	case docket.KindText:
		g.log()
	default:
		panic(fmt.Sprintf("bench: cannot generate a payload of kind %s", kind))
	}
	return g.buf
}

// generator appends to a payload until it has its size.
type generator struct {
	*source
	buf   []byte
	size  int
	clock int // milliseconds since the start of 2026, ascending
}

// maxPiece is more than the longest product, order, event or paragraph takes.
const maxPiece = 6 << 10

func newGenerator(size int, seed uint64) *generator {
	size = max(size, 256)
	return &generator{source: newSource(seed), buf: make([]byte, 0, size+maxPiece), size: size}
}

// shop is one JSON object: products, orders that point to them, and a note that
// fills up to the size.
func (g *generator) shop() {
	const tail = `],"note":"` + `"}`
	g.lit(`{"meta":{"source":"catalog","page":1,"generated":"`).time().lit(`"},"products":[`)
	products := g.repeat(g.size*6/10-len(tail), ",", g.product)
	g.lit(`],"orders":[`)
	g.repeat(g.size-len(tail), ",", func(n int) { g.order(n, products) })
	g.lit(`],"note":"`)
	g.fill(g.size - 2)
	g.lit(`"}`)
}

// repeat appends pieces while they keep the payload below limit and returns how
// many it appended.
func (g *generator) repeat(limit int, separator string, piece func(n int)) int {
	for n := 0; ; n++ {
		before := len(g.buf)
		if n > 0 {
			g.lit(separator)
		}
		piece(n)
		if len(g.buf) > limit {
			g.buf = g.buf[:before]
			return n
		}
	}
}

// fill appends words and spaces up to limit.
func (g *generator) fill(limit int) {
	for len(g.buf) < limit {
		g.lit(g.word()).lit(" ")
	}
	g.buf = g.buf[:limit]
}

func (g *generator) lit(s string) *generator {
	g.buf = append(g.buf, s...)
	return g
}

func (g *generator) num(n int) *generator {
	g.buf = strconv.AppendInt(g.buf, int64(n), 10)
	return g
}

func (g *generator) decimal(below, places int) *generator {
	g.buf = appendDecimal(g.buf, g.below(below), places)
	return g
}

func (g *generator) id(n int) *generator {
	g.buf = g.appendID(g.buf, n)
	return g
}

// prose appends n words.
func (g *generator) prose(n int) *generator {
	for i := range n {
		if i > 0 {
			g.lit(" ")
		}
		g.lit(g.word())
	}
	return g
}

// time appends the clock and moves it on by up to half a minute.
func (g *generator) time() *generator {
	g.clock += 1 + g.below(30_000)
	day, ms := g.clock/86_400_000%336, g.clock%86_400_000
	g.lit("2026-").two(1 + day/28).lit("-").two(1 + day%28).lit("T").two(ms / 3_600_000)
	return g.lit(":").two(ms / 60_000 % 60).lit(":").two(ms / 1000 % 60).lit(".").num(100 + ms%900).lit("Z")
}

func (g *generator) two(n int) *generator {
	g.buf = append(g.buf, byte('0'+n/10), byte('0'+n%10))
	return g
}

// one appends one of the literals.
func (g *generator) one(of ...string) *generator { return g.lit(g.pick(of)) }

func (g *generator) product(n int) {
	g.lit(`{"id":"prd_`).id(16).lit(`","position":`).num(n).lit(`,"sku":"`).id(3).lit("-").num(g.between(10000, 99999))
	g.lit(`","name":"`).prose(g.between(2, 5)).lit(`","brand":"`).lit(g.word()).lit(`","category":["`)
	g.one("home", "garden", "office", "outdoor", "kitchen").lit(`","`).one("tools", "furniture", "lighting", "textiles", "storage", "toys")
	g.lit(`"],"price":{"amount":`).decimal(99999, 2).lit(`,"currency":"`).one("EUR", "USD", "JPY", "GBP").lit(`","tax_rate":`).one("0.07", "0.19", "0.2")
	g.lit(`,"discount":null},"stats":{"views":`).num(g.below(90000)).lit(`,"avg30":`).decimal(50000, 2).lit(`,"avg90":`).decimal(50000, 2)
	g.lit(`,"returns":`).num(g.below(90)).lit(`,"rating":`).decimal(50, 1).lit(`},"availability":{"in_stock":`).one("true", "false")
	g.lit(`,"quantity":`).num(g.below(900)).lit(`,"warehouse":{"code":"`).one("BER", "OSA", "TPE", "OAK", "LYS").lit(`-`).num(g.below(40))
	g.lit(`","lat":`).decimal(90_000, 3).lit(`,"lon":`).decimal(180_000, 3).lit(`}},"dimensions":{"width_mm":`).num(g.below(2000))
	g.lit(`,"height_mm":`).num(g.below(2000)).lit(`,"depth_mm":`).num(g.below(900)).lit(`,"weight_g":`).num(10 * g.below(500))
	g.lit(`},"shipping":{"class":"`).one("parcel", "parcel", "bulky", "letter").lit(`","free_from":49.9,"restrictions":[],"hazardous":false},"images":[`)
	g.images(g.between(0, 3))
	g.lit(`],"audit":{"created_at":"`).time().lit(`","created_by":"import-`).num(g.below(4)).lit(`","revision":`).num(g.between(1, 9)).lit(`,"source":"erp","checksum":null}`)
	g.lit(`,"links":{"self":"/v2/products/`).num(n).lit(`","reviews":"/v2/products/`).num(n).lit(`/reviews","supplier":"/v2/suppliers/`).num(g.below(300)).lit(`"}`)
	g.title()
	g.lit(`,"description":"`).prose(g.between(3, 28)).lit(`."}`)
}

func (g *generator) images(n int) {
	for i := range n {
		if i > 0 {
			g.lit(",")
		}
		g.lit(`{"url":"https://cdn.example.com/products/`).id(12).lit(`/`).num(i).lit(`.jpg","width":1200,"height":800,"alt":null}`)
	}
}

// title gives every third product a name in another script.
func (g *generator) title() {
	if g.below(3) == 0 {
		g.lit(`,"title":{"local":"`).lit(g.pick(cjkNames)).lit(`","badge":"`).lit(g.pick(emoji)).lit(`","note":"`).lit(g.pick(cjkRemarks)).lit(`"}`)
	}
}

func (g *generator) order(n, products int) {
	g.lit(`{"order_id":"ord_`).id(16).lit(`","number":`).num(100000+n).lit(`,"status":"`).one("paid", "shipped", "delivered", "returned", "cancelled")
	g.lit(`","placed_at":"`).time().lit(`","customer":{"id":"cus_`).id(10).lit(`","name":"`).prose(2).lit(`","email":"`).lit(g.word()).lit(`@example.com","country":"`)
	g.one("DE", "JP", "TW", "US", "KR", "FR").lit(`","vip":`).one("true", "false").lit(`},"lines":[`)
	for i := range g.between(1, 4) {
		if i > 0 {
			g.lit(",")
		}
		g.lit(`{"product":`).num(g.below(max(products, 1))).lit(`,"quantity":`).num(g.between(1, 9)).lit(`,"unit_price":`).decimal(99999, 2)
		g.lit(`,"tax":`).decimal(9999, 2).lit(`,"options":{"color":"`).one("red", "black", "oak", "sand").lit(`","gift_wrap":`).one("true", "false").lit(`}}`)
	}
	g.lit(`],"totals":{"net":`).decimal(99999, 2).lit(`,"tax":`).decimal(9999, 2).lit(`,"shipping":`).one("0.00", "4.90", "9.90")
	g.lit(`},"shipment":{"carrier":"`).one("dhl", "ups", "yamato", "post").lit(`","tracking":"`).id(16).lit(`","delivered_at":null,"label_url":null,"pickup_point":null,"insured":false}`)
	g.lit(`,"payment":{"method":"`).one("card", "invoice", "wallet").lit(`","captured":true,"refunds":[]},"remark":"`)
	g.remark()
	g.lit(`"}`)
}

func (g *generator) remark() {
	switch g.below(6) {
	case 0:
		g.lit(g.pick(cjkRemarks))
	case 1:
		g.lit(g.pick(emoji)).lit(" ").prose(g.between(3, 12)).lit(` \"`).prose(2).lit(`\"`)
	case 2:
		g.prose(g.between(3, 20))
	}
}
