//go:build !linux

package dialog

import "context"

// NewNotifier returns a notifier whose every Notify fails with ErrUnavailable.
func NewNotifier() Notifier { return noNotifier{} }

type noNotifier struct{}

func (noNotifier) Notify(context.Context, Notice) (Choice, error) { return Deny, ErrUnavailable }
