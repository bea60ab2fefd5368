package channels

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
)

// world is everything around the service: a store, runs, transcripts and git.
type world struct {
	*testing.T
	s    *Service
	home string
	dir  string // a project

	mu        sync.Mutex
	list      []core.Channel
	act       map[core.ChannelID]core.ChannelActivity
	events    []core.Event
	held      core.ChannelID // its browser
	undecided core.ChannelID
	cancelled []core.ChannelID
	forgotten []core.ChannelID // by browsers
	sessions  []core.SessionInfo
	messages  map[core.SessionID][]core.SessionMessage
	said      []saidMessage
	copied    []string
	made      []string
	removed   []string
	kept      bool                       // the worktree was there before
	fail      map[string]error           // by method
	onCall    map[string]func(id string) // called before the method, with no lock held
}

func newWorld(t *testing.T) *world {
	t.Helper()
	real := func(p string) string {
		p, err := filepath.EvalSymlinks(p)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	w := &world{
		T: t, home: real(t.TempDir()), dir: real(t.TempDir()), act: map[core.ChannelID]core.ChannelActivity{},
		messages: map[core.SessionID][]core.SessionMessage{}, fail: map[string]error{}, onCall: map[string]func(string){},
	}
	w.s = New(Options{
		Store: w, Titles: w, Runs: w, Sessions: transcripts{w}, Worktrees: trees{w}, Browsers: w, Home: w.home, Now: time.Now,
		Publish: func(e ...core.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, e...)
		},
		Fit: func(context.Context, string) error { return nil },
	})
	return w
}

func (w *world) Held(id core.ChannelID) bool { return id == w.held }

func (w *world) Forget(_ context.Context, id core.ChannelID) {
	_ = w.call("Forget", string(id))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forgotten = append(w.forgotten, id)
}

func (w *world) call(method, id string) error {
	w.mu.Lock()
	f, err := w.onCall[method], w.fail[method]
	w.mu.Unlock()
	if f != nil {
		f(id)
	}
	return err
}

func (w *world) Channels(context.Context) ([]core.Channel, error) {
	if err := w.call("Channels", ""); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list), nil
}

func (w *world) at(id core.ChannelID) int {
	return slices.IndexFunc(w.list, func(c core.Channel) bool { return c.ID == id })
}

func (w *world) Channel(_ context.Context, id core.ChannelID) (core.Channel, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := w.at(id); i >= 0 {
		return w.list[i], nil
	}
	return core.Channel{}, fmt.Errorf("read channel: %w", core.ErrNotFound)
}

func (w *world) AddChannel(_ context.Context, ch core.Channel) error {
	if err := w.call("AddChannel", string(ch.ID)); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, ch)
	return nil
}

func (w *world) edit(id core.ChannelID, change func(*core.Channel)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.at(id)
	if i < 0 {
		return core.ErrNotFound
	}
	change(&w.list[i])
	return nil
}

func (w *world) RenameChannel(_ context.Context, id core.ChannelID, name string) error {
	return w.edit(id, func(c *core.Channel) { c.Name, c.Untitled = name, false })
}

func (w *world) TitleChannel(_ context.Context, id core.ChannelID, name string) error {
	if err := w.call("TitleChannel", string(id)); err != nil {
		return err
	}
	if ch, err := w.Channel(context.Background(), id); err != nil || !ch.Untitled {
		return core.ErrNotFound
	}
	return w.RenameChannel(context.Background(), id, name)
}

func (w *world) SetOrigin(_ context.Context, id core.ChannelID, o core.Origin) error {
	return w.edit(id, func(c *core.Channel) { c.Origin = o })
}

// Message knows what w.said has.
func (w *world) Message(_ context.Context, id core.ChannelID, uuid string) (int64, string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, m := range slices.Backward(w.said) {
		if m.channel == id && (uuid == "" || uuid == m.uuid) {
			return int64(i + 1), m.text, nil
		}
	}
	return 0, "", core.ErrNotFound
}

type saidMessage struct {
	channel    core.ChannelID
	uuid, text string
}

func (w *world) SetChannelNext(_ context.Context, id core.ChannelID, demo bool, next core.SessionStart, _ core.RunID) error {
	return w.edit(id, func(c *core.Channel) {
		if demo {
			c.DemoNextSession = next
		} else {
			c.NextSession = next
		}
	})
}

func (w *world) RemoveChannel(_ context.Context, id core.ChannelID) error {
	if err := w.call("RemoveChannel", string(id)); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.at(id)
	if i < 0 {
		return core.ErrNotFound
	}
	if slices.ContainsFunc(w.list, func(c core.Channel) bool { return c.ParentID == id }) {
		return errors.New("a parent went before its children")
	}
	w.list = slices.Delete(w.list, i, i+1)
	return nil
}

func (w *world) Activity(context.Context) (map[core.ChannelID]core.ChannelActivity, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.act), nil
}

func (w *world) Undecided(id core.ChannelID) bool { return id == w.undecided }

func (w *world) CancelChannel(_ context.Context, id core.ChannelID) error {
	err := w.call("CancelChannel", string(id))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancelled = append(w.cancelled, id)
	return err
}

type transcripts struct{ w *world }

func (t transcripts) List(context.Context, core.Channel) ([]core.SessionInfo, error) {
	return t.w.sessions, t.w.call("List", "")
}

func (t transcripts) Messages(_ context.Context, _ core.Channel, id core.SessionID) ([]core.SessionMessage, error) {
	list, ok := t.w.messages[id]
	if !ok {
		return nil, fmt.Errorf("read: %w", core.ErrNotFound)
	}
	return list, nil
}

func (t transcripts) Copy(_ context.Context, from, to core.Channel, fromDir, toDir string, id core.SessionID) error {
	if err := t.w.call("Copy", string(id)); err != nil {
		return err
	}
	t.w.copied = append(t.w.copied, fmt.Sprintf("%s %s>%s", id, fromDir, toDir))
	return os.MkdirAll(filepath.Join(t.w.home, "channels", string(to.StateOwner()), "claude"), 0o700)
}

type trees struct{ w *world }

func (t trees) Branches(_ context.Context, _ core.Channel, dir string) (core.BranchList, error) {
	return core.BranchList{Branches: []core.Branch{{Name: "main", Current: dir == ".", Where: "/p"}, {Name: "fix/x", Where: "/p/" + dir}, {Name: "free"}}}, t.w.call("Branches", dir)
}

func (t trees) Create(_ context.Context, main core.Channel, dir, branch, base string) (bool, error) {
	if err := t.w.call("Create", dir); err != nil {
		return false, err
	}
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	t.w.made = append(t.w.made, strings.Join([]string{dir, branch, base}, " "))
	return !t.w.kept, os.MkdirAll(filepath.Join(main.Dir, filepath.FromSlash(dir)), 0o755)
}

func (t trees) Remove(_ context.Context, main core.Channel, dirs []string, force bool) error {
	if err := t.w.call("Remove", strings.Join(dirs, " ")); err != nil && !force {
		return err
	}
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	var errs []error
	for _, dir := range dirs {
		t.w.removed = append(t.w.removed, dir)
		errs = append(errs, os.RemoveAll(filepath.Join(main.Dir, filepath.FromSlash(dir))))
	}
	return errors.Join(errs...)
}

// project adds the channel of w.dir, with a conversation of each kind.
func (w *world) project() core.ChannelView {
	w.Helper()
	v, err := w.s.Add(w.Context(), w.dir, "App")
	if err != nil {
		w.Fatal(err)
	}
	w.set(v.ID, func(c *core.Channel) { c.SessionID, c.DemoSessionID = "real", "play" })
	w.sessions = []core.SessionInfo{{ID: "real"}, {ID: "old"}, {ID: "play", Demo: true}}
	w.messages["real"] = []core.SessionMessage{{UUID: "m1", Role: "assistant"}}
	w.messages["play"] = []core.SessionMessage{{UUID: "p1", Role: "assistant"}}
	v, err = w.s.Get(w.Context(), v.ID)
	if err != nil {
		w.Fatal(err)
	}
	return v
}

func (w *world) set(id core.ChannelID, change func(*core.Channel)) {
	w.Helper()
	if err := w.edit(id, change); err != nil {
		w.Fatal(err)
	}
}

func (w *world) thread(parent core.ChannelID, name string) core.ChannelView {
	w.Helper()
	v, err := w.s.CreateThread(w.Context(), core.ThreadRequest{ParentID: parent, Name: name})
	if err != nil {
		w.Fatal(err)
	}
	return v
}

func (w *world) worktree(parent core.ChannelID, branch string) core.ChannelView {
	w.Helper()
	v, err := w.s.CreateWorktree(w.Context(), core.WorktreeRequest{ParentID: parent, Branch: branch})
	if err != nil {
		w.Fatal(err)
	}
	return v
}

// refused checks for a failure with this code whose cause has word in it.
func (w *world) refused(err error, code core.Code, word string) {
	w.Helper()
	f, ok := errors.AsType[*core.Failure](err)
	if !ok || f.Code != code || !strings.Contains(f.Cause, word) || f.Remedy == "" {
		w.Errorf("%v is no %q about %q", err, code, word)
	}
}

func (w *world) published(t core.EventType) (ids []core.ChannelID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e.Type == t {
			ids = append(ids, e.ChannelID)
		}
	}
	return ids
}
