package dialog

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// desk is a person's: the window, the queue and the dialogs that appear on it.
type desk struct {
	mu       sync.Mutex
	mode     Mode
	visible  bool
	waiting  []core.Approval
	answered []string
	reviewed []string
	refuse   error // of Answer

	open   []Request // dialogs on the screen
	shown  int       // dialogs so far
	closed int       // of them without an answer
	choose chan Choice
	broken error // of Ask
}

func (d *desk) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

func (d *desk) Mode() Mode                    { d.mu.Lock(); defer d.mu.Unlock(); return d.mode }
func (d *desk) Visible() bool                 { d.mu.Lock(); defer d.mu.Unlock(); return d.visible }
func (d *desk) Channel(core.ChannelID) string { return "api-server" }
func (d *desk) Review(id string)              { d.set(func() { d.reviewed = append(d.reviewed, id) }) }

func (d *desk) Waiting() []core.Approval {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.waiting)
}

func (d *desk) Answer(_ context.Context, id string, a core.ApprovalAnswer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse != nil {
		return d.refuse
	}
	verdict := "deny "
	if a.Allow {
		verdict = "allow "
	}
	d.answered = append(d.answered, verdict+string(a.Scope)+" "+id+" "+a.Digest+" "+a.By)
	d.waiting = slices.DeleteFunc(d.waiting, func(w core.Approval) bool { return w.ID == id })
	return nil
}

func (d *desk) Ask(ctx context.Context, r Request) (Choice, error) {
	if d.broken != nil {
		return Deny, d.broken
	}
	d.set(func() { d.open, d.shown = append(d.open, r), d.shown+1 })
	defer d.set(func() { d.open = nil })
	select {
	case c := <-d.choose:
		return c, nil
	case <-ctx.Done():
		d.set(func() { d.closed++ })
		return Deny, ctx.Err()
	}
}

func (d *desk) on() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.open) == 1 {
		return d.open[0].Target
	}
	return ""
}

func approval(id string) core.Approval {
	return core.Approval{ID: id, Kind: core.ApprovalFile, Title: "Write to a file", Target: "/" + id, Digest: "sha-" + id}
}

// presented runs a presenter in a bubble of synthetic time.
func presented(t *testing.T, d *desk, test func(p *Presenter)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d.choose = make(chan Choice)
		p := NewPresenter(d, d, d, d, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		synctest.Wait()
		test(p)
		cancel()
		if err := <-done; err != nil && !errors.Is(err, d.broken) {
			t.Errorf("Run = %v", err)
		}
		if d.on() != "" {
			t.Error("a dialog is left on the screen")
		}
	})
}

// pass lets time go by, so that the window is looked at.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func expect(t *testing.T, d *desk, want string) {
	t.Helper()
	synctest.Wait()
	if got := d.on(); got != want {
		t.Errorf("on the screen: %q, want %q", got, want)
	}
}

func TestOldestFirstOneAtATime(t *testing.T) {
	d := &desk{mode: Hidden, waiting: []core.Approval{approval("a"), approval("b"), approval("c")}}
	presented(t, d, func(p *Presenter) {
		expect(t, d, "/a")
		if note := d.open[0].Note; note != "It waits until you answer. Enter and Esc deny. 2 more wait in Loop." {
			t.Errorf("note %q", note)
		}
		d.choose <- AllowOnce
		expect(t, d, "/b")
		d.choose <- Deny
		expect(t, d, "/c")
		d.set(func() { d.waiting = append(d.waiting, approval("e")) })
		p.Changed()
		expect(t, d, "/c") // what joins does not take its place
	})
	if want := []string{"allow once a sha-a dialog", "deny once b sha-b dialog"}; !slices.Equal(d.answered, want) {
		t.Errorf("answers %q, want %q", d.answered, want)
	}
	if d.closed != 1 {
		t.Errorf("%d dialogs were closed, want the last", d.closed)
	}
}

func TestModesAndTheWindow(t *testing.T) {
	for _, c := range []struct {
		mode    Mode
		visible bool
		want    string
	}{
		{Hidden, true, ""}, {Hidden, false, "/a"}, {"", true, ""}, {"?", false, "/a"},
		{Always, true, "/a"}, {Always, false, "/a"}, {Never, true, ""}, {Never, false, ""},
	} {
		d := &desk{mode: c.mode, visible: c.visible, waiting: []core.Approval{approval("a")}}
		presented(t, d, func(*Presenter) { expect(t, d, c.want) })
		if len(d.answered) != 0 {
			t.Errorf("%+v: answers %q, and nobody gave one", c, d.answered)
		}
	}
}

// No system tells when a window is minimised.
func TestTheWindowIsLookedAtWhileSomethingWaits(t *testing.T) {
	d := &desk{mode: Hidden, visible: true, waiting: []core.Approval{approval("a")}}
	presented(t, d, func(p *Presenter) {
		expect(t, d, "")
		d.set(func() { d.visible = false })
		pass(look)
		expect(t, d, "/a")
		d.set(func() { d.visible = true })
		pass(look)
		expect(t, d, "") // the card in the window takes over
		d.set(func() { d.visible, d.mode = false, Never })
		p.Changed()
		expect(t, d, "")
	})
	if len(d.answered) != 0 || d.closed != 1 {
		t.Errorf("answers %q, closed %d", d.answered, d.closed)
	}
}

func TestADialogGoesWithItsQuestion(t *testing.T) {
	d := &desk{mode: Always, waiting: []core.Approval{approval("a"), approval("b")}}
	presented(t, d, func(p *Presenter) {
		expect(t, d, "/a")
		d.set(func() { d.waiting = d.waiting[1:] }) // its process died
		p.Changed()
		expect(t, d, "") // not one on the heels of the other
		<-time.After(breath)
		expect(t, d, "/b")
		changed := approval("b")
		changed.Target, changed.Digest = "/changed", "sha-2"
		d.set(func() { d.waiting = []core.Approval{changed} })
		p.Changed()
		expect(t, d, "/changed")
		d.choose <- AllowOnce
		synctest.Wait()
	})
	if want := []string{"allow once b sha-2 dialog"}; !slices.Equal(d.answered, want) {
		t.Errorf("answers %q, want %q", d.answered, want)
	}
}

// A click that is on its way when the question goes is no answer.
func TestAnAnswerAfterTheEndCountsForNothing(t *testing.T) {
	d := &desk{mode: Always, waiting: []core.Approval{approval("a")}}
	synctest.Test(t, func(t *testing.T) {
		late := &lateAsker{}
		p := NewPresenter(late, d, d, d, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		synctest.Wait()
		d.set(func() { d.waiting = nil })
		p.Changed()
		synctest.Wait()
		cancel()
		<-done
	})
	if len(d.answered) != 0 {
		t.Errorf("answers %q", d.answered)
	}
}

// lateAsker allows in the moment it is told to close.
type lateAsker struct{}

func (*lateAsker) Ask(ctx context.Context, _ Request) (Choice, error) {
	<-ctx.Done()
	return AllowOnce, nil
}

func TestReviewLeavesThePersonAtIt(t *testing.T) {
	d := &desk{mode: Always, waiting: []core.Approval{approval("a"), approval("b")}}
	presented(t, d, func(p *Presenter) {
		expect(t, d, "/a")
		d.choose <- Review
		expect(t, d, "") // the window needs a moment to appear
		pass(2 * look)
		expect(t, d, "")
		d.set(func() { d.visible = true })
		pass(time.Minute)
		expect(t, d, "")
		d.set(func() { d.waiting = d.waiting[1:] }) // answered in the window
		p.Changed()
		expect(t, d, "/b")
		d.choose <- Review
		pass(look)
		d.set(func() { d.visible = false }) // put away, unanswered
		pass(look)
		expect(t, d, "/b")
	})
	if !slices.Equal(d.reviewed, []string{"a", "b"}) || len(d.answered) != 0 {
		t.Errorf("reviewed %q, answers %q", d.reviewed, d.answered)
	}
}

func TestAWindowThatDoesNotComeIsNotWaitedForForever(t *testing.T) {
	d := &desk{mode: Hidden, waiting: []core.Approval{approval("a")}}
	presented(t, d, func(*Presenter) {
		d.choose <- Review
		expect(t, d, "")
		pass(raising + look)
		expect(t, d, "/a")
	})
}

func TestNoSubjectNoDialog(t *testing.T) {
	nameless := approval("a")
	nameless.Target = "  "
	d := &desk{mode: Always, waiting: []core.Approval{nameless, approval("b")}}
	presented(t, d, func(*Presenter) { expect(t, d, "/b") })
}

func TestWithoutDialogsThePresenterEnds(t *testing.T) {
	d := &desk{mode: Always, waiting: []core.Approval{approval("a")}, broken: ErrUnavailable}
	presented(t, d, func(*Presenter) {})
	if len(d.answered) != 0 {
		t.Errorf("answers %q", d.answered)
	}
}

// A dialog that cannot be shown is not tried over and over, and is no answer.
func TestAFailedDialogIsTriedOnce(t *testing.T) {
	d := &desk{mode: Always, waiting: []core.Approval{approval("a")}, broken: errors.New("no memory")}
	presented(t, d, func(p *Presenter) {
		d.broken = nil
		p.Changed()
		pass(time.Minute)
		expect(t, d, "")
		d.set(func() { d.waiting = append(d.waiting, approval("b")) })
		p.Changed()
		expect(t, d, "/b")
	})
	if len(d.answered) != 0 {
		t.Errorf("answers %q", d.answered)
	}
}

func TestAnAnswerThatIsNotTakenIsAskedAgain(t *testing.T) {
	d := &desk{mode: Always, waiting: []core.Approval{approval("a")}, refuse: errors.New("busy")}
	presented(t, d, func(*Presenter) {
		d.choose <- AllowOnce
		expect(t, d, "/a")
	})
	if d.shown != 2 {
		t.Errorf("%d dialogs, want 2", d.shown)
	}
}
