package bind_test

import (
	"context"
	"errors"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

// fakeLife is a window's life that notes the calls it gets.
type fakeLife struct {
	*fake
	leaving bind.Leaving
	ending  bool
}

func (l fakeLife) Leaving(context.Context) (bind.Leaving, error) { return l.leaving, l.ask("leaving") }
func (l fakeLife) Quit()                                         { _ = l.ask("quit") }
func (l fakeLife) Hide()                                         { _ = l.ask("hide") }
func (l fakeLife) Answered()                                     { _ = l.ask("answered") }
func (l fakeLife) Show() bool                                    { _ = l.ask("show"); return !l.ending }

func TestTheLifeOfAWindow(t *testing.T) {
	f := &fake{}
	s := newSystem(f)
	s.Life = fakeLife{fake: f}
	for _, do := range []func() error{s.Quit, s.Hide, s.Answered, s.Show} {
		if err := do(); err != nil {
			t.Error(err)
		}
	}
	if f.did() != "quit hide answered show" {
		t.Error(f.did())
	}
	all, err := s.Leaving()
	if err != nil {
		t.Error(err)
	}
	noNull(t, all, "ends", "goes_on", "waits")
	s.Life = fakeLife{fake: f, ending: true}
	wantCode(t, s.Show(), core.CodeCancelled) // a second start tries again
	// Loop stays when it cannot find out what is under way.
	broken := errors.New("disk")
	s.Life = fakeLife{fake: &fake{err: broken}, leaving: bind.Leaving{Stays: true}}
	if all, err := s.Leaving(); !errors.Is(err, broken) || !all.Stays {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestWithoutAWindow(t *testing.T) {
	s := newSystem(&fake{})
	for _, do := range []func() error{s.Quit, s.Hide, s.Answered, s.Show, func() error { _, err := s.Leaving(); return err }} {
		wantCode(t, do(), "no_native_dialog")
	}
}
