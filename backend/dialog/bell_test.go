package dialog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/bus"
	"loop/backend/core"
)

// hall is the desktop with its notices, and what the person wants of it.
type hall struct {
	mu      sync.Mutex
	open    map[string]chan Choice // by title and text
	notices []Notice
	opened  []core.ChannelID
	visible bool
	mode    Mode
	ringing Ringing
	broken  error
}

func (h *hall) Notify(ctx context.Context, n Notice) (Choice, error) {
	key := n.Title + ": " + strings.Join(n.Lines, "/")
	chosen := make(chan Choice, 1)
	h.mu.Lock()
	if h.broken != nil {
		defer h.mu.Unlock()
		return Deny, h.broken
	}
	h.open[key], h.notices = chosen, append(h.notices, n)
	h.mu.Unlock()
	defer func() { h.mu.Lock(); delete(h.open, key); h.mu.Unlock() }()
	select {
	case c := <-chosen:
		if c == Deny {
			return Deny, ErrDismissed
		}
		return c, nil
	case <-ctx.Done():
		return Deny, ctx.Err()
	}
}

func (h *hall) Ready(context.Context) error      { return nil }
func (h *hall) Visible() bool                    { h.mu.Lock(); defer h.mu.Unlock(); return h.visible }
func (h *hall) Mode() Mode                       { h.mu.Lock(); defer h.mu.Unlock(); return h.mode }
func (h *hall) Ringing(core.ChannelID) Ringing   { h.mu.Lock(); defer h.mu.Unlock(); return h.ringing }
func (h *hall) Channel(id core.ChannelID) string { return string(id) }
func (h *hall) Open(id core.ChannelID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened = append(h.opened, id)
}
func (h *hall) set(change func())           { h.mu.Lock(); defer h.mu.Unlock(); change() }
func (h *hall) choose(key string, c Choice) { h.set(func() { h.open[key] <- c }) }
func (h *hall) shown() (all []string) {
	h.set(func() { all = slices.Sorted(maps.Keys(h.open)) })
	return all
}
func (h *hall) want(t *testing.T, want ...string) {
	t.Helper()
	<-time.After(2 * breather) // of the bubble's clock
	synctest.Wait()
	if got := h.shown(); !slices.Equal(got, want) {
		t.Errorf("shown: %q, want %q", got, want)
	}
}

// withBell runs a bell; tell publishes an event, which data may be as a whole, and lets the bell hear it.
func withBell(t *testing.T, test func(h *hall, b *Bell, tell func(core.EventType, core.ChannelID, any))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &hall{open: map[string]chan Choice{}, visible: true, mode: Hidden, ringing: Ringing{true, true, true, false}}
		events := bus.New()
		sub, _ := events.Resume("", 0)
		b := NewBell(h, h, h, h, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = b.Run(ctx, sub) })
		test(h, b, func(typ core.EventType, ch core.ChannelID, data any) {
			e, whole := data.(core.Event)
			if !whole {
				e = core.NewEvent(typ, ch, "r-"+core.RunID(ch), time.Now(), data)
			}
			events.Publish(e)
			synctest.Wait()
		})
		cancel()
		running.Wait()
		if left := h.shown(); len(left) > 0 {
			t.Errorf("%q is shown after the end", left)
		}
		sub.Close()
		events.Close()
	})
}

func question(id, text string) core.Question {
	return core.Question{ID: id, Kind: core.QuestionAsk, Questions: []core.AskQuestion{{Question: text}}}
}

func TestTheBellRingsWhileNobodyLooks(t *testing.T) {
	withBell(t, func(h *hall, b *Bell, tell func(core.EventType, core.ChannelID, any)) {
		tell(core.EventAskUser, "web", question("q", "# Which one?\nmore"))
		tell(core.EventStatus, "web", core.Status{State: core.RunDone, StopReason: "ask_user", Result: "asked"})
		tell(core.EventStatus, "api", core.Status{State: core.RunFailed, Failure: &core.Failure{Cause: "npm is not there."}})
		tell(core.EventStatus, "docs", core.Status{State: core.RunDone, Result: "\n**Fixed.** All pass.\nmore"})
		tell(core.EventStatus, "ops", core.Status{State: core.RunCancelled})
		h.want(t, "api failed: npm is not there.", "docs is done: Fixed.** All pass.", "web needs you: Which one?")
		tell(core.EventAskResolved, "web", question("q", ""))
		tell(core.EventStatus, "api", core.Status{State: core.RunRunning})
		h.want(t, "docs is done: Fixed.** All pass.")
		b.Look(true, "web") // another channel
		h.want(t, "docs is done: Fixed.** All pass.")
		b.Look(true, "docs")
		h.want(t)
		tell(core.EventStatus, "api", core.Status{State: core.RunFailed})
		h.want(t)
		h.set(func() { h.visible = false }) // put away, and the page did not say so
		tell(core.EventExitPlan, "api", core.Question{ID: "p", Kind: core.QuestionPlan, Plan: "## Move it\n1. first"})
		h.want(t, "api needs you: Move it")
		tell(core.EventStatus, "api", core.Status{State: core.RunInterrupted})
		h.want(t, "api failed: The run did not end well.")
		tell(core.EventChannelDeleted, "api", nil)
		h.want(t)
	})
}

func TestAHeldCallRingsWhereNoDialogAsks(t *testing.T) {
	withBell(t, func(h *hall, b *Bell, tell func(core.EventType, core.ChannelID, any)) {
		a := core.Approval{ID: "a", Kind: core.ApprovalFile, Title: "Write", Target: "/x"}
		tell(core.EventGateAsked, "web", a)
		if got := h.shown(); len(got) != 1 || !strings.HasPrefix(got[0], "web needs you: ") {
			t.Errorf("shown: %q", got)
		}
		tell(core.EventGateResolved, "web", a)
		h.want(t)
		for mode, rings := range map[Mode]int{Hidden: 0, Always: 0, Never: 1} {
			h.set(func() { h.mode, h.visible = mode, false })
			tell(core.EventGateAsked, "web", a)
			if got := len(h.shown()); got != rings {
				t.Errorf("%s: %d notices", mode, got)
			}
			tell(core.EventGateResolved, "web", a)
		}
	})
}

func TestANoticeOpensItsChannel(t *testing.T) {
	withBell(t, func(h *hall, b *Bell, tell func(core.EventType, core.ChannelID, any)) {
		h.set(func() { h.ringing.Sound = true })
		tell(core.EventStatus, "api", core.Status{State: core.RunDone, Result: "Fixed."})
		tell(core.EventStatus, "web", core.Status{State: core.RunDone, Result: "Fixed."})
		h.want(t, "api is done: Fixed.", "web is done: Fixed.")
		h.choose("api is done: Fixed.", Review)
		h.choose("web is done: Fixed.", Deny) // put away
		h.want(t)
		if !slices.Equal(h.opened, []core.ChannelID{"api"}) || !h.notices[0].News || !h.notices[0].Sound {
			t.Errorf("opened %q, notice %+v", h.opened, h.notices[0])
		}
	})
}

func TestRinging(t *testing.T) {
	for notify, want := range map[string]Ringing{
		"all": {true, true, true, false}, "problems": {true, true, false, false}, "needs_you": {true, false, false, false}, "never": {}, "": {true, true, true, false},
	} {
		if got := RingingOf(notify, false, false); got != want {
			t.Errorf("%q: %+v", notify, got)
		}
		if got := RingingOf(notify, true, true); got.NeedsYou || got.Failed || got.Done {
			t.Errorf("%q, quiet: %+v", notify, got)
		}
	}
	withBell(t, func(h *hall, b *Bell, tell func(core.EventType, core.ChannelID, any)) {
		h.set(func() { h.ringing = RingingOf("problems", false, false) })
		tell(core.EventStatus, "api", core.Status{State: core.RunDone})
		h.want(t)
		for i := range maxRung + 5 {
			tell(core.EventStatus, core.ChannelID(rune('a'+i)), core.Status{State: core.RunFailed})
		}
		if got := len(h.shown()); got != maxRung {
			t.Errorf("%d notices at a time", got)
		}
	})
}

// TestTheBellRingsAgainAfterNothingShowedIt: a service that was away for a moment shows the next news, and its
// absence is logged once until then.
func TestTheBellRingsAgainAfterNothingShowedIt(t *testing.T) {
	withBell(t, func(h *hall, b *Bell, tell func(core.EventType, core.ChannelID, any)) {
		var log bytes.Buffer
		b.log = slog.New(slog.NewTextHandler(&log, nil))
		away := fmt.Errorf("%w: the service is away", ErrUnavailable)
		lines := func(want int) {
			t.Helper()
			if got := strings.Count(log.String(), "nothing shows notifications now"); got != want {
				t.Errorf("said %d times, want %d", got, want)
			}
		}
		h.set(func() { h.broken = away })
		tell(core.EventStatus, "api", core.Status{State: core.RunFailed})
		tell(core.EventStatus, "web", core.Status{State: core.RunFailed})
		lines(1)
		h.set(func() { h.broken = nil })
		tell(core.EventStatus, "api", core.Status{State: core.RunFailed, Error: "It broke."})
		h.want(t, "api failed: It broke.")
		h.choose("api failed: It broke.", Deny) // put away
		h.want(t)
		h.set(func() { h.broken = away })
		tell(core.EventStatus, "api", core.Status{State: core.RunFailed})
		lines(2)
	})
}

// TestTheBellEndsWhereNothingCanShowIt: without notifications it ends, and what it hears costs nothing.
func TestTheBellEndsWhereNothingCanShowIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hall{open: map[string]chan Choice{}, visible: true, ringing: Ringing{true, true, true, false}, broken: ErrNever}
		events := bus.New()
		sub, _ := events.Resume("", 0)
		b := NewBell(h, h, h, h, slog.New(slog.DiscardHandler))
		ended := make(chan error, 1)
		go func() { ended <- b.Run(t.Context(), sub) }()
		events.Publish(core.NewEvent(core.EventStatus, "api", "r", time.Now(), core.Status{State: core.RunFailed}))
		if err := <-ended; !errors.Is(err, ErrNever) {
			t.Errorf("ended with %v", err)
		}
		b.Look(true, "api")
		b.Look(true, "api")
		sub.Close()
		events.Close()
	})
}

func TestWhatIsToldStaysTrue(t *testing.T) {
	withBell(t, func(h *hall, b *Bell, tell func(core.EventType, core.ChannelID, any)) {
		tell(core.EventStatus, "api", core.Status{State: core.RunDone, Result: "Fixed."})
		tell(core.EventStatus, "api", core.Status{State: core.RunRunning}) // the next of its queue
		h.want(t)
		tell(core.EventStatus, "api", core.Status{State: core.RunDone, Result: "Fixed."})
		tell(core.EventStatus, "web", core.Status{State: core.RunFailed, Error: "It broke."})
		h.want(t, "api is done: Fixed.", "web failed: It broke.")
		h.set(func() { h.ringing = RingingOf("problems", false, false) })
		tell(core.EventConfigChanged, "", nil)
		h.want(t, "web failed: It broke.")
		b.Look(true, AllChannels)
		h.want(t)
		b.Look(false, "")
		h.set(func() { h.visible = false })
		b.NoDialogs()
		tell(core.EventGateAsked, "web", core.Approval{ID: "a", Kind: core.ApprovalFile, Title: "Write", Target: "/x"})
		if got := h.shown(); len(got) != 1 {
			t.Errorf("no dialog asks, and shown is %q", got)
		}
	})
}

// TestAnUndecidedToolchainRings: a run that waits for the person's word on an image rings, and is quiet
// again when it goes on.
func TestAnUndecidedToolchainRings(t *testing.T) {
	withBell(t, func(h *hall, _ *Bell, tell func(core.EventType, core.ChannelID, any)) {
		tell(core.EventStatus, "web", core.Status{State: core.RunStarting, Step: core.StepToolchain})
		h.want(t, "web needs you: The project brings an image of its own, and a run waits for your word.")
		tell(core.EventStatus, "web", core.Status{State: core.RunStarting, Step: "image"})
		h.want(t)
	})
}

// TestARunThatIsOverNeedsNobody: a run that ends while it waits for the person's word takes its notice away,
// also where its end is not told. Another run of the channel leaves it.
func TestARunThatIsOverNeedsNobody(t *testing.T) {
	for _, state := range []core.RunState{core.RunCancelled, core.RunFailed, core.RunInterrupted, core.RunDone} {
		withBell(t, func(h *hall, _ *Bell, tell func(core.EventType, core.ChannelID, any)) {
			h.set(func() { h.ringing = RingingOf("needs_you", false, false) })
			waits := "web needs you: The project brings an image of its own, and a run waits for your word."
			tell(core.EventStatus, "web", core.Status{State: core.RunStarting, Step: core.StepToolchain})
			tell(core.EventStatus, "web", core.NewEvent(core.EventStatus, "web", "another", time.Now(), core.Status{State: state}))
			h.want(t, waits)
			tell(core.EventStatus, "web", core.Status{State: state})
			h.want(t)
		})
	}
}
