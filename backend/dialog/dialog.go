package dialog

import (
	"context"
	"errors"
)

// Request is one question. All texts may be hostile and of any length: the adapters show
// them as face makes them.
type Request struct {
	Title  string // “git wants to write to a start-up file”
	Target string // the exact object
	Facts  []Fact
	Note   string // “Denied at 14:09 if nobody answers.”
	// ReviewOnly leaves out the permission: the dialog cannot show what it would allow.
	ReviewOnly bool
}

// Fact is a line of a request. The label is Loop's own. Whole is shown on demand where
// Text stands for more.
type Fact struct{ Label, Text, Whole string }

// Choice is what a person chose. The zero value denies.
type Choice int

const (
	Deny      Choice = iota
	AllowOnce        // this act, and nothing is remembered
	Review           // look at it in Loop; it is not answered yet
)

// ErrUnavailable says that this program has no native dialog.
var ErrUnavailable = errors.New("this program has no native dialog")

// Asker shows a request and blocks until a person has chosen. Any goroutine may call Ask;
// one dialog is shown at a time, others wait. The end of ctx closes the dialog. With an
// error, which may be ctx's, the choice is Deny and nobody has made it.
type Asker interface {
	Ask(ctx context.Context, r Request) (Choice, error)
}

// inertMs is how many milliseconds a dialog takes no answer after it appears, changes or
// gets the keyboard: what was being typed or clicked then was not meant for it. Firefox
// waits as long (Mozilla bug 162020).
const inertMs = 500
