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
	ReasonDecided Reason = "decided" // an earlier epoch decided it: for ever
)

// Why a result is kept.
const (
	ReasonDisabled       Reason = "disabled"        // compaction is off
	ReasonBeforeStart    Reason = "before-start"    // replayed history
	ReasonBelowThreshold Reason = "below-threshold" // too small to matter
	ReasonEmpty          Reason = "empty"           // nothing in it
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
