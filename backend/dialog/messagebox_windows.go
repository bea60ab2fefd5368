package dialog

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/windows"
)

const (
	wmClose = 0x10
	idOK    = 1

	closeAgain = 200 * time.Millisecond
)

// box asks in a message box. It cannot be made deaf for the first moment, so it allows
// nothing: OK reviews in Loop, and everything else denies.
func (t *taskDialogs) box(ctx context.Context, f face) (Choice, error) {
	words := []string{f.title, "", f.content(), "", f.note, "", "OK: " + reviewText + ". Cancel: " + denyText + "."}
	text, err := windows.UTF16PtrFromString(strings.Join(words, "\n"))
	if err != nil {
		return Deny, fmt.Errorf("text of a message box: %w", err)
	}
	title, err := windows.UTF16PtrFromString(titleText)
	if err != nil {
		return Deny, fmt.Errorf("title of a message box: %w", err)
	}
	thread := windows.GetCurrentThreadId()
	over := make(chan struct{})
	var closing sync.WaitGroup
	closing.Go(func() { t.closeAt(ctx, thread, over) })
	pressed, err := windows.MessageBox(0, text, title, windows.MB_OKCANCEL|windows.MB_DEFBUTTON2|windows.MB_ICONWARNING)
	close(over)
	closing.Wait()
	switch {
	case ctx.Err() != nil:
		return Deny, ctx.Err()
	case pressed == 0:
		return Deny, fmt.Errorf("show message box: %w", err)
	case pressed == idOK:
		return Review, nil
	}
	return Deny, nil
}

// closeAt closes the box of a thread when ctx ends, and again until it is over: it may not
// have been drawn yet.
func (t *taskDialogs) closeAt(ctx context.Context, thread uint32, over <-chan struct{}) {
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	ticks := time.NewTicker(closeAgain)
	defer ticks.Stop()
	for {
		_, _, _ = t.threadWindows.Call(uintptr(thread), t.closes, 0)
		select {
		case <-over:
			return
		case <-ticks.C:
		}
	}
}

// close is EnumThreadWndProc: it closes the windows of a dialog's thread.
func (t *taskDialogs) close(window, _ uintptr) uintptr {
	_, _, _ = t.post.Call(window, wmClose, 0, 0)
	return 1 // go on
}
