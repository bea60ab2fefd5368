package channels

import (
	"errors"
	"testing"

	"loop/backend/core"
)

// TestThreadIsTitledByItsFirstPrompt: a name that Loop chose gives way once, and one that a
// person gave never does.
func TestThreadIsTitledByItsFirstPrompt(t *testing.T) {
	w := newWorld(t)
	project, err := w.s.Add(t.Context(), w.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	thread := func(name string) core.Channel {
		v, err := w.s.CreateThread(t.Context(), core.ThreadRequest{ParentID: project.ID, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return v.Channel
	}
	begin := func(id core.ChannelID, prompt string) string {
		ch, err := w.Channel(t.Context(), id)
		if err == nil {
			err = w.s.Begin(t.Context(), ch, prompt)
		}
		if err != nil {
			t.Fatal(err)
		}
		ch, _ = w.Channel(t.Context(), id)
		return ch.Name
	}
	own, given, renamed := thread(""), thread("My thread"), thread("")
	if err := w.s.Rename(t.Context(), renamed.ID, "Renamed"); err != nil {
		t.Fatal(err)
	}
	if got := begin(own.ID, "---\n"); got != "Thread 1" { // nothing that could be a name
		t.Errorf("named %q", got)
	}
	w.events = nil
	if got := begin(own.ID, "## Fix **the** login\n\nIt fails."); got != "Fix the login" {
		t.Errorf("named %q", got)
	}
	if len(w.events) != 1 || w.events[0].Type != core.EventChannelUpdated {
		t.Errorf("%+v", w.events)
	}
	for id, want := range map[core.ChannelID]string{own.ID: "Fix the login", given.ID: "My thread", renamed.ID: "Renamed", project.ID: project.Name} {
		if got := begin(id, "Something else"); got != want {
			t.Errorf("named %q, not %q", got, want)
		}
	}
	late := thread("")
	w.onCall["TitleChannel"] = func(string) { _ = w.RenameChannel(t.Context(), late.ID, "Renamed meanwhile") }
	if got := begin(late.ID, "Too late"); got != "Renamed meanwhile" {
		t.Errorf("named %q", got)
	}
	w.onCall["TitleChannel"] = nil
	w.fail["TitleChannel"] = errors.New("disk")
	if err := w.s.Begin(t.Context(), thread(""), "x"); err == nil {
		t.Error("the failure is not told")
	}
}

// TestThreadSaysWhatItContinues: the message that both have, as it is at the first prompt.
func TestThreadSaysWhatItContinues(t *testing.T) {
	w := newWorld(t)
	v, err := w.s.Add(t.Context(), w.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	make := func(start core.SessionStart) core.Channel {
		v, err := w.s.CreateThread(t.Context(), core.ThreadRequest{ParentID: v.ID, Session: start})
		if err != nil {
			t.Fatal(err)
		}
		return v.Channel
	}
	if o := make(core.SessionStart{}).Origin; o != (core.Origin{}) {
		t.Errorf("of a channel without a conversation: %+v", o)
	}
	_ = w.edit(v.ID, func(c *core.Channel) { c.SessionID = "s1" })
	w.sessions = []core.SessionInfo{{ID: "s1"}, {ID: "pane"}, {ID: "other"}}
	w.messages["s1"] = []core.SessionMessage{{UUID: "u1"}}
	w.said = []saidMessage{{v.ID, "u1", "The **first** answer"}, {v.ID, "u2", "The second"}}
	if o := make(core.SessionStart{Mode: core.SessionFresh}).Origin; o != (core.Origin{}) {
		t.Errorf("of a new conversation: %+v", o)
	}
	if o := make(core.SessionStart{Mode: core.SessionFork, At: "u1"}).Origin; o != (core.Origin{ChannelID: v.ID, EventID: 1, Words: "The first answer"}) {
		t.Errorf("of a message: %+v", o)
	}
	whole := make(core.SessionStart{})
	if o := whole.Origin; o != (core.Origin{ChannelID: v.ID, EventID: 2, Words: "The second", Open: true}) {
		t.Errorf("of all: %+v", o)
	}
	w.said = append(w.said, saidMessage{v.ID, "u3", "The third"})
	if err := w.s.Begin(t.Context(), whole, "Go on"); err != nil {
		t.Fatal(err)
	}
	if ch, _ := w.Channel(t.Context(), whole.ID); ch.Origin != (core.Origin{ChannelID: v.ID, EventID: 3, Words: "The third"}) {
		t.Errorf("after the first prompt: %+v", ch.Origin)
	}
	if o := make(core.SessionStart{Mode: core.SessionFork, SessionID: "pane"}).Origin; o != (core.Origin{ChannelID: v.ID}) {
		t.Errorf("of a conversation in a terminal: %+v", o)
	}
	_ = w.edit(whole.ID, func(c *core.Channel) { c.SessionID = "other" })
	if o := make(core.SessionStart{Mode: core.SessionFork, SessionID: "other"}).Origin; o.ChannelID != whole.ID {
		t.Errorf("of a thread beside it: %+v", o)
	}
}
