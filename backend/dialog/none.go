//go:build !(windows || (darwin && desktop) || (linux && cgo && desktop))

package dialog

import "context"

// New returns an asker whose every Ask fails with ErrUnavailable.
func New() Asker { return unavailable{} }

type unavailable struct{}

func (unavailable) Ask(context.Context, Request) (Choice, error) { return Deny, ErrUnavailable }
