package compact

// The reasons: stable strings, part of what `docket compact --report` prints and
// of what adopters count. A new release may add reasons; it never renames one.

// Reason says why a result was kept or stubbed.
type Reason string

// Why a result is a stub.
const (
	ReasonStale   Reason = "stale"   // above the threshold and older than the last KeepLast
	ReasonOffload Reason = "offload" // above the threshold and before the turn boundary
	ReasonArrival Reason = "arrival" // above the threshold, in offload-on-arrival mode
	ReasonAlways  Reason = "always"  // above the threshold, of a tool whose results always go
	ReasonDecided Reason = "decided" // an earlier epoch decided it: for ever
)

// Why a result is kept.
const (
	ReasonDisabled       Reason = "disabled"        // compaction is off
	ReasonBeforeStart    Reason = "before-start"    // replayed history
	ReasonBelowThreshold Reason = "below-threshold" // too small to matter
	ReasonEmpty          Reason = "empty"           // nothing in it
	ReasonNever          Reason = "never"           // of a tool whose results stay
	ReasonProtected      Reason = "protected"       // among the last KeepLast
	ReasonCurrentTurn    Reason = "current-turn"    // at or after the turn boundary
	ReasonUnexposed      Reason = "unexposed"       // the model has not been sent it yet
	ReasonFreshRecall    Reason = "fresh-recall"    // the model has just asked for it
	ReasonRecall         Reason = "recall"          // recall output about no record that could be named
	ReasonStub           Reason = "already-stub"    // the client's own history holds the stub
	ReasonNoID           Reason = "no-id"           // no call id to name it by
	ReasonNoGain         Reason = "no-gain"         // the stub would be longer than half of it
	ReasonWaiting        Reason = "waiting"         // an epoch would not pay yet, or save less than MinSaving
)

// Why a dialect forbids a stub ([Result.Hold]).
const (
	ReasonViewable  Reason = "viewable"       // nothing but parts that a model looks at
	ReasonLossy     Reason = "lossy"          // its text cannot be decoded without loss
	ReasonReference Reason = "tool-reference" // it names tools for the provider
	ReasonCode      Reason = "code-execution" // code asked for it: not in the model's context
	ReasonAmbiguous Reason = "ambiguous"      // the bytes can be read in two ways
)

// Why a stub that the policy wants is not applied.
const (
	ReasonLedgerError    Reason = "ledger-error"    // ledger or log failed: the payload stays
	ReasonNoRecallTool   Reason = "no-recall-tool"  // the request has no tool to follow it with
	ReasonProviderClears Reason = "provider-clears" // the provider was told to clear results itself
	ReasonRecordOnly     Reason = "record-only"     // the history is the provider's
)

// reasonTexts say each reason as a person reads it.
var reasonTexts = map[Reason]string{
	ReasonStale:          "large, and older than what is kept whole",
	ReasonOffload:        "large, and from before the current turn",
	ReasonArrival:        "large: it goes at once",
	ReasonAlways:         "large, of a tool whose results go as soon as they were read",
	ReasonDecided:        "a stub since an earlier request",
	ReasonDisabled:       "compaction is off",
	ReasonBeforeStart:    "replayed history",
	ReasonBelowThreshold: "too small to matter",
	ReasonEmpty:          "nothing in it",
	ReasonNever:          "of a tool whose results stay",
	ReasonProtected:      "among the newest, which stay whole",
	ReasonCurrentTurn:    "of the current turn",
	ReasonUnexposed:      "the model has not read it yet",
	ReasonFreshRecall:    "the model has just asked for it",
	ReasonRecall:         "recall output about no record that could be named",
	ReasonStub:           "a stub already, in the client's own history",
	ReasonNoID:           "it has no call id to name it by",
	ReasonNoGain:         "a stub would be longer than half of it",
	ReasonWaiting:        "large and old, but changing what was sent does not pay yet",
	ReasonViewable:       "nothing but parts that a model looks at",
	ReasonLossy:          "its text cannot be decoded without loss",
	ReasonReference:      "it names tools for the provider",
	ReasonCode:           "code asked for it: the model never sees it",
	ReasonAmbiguous:      "its bytes can be read in two ways",
	ReasonLedgerError:    "the ledger failed: it stays whole",
	ReasonNoRecallTool:   "the request has no recall tool to follow a stub with",
	ReasonProviderClears: "the provider was told to clear results itself",
	ReasonRecordOnly:     "the history is the provider's: it is only recorded",
}

// Text returns what r means, as a person reads it: a clause without a full stop; r itself
// where it is none of the constants.
func (r Reason) Text() string {
	if text := reasonTexts[r]; text != "" {
		return text
	}
	return string(r)
}
