package dialog

import "time"

// What AppKit calls these.
const (
	firstButton  = 1000  // NSAlertFirstButtonReturn, of the button that was added first; the others count on
	modalAborted = -1001 // NSModalResponseAbort

	keyReturn = 36 // kVK_Return, and so on
	keyEnter  = 76
	keyEscape = 53

	keysHeld = 1<<17 | 1<<18 | 1<<19 | 1<<20 // NSEventModifierFlags of Shift, Control, Option and Command
)

// alertButtons are the buttons of an NSAlert in the order in which they are added: from above,
// or from the right where they stand in a row.
func alertButtons() []Choice { return []Choice{AllowOnce, Deny, Review} }

// responseOf is the NSModalResponse of a button, which is also its tag.
func responseOf(c Choice) int {
	for i, button := range alertButtons() {
		if button == c {
			return firstButton + i
		}
	}
	return modalAborted
}

// choiceOf is what a person chose with an NSModalResponse. It is false where nobody chose: the
// alert was closed, or it did not offer this.
func choiceOf(response int, noAllow bool) (Choice, bool) {
	for _, c := range alertButtons() {
		if response == responseOf(c) && !(c == AllowOnce && noAllow) {
			return c, true
		}
	}
	return Deny, false
}

// keyOf says whether a key denies, and whether it is kept from the alert. Return never presses
// a button, wherever the focus is. With another key held it was meant for another window.
func keyOf(code uint16, held uint) (denies, kept bool) {
	switch code {
	case keyReturn, keyEnter, keyEscape:
		return held&keysHeld == 0, true
	}
	return false, false
}

// arming says when an alert takes answers: some time after it appeared or got the keyboard.
type arming struct {
	front bool
	since time.Time
}

// look is called often, and before each event.
func (a *arming) look(front bool, now time.Time) bool {
	if a.since.IsZero() || front && !a.front {
		a.since = now
	}
	a.front = front
	return now.Sub(a.since) >= inertMs*time.Millisecond
}
