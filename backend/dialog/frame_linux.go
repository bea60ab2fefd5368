//go:build linux && cgo && desktop

package dialog

/*
#cgo pkg-config: gtk+-3.0
#include "frame_linux.h"
*/
import "C"

// NewFrame returns the window of this process. Nothing happens to it until GTK's loop runs.
func NewFrame() Frame { return gtkFrame{} }

type gtkFrame struct{}

func (gtkFrame) Mark(waits bool) {
	on := C.int(0)
	if waits {
		on = 1
	}
	C.loop_frame_mark(on)
}

func (gtkFrame) InFront() bool { return C.loop_frame_in_front() != 0 }

// TellsMinimised is false on Wayland, whose protocol for windows has no such state.
func (gtkFrame) TellsMinimised() bool { return C.loop_frame_on_wayland() == 0 }
