//go:build windows || (darwin && desktop) || (linux && cgo && desktop)

package dialog

// The words of every dialog.
const (
	titleText  = "Loop asks"
	allowText  = "Allow once"
	denyText   = "Deny"
	reviewText = "Review in Loop"
	fullText   = "Show all of it" // opens what did not fit
)
