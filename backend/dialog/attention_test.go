package dialog

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// pane is a frame that notes its marks.
type pane struct {
	mu    sync.Mutex
	marks []bool
	front bool
	tells bool
}

func (p *pane) Mark(waits bool)      { p.mu.Lock(); defer p.mu.Unlock(); p.marks = append(p.marks, waits) }
func (p *pane) InFront() bool        { p.mu.Lock(); defer p.mu.Unlock(); return p.front }
func (p *pane) TellsMinimised() bool { return p.tells }

func (p *pane) marked() []bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.marks)
}

func TestTheWindowIsMarkedWhileSomethingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, p := &desk{}, &pane{}
		ctx, cancel := context.WithCancel(t.Context())
		a := NewAttention(d, p)
		var run sync.WaitGroup
		run.Go(func() { a.Run(ctx) })
		expect := func(what string, want ...bool) {
			t.Helper()
			synctest.Wait()
			if got := p.marked(); !slices.Equal(got, want) {
				t.Fatalf("%s: marks %v, want %v", what, got, want)
			}
		}
		<-time.After(time.Hour + look/2)
		expect("nothing waits")
		d.set(func() { d.waiting = []core.Approval{{ID: "a"}} })
		a.Changed()
		expect("one waits", true)
		<-time.After(2*look + look/2)
		expect("it is looked at again, as the window may have come to the front", true, true, true)
		d.set(func() { d.waiting = nil })
		a.Changed()
		expect("it is answered", true, true, true, false)
		<-time.After(time.Hour + look/4)
		expect("nothing waits again", true, true, true, false)
		d.set(func() { d.waiting = []core.Approval{{ID: "b"}} })
		a.Changed()
		expect("another", true, true, true, false, true)
		cancel()
		run.Wait()
		expect("the end", true, true, true, false, true, false)
	})
}

func TestAWindowOfWhichNothingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, p := &desk{visible: true}, &pane{front: true}
		w := NewWatched(d, p)
		// after looks each second for so long.
		after := func(s int) bool {
			for range s {
				w.Visible()
				<-time.After(time.Second)
			}
			return w.Visible()
		}
		in := func(front bool) { p.mu.Lock(); defer p.mu.Unlock(); p.front = front }
		if !after(60) {
			t.Error("a window with the keyboard is out of sight")
		}
		in(false)
		if !after(19) {
			t.Error("it is out of sight too early")
		}
		if after(1) {
			t.Error("it is in sight after 20 s without the keyboard")
		}
		in(true)
		if !after(0) {
			t.Error("it has the keyboard, and is out of sight")
		}
		in(false)
		after(19)
		<-time.After(time.Minute) // nothing waited
		if !after(0) {
			t.Error("a time in which nobody looked counts")
		}
		p.tells = true
		if !after(60) {
			t.Error("a desktop that tells what is minimised was not believed")
		}
		d.set(func() { d.visible = false })
		if after(0) {
			t.Error("a hidden window is in sight")
		}
	})
}
