package dialog

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// NewNotifier returns the notifier of this desktop. Toasts stay where Windows keeps them
// until the person puts them away: Wails takes none back.
func NewNotifier(system System, front func()) Notifier {
	n := newSystemNotifier(system, front)
	n.face, n.before = toastFace, joinApartment
	return n
}

// joinApartment makes COM work on every thread of the process for good. Wails registers for
// clicks on whatever thread its caller is on, where COM may not have been started.
func joinApartment() error {
	var cookie uintptr // the apartment is never left
	result, _, _ := windows.NewLazySystemDLL("ole32.dll").NewProc("CoIncrementMTAUsage").Call(uintptr(unsafe.Pointer(&cookie)))
	if int32(result) < 0 { //nolint:gosec // an HRESULT has 32 bits
		return fmt.Errorf("CoIncrementMTAUsage: %w", windows.Errno(result))
	}
	return nil
}
