package engine
import ("testing";"bytes";"path/filepath";"docket";"fmt")
func TestQuick(t *testing.T) {
	p := filepath.Join(t.TempDir(), "x", "l.docket")
	l, err := Open(p, nil); if err != nil { t.Fatal(err) }
	pay := bytes.Repeat([]byte("héllo wörld ─ "), 20000)
	for i := range 300 { _, err := l.Record(t.Context(), "t", docket.Result{Call: docket.Call{ID: docket.CallID(fmt.Sprint(i)), Args: []byte(`{}`)}, Payload: pay[:i*500]}); if err != nil { t.Fatal(err) } }
	if err := l.Close(); err != nil { t.Fatal(err) }
	l, err = Open(p, nil); if err != nil { t.Fatal(err) }
	n := 0
	for h, err := range l.List(t.Context(), "t", 0) {
		if err != nil { t.Fatal(err) }
		err := l.View(t.Context(), "t", h.MemID, func(r docket.Record) error {
			var out []byte
			for i := range r.Frames() { var err error; if out, err = r.AppendFrame(out, i); err != nil { return err } }
			if !bytes.Equal(out, pay[:n*500]) { t.Fatal("differ") }
			if string(r.Args()) != "{}" { _, err := r.Attachments(); t.Fatal("args", r.Args(), err) }
			return nil
		})
		if err != nil { t.Fatal(err) }
		n++
	}
	if n != 300 { t.Fatal(n) }
	l.Close()
}
