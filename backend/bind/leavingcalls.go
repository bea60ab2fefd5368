package bind

import (
	"context"
	"time"

	"loop/backend/core"
)

// LeavingKind says what a LeavingItem is.
type LeavingKind string

const (
	LeavingRun       LeavingKind = "run"
	LeavingPrompt    LeavingKind = "prompt"   // queued
	LeavingProgram   LeavingKind = "program"  // on a terminal, ends with Loop
	LeavingTerminal  LeavingKind = "terminal" // a program on one that goes on
	LeavingRecording LeavingKind = "recording"
	LeavingImage     LeavingKind = "image" // a build of it
)

// LeavingItem is one thing under way.
type LeavingItem struct {
	Kind      LeavingKind    `json:"kind"`
	ChannelID core.ChannelID `json:"channel_id,omitempty"`
	Channel   string         `json:"channel,omitempty"` // its name
	Name      string         `json:"name,omitempty"`    // of a run or prompt what it says, of a terminal what runs in it
	Title     string         `json:"title,omitempty"`   // of a terminal
	Host      bool           `json:"host,omitempty"`    // on this computer, not in a container
	At        time.Time      `json:"at,omitzero"`       // a prompt that is not to start earlier
}

// Leaving lists everything under way, by what becomes of it if Loop ends now.
type Leaving struct {
	// Stays says that Loop is needed for some of it: a window that is closed is
	// hidden, and a person who wants to quit is asked.
	Stays  bool          `json:"stays"`
	Ends   []LeavingItem `json:"ends"`    // with Loop
	GoesOn []LeavingItem `json:"goes_on"` // without Loop, in its container; the next start takes it up
	Waits  []LeavingItem `json:"waits"`   // for the next start
}

// Life is how a Loop with a window ends.
type Life interface {
	Leaving(ctx context.Context) (Leaving, error)
	Quit()      // ends Loop, whatever is under way
	Hide()      // puts the window away; Loop goes on
	Show() bool // brings it to the front; false when Loop ends already
	Answered()  // the page shows what Native.Ask asked of it
}

func (s *System) life() (Life, error) {
	if s.Life == nil {
		return nil, core.Fail("no_native_dialog", nil, "This Loop runs without a window.", "Open its page in a browser; what started it ends it.")
	}
	return s.Life, nil
}

// Leaving is asked before Quit.
func (s *System) Leaving() (Leaving, error) {
	l, err := s.life()
	if err != nil {
		return Leaving{}, err
	}
	all, err := l.Leaving(s.Ctx)
	all.Ends, all.GoesOn, all.Waits = orEmpty(all.Ends), orEmpty(all.GoesOn), orEmpty(all.Waits)
	return all, err
}

// Quit ends Loop. Whoever calls it has asked the person.
func (s *System) Quit() error { return s.toLife(Life.Quit) }

// Hide puts the window away, and Loop goes on until nothing needs it.
func (s *System) Hide() error { return s.toLife(Life.Hide) }

// Answered says that the page shows what it was asked to.
func (s *System) Answered() error { return s.toLife(Life.Answered) }

func (s *System) toLife(do func(Life)) error {
	l, err := s.life()
	if err == nil {
		do(l)
	}
	return err
}

// Show brings the window to the front; a second start of the app calls it.
func (s *System) Show() error {
	l, err := s.life()
	if err == nil && !l.Show() {
		err = core.Fail(core.CodeCancelled, nil, "Loop is closing.", "Start it again in a moment.")
	}
	return err
}
