package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"docket"
	"docket/compact"
)

func TestP1ThresholdAndKeepLast(t *testing.T) {
	at := func(size int) []msg {
		return []msg{user("go"), model("a"), given(res{id: "a", text: payload("a", size)}), model(), user("next")}
	}
	for _, c := range []struct {
		name     string
		policy   compact.Policy
		messages []msg
		want     string
	}{
		{"at the threshold", compact.Policy{Threshold: 3000}, at(3000), "below-threshold"},
		{"above the threshold", compact.Policy{Threshold: 3000}, at(3001), "stale!"},
		{"default threshold", compact.Policy{}, at(2000), "below-threshold"},
		{"above the default", compact.Policy{}, at(2001), "stale!"},
		{"no threshold, no gain", compact.Policy{Threshold: -1}, at(300), "no-gain"},
		{"no threshold", compact.Policy{Threshold: -1}, at(1500), "stale!"},
		{"keep 0", compact.Policy{KeepLast: 0}, turns(4), "stale! stale! stale! stale!"},
		{"keep -1", compact.Policy{KeepLast: -1}, turns(4), "stale! stale! stale! stale!"},
		{"keep 1", compact.Policy{KeepLast: 1}, turns(4), "stale! stale! stale! protected"},
		{"keep 3", compact.Default(), turns(4), "stale! protected protected protected"},
		{"keep all", compact.Policy{KeepLast: 4}, turns(4), "protected protected protected protected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, report := whole(t, memory(t), c.policy, c.messages)
			if got := reasons(report); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// What is an error, empty, a stub, or decided takes no place; recall output is in
// own_test.go.
func TestP1KeepPlaces(t *testing.T) {
	old := []msg{user("go"), model("s"), results("s"), model(), user("x")}
	for _, c := range []struct {
		name string
		last func(sent []msg) res
		want string
	}{
		{"a result", func([]msg) res { return res{id: "z", text: payload("z", 100)} }, "stale! below-threshold"},
		{"an error", func([]msg) res { return res{id: "z", text: payload("z", 5000), failed: true} }, "protected protected"},
		{"empty", func([]msg) res { return res{id: "z"} }, "protected empty"},
		{"an image", func([]msg) res { return res{id: "z", image: true} }, "stale! viewable"},
		{"a stub", func(sent []msg) res { return sent[2].results[0] }, "protected already-stub"},
		{"decided", func([]msg) res { return old[2].results[0] }, "protected decided!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := memory(t)
			sent, _ := whole(t, l, compact.Policy{}, old) // decides s
			last := c.last(sent)
			list := []msg{user("go"), model("k"), results("k"), model(last.id), given(last), model(), user("next")}
			_, report := whole(t, l, compact.Policy{KeepLast: 1}, list)
			if got := reasons(report); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestP1ErrorsAreStubbedAsErrors(t *testing.T) {
	list := []msg{user("go"), model("e"), given(res{id: "e", text: payload("e", 5000), failed: true}), model(), user("next")}
	out, report := whole(t, memory(t), compact.Policy{}, list)
	if got := reasons(report); got != "stale!" {
		t.Fatalf("got %q", got)
	}
	if stub := out[2].results[0].text; !strings.Contains(stub, "returned an error") {
		t.Errorf("the stub does not say that the call failed:\n%s", stub)
	}
}

func TestP8Offload(t *testing.T) {
	list := []msg{user("one"), model("a"), results("a"), model(), user("two"), model("b"), results("b"), user("<system-reminder>x</system-reminder>"), model("c"), results("c"), model()}
	offload := compact.Policy{Mode: compact.ModeOffload, KeepLast: 9}
	_, report := whole(t, memory(t), offload, list)
	if got, want := reasons(report), "offload! current-turn current-turn"; got != want {
		t.Errorf("derived boundary: got %q, want %q", got, want)
	}
	offload.TurnBoundary = new(9)
	_, report = whole(t, memory(t), offload, list)
	if got, want := reasons(report), "offload! offload! current-turn"; got != want {
		t.Errorf("given boundary: got %q, want %q", got, want)
	}
	list = []msg{model("a"), results("a"), model("b"), results("b"), model()}
	_, report = whole(t, memory(t), compact.Policy{Mode: compact.ModeOffload}, list)
	if got, want := reasons(report), "current-turn current-turn"; got != want {
		t.Errorf("no user message: got %q, want %q", got, want)
	}
}

func TestP9DecideIsPure(t *testing.T) {
	five := 5
	offload := compact.Policy{Mode: compact.ModeOffload, TurnBoundary: &five}
	for _, c := range []struct {
		policy              compact.Policy
		index               int
		size                int64
		protected, viewable bool
		want                string
	}{
		{compact.Default(), 0, 2001, false, false, "stub stale"},
		{compact.Default(), 0, 2000, false, false, "keep below-threshold"},
		{compact.Default(), 0, 2001, true, false, "keep protected"},
		{compact.Default(), 0, 2001, false, true, "keep viewable"},
		{compact.Default(), 0, 0, false, false, "keep empty"},
		{compact.Policy{Disabled: true}, 0, 2001, false, false, "keep disabled"},
		{compact.Policy{StartIndex: 3}, 2, 2001, false, false, "keep before-start"},
		{compact.Policy{StartIndex: 3}, 3, 2001, false, false, "stub stale"},
		{offload, 4, 2001, true, false, "stub offload"},
		{offload, 5, 2001, false, false, "keep current-turn"},
		{compact.Policy{Mode: compact.ModeOffload}, 0, 2001, false, false, "keep current-turn"},
		{compact.Policy{Mode: compact.ModeArrival}, 9, 2001, true, false, "stub arrival"},
	} {
		for range 2 {
			d, why := c.policy.Decide(c.index, c.size, c.protected, c.viewable)
			if got := fmt.Sprint(d, " ", why); got != c.want {
				t.Errorf("Decide(%d, %d, %v, %v) under %+v: got %q, want %q", c.index, c.size, c.protected, c.viewable, c.policy, got, c.want)
			}
		}
	}
}

func TestP9ImagesStay(t *testing.T) {
	list := []msg{user("go"), model("i", "both"), {role: "user", results: []res{
		{id: "i", image: true}, {id: "both", image: true, text: payload("both", 5000)},
	}}, model(), user("next")}
	out, report := whole(t, memory(t), compact.Policy{}, list)
	if got, want := reasons(report), "viewable stale!"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	if !out[2].results[1].image {
		t.Error("the image beside the text is gone")
	}
}

func TestP14NothingUnread(t *testing.T) {
	list := []msg{user("go"), model("a", "b", "c", "d", "e"), results("a", "b", "c", "d", "e")}
	_, report := whole(t, memory(t), compact.Policy{KeepLast: 2}, list)
	if got, want := reasons(report), "unexposed unexposed unexposed protected protected"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, report = whole(t, memory(t), compact.Policy{Mode: compact.ModeArrival, KeepLast: 2}, list)
	if got, want := reasons(report), "arrival! arrival! arrival! arrival! arrival!"; got != want {
		t.Errorf("on arrival: got %q, want %q", got, want)
	}
	list = append(list, model(), user("next"))
	_, report = whole(t, memory(t), compact.Policy{KeepLast: 2}, list)
	if got, want := reasons(report), "stale! stale! stale! protected protected"; got != want {
		t.Errorf("once read: got %q, want %q", got, want)
	}
}

// A decision covers the occurrences that the model has answered, not one that it
// has not.
func TestP14DecidedAgain(t *testing.T) {
	l := memory(t)
	list := []msg{user("go"), model("a"), results("a"), model(), user("again"), model("a"), results("a")}
	_, report := whole(t, l, compact.Policy{}, list)
	if got, want := reasons(report), "stale! unexposed"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	_, report = whole(t, l, compact.Policy{KeepLast: 9}, append(list, model(), user("next")))
	if got, want := reasons(report), "decided! decided!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestP14KeepRounds(t *testing.T) {
	list := []msg{user("go"), model("a", "b"), results("a"), results("b"), model("c", "d"), results("c", "d"), model("e"), given(res{id: "e", text: "no", failed: true}), model(), user("next")}
	for keep, want := range []string{
		"stale! stale! stale! stale! below-threshold",
		"stale! stale! protected protected below-threshold",
		"protected protected protected protected below-threshold",
	} {
		_, report := whole(t, memory(t), compact.Policy{KeepLast: keep, KeepUnit: compact.KeepRounds}, list)
		if got := reasons(report); got != want {
			t.Errorf("keep %d rounds: got %q, want %q", keep, got, want)
		}
	}
}

func TestMinSavingWaits(t *testing.T) {
	l := memory(t)
	p := compact.Policy{MinSaving: 12_000}
	for n, want := range []string{"", "waiting", "waiting waiting", "stale! stale! stale!", "decided! decided! decided! waiting"} {
		_, report := whole(t, l, p, turns(n))
		if got := reasons(report); got != want {
			t.Errorf("%d rounds: got %q, want %q", n, got, want)
		}
	}
}

// A threshold that is raised takes no stub back.
func TestDecidedOutlivesThePolicy(t *testing.T) {
	l := memory(t)
	first, _ := whole(t, l, compact.Policy{KeepLast: 1}, turns(3))
	for _, p := range []compact.Policy{{Threshold: 1_000_000}, {KeepLast: 99}, {Mode: compact.ModeOffload, TurnBoundary: new(0)}, {MinSaving: 1 << 40}} {
		again, report := whole(t, l, p, turns(3))
		if got := reasons(report); !strings.HasPrefix(got, "decided! decided! ") {
			t.Errorf("%+v: got %q", p, got)
		}
		for i := range first {
			if len(first[i].results) > 0 && first[i].results[0].text != again[i].results[0].text {
				t.Errorf("%+v: message %d changed", p, i)
			}
		}
	}
}

func TestP10ToolNames(t *testing.T) {
	own := res{id: "a", tool: "own", text: payload("a", 5000)}
	list := []msg{user("go"), model("a", "b"), given(own), results("b"), results("nobody"), model(), user("next")}
	out, report := whole(t, memory(t), compact.Policy{}, list)
	for i, want := range []string{"own", "read", docket.UnknownTool} {
		if got := report.Decisions[i].Tool; got != want {
			t.Errorf("result %d: tool %q, want %q", i, got, want)
		}
		if stub := out[i+2].results[0].text; !strings.Contains(stub, "\ntool="+want+" call_id=") {
			t.Errorf("result %d: the stub does not name %q:\n%s", i, want, stub)
		}
	}
}
