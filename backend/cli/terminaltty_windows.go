package cli

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// sizePoll is how often the size is looked at: a console tells of a change only
// among its input events, which raw mode turns into keys.
const sizePoll = 250 * time.Millisecond

// drawOn has the console follow escape sequences; older ones print them.
func drawOn(f *os.File) (restore func()) {
	h := windows.Handle(f.Fd())
	var before uint32
	if err := windows.GetConsoleMode(h, &before); err != nil {
		return func() {}
	}
	_ = windows.SetConsoleMode(h,
		before|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING|windows.DISABLE_NEWLINE_AUTO_RETURN)
	return func() { _ = windows.SetConsoleMode(h, before) }
}

func (c console) Resized(ctx context.Context, changed func()) {
	tick := time.NewTicker(sizePoll)
	defer tick.Stop()
	for was := [2]int{}; ; {
		select {
		case <-tick.C:
			cols, rows, err := c.Size()
			if now := [2]int{cols, rows}; err == nil && now != was {
				was = now
				changed()
			}
		case <-ctx.Done():
			return
		}
	}
}
