//go:build desktop

package dialog

import (
	"sync/atomic"

	"github.com/ebitengine/purego/objc"
)

// criticalRequest is NSCriticalRequest: the icon in the Dock bounces until Loop is in front.
const criticalRequest = 0

// NewFrame returns the windows of this process. Nothing happens to them until the main
// thread's loop runs.
func NewFrame() Frame {
	c, err := newCocoa()
	if err != nil {
		return &dockFrame{} // it marks nothing
	}
	return &dockFrame{cocoa: c}
}

type dockFrame struct {
	cocoa   *cocoa
	inFront atomic.Bool
	request int // of the main thread; 0: there is none
}

func (f *dockFrame) Mark(waits bool) {
	if f.cocoa != nil {
		f.cocoa.do(func() { f.mark(waits) })
	}
}

// mark also ends a request that AppKit has ended because Loop came to the front: that does
// nothing.
func (f *dockFrame) mark(waits bool) {
	app := application()
	active := objc.Send[bool](app, sel("isActive"))
	f.inFront.Store(active)
	switch on := waits && !active; {
	case on && f.request == 0:
		f.request = objc.Send[int](app, sel("requestUserAttention:"), uint(criticalRequest))
	case !on && f.request != 0:
		app.Send(sel("cancelUserAttentionRequest:"), f.request)
		f.request = 0
	}
}

// InFront counts a native dialog, too: it matters only where a system does not tell what is
// minimised.
func (f *dockFrame) InFront() bool { return f.inFront.Load() }

func (f *dockFrame) TellsMinimised() bool { return true }
