package dialog

import (
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// What winuser.h calls these.
const (
	flashStop      = 0
	flashTray      = 0x2
	flashUntilSeen = 0xc // FLASHW_TIMERNOFG: until the window comes to the front
)

// flashInfo is FLASHWINFO.
type flashInfo struct {
	size    uint32
	window  windows.HWND
	flags   uint32
	count   uint32
	timeout uint32
}

// NewFrame returns the windows of this process, which a program needs once.
func NewFrame() Frame {
	f := &flashFrame{flash: windows.NewLazySystemDLL("user32.dll").NewProc("FlashWindowEx")}
	f.each = windows.NewCallback(f.found)
	return f
}

type flashFrame struct {
	flash *windows.LazyProc
	each  uintptr // Windows frees no callback, so there is one

	mu       sync.Mutex
	flashing bool
	flags    uint32 // for found
}

func (f *flashFrame) Mark(waits bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	on := waits && !f.InFront()
	if on == f.flashing {
		return
	}
	f.flashing, f.flags = on, flashStop
	if on {
		f.flags = flashTray | flashUntilSeen
	}
	_ = windows.EnumWindows(f.each, nil) // without a window there is nothing to mark
}

// found is EnumWindowsProc. The lock is held.
func (f *flashFrame) found(window windows.HWND, _ uintptr) uintptr {
	if ownWindow(window) && windows.IsWindowVisible(window) {
		info := flashInfo{window: window, flags: f.flags}
		info.size = uint32(unsafe.Sizeof(info))
		_, _, _ = f.flash.Call(uintptr(unsafe.Pointer(&info)))
	}
	return 1 // go on
}

// InFront counts a native dialog, too: it matters only where Windows does not tell what is
// minimised.
func (f *flashFrame) InFront() bool { return ownWindow(windows.GetForegroundWindow()) }

func (f *flashFrame) TellsMinimised() bool { return true }

func ownWindow(window windows.HWND) bool {
	var process uint32
	_, err := windows.GetWindowThreadProcessId(window, &process)
	return err == nil && process == uint32(os.Getpid())
}
