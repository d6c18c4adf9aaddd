package docket

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"docket/internal/formatdoc"
)

// oneRecord is the one record of oneLedger, under a zero lineage key.
type oneRecord struct{ Record }

type oneLedger struct{ Ledger }

func (oneLedger) View(_ context.Context, thread ThreadID, id MemID, fn func(Record) error) error {
	if thread != "t" || id != (oneRecord{}).Handle().MemID {
		return ErrNotFound
	}
	return fn(oneRecord{})
}

func (oneRecord) Handle() Handle {
	return Handle{MemID: DeriveMemID(LineageKey{}, "toolu_01", DigestOf([]byte("docket")))}
}

func (oneRecord) Tag(text []byte) string { return DeriveTag(LineageKey{}, text) }

func TestFormatExampleOfAnswer(t *testing.T) {
	want := formatdoc.Example(t, "answer")
	const rest = " characters 0–6 of 6; this is the end\ndocket"
	if got := AppendAnswer(nil, oneRecord{}, []byte(rest)); !bytes.Equal(got, want) {
		t.Errorf("AppendAnswer makes\n%s\nFORMAT.md shows\n%s", got, want)
	}
	if id, ok := VerifyAnswer(t.Context(), oneLedger{}, "t", want); !ok || id != "rh47c6ft4bjir4d3" {
		t.Errorf("the example verifies: %v, of %q", ok, id)
	}
	untagged := formatdoc.Example(t, "answer-untagged")
	_, tag, _ := ParseAnswerHead(want)
	if tag != DeriveTag(LineageKey{}, untagged) {
		t.Errorf("the tag of what FORMAT.md says is tagged is %s, the answer has %s", DeriveTag(LineageKey{}, untagged), tag)
	}
}

// Every single changed byte, and every cut, makes an answer unknown; white space
// at its end does not matter.
func TestChangedAnswersDoNotVerify(t *testing.T) {
	answer := AppendAnswer(nil, oneRecord{}, []byte(" characters 0–6 of 6\ndocket"))
	verify := func(text []byte) bool {
		_, ok := VerifyAnswer(t.Context(), oneLedger{}, "t", text)
		return ok
	}
	if !verify(answer) || !verify(append(bytes.Clone(answer), " \r\n\t"...)) {
		t.Fatal("the answer itself does not verify")
	}
	for i := range answer {
		changed := bytes.Clone(answer)
		changed[i] ^= 1
		if verify(changed) || verify(answer[:i]) || verify(answer[i+1:]) {
			t.Errorf("a change at byte %d goes unseen", i)
		}
	}
	if _, ok := VerifyAnswer(t.Context(), oneLedger{}, "other", answer); ok {
		t.Error("verifies in another thread")
	}
}

func FuzzParseAnswerHead(f *testing.F) {
	f.Add([]byte("[docket.tool_memory answer v1 mem=rh47c6ft4bjir4d3 tag=sjwc42i2ldiih7zi] characters"))
	f.Add([]byte(answerOpen))
	f.Add([]byte("[docket.tool_memory answer v1 mem=" + strings.Repeat("a", 16) + " tag=" + strings.Repeat("A", 16) + "]"))
	f.Fuzz(func(t *testing.T, in []byte) {
		id, tag, ok := ParseAnswerHead(in)
		if ok && !bytes.HasPrefix(in, AppendAnswerHead(nil, id, tag)) {
			t.Errorf("%q parses to %q, %q", in, id, tag)
		}
	})
}
