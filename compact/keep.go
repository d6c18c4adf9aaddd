package compact

// Keep places: which of the newest results the sliding policy leaves whole. An
// error, an empty result, a stub, a result that is decided already, and the
// output of the recall tool take none: they would push out what the model needs.

// protect marks the occurrences that at most KeepLast-1 takers of a place (or
// rounds that hold one) are newer than.
func protect(list []occurrence, p Policy, decided func(*occurrence) bool) {
	newer, inRound, round := 0, false, -1
	for i := len(list) - 1; i >= 0; i-- {
		o := &list[i]
		if o.round != round {
			if inRound && p.KeepUnit == KeepRounds {
				newer++
			}
			inRound, round = false, o.round
		}
		o.protected = newer < p.KeepLast
		if !takesPlace(o) || decided(o) {
			continue
		}
		inRound = true
		if p.KeepUnit == KeepResults {
			newer++
		}
	}
}

func takesPlace(o *occurrence) bool {
	empty := o.Size == 0 && o.hold != ReasonViewable
	return o.state == statePlain && !o.result.IsError && !empty
}
