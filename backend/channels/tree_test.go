package channels

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

func TestThreadSharesUntilItsFirstMessage(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	one := w.thread(p.ID, "")
	if one.Kind != core.KindThread || one.ParentID != p.ID || one.Dir != p.Dir || one.StateOwner() != p.ID || one.ID == p.ID || one.Name != "Thread 1" {
		t.Errorf("%+v", one)
	}
	fork := core.SessionStart{Mode: core.SessionFork}
	if one.SessionID != "real" || one.DemoSessionID != "play" || one.NextSession != fork || one.DemoNextSession != fork {
		t.Errorf("%+v", one)
	}
	if two := w.thread(p.ID, ""); two.Name != "Thread 2" {
		t.Errorf("%q", two.Name)
	}
	deeper := w.thread(one.ID, " a\nb ")
	if deeper.StateOwner() != p.ID || deeper.Name != "a b" {
		t.Errorf("a thread of a thread: %+v", deeper)
	}
	if got := w.published(core.EventChannelCreated); len(got) != 4 {
		t.Errorf("%v", got)
	}
}

func TestThreadStarts(t *testing.T) {
	for name, tc := range map[string]struct {
		parent func(*core.Channel)
		start  core.SessionStart
		real   core.SessionStart
		demo   core.SessionStart
	}{
		"nothing to fork": {func(c *core.Channel) { c.SessionID, c.DemoSessionID = "", "" }, core.SessionStart{}, core.SessionStart{}, core.SessionStart{}},
		"fresh":           {nil, core.SessionStart{Mode: core.SessionFresh}, core.SessionStart{}, core.SessionStart{}},
		"at a message": {nil, core.SessionStart{Mode: core.SessionFork, At: "m1"},
			core.SessionStart{Mode: core.SessionFork, SessionID: "real", At: "m1"}, core.SessionStart{Mode: core.SessionFork}},
		"at a message of the scripted model": {nil, core.SessionStart{Mode: core.SessionFork, At: "p1"},
			core.SessionStart{Mode: core.SessionFork}, core.SessionStart{Mode: core.SessionFork, SessionID: "play", At: "p1"}},
		"an old one": {nil, core.SessionStart{Mode: core.SessionResume, SessionID: "old"},
			core.SessionStart{Mode: core.SessionResume, SessionID: "old"}, core.SessionStart{Mode: core.SessionFork}},
		"the parent is about to begin afresh": {func(c *core.Channel) { c.NextSession = core.SessionStart{Mode: core.SessionFresh} }, core.SessionStart{},
			core.SessionStart{Mode: core.SessionFresh}, core.SessionStart{Mode: core.SessionFork}},
		"the parent is about to resume": {func(c *core.Channel) { c.NextSession = core.SessionStart{Mode: core.SessionResume, SessionID: "old"} }, core.SessionStart{},
			core.SessionStart{Mode: core.SessionFork, SessionID: "old"}, core.SessionStart{Mode: core.SessionFork}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.project()
			if tc.parent != nil {
				w.set(p.ID, tc.parent)
			}
			v, err := w.s.CreateThread(t.Context(), core.ThreadRequest{ParentID: p.ID, Session: tc.start})
			if err != nil {
				t.Fatal(err)
			}
			if v.NextSession != tc.real || v.DemoNextSession != tc.demo {
				t.Errorf("real %+v, demo %+v", v.NextSession, v.DemoNextSession)
			}
			if tc.start.Mode == core.SessionFresh && (v.SessionID != "" || v.DemoSessionID != "") {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestThreadRefusals(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	for name, tc := range map[string]struct {
		req  core.ThreadRequest
		code core.Code
		word string
	}{
		"no parent":                {core.ThreadRequest{ParentID: "gone"}, core.CodeNotFound, "does not exist"},
		"a session of elsewhere":   {core.ThreadRequest{ParentID: p.ID, Session: core.SessionStart{Mode: core.SessionResume, SessionID: "other"}}, core.CodeNotFound, "does not keep"},
		"a message of elsewhere":   {core.ThreadRequest{ParentID: p.ID, Session: core.SessionStart{Mode: core.SessionFork, SessionID: "real", At: "p1"}}, core.CodeNotFound, "not part"},
		"a message of nothing":     {core.ThreadRequest{ParentID: p.ID, Session: core.SessionStart{Mode: core.SessionFork, SessionID: "old", At: "m1"}}, core.CodeNotFound, "not part"},
		"resume at a message":      {core.ThreadRequest{ParentID: p.ID, Session: core.SessionStart{Mode: core.SessionResume, SessionID: "real", At: "m1"}}, core.CodeInvalid, "copy"},
		"resume what":              {core.ThreadRequest{ParentID: p.ID, Session: core.SessionStart{Mode: core.SessionResume}}, core.CodeInvalid, "name its session"},
		"fresh with a session":     {core.ThreadRequest{ParentID: p.ID, Session: core.SessionStart{Mode: core.SessionFresh, SessionID: "real"}}, core.CodeInvalid, "is named"},
		"a mode that there is not": {core.ThreadRequest{ParentID: p.ID, Session: core.SessionStart{Mode: "twist"}}, core.CodeInvalid, "does not know this way"},
		"a session without a mode": {core.ThreadRequest{ParentID: p.ID, Session: core.SessionStart{SessionID: "real"}}, core.CodeInvalid, "is named"},
	} {
		t.Run(name, func(t *testing.T) {
			w.T = t
			_, err := w.s.CreateThread(t.Context(), tc.req)
			w.refused(err, tc.code, tc.word)
		})
	}
	if len(w.list) != 1 {
		t.Errorf("%+v", w.list)
	}
}

// TestProjectIsBounded: an agent that makes threads without end is refused.
func TestProjectIsBounded(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	last := p.ID
	for range maxProject - 1 {
		last = w.thread(last, "deep").ID // the greatest depth that is allowed
	}
	_, err := w.s.CreateThread(t.Context(), core.ThreadRequest{ParentID: p.ID})
	w.refused(err, core.CodeConflict, "200 channels")
	_, err = w.s.CreateWorktree(t.Context(), core.WorktreeRequest{ParentID: last, Branch: "b"})
	w.refused(err, core.CodeConflict, "200 channels")
	if err := w.s.RemoveTree(t.Context(), p.ID, false); err != nil || len(w.list) != 0 {
		t.Errorf("%d left, %v", len(w.list), err)
	}
}

func TestDemoThreadsStayDemo(t *testing.T) {
	w := newWorld(t)
	d, err := w.s.Demo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	th := w.thread(d.ID, "x")
	if th.Kind != core.KindDemo || th.Dir != d.Dir {
		t.Errorf("%+v", th)
	}
	w.set(th.ID, func(c *core.Channel) { c.CreatedAt = d.CreatedAt.Add(-1) })
	slices.Reverse(w.list)
	if again, err := w.s.Demo(t.Context()); err != nil || again.ID != d.ID {
		t.Errorf("the demo channel is %v now, %v", again.ID, err)
	}
}

func TestWithinOneProject(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	a := w.thread(p.ID, "a")
	b := w.thread(a.ID, "b")
	d, err := w.s.Demo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.list = append(w.list, core.Channel{ID: "orphan", ParentID: "gone"}, core.Channel{ID: "r1", ParentID: "r2"}, core.Channel{ID: "r2", ParentID: "r1"})
	w.mu.Unlock()
	ctx := t.Context()
	for _, tc := range []struct {
		caller, id core.ChannelID
		want       bool
	}{
		{p.ID, p.ID, true}, {p.ID, b.ID, true}, {b.ID, a.ID, true}, {b.ID, p.ID, true},
		{d.ID, p.ID, false}, {a.ID, d.ID, false}, {p.ID, "nothing", false}, {"nothing", "nothing", false}, {"", "", false},
		{"orphan", "orphan", false}, {"r1", "r2", false}, {"r1", "r1", false},
	} {
		if got := w.s.Within(ctx, tc.caller, tc.id); got != tc.want {
			t.Errorf("%s, %s: %v", tc.caller, tc.id, got)
		}
	}
	members, err := w.s.Members(ctx, b.ID)
	if err != nil || len(members) != 3 || members[0].ID != p.ID {
		t.Errorf("%+v, %v", members, err)
	}
	w.fail["Channels"] = errors.New("disk")
	if w.s.Within(ctx, p.ID, p.ID) {
		t.Error("what cannot be found out is a no")
	}
}

func TestRemoveWithChildren(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	a := w.thread(p.ID, "a")
	b := w.thread(a.ID, "b")
	other := w.thread(p.ID, "other")
	state := filepath.Join(w.home, "channels", string(p.ID), "claude")
	if err := os.MkdirAll(filepath.Join(state, "go", "mod"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(state, "go"), 0o555); err != nil { // as Go's module cache is
		t.Fatal(err)
	}
	w.refused(w.s.Remove(t.Context(), a.ID), core.CodeConflict, "1 threads")
	if len(w.cancelled) != 0 || len(w.list) != 4 {
		t.Fatalf("%v %v", w.cancelled, w.list)
	}
	if err := w.s.RemoveTree(t.Context(), a.ID, false); err != nil {
		t.Fatal(err)
	}
	if got := w.published(core.EventChannelDeleted); !slices.Equal(got, []core.ChannelID{b.ID, a.ID}) || !slices.Equal(w.cancelled, got) || !slices.Equal(w.forgotten, got) {
		t.Errorf("deleted %v, cancelled %v, browsers of %v", got, w.cancelled, w.forgotten)
	}
	if _, err := os.Stat(state); err != nil {
		t.Errorf("the state a thread shared went with it: %v", err)
	}
	if err := w.s.Remove(t.Context(), other.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.s.Remove(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(state)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(w.dir); err != nil {
		t.Errorf("the person's folder: %v", err)
	}
	w.refused(w.s.Remove(t.Context(), p.ID), core.CodeNotFound, "does not exist")
}

// TestNoChildOfAParentThatGoes: while the runs of a removed channel are being stopped,
// the channel gets no child. A second removal is refused.
func TestNoChildOfAParentThatGoes(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	var once sync.Once
	w.onCall["CancelChannel"] = func(string) {
		once.Do(func() {
			_, err := w.s.CreateThread(context.Background(), core.ThreadRequest{ParentID: p.ID})
			w.refused(err, core.CodeConflict, "being removed")
			w.refused(w.s.Remove(context.Background(), p.ID), core.CodeConflict, "being removed")
		})
	}
	if err := w.s.Remove(t.Context(), p.ID); err != nil || len(w.list) != 0 {
		t.Errorf("%v, %v", w.list, err)
	}
	w.onCall["CancelChannel"] = nil

	p = w.project()
	w.fail["CancelChannel"] = errors.New("engine lost")
	if err := w.s.Remove(t.Context(), p.ID); err == nil {
		t.Fatal("removed with a run under way")
	}
	w.fail["CancelChannel"] = nil
	w.thread(p.ID, "it stays, and takes children again")
}

func TestNeedsYou(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	w.act[p.ID] = core.ChannelActivity{Queued: 2, Questions: 1, Active: &core.Run{}}
	if v, err := w.s.Get(t.Context(), p.ID); err != nil || v.State != core.ChannelNeedsYou || v.Questions != 1 || v.Queued != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	w.act[p.ID] = core.ChannelActivity{Active: &core.Run{}}
	w.undecided = p.ID
	if all, err := w.s.List(t.Context()); err != nil || len(all) != 1 || all[0].State != core.ChannelNeedsYou || !all[0].Undecided {
		t.Errorf("undecided: %+v, %v", all, err)
	}
	w.act[p.ID] = core.ChannelActivity{} // it ended meanwhile
	if v, err := w.s.Get(t.Context(), p.ID); err != nil || v.State != core.ChannelIdle || v.Undecided {
		t.Errorf("ended: %+v, %v", v, err)
	}
}

func TestSearchRanks(t *testing.T) {
	view := func(name, dir, branch string, last int64) core.ChannelView {
		return core.ChannelView{Channel: core.Channel{Name: name, Dir: dir, Branch: branch}, LastEventID: last}
	}
	views := []core.ChannelView{
		view("Billing", "/src/billing", "", 1), view("API", "/src/api", "", 9), view("Fix login", "/src/api/.worktrees/fix-login", "fix/login", 5),
		view("login", "/src/login-page", "", 2), view("Login page", "/src/other", "", 3), view("relogin", "/src/x", "", 4),
	}
	for query, want := range map[string][]string{
		"":           {"API", "Fix login", "relogin", "Login page", "login", "Billing"},
		"login":      {"login", "Login page", "Fix login", "relogin"},
		"LOGIN api":  {"Fix login"},
		"fix/":       {"Fix login"},
		"src/bill":   {"Billing"},
		"blg":        {"Billing"},
		"no such":    {},
		"\x00%_'\"*": {},
	} {
		got := []string{}
		for _, v := range Rank(views, query) {
			got = append(got, v.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
	many := make([]core.ChannelView, 300)
	for i := range many {
		many[i] = view(fmt.Sprint("x", i), "/x", "", int64(i))
	}
	if got := Rank(many, "x"); len(got) != maxFound || got[0].Name != "x299" {
		t.Errorf("%d, %q", len(got), got[0].Name)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("name", "query")
	f.Add("é\xff", "\xffe")
	f.Add("İi", "i̇")
	f.Fuzz(func(t *testing.T, name, query string) {
		if n := len(Rank([]core.ChannelView{{Channel: core.Channel{Name: name, Dir: "/x"}}}, query)); n > 1 {
			t.Error(n)
		}
	})
}

// TestOneChannelForAFolder: two windows that choose the same folder at the same time
// get the same channel. So do two that open the demo.
func TestOneChannelForAFolder(t *testing.T) {
	for name, make := range map[string]func(w *world) (core.ChannelView, error){
		"folder": func(w *world) (core.ChannelView, error) { return w.s.Add(t.Context(), w.dir, "") },
		"demo":   func(w *world) (core.ChannelView, error) { return w.s.Demo(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			// The first caller stores only after the second has looked, where the
			// service lets it.
			looked := newGate(2)
			w.onCall["AddChannel"] = func(string) { looked.pass() }
			var wg sync.WaitGroup
			got := [2]core.ChannelView{}
			for i := range got {
				wg.Go(func() {
					var err error
					if got[i], err = make(w); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if got[0].ID != got[1].ID || len(w.list) != 1 {
				t.Errorf("%d channels", len(w.list))
			}
		})
	}
}

// gate waits until all callers are there, but not long: a caller may stay alone.
type gate struct {
	all  chan struct{}
	left atomic.Int32
}

func newGate(n int32) *gate {
	g := &gate{all: make(chan struct{})}
	g.left.Store(n)
	return g
}

func (g *gate) pass() {
	if g.left.Add(-1) == 0 {
		close(g.all)
	}
	select {
	case <-g.all:
	case <-time.After(100 * time.Millisecond):
	}
}

func TestFolders(t *testing.T) {
	w := newWorld(t)
	odd := filepath.Join(w.dir, "a b'c\"d\nü")
	closed := filepath.Join(w.dir, "closed")
	for _, d := range []string{odd, closed} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(w.dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, ok := range map[string]bool{odd: true, "": false, " ": false, "a\x00b": false, "a\xffb": false, "a\ufffdb": false,
		filepath.Join(w.dir, "gone"): false, filepath.Join(w.dir, "file"): false} {
		_, err := CheckDir(dir)
		if f := core.AsFailure(err); (err == nil) != ok || !ok && (f.Code != core.CodeDir || f.Remedy == "") {
			t.Errorf("%q: %v", dir, err)
		}
	}
	if os.Getuid() == 0 {
		return // no file mode stops root
	}
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := CheckDir(closed); core.AsFailure(err).Code != core.CodeDir {
		t.Errorf("a folder that may not be opened: %v", err)
	}
}

// TestUnfitFolder: a folder in which no run may work gets no channel.
func TestUnfitFolder(t *testing.T) {
	w := newWorld(t)
	unfit := core.Fail(core.CodeDir, nil, "Credentials are kept there.", "Choose another.")
	w.s.opts.Fit = func(_ context.Context, dir string) error {
		if dir == w.dir {
			return unfit
		}
		return nil
	}
	if _, err := w.s.Add(t.Context(), w.dir, ""); !errors.Is(err, unfit) || len(w.list) != 0 {
		t.Errorf("%v, %d channels", err, len(w.list))
	}
	if _, err := w.s.Add(t.Context(), t.TempDir(), ""); err != nil {
		t.Error(err)
	}
}

// TestReadingAConversationHoldsNobodyUp: an agent's transcripts can take long to read.
// The person's channels do not wait for that.
func TestReadingAConversationHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	var removed error
	var once sync.Once
	w.onCall["List"] = func(string) {
		once.Do(func() {
			done := make(chan error, 1)
			go func() { done <- w.s.Remove(context.Background(), p.ID) }()
			select {
			case removed = <-done:
			case <-time.After(time.Minute):
				removed = errors.New("it waits for the transcripts")
			}
		})
	}
	_, err := w.s.CreateThread(t.Context(), core.ThreadRequest{ParentID: p.ID, Session: core.SessionStart{Mode: core.SessionResume, SessionID: "real"}})
	if removed != nil {
		t.Errorf("remove: %v", removed)
	}
	w.refused(err, core.CodeNotFound, "does not exist")
	if len(w.list) != 0 {
		t.Errorf("%+v", w.list)
	}
}

// TestHeldBrowser: the list and one channel say whose browser the person holds.
func TestHeldBrowser(t *testing.T) {
	w := newWorld(t)
	a, err := w.s.Add(t.Context(), w.dir, "a")
	if err != nil || a.BrowserHeld {
		t.Fatalf("%+v, %v", a, err)
	}
	w.held = a.ID
	list, err := w.s.List(t.Context())
	if err != nil || len(list) != 1 || !list[0].BrowserHeld {
		t.Errorf("%+v, %v", list, err)
	}
	if one, err := w.s.Get(t.Context(), a.ID); err != nil || !one.BrowserHeld {
		t.Errorf("%+v, %v", one, err)
	}
}

// TestThreadsAndWorktreesRingAsTheirParentDoes: they have its other choices as they are, and what is told of
// them by its choice of this moment.
func TestThreadsAndWorktreesRingAsTheirParentDoes(t *testing.T) {
	w := newWorld(t)
	p := w.project()
	w.set(p.ID, func(c *core.Channel) { c.Choices = core.ChannelChoices{Model: "opus", Notify: "never"} })
	children := []core.ChannelView{w.thread(p.ID, ""), w.worktree(p.ID, "fix")}
	w.set(p.ID, func(c *core.Channel) { c.Choices.Notify = "problems" })
	for _, ch := range children {
		if _, notify := w.s.Called(ch.ID); notify != "problems" || ch.Choices.Model != "opus" || ch.Choices.Notify != "" {
			t.Errorf("%s: told of %q, choices %+v", ch.Kind, notify, ch.Choices)
		}
	}
}
