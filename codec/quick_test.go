package codec
import ("testing";"bytes")
func TestQuick(t *testing.T) {
	p := bytes.Repeat([]byte("héllo wörld ─ "), 20000)
	e := NewEncoder(0,0); f := e.Encode(p, e.Cut(p))
	c := Content{Frames:f}
	parts := c.Parts()
	m := map[string][]byte{}
	for _, x := range parts { m[string(AppendKey(nil,x.ID,x.Group))]=x.Body }
	s, err := Open(mp(m)); if err != nil { t.Fatal(err) }
	var out []byte
	for i := range int(s.Frames) { out, err = s.AppendFrame(out, i, NewDecoder()); if err != nil { t.Fatal(err) } }
	if !bytes.Equal(out,p) { t.Fatal("differ") }
}
type mp map[string][]byte
func (m mp) Part(id PartID, g uint32) []byte { return m[string(AppendKey(nil,id,g))] }
