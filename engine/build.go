package engine

// A result -> a draft: all that the commit puts into the store, made in the
// caller's goroutine before the commit, so that one commit is short and writers
// compress side by side.

import (
	"fmt"
	"runtime"

	"docket"
	"docket/codec"
	"docket/index"
)

// maxGrams is the largest grams section in bytes that lies beside those of other
// records. Larger ones are a part of their segment: among the others they would be
// copied whenever a neighbour is written, which made a third of all bytes written.
const maxGrams = 4 << 10

// small is the payload size in bytes below which starting goroutines costs more
// than it saves.
const small = 32 << 10

// draft is a result ready to be committed. The handle lacks what the commit gives:
// mem id, seq, thread, created.
type draft struct {
	handle docket.Handle
	parts  []codec.Part
	grams  []byte // as in the grams bucket; nil: none; empty: a part of the segment
	stored int64  // bytes of parts and grams
	inline bool
}

// asideOf returns what r carries beside its payload.
func asideOf(r *docket.Result) codec.Aside {
	return codec.Aside{Args: r.Args, Attachments: r.Attachments}
}

func place(seq docket.Seq, what string) string { return fmt.Sprintf("record %d, %s", seq, what) }

// build makes the draft of r, whose payload has the given digest.
func build(enc *codec.Encoder, r *docket.Result, digest docket.Digest) *draft {
	var sections index.Sections
	d := &draft{handle: docket.Handle{
		CallID:  r.ID,
		Tool:    r.Tool,
		Bytes:   int64(len(r.Payload)),
		Digest:  digest,
		IsError: r.IsError,
	}}
	cuts := enc.Cut(r.Payload)
	encoding := enc.Start(r.Payload, cuts)
	describe := func() {
		sections = index.Build(r.Payload, cuts)
		d.handle.Kind, d.handle.Chars = sections.Kind, sections.Chars
		d.handle.Summary, d.handle.Schema, d.handle.Preview = index.Outline(r.Payload, sections)
	}
	if len(r.Payload) > small {
		encoding.Help(max(runtime.GOMAXPROCS(0)-1, 1))
	} else {
		encoding.Join()
	}
	describe()
	grams := index.AppendGrams(nil, r.Payload, cuts, encoding.Estimate()/index.GramShare)
	frames := encoding.Frames()
	content := codec.Content{Frames: frames, Digest: digest, Chars: sections.CharMap, Paths: sections.Paths}
	if aside := asideOf(r); !aside.Empty() {
		content.Aside = enc.AppendFrame(nil, codec.AppendAside(nil, aside))
	}
	if len(grams) > maxGrams {
		content.Grams, d.grams = grams, []byte{}
	} else {
		d.grams = grams
	}
	d.parts = content.Parts()
	d.stored, d.inline = codec.Size(d.parts)
	d.stored += int64(len(d.grams))
	return d
}
