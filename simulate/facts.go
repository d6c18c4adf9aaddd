package simulate

// Facts at risk: what the model says next that it could only have read in a result that
// has become a stub.

// Facts counts exact identifiers that answers of the model use, once an answer.
type Facts struct {
	// Used: a result before the answer held it.
	Used int `json:"facts_used"`
	// AtRisk: of those, nothing else in the view that went out did.
	AtRisk int `json:"facts_at_risk"`
	// InStub: of those, a stub of the view still shows it.
	InStub int `json:"facts_in_stub"`
}

type facts struct {
	Facts
}

func newFacts(t *Transcript) *facts { return &facts{} }

func (f *facts) add(v view) {}
