package recall_test

import (
	"context"
	"fmt"

	"docket"
	"docket/engine"
	"docket/recall"
)

func ExampleFetch() {
	ctx, ledger := context.Background(), engine.NewMemory(nil)
	call := docket.Call{ID: "toolu_01", Tool: "list_orders"}
	payload := []byte(`{"orders":[{"id":"A-1","total":12.50},{"id":"A-2","total":99.00},{"id":"A-3","total":7.25}]}`)
	handles, err := ledger.Record(ctx, "thread-1", docket.Result{Call: call, Payload: payload})
	if err != nil {
		panic(err)
	}
	byPath, err := recall.Fetch(ctx, ledger, "thread-1", recall.Request{MemID: handles[0].MemID, Path: "orders[1].total"})
	fmt.Printf("%s %v\n", byPath.Text, err)
	byQuery, err := recall.Fetch(ctx, ledger, "thread-1", recall.Request{MemID: handles[0].MemID, Query: "A-3", Window: 12})
	fmt.Printf("%s %v\n", byQuery.AppendText(nil), err)
	byRange, err := recall.Fetch(ctx, ledger, "thread-1", recall.Request{MemID: handles[0].MemID, Offset: new(int64(12)), MaxChars: 9})
	fmt.Printf("%s %d of %d %v\n", byRange.Text, byRange.End, byRange.TotalChars, err)
	// Output:
	// 99.00 <nil>
	// [characters 60–87, match at 72]
	// .00},{"id":"A-3","total":7. <nil>
	// "id":"A-1 21 of 92 <nil>
}

// A model's call: always a text.
func ExampleCall() {
	ctx, ledger := context.Background(), engine.NewMemory(nil)
	fmt.Println(recall.Call(ctx, ledger, "thread-1", []byte(`{"mem_id": "abcdefghijklmnop", "offset": "100"}`)))
	// Output:
	// [tool_memory not found: abcdefghijklmnop]
	// A valid id is the 16 characters after "mem=" in a stub of this conversation; search_tool_results lists all ids and searches their results.
}
