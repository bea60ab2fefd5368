//go:build desktop

package dialog

import (
	"fmt"

	"github.com/ebitengine/purego"
	"github.com/ebitengine/purego/objc"
)

// commonModes is kCFRunLoopCommonModes, which AppKit has its modal panels' mode among.
const commonModes = "kCFRunLoopCommonModes"

// cocoa is the main thread, which alone may call AppKit.
type cocoa struct {
	mainLoop func() uintptr
	perform  func(loop uintptr, mode objc.ID, work objc.Block)
	wake     func(loop uintptr)
}

func newCocoa() (*cocoa, error) {
	lib, err := purego.Dlopen("/System/Library/Frameworks/AppKit.framework/AppKit", purego.RTLD_LAZY|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load AppKit: %w: %w", ErrUnavailable, err)
	}
	c := &cocoa{}
	purego.RegisterLibFunc(&c.mainLoop, lib, "CFRunLoopGetMain")
	purego.RegisterLibFunc(&c.perform, lib, "CFRunLoopPerformBlock")
	purego.RegisterLibFunc(&c.wake, lib, "CFRunLoopWakeUp")
	return c, nil
}

// do has the main thread's loop call f, and returns at once. Not by its dispatch queue: that
// stands still while one of its blocks runs a modal panel, as the window's own may.
func (c *cocoa) do(f func()) {
	work := objc.NewBlock(func(objc.Block) { f() })
	defer work.Release() // the loop has its own reference
	mode := class("NSString").Send(sel("alloc")).Send(sel("initWithUTF8String:"), commonModes)
	defer mode.Send(sel("release")) // this thread may have no autorelease pool
	loop := c.mainLoop()
	c.perform(loop, mode, work)
	c.wake(loop)
}

func class(name string) objc.ID { return objc.ID(objc.GetClass(name)) }

func sel(name string) objc.SEL { return objc.RegisterName(name) }

// text is an NSString. What named wrote is UTF-8 without a NUL.
func text(s string) objc.ID { return class("NSString").Send(sel("stringWithUTF8String:"), s) }

func application() objc.ID { return class("NSApplication").Send(sel("sharedApplication")) }
