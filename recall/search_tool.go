package recall

// The search tool as a model calls it: which of the conversation's results contain
// something, or which there are. Its answers name records and show little of each;
// reading on is the recall tool's.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"docket"
)

// Defaults of the search tool: room for the windows of ten records in one answer.
const (
	searchRecords = 10
	searchMatches = 3
	searchWindow  = 80
	listRecords   = 50
)

const searchHead = "[docket.tool_memory search] "

// SearchCall answers a call of the search tool: whatever args holds, a text of at
// most MaxChars characters and a head of bounded length. Expired and erased
// records are not found.
func (t Tool) SearchCall(ctx context.Context, l docket.Ledger, thread docket.ThreadID, args []byte) string {
	t = t.filled()
	req, err := t.searchRequest(parseArguments(args, "query"))
	var bad *RequestError
	if errors.As(err, &bad) {
		return searchHead + "cannot use " + bad.Field + ": " + bad.Msg
	}
	out := found{req: req, room: t.MaxChars}
	look := req
	look.MaxRecords++ // whether there is more
	for a, err := range Search(ctx, l, thread, look) {
		if err != nil {
			t.report(err)
		}
		if err != nil && a.Handle.MemID == "" {
			out.failed = true
			break
		}
		if !out.add(a, err) {
			break
		}
	}
	return out.text(t)
}

// searchRequest makes a request of the arguments. The error is a [*RequestError].
func (t Tool) searchRequest(given arguments) (SearchRequest, error) {
	req := SearchRequest{Query: given.text("query"), IgnoreCase: given.flag("ignore_case"), MaxChars: t.MaxChars / 4}
	records := searchRecords
	if req.Query == "" {
		records = listRecords
	}
	req.Window = given.window(searchWindow, t.MaxChars)
	req.MaxMatches = given.limit("max_matches", searchMatches, t.MaxChars)
	req.MaxRecords = given.limit("max_records", records, t.MaxChars)
	if after, has := given.number("after"); has {
		req.After = docket.Seq(max(0, after))
	}
	return req, given.err
}

// found collects what a search tells a model.
type found struct {
	req    SearchRequest
	room   int64 // characters left
	body   strings.Builder
	n      int        // records told of
	last   docket.Seq // the last of them
	more   bool       // there are others
	failed bool       // the ledger could not be read to the end
}

// add tells of a record, or of its error. It returns false when there is no more
// to tell, or no room.
func (f *found) add(a Answer, err error) bool {
	text := recordText(a, f.req, err)
	chars := int64(utf8.RuneCountInString(text))
	if f.n == f.req.MaxRecords || f.n > 0 && chars > f.room {
		f.more = true
		return false
	}
	if err == nil {
		f.n, f.last = f.n+1, a.Handle.Seq
	}
	if chars <= f.room || f.n == 1 {
		f.body.WriteString(text)
		f.room -= chars
	}
	return true
}

// recordText says what was found in one record.
func recordText(a Answer, req SearchRequest, err error) string {
	h := a.Handle
	if err != nil {
		return fmt.Sprintf("\nmem=%s cannot be read: what is stored does not pass its checksum", h.MemID)
	}
	tool := h.Tool
	if tool == "" {
		tool = docket.UnknownTool
	}
	head := fmt.Sprintf("\nmem=%s tool=%s, %d characters", h.MemID, visible(tool, missIDChars), h.Chars)
	if req.Query == "" {
		return head + ": " + visible(h.Summary, quoteChars)
	}
	return head + ", " + countText(a) + "\n" + string(appendValid(nil, a.AppendText(nil)))
}

// text returns the whole answer.
func (f *found) text(t Tool) string {
	query, after := quote(f.req.Query), ""
	if f.req.After > 0 {
		after = fmt.Sprintf(" after position %d", f.req.After)
	}
	head := searchHead
	switch {
	case f.failed && f.n == 0:
		return head + "the ledger cannot be read at the moment; nothing is lost: try again later"
	case f.n == 0 && f.req.Query == "":
		head += "there are no results" + after + " in this conversation"
	case f.n == 0:
		head += "none of the results" + after + " of this conversation contains " + query
		for _, hint := range hints(Request{Query: f.req.Query, IgnoreCase: f.req.IgnoreCase}, Answer{}) {
			head += "; " + hint
		}
	case f.req.Query == "":
		head += counted(f.n, "result") + after + " of this conversation"
	default:
		head += counted(f.n, "result") + after + " of this conversation with a match for " + query
	}
	if f.more {
		head += fmt.Sprintf("; more: after=%d", f.last)
	}
	if f.failed {
		head += "; the ledger could not be read to the end"
	}
	if f.n > 0 {
		head += "; read one with " + t.Name
	}
	return head + f.body.String()
}
