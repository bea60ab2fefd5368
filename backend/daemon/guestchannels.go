package daemon

import (
	"loop/backend/callbacks"
	"loop/backend/guestlink"
)

// lateCallbacks stands for the callbacks before they exist: links need them, the
// runner opens links, and callbacks queue runs.
type lateCallbacks struct{ *callbacks.Service }

var _ guestlink.Callbacks = (*lateCallbacks)(nil)
