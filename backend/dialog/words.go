//go:build windows || (linux && cgo && desktop)

package dialog

// The words of every dialog.
const (
	titleText  = "Loop asks"
	allowText  = "Allow once"
	denyText   = "Deny"
	reviewText = "Review in Loop"
	fullText   = "Show all of it" // opens what did not fit
)

// inertMs is how many milliseconds a dialog takes no answer after it appears, changes or
// gets the keyboard: what was being typed or clicked then was not meant for it. Firefox
// waits as long (Mozilla bug 162020).
const inertMs = 500
