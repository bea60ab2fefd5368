package callbacks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// world has two projects: p with thread t, and the foreign project f.
type world struct {
	now      time.Time
	runs     map[core.RunID]core.Run
	queued   []core.Run
	events   []core.Event
	asked    []string
	members  []core.ChannelView
	failWith error
}

func newWorld() *world {
	return &world{now: epoch, runs: map[core.RunID]core.Run{"r": {ID: "r", ChannelID: "p"}}, members: []core.ChannelView{
		{Channel: core.Channel{ID: "p", Name: "Project", Kind: core.KindProject, Dir: "/srv/p", SessionID: "s"}, State: core.ChannelWorking},
		{Channel: core.Channel{ID: "t", Name: "A thread", Kind: core.KindThread, Dir: "/srv/p", ParentID: "p"}, State: core.ChannelIdle},
		{Channel: core.Channel{ID: "w", Name: "Fix", Kind: core.KindWorktree, Dir: "/srv/p/.worktrees/fix", Branch: "fix-login", DemoSessionID: "d"}, State: core.ChannelDone},
	}}
}

func (w *world) service() *Service {
	return New(Options{
		Channels: w, Runs: w, Store: w, Publish: func(e ...core.Event) {}, Now: func() time.Time { return w.now },
		Hide: func(_ core.RunID, text string) string { return text },
	})
}

func (w *world) ask(format string, args ...any) {
	w.asked = append(w.asked, fmt.Sprintf(format, args...))
}

func (w *world) Within(_ context.Context, caller, id core.ChannelID) bool {
	in := func(id core.ChannelID) bool {
		return slices.ContainsFunc(w.members, func(m core.ChannelView) bool { return m.ID == id })
	}
	return in(caller) && in(id)
}
func (w *world) Members(context.Context, core.ChannelID) ([]core.ChannelView, error) {
	list := slices.Clone(w.members)
	list[0].Queued = len(w.queued)
	return list, w.failWith
}
func (w *world) CreateThread(_ context.Context, t core.ThreadRequest) (core.ChannelView, error) {
	w.ask("thread %s %s", t.ParentID, t.Name)
	return core.ChannelView{Channel: core.Channel{ID: "t"}}, w.failWith
}
func (w *world) CreateWorktree(_ context.Context, wt core.WorktreeRequest) (core.ChannelView, error) {
	w.ask("worktree %s %s", wt.ParentID, wt.Branch)
	return core.ChannelView{Channel: core.Channel{ID: "w"}}, w.failWith
}
func (w *world) ListSessions(_ context.Context, id core.ChannelID) ([]core.SessionInfo, error) {
	w.ask("sessions %s", id)
	return nil, nil
}
func (w *world) StartWith(_ context.Context, id core.ChannelID, start core.SessionStart) (core.ChannelView, error) {
	w.ask("start %s %s %s", id, start.Mode, start.SessionID)
	return core.ChannelView{}, nil
}
func (w *world) Prompt(_ context.Context, req core.Run) (core.Run, error) {
	w.ask("prompt %s %q by %s", req.ChannelID, req.Prompt, req.AuthorID)
	req.ID = core.RunID(fmt.Sprintf("q%d", len(w.queued)))
	w.queued = append(w.queued, req)
	return req, nil
}
func (w *world) Interrupt(ctx context.Context, req core.Run) (core.Run, error) {
	w.ask("interrupt %s, still wanted %v", req.ChannelID, ctx.Err() == nil)
	w.queued = append(w.queued, req)
	return req, nil
}
func (w *world) Remove(_ context.Context, id core.RunID) error { w.ask("remove %s", id); return nil }
func (w *world) Run(_ context.Context, id core.RunID) (core.Run, error) {
	if r, ok := w.runs[id]; ok {
		return r, nil
	}
	return core.Run{}, core.ErrNotFound
}
func (w *world) Queue(context.Context, core.ChannelID) ([]core.Run, error) { return w.queued, nil }
func (w *world) PromptHistory(_ context.Context, ch core.ChannelID, _ string, _ int) ([]string, error) {
	return []string{"last  prompt\nof " + string(ch) + strings.Repeat(" x", 300)}, nil
}
func (w *world) AddEvents(_ context.Context, e ...core.Event) ([]core.Event, error) {
	w.events = append(w.events, e...)
	return e, nil
}

var me = core.Caller{ChannelID: "p", RunID: "r"}

func code(err error) core.Code {
	if err == nil {
		return ""
	}
	return core.AsFailure(err).Code
}

// TestAForeignChannelIsRefusedEverywhere: every callback that names a channel refuses
// one of another project. The answer does not tell whether the channel exists.
func TestAForeignChannelIsRefusedEverywhere(t *testing.T) {
	for _, ch := range []core.ChannelID{"f", "none", "../p", "P"} {
		w := newWorld()
		w.runs["theirs"] = core.Run{ID: "theirs", ChannelID: "f", Trigger: "agent"}
		s, ctx := w.service(), t.Context()
		for name, f := range map[string]func() error{
			"send": func() error { return s.SendMessage(ctx, me, ch, "hi") },
			"queue": func() error {
				_, err := s.QueueMessage(ctx, me, core.GuestMessage{ChannelID: ch, Content: "hi"})
				return err
			},
			"queued":        func() error { _, err := s.Queued(ctx, me, ch); return err },
			"remove":        func() error { return s.RemoveQueued(ctx, me, "theirs") },
			"remove no run": func() error { return s.RemoveQueued(ctx, me, "nothing") },
			"sessions":      func() error { _, err := s.Sessions(ctx, me, ch); return err },
			"session":       func() error { return s.SetSession(ctx, me, ch, core.SessionStart{Mode: core.SessionFresh}) },
			"tell":          func() error { return s.MessageAgent(ctx, me, ch, "hi") },
		} {
			err := f()
			if code(err) != core.CodeForbidden || core.AsFailure(err).Cause != errForeign.Cause {
				t.Errorf("%s of %q: %v", name, ch, err)
			}
		}
		if len(w.asked)+len(w.events)+len(w.queued) > 0 {
			t.Errorf("%q reached %v %v", ch, w.asked, w.events)
		}
	}
}

// TestPlanningAgents: prompts by an agent that plans first start runs that plan first
// too. The agent opens no worktree, which would write into the project.
func TestPlanningAgents(t *testing.T) {
	w := newWorld()
	w.runs["r"] = core.Run{ID: "r", ChannelID: "p", Plan: true}
	s, ctx := w.service(), t.Context()
	if _, err := s.QueueMessage(ctx, me, core.GuestMessage{Content: "write it"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.QueueMessage(ctx, me, core.GuestMessage{Content: "now", Interrupt: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateThread(ctx, me, core.GuestThread{Name: "n", Message: "write it there"}); err != nil {
		t.Fatal(err)
	}
	if err := s.MessageAgent(ctx, me, "w", "write it for me"); err != nil {
		t.Fatal(err)
	}
	if len(w.queued) != 4 || slices.ContainsFunc(w.queued, func(r core.Run) bool { return !r.Plan }) {
		t.Errorf("queued %+v", w.queued)
	}
	if _, err := s.CreateWorktree(ctx, me, core.GuestWorktree{Branch: "b"}); code(err) != core.CodeForbidden {
		t.Errorf("a worktree: %v", err)
	}
	if slices.ContainsFunc(w.asked, func(a string) bool { return strings.HasPrefix(a, "worktree") }) {
		t.Errorf("asked %q", w.asked)
	}
}

func TestWhatAnAgentMayDo(t *testing.T) {
	w := newWorld()
	s, ctx := w.service(), t.Context()
	if err := s.SendMessage(ctx, me, "", "hello"); err != nil {
		t.Fatal(err)
	}
	if err := s.SendMessage(ctx, me, "t", "hello there"); err != nil {
		t.Fatal(err)
	}
	if w.events[0].RunID != "r" || w.events[0].ChannelID != "p" || w.events[1].ChannelID != "t" || w.events[1].RunID != "" {
		t.Errorf("%+v", w.events)
	}
	if _, err := s.QueueMessage(ctx, me, core.GuestMessage{Content: "later", Delay: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if r := w.queued[0]; r.Trigger != "agent" || r.AuthorID != "agent:r" || r.Delay != time.Minute || r.ChannelID != "p" {
		t.Errorf("%+v", r)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.QueueMessage(gone, me, core.GuestMessage{Content: "now", Interrupt: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetSession(ctx, me, "t", core.SessionStart{Mode: core.SessionResume, SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateThread(ctx, me, core.GuestThread{Name: "n", Message: "begin"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateWorktree(ctx, me, core.GuestWorktree{Branch: "b"}); err != nil {
		t.Fatal(err)
	}
	if err := s.MessageAgent(ctx, me, "w", "look\nhere"); err != nil {
		t.Fatal(err)
	}
	want := []string{`prompt p "later" by agent:r`, "interrupt p, still wanted true", "start t resume s", "thread p n", `prompt t "begin" by agent:r`, "worktree p b", `prompt w "[from Project] look\nhere" by agent:r`}
	if !slices.Equal(w.asked, want) {
		t.Errorf("got  %q\nwant %q", w.asked, want)
	}
	w.runs["mine"], w.runs["theirs"] = core.Run{ID: "mine", ChannelID: "t", Trigger: "agent"}, core.Run{ID: "theirs", ChannelID: "p"}
	if err := s.RemoveQueued(ctx, me, "mine"); err != nil {
		t.Error(err)
	}
	if err := s.RemoveQueued(ctx, me, "theirs"); code(err) != core.CodeForbidden {
		t.Errorf("the person's own prompt: %v", err)
	}
}

func TestListsShowTheProjectOnly(t *testing.T) {
	w := newWorld()
	s, ctx := w.service(), t.Context()
	agents, err := s.Agents(ctx, me)
	if err != nil || len(agents) != 2 || agents[0].ID != "p" || !agents[0].Own || agents[1].ID != "w" || len([]rune(agents[0].Summary)) != maxSummary+1 || strings.Contains(agents[0].Summary, "\n") {
		t.Errorf("%+v, %v", agents, err)
	}
	for q, want := range map[string]int{"": 3, "FIX": 1, "login": 1, "worktrees": 1, "none of them": 0} {
		if list, err := s.SearchChannels(ctx, me, q); err != nil || list == nil || len(list) != want {
			t.Errorf("%q: %+v, %v", q, list, err)
		}
	}
}

func TestWhatIsNoMessage(t *testing.T) {
	w := newWorld()
	s, ctx := w.service(), t.Context()
	for name, text := range map[string]string{"empty": " \n", "not text": "a\xff", "too long": strings.Repeat("x", maxMessage+1)} {
		for what, err := range map[string]error{
			"send": s.SendMessage(ctx, me, "", text), "tell": s.MessageAgent(ctx, me, "t", text),
			"queue":  func() error { _, err := s.QueueMessage(ctx, me, core.GuestMessage{Content: text}); return err }(),
			"thread": func() error { _, err := s.CreateThread(ctx, me, core.GuestThread{Message: text}); return err }(),
		} {
			if code(err) != core.CodeInvalid {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	for name, text := range map[string]string{"end of a paste": "a\x1b[201~b", "carriage return": "a\rb", "NUL": "a\x00", "C1": "a\u009bb"} {
		if err := s.MessageAgent(ctx, me, "t", text); code(err) != core.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.MessageAgent(ctx, me, "p", "to myself"); code(err) != core.CodeInvalid {
		t.Errorf("to oneself: %v", err)
	}
	if len(w.asked) > 0 {
		t.Errorf("reached %v", w.asked)
	}
}

// TestAgentsCannotSetEachOtherToWorkForEver: the length of a chain comes from the
// stored runs, never from the guest.
func TestAgentsCannotSetEachOtherToWorkForEver(t *testing.T) {
	w := newWorld()
	for i := range maxChain + 3 {
		author := ""
		if i > 0 {
			author = fmt.Sprintf("agent:r%d", i-1)
		}
		id := core.RunID(fmt.Sprintf("r%d", i))
		w.runs[id] = core.Run{ID: id, ChannelID: "p", AuthorID: author, Demo: true}
	}
	for i := range maxChain + 3 {
		from := core.Caller{ChannelID: "p", RunID: core.RunID(fmt.Sprintf("r%d", i))}
		_, err := w.service().QueueMessage(t.Context(), from, core.GuestMessage{Content: "go on"})
		if (i >= maxChain) != (code(err) == core.CodeTooMany) {
			t.Errorf("after %d: %v", i, err)
		}
	}
	end := core.Caller{ChannelID: "p", RunID: core.RunID(fmt.Sprintf("r%d", maxChain))}
	if _, err := w.service().CreateThread(t.Context(), end, core.GuestThread{Name: "n", Message: "m"}); code(err) != core.CodeTooMany || strings.Contains(fmt.Sprint(w.asked), "thread") {
		t.Errorf("a thread whose prompt is refused: %v, asked %v", err, w.asked)
	}
	if !w.queued[0].Demo {
		t.Error("an agent of the scripted model started a real one")
	}
	// A ring cannot be stored, but following one ends too.
	w.runs["r0"] = core.Run{ID: "r0", AuthorID: "agent:r0"}
	if _, err := w.service().QueueMessage(t.Context(), core.Caller{ChannelID: "p", RunID: "r0"}, core.GuestMessage{Content: "x"}); code(err) != core.CodeTooMany {
		t.Errorf("a ring: %v", err)
	}
}

func TestAFloodIsRefused(t *testing.T) {
	w := newWorld()
	s, ctx := w.service(), t.Context()
	refused, total := 0, 0
	for range perMinute + 40 {
		if err := s.SendMessage(ctx, me, "", "x"); code(err) == core.CodeTooMany {
			refused++
		}
	}
	if refused != 40 {
		t.Errorf("%d refused", refused)
	}
	other := core.Caller{ChannelID: me.ChannelID, RunID: "another"}
	if err := s.SendMessage(ctx, other, "", "x"); err != nil {
		t.Errorf("another run in the container pays for it: %v", err)
	}
	for range perLife {
		w.now = w.now.Add(2 * time.Second)
		if s.SendMessage(ctx, me, "", "x") == nil {
			total++
		}
	}
	if want := perLife - perMinute; total != want {
		t.Errorf("%d more were taken, want %d", total, want)
	}
	w.now = w.now.Add(-24 * time.Hour)
	if err := s.SendMessage(ctx, other, "", "x"); err != nil {
		t.Errorf("the clock was put back: %v", err)
	}
	for i := range maxCallers + 10 {
		_, _ = s.Agents(ctx, core.Caller{ChannelID: "p", RunID: core.RunID(fmt.Sprint("x", i))})
	}
	if n := len(s.limits.callers); n > maxCallers {
		t.Errorf("%d callers are remembered", n)
	}
}

func TestAFullQueueTakesNoMoreOfAgents(t *testing.T) {
	w := newWorld()
	for range maxQueued {
		w.queued = append(w.queued, core.Run{Trigger: "agent"})
	}
	if _, err := w.service().QueueMessage(t.Context(), me, core.GuestMessage{Content: "x"}); code(err) != core.CodeTooMany {
		t.Errorf("%v", err)
	}
	for i := range w.queued {
		w.queued[i].Trigger = "" // the person's own prompts do not count
	}
	if _, err := w.service().QueueMessage(t.Context(), me, core.GuestMessage{Content: "x"}); err != nil {
		t.Errorf("%v", err)
	}
}

// slowQueue takes its time to store a prompt.
type slowQueue struct {
	*world
	arrived chan struct{}
	release chan struct{}
}

func (q slowQueue) Prompt(context.Context, core.Run) (core.Run, error) {
	q.arrived <- struct{}{}
	<-q.release
	return core.Run{}, nil
}

// TestManyPromptsAtOnce: the bound is counted before a prompt is queued. Requests that
// come at the same time do not get past it.
func TestManyPromptsAtOnce(t *testing.T) {
	w := newWorld()
	const n = maxQueued + 15
	q := slowQueue{w, make(chan struct{}, n), make(chan struct{})}
	s := w.service()
	s.o.Runs = q
	refused := make(chan error, n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if _, err := s.QueueMessage(t.Context(), me, core.GuestMessage{Content: "x"}); err != nil {
				refused <- err
			}
		})
	}
	taken, no := 0, 0
	for taken+no < n {
		select {
		case <-q.arrived:
			taken++
		case err := <-refused:
			if no++; code(err) != core.CodeTooMany {
				t.Error(err)
			}
		}
	}
	close(q.release)
	wg.Wait()
	if taken != maxQueued {
		t.Errorf("%d prompts were taken at once, want %d", taken, maxQueued)
	}
	if _, err := s.QueueMessage(t.Context(), me, core.GuestMessage{Content: "x"}); err != nil || len(s.coming) != 0 {
		t.Errorf("once they are stored: %v, %v", err, s.coming)
	}
}

// TestTerminalsAreCountedApart: an agent that a person works with in a terminal has no
// run. Its requests, and those of the runs it starts, count for the terminal.
func TestTerminalsAreCountedApart(t *testing.T) {
	w := newWorld()
	s := w.service()
	ask := func(terminal core.SpawnID) error {
		_, err := s.QueueMessage(t.Context(), core.Caller{ChannelID: "p", SpawnID: terminal}, core.GuestMessage{Content: "x"})
		return err
	}
	if err := ask("t1"); err != nil || w.queued[0].AuthorID != "agent:terminal-t1" {
		t.Fatalf("%v %+v", err, w.queued)
	}
	started := 1
	for i := range perPrompt + 5 { // requests of the runs it started count for the terminal
		id := core.RunID(fmt.Sprint("d", i))
		w.runs[id], w.queued = core.Run{ID: id, AuthorID: "agent:terminal-t1"}, nil
		if _, err := s.QueueMessage(t.Context(), core.Caller{ChannelID: "p", RunID: id}, core.GuestMessage{Content: "x"}); err == nil {
			started++
		}
	}
	if started != perPrompt {
		t.Errorf("%d runs because of one terminal", started)
	}
	if err := ask("t1"); code(err) != core.CodeTooMany {
		t.Errorf("the terminal itself: %v", err)
	}
	w.queued = nil
	if err := ask("t2"); err != nil {
		t.Errorf("another terminal: %v", err)
	}
}

// TestARunawayIsBounded: agents that start many others side by side reach a bound, too.
func TestARunawayIsBounded(t *testing.T) {
	w := newWorld()
	s, made := w.service(), 0
	for range perLifeMade + 5 {
		if _, err := s.CreateThread(t.Context(), me, core.GuestThread{Name: "n"}); err == nil {
			made++
		} else if code(err) != core.CodeTooMany {
			t.Fatal(err)
		}
	}
	if made != perLifeMade {
		t.Errorf("one run made %d threads", made)
	}
	if _, err := s.CreateWorktree(t.Context(), me, core.GuestWorktree{Branch: "b"}); code(err) != core.CodeTooMany {
		t.Errorf("and a worktree: %v", err)
	}
	// Many runs all come from r. Each has a container of its own.
	started := 0
	for i := range perPrompt + 20 {
		id := core.RunID(fmt.Sprint("c", i))
		w.runs[id] = core.Run{ID: id, AuthorID: "agent:r"}
		_, err := s.QueueMessage(t.Context(), core.Caller{ChannelID: "p", RunID: id}, core.GuestMessage{Content: "x"})
		if err == nil {
			started++
		} else if code(err) != core.CodeTooMany {
			t.Fatal(err)
		}
		w.queued = nil // the prompt has become a run
	}
	if started != perPrompt {
		t.Errorf("%d runs because of one prompt", started)
	}
	w.runs["fresh"] = core.Run{ID: "fresh"}
	if _, err := s.QueueMessage(t.Context(), core.Caller{ChannelID: "p", RunID: "fresh"}, core.GuestMessage{Content: "x"}); err != nil {
		t.Errorf("the person's next prompt: %v", err)
	}
}

// TestAQueueIsShownInBounds: a queue is shortened until it fits into an answer.
func TestAQueueIsShownInBounds(t *testing.T) {
	w := newWorld()
	for range maxShown + 5 {
		w.queued = append(w.queued, core.Run{Prompt: strings.Repeat("ä", maxMessage/2)})
	}
	list, err := w.service().Queued(t.Context(), core.Caller{ChannelID: "p"}, "")
	if err != nil || len(list) != maxShown || list[0].Prompt != strings.Repeat("ä", maxExcerpt)+"…" {
		t.Errorf("%d of %d bytes, %v", len(list), len(list[0].Prompt), err)
	}
}

func TestErrorsComeThrough(t *testing.T) {
	w := newWorld()
	w.failWith = errors.New("broken")
	s, ctx := w.service(), t.Context()
	if _, err := s.Agents(ctx, me); !errors.Is(err, w.failWith) {
		t.Error(err)
	}
	if _, err := s.CreateThread(ctx, me, core.GuestThread{Message: "m"}); !errors.Is(err, w.failWith) || len(w.queued) > 0 {
		t.Errorf("%v, queued %v", err, w.queued)
	}
}
