//go:build linux && cgo && desktop

package dialog

/*
#cgo pkg-config: gtk+-3.0
#include "gtk_linux.h"
*/
import "C"

import (
	"context"
	"runtime/cgo"
)

// New returns the asker of this desktop, which a program needs once. It shows nothing
// until GTK's loop runs, and closes nothing after that has ended; Ask never waits for it
// longer than its context.
func New() Asker { return &gtk{one: make(chan struct{}, 1), inert: inertMs} }

type gtk struct {
	one   chan struct{} // filled while a dialog exists
	inert C.uint        // milliseconds
}

// gtkDialog is what the C side has a handle of.
type gtkDialog struct {
	chosen chan Choice // of one: GTK's thread never waits for Go
	one    chan struct{}
}

func (g *gtk) Ask(ctx context.Context, r Request) (Choice, error) {
	select {
	case g.one <- struct{}{}:
	case <-ctx.Done():
		return Deny, ctx.Err()
	}
	if ctx.Err() != nil { // both were ready
		<-g.one
		return Deny, ctx.Err()
	}
	shown := &gtkDialog{chosen: make(chan Choice, 1), one: g.one}
	d := g.newDialog(faceOf(r), cgo.NewHandle(shown))
	C.loop_dialog_open(d)
	defer C.loop_dialog_close(d) // in GTK's order: after it was opened
	select {
	case c := <-shown.chosen:
		if ctx.Err() == nil {
			return c, nil
		}
	case <-ctx.Done():
	}
	return Deny, ctx.Err()
}

// newDialog copies the texts for C. No text has a NUL: named names it.
func (g *gtk) newDialog(f face, handle cgo.Handle) *C.LoopDialog {
	texts := C.LoopDialogTexts{
		heading: C.CString(titleText), title: C.CString(f.title), target: C.CString(f.target),
		full: C.CString(f.full), note: C.CString(f.note), show_full: C.CString(fullText),
		allow: C.CString(allowText), deny: C.CString(denyText), review: C.CString(reviewText),
	}
	noAllow := C.int(0)
	if f.noAllow {
		noAllow = 1
	}
	d := C.loop_dialog_new(C.uintptr_t(handle), texts, C.int(len(f.facts)), noAllow, g.inert)
	for i, fact := range f.facts {
		C.loop_dialog_fact(d, C.int(i), C.CString(fact.Label), C.CString(fact.Text))
	}
	return d
}

// loopDialogChose is called once at most, on GTK's thread.
//
//export loopDialogChose
func loopDialogChose(handle C.uintptr_t, answer C.int) {
	d, ok := cgo.Handle(handle).Value().(*gtkDialog)
	if !ok {
		return
	}
	choice := Deny
	switch Choice(answer) {
	case AllowOnce:
		choice = AllowOnce
	case Review:
		choice = Review
	}
	d.chosen <- choice
}

// loopDialogGone ends the handle, on GTK's thread; the next dialog may come.
//
//export loopDialogGone
func loopDialogGone(handle C.uintptr_t) {
	h := cgo.Handle(handle)
	if d, ok := h.Value().(*gtkDialog); ok {
		<-d.one
	}
	h.Delete()
}
