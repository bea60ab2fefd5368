//go:build !(windows || (darwin && desktop) || (linux && cgo && desktop))

package dialog

// NewFrame returns a frame that marks nothing.
func NewFrame() Frame { return noFrame{} }

type noFrame struct{}

func (noFrame) Mark(bool) {}

func (noFrame) InFront() bool { return true }

func (noFrame) TellsMinimised() bool { return true }
