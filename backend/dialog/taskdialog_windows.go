package dialog

import (
	"context"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// What commctrl.h and winuser.h call these.
const (
	tdfAllowCancellation = 0x8
	tdfCallbackTimer     = 0x800 // TDN_TIMER about every 200 ms
	tdfNoSetForeground   = 0x10000

	tdnCreated       = 0
	tdnButtonClicked = 2
	tdnTimer         = 4
	tdnExpando       = 10

	tdmClickButton  = 0x400 + 102
	tdmEnableButton = 0x400 + 111

	idCancel = 2 // Esc and the cross
	vkReturn = 0x0d
	vkEscape = 0x1b

	stays = 1 // S_FALSE: the dialog goes on
)

// The buttons.
const (
	allowButton = 101 + iota
	denyButton
	reviewButton
)

// New returns the asker of this desktop, which a program needs once. In a program whose
// manifest does not ask for version 6 of the common controls there are no task dialogs, and a
// message box asks.
func New() Asker {
	t := &taskDialogs{one: make(chan struct{}, 1),
		indirect:      windows.NewLazySystemDLL("comctl32.dll").NewProc("TaskDialogIndirect"),
		send:          windows.NewLazySystemDLL("user32.dll").NewProc("SendMessageW"),
		post:          windows.NewLazySystemDLL("user32.dll").NewProc("PostMessageW"),
		keyState:      windows.NewLazySystemDLL("user32.dll").NewProc("GetKeyState"),
		flashWindow:   windows.NewLazySystemDLL("user32.dll").NewProc("FlashWindow"),
		threadWindows: windows.NewLazySystemDLL("user32.dll").NewProc("EnumThreadWindows")}
	t.callback = windows.NewCallback(t.called)
	t.closes = windows.NewCallback(t.close)
	return t
}

type taskDialogs struct {
	one                                         chan struct{} // filled while a dialog exists; guards shown
	indirect, send, post, keyState, flashWindow *windows.LazyProc
	threadWindows                               *windows.LazyProc
	callback, closes                            uintptr // Windows frees none, so there is one of each
	shown                                       taskDialog
}

// taskDialog is the one that exists, and belongs to its thread.
type taskDialog struct {
	ctx        context.Context // the callback has no other way to it
	noAllow    bool
	armed      bool
	arms       time.Time // when it takes answers again
	foreground bool
	choice     Choice
}

func (t *taskDialogs) Ask(ctx context.Context, r Request) (Choice, error) {
	select {
	case t.one <- struct{}{}:
	case <-ctx.Done():
		return Deny, ctx.Err()
	}
	defer func() { <-t.one }()
	if ctx.Err() != nil { // both were ready
		return Deny, ctx.Err()
	}
	// The dialog has its own message loop, which belongs to one thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := fitted(r)
	if t.indirect.Find() != nil {
		return t.box(ctx, f)
	}
	t.shown = taskDialog{ctx: ctx, noAllow: f.noAllow}
	if err := t.show(f); err != nil {
		return Deny, err
	}
	if ctx.Err() != nil {
		return Deny, ctx.Err()
	}
	return t.shown.choice, nil
}

// show blocks until the dialog is closed.
func (t *taskDialogs) show(f face) error {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	var failed error
	text := func(s string) uintptr {
		if s == "" {
			return 0
		}
		p, err := windows.UTF16PtrFromString(s)
		if err != nil {
			failed = err
			return 0
		}
		pinned.Pin(p)
		return uintptr(unsafe.Pointer(p))
	}
	buttons := taskButtons([]taskButton{{allowButton, text(allowText)}, {denyButton, text(denyText)}, {reviewButton, text(reviewText)}})
	pinned.Pin(&buttons[0])
	config := taskConfig{
		// Without TDF_ENABLE_HYPERLINKS no text is markup.
		flags: tdfAllowCancellation | tdfCallbackTimer | tdfNoSetForeground,
		title: text(titleText), instruction: text(f.title), content: text(f.content()), footer: text(f.note),
		expanded: text(f.full), expandText: text(fullText),
		buttons: uintptr(unsafe.Pointer(&buttons[0])), buttonCount: 3, defaultButton: denyButton, callback: t.callback,
	}.bytes()
	if failed != nil {
		return fmt.Errorf("text of a task dialog: %w", failed)
	}
	if code, _, _ := t.indirect.Call(uintptr(unsafe.Pointer(&config[0])), 0, 0, 0); int32(code) < 0 {
		return fmt.Errorf("show task dialog: HRESULT %#x", uint32(code))
	}
	return nil
}

// called is TaskDialogCallbackProc, on the dialog's thread.
func (t *taskDialogs) called(window uintptr, what uint32, wparam, _, _ uintptr) uintptr {
	d := &t.shown
	switch what {
	case tdnCreated:
		_, _, _ = t.flashWindow.Call(window, 1) // instead of the foreground
		t.disarm(window)
	case tdnExpando:
		t.disarm(window)
	case tdnTimer:
		if d.ctx.Err() != nil {
			_, _, _ = t.post.Call(window, tdmClickButton, idCancel, 0)
			return 0
		}
		now := uintptr(windows.GetForegroundWindow()) == window
		if now && !d.foreground {
			t.disarm(window)
		}
		d.foreground = now
		if !d.armed && !time.Now().Before(d.arms) {
			t.arm(window, true)
		}
	case tdnButtonClicked:
		return t.clicked(window, wparam)
	}
	return 0
}

// clicked takes the answer, or has the dialog stay.
func (t *taskDialogs) clicked(window, button uintptr) uintptr {
	d := &t.shown
	if d.ctx.Err() != nil {
		return 0 // it is being closed, and Ask returns no answer
	}
	// The click that brought the dialog to the front was not an answer; the timer has
	// not seen it yet.
	now := uintptr(windows.GetForegroundWindow()) == window
	if now && !d.foreground && button != idCancel {
		d.foreground = now
		t.disarm(window)
	}
	byKey := t.down(vkReturn) || t.down(vkEscape)
	switch {
	case !d.armed && (button != idCancel || byKey):
		return stays
	case byKey, button == denyButton, button == idCancel:
		d.choice = Deny // Enter presses no other button, wherever the focus is
	case button == allowButton && !d.noAllow:
		d.choice = AllowOnce
	case button == reviewButton:
		d.choice = Review
	default:
		return stays
	}
	return 0
}

// disarm begins the time in which no key and no click is an answer.
func (t *taskDialogs) disarm(window uintptr) {
	t.shown.arms = time.Now().Add(inertMs * time.Millisecond)
	t.arm(window, false)
}

func (t *taskDialogs) arm(window uintptr, armed bool) {
	t.shown.armed = armed
	for button := uintptr(allowButton); button <= reviewButton; button++ {
		on := uintptr(0)
		if armed && (button != allowButton || !t.shown.noAllow) {
			on = 1
		}
		_, _, _ = t.send.Call(window, tdmEnableButton, button, on)
	}
}

func (t *taskDialogs) down(key uintptr) bool {
	state, _, _ := t.keyState.Call(key)
	return int16(state) < 0
}
