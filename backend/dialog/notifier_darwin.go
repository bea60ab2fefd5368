package dialog

// NewNotifier returns the notifier of this desktop.
func NewNotifier(system System, front func()) Notifier { return newSystemNotifier(system, front) }
