package bench

// The seeded source of everything that is generated: integers from a PCG, words
// of a made-up vocabulary with a Zipf distribution, identifiers. The bounded
// integers are our own because math/rand/v2 fixes the stream of the PCG and not
// what its methods make of it, and a payload must be the same for ever.

import (
	"math/bits"
	"math/rand/v2"
	"strconv"
	"sync"
)

const (
	vocabularySize = 6000
	// zipfSlots is how finely the distribution of the words is tabulated: one
	// look-up a word instead of the logarithms of rand.Zipf.
	zipfSlots = 1 << 15
)

// vocabulary is a list of words, the most frequent first, and the rank that each
// slot of the distribution stands for.
type vocabulary struct {
	words []string
	ranks [zipfSlots]uint16
}

// source makes random values. The same seed gives the same values.
type source struct {
	pcg *rand.PCG
	voc *vocabulary
}

func newSource(seed uint64) *source {
	return &source{pcg: rand.NewPCG(seed, 0x646f636b6574), voc: sharedVocabulary()}
}

// sharedVocabulary is built once: it takes longer than a small payload.
var sharedVocabulary = sync.OnceValue(newVocabulary)

// below returns an integer in [0, n).
func (s *source) below(n int) int {
	hi, _ := bits.Mul64(s.pcg.Uint64(), uint64(n))
	return int(hi)
}

// between returns an integer in [lo, hi].
func (s *source) between(lo, hi int) int { return lo + s.below(hi-lo+1) }

func (s *source) word() string {
	return s.voc.words[s.voc.ranks[s.below(zipfSlots)]]
}

func (s *source) pick(of []string) string { return of[s.below(len(of))] }

const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// appendID appends n characters of an identifier: 5 random bits each.
func (s *source) appendID(dst []byte, n int) []byte {
	var bits uint64
	for i := range n {
		if i%12 == 0 {
			bits = s.pcg.Uint64()
		}
		dst = append(dst, idAlphabet[bits&31])
		bits >>= 5
	}
	return dst
}

// appendDecimal appends n / 10^places, always with a digit after the point.
func appendDecimal(dst []byte, n, places int) []byte {
	scale := 1
	for range places {
		scale *= 10
	}
	dst = strconv.AppendInt(dst, int64(n/scale), 10)
	dst = append(dst, '.')
	for scale /= 10; scale > 0; scale /= 10 {
		dst = append(dst, byte('0'+n/scale%10))
	}
	return dst
}

// newVocabulary builds the words from syllables. It has a seed of its own, so
// that two payloads differ in what they say and not in their language.
func newVocabulary() *vocabulary {
	v := &vocabulary{}
	syl := source{pcg: rand.NewPCG(1, 1)}
	onsets := []string{"b", "br", "c", "d", "dr", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pl", "qu", "r", "s", "st", "t", "tr", "v", "w", "z", ""}
	rhymes := []string{"a", "e", "i", "o", "u", "an", "en", "in", "on", "ar", "er", "or", "al", "el", "ea", "ou", "ist", "end", "ing", "ock"}
	seen := map[string]bool{}
	for len(v.words) < vocabularySize {
		w := ""
		for range 1 + syl.below(2) + len(v.words)/2500 {
			w += syl.pick(onsets) + syl.pick(rhymes)
		}
		if !seen[w] {
			seen[w] = true
			v.words = append(v.words, w)
		}
	}
	v.tabulate()
	return v
}

// tabulate gives the word of rank k the weight 1 / (k + 3).
func (v *vocabulary) tabulate() {
	total := 0.0
	for k := range v.words {
		total += 1 / float64(k+3)
	}
	slot, sum := 0, 0.0
	for k := range v.words {
		sum += 1 / float64(k+3)
		for slot < zipfSlots && float64(slot) < sum/total*zipfSlots {
			v.ranks[slot] = uint16(k)
			slot++
		}
	}
}

// Strings that are not ASCII: real payloads mix scripts.
var (
	cjkNames = []string{
		"携帯型ステンレス鍋", "木製の折りたたみ椅子", "防水リュックサック", "可折叠露营灯", "陶瓷咖啡杯", "羊毛围巾",
		"한지 조명", "대나무 도마", "수제 가죽 지갑", "静音キーボード", "太阳能充电器", "手織りの敷物",
	}
	cjkRemarks = []string{
		"在庫があります。発送は翌営業日です。", "该商品支持七天无理由退货。", "배송은 영업일 기준 이틀 걸립니다.", "色は画面と異なる場合があります。",
		"请在收货后检查包装是否完好。", "재고가 부족하여 예약 판매합니다.",
	}
	emoji = []string{"🚚", "📦", "✅", "⚠️", "🧾", "🔥", "🎁", "🌱", "🛠️", "💬"}
)
