package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"loop/backend/core"
)

// screen is the terminal that Loop's command line runs in.
type screen interface {
	io.Reader
	io.Writer
	Size() (cols, rows int, err error)
	// Raw gives every key to the program that reads; restore undoes that and may
	// be called again.
	Raw() (restore func(), err error)
	// Resized calls changed when the size may have changed, until ctx ends.
	Resized(ctx context.Context, changed func())
}

// openScreen uses standard input and output, which must both be a terminal.
func openScreen(in any, out any) (screen, error) {
	i, iok := in.(*os.File)
	o, ook := out.(*os.File)
	if !iok || !ook || !term.IsTerminal(int(i.Fd())) || !term.IsTerminal(int(o.Fd())) {
		return nil, core.Fail(core.CodeInvalid, nil, "This command needs a terminal to show the session in.",
			"Run it without pipes; “loop terminal list” works anywhere.")
	}
	return console{i, o}, nil
}

type console struct{ in, out *os.File }

func (c console) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c console) Write(p []byte) (int, error) { return c.out.Write(p) }

func (c console) Size() (cols, rows int, err error) {
	if cols, rows, err = term.GetSize(int(c.out.Fd())); err != nil {
		return 0, 0, fmt.Errorf("ask for the terminal's size: %w", err)
	}
	return cols, rows, nil
}

func (c console) Raw() (restore func(), err error) {
	before, err := term.MakeRaw(int(c.in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("take over the keyboard: %w", err)
	}
	outBack := drawOn(c.out)
	return func() {
		_ = term.Restore(int(c.in.Fd()), before) // there is nobody to tell
		outBack()
	}, nil
}

// drawnWith are the colours to be told to programs that ask, by COLORFGBG:
// “foreground;background” or “foreground;default;background” in numbers of the
// palette. Konsole, rxvt, iTerm2 and others set it. nil is not known.
func drawnWith(colorFgBg string) map[string]string {
	parts := strings.Split(colorFgBg, ";")
	bg, err := strconv.Atoi(parts[len(parts)-1])
	if len(parts) < 2 || err != nil || bg < 0 || bg > 15 {
		return nil
	}
	const black, white = "#000000", "#ffffff"
	if bg == 7 || bg > 8 { // as vim reads it
		return map[string]string{"foreground": black, "background": white, "cursor": black}
	}
	return map[string]string{"foreground": white, "background": black, "cursor": white}
}
