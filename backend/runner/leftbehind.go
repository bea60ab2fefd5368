package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// under is what a try has under way besides the model: what it leaves behind when it
// ends is ended with the run, and named.
type under struct {
	calls []core.BackgroundTask // commands that are not answered yet
	tasks []core.BackgroundTask // in the background
}

// track keeps the message being streamed and what is under way. Once the try is
// being ended, what ends with it is not taken off any more.
func (w *work) track(it transcript.Item) {
	dying := w.dying.Load()
	switch d := it.Data.(type) {
	case core.MessageStreaming:
		w.live.add(d)
	case core.MessageCreated:
		w.live.settle(d.MsgID, "text")
	case core.Thinking:
		w.live.settle(d.MsgID, "thinking")
	case core.ToolUse:
		if d.ParentID == "" {
			w.live.settle("", "tool")
		}
		if d.Name == "Bash" && len(w.under.calls) < maxUnder {
			w.under.calls = append(w.under.calls, core.BackgroundTask{ID: d.ToolUseID, What: transcript.CommandOf(d.Input)})
		}
	case core.ToolResult:
		if !dying {
			w.under.calls = slices.DeleteFunc(w.under.calls, func(c core.BackgroundTask) bool { return c.ID == d.ToolUseID })
		}
	case core.Background:
		if !dying {
			w.under.tasks = d.Tasks
		}
	}
}

func (w *work) trackAll(items []transcript.Item) {
	for _, it := range items {
		w.track(it)
	}
}

// leftBehind are the last events of a try: the message that the agent was cut off
// in, as far as it was shown, and what is ended with the try.
func (w *work) leftBehind() []core.Event {
	var evs []core.Event
	for _, it := range w.live.cut() {
		evs = append(evs, w.event(it.Type, it.Data))
	}
	text := w.cutShort()
	if names := w.endedNames(); len(names) > 0 {
		text = strings.TrimSpace(text + " Ended with the run: " + strings.Join(names, " · "))
	}
	if text != "" {
		evs = append(evs, w.notice("warning", text))
	}
	return evs
}

// cutShort says what ended a run that had succeeded already; of another one its
// failure does.
func (w *work) cutShort() string {
	r, cause := w.parser.Result, w.cause()
	switch {
	case r == nil || r.Failed() || w.stopped():
	case cause != nil:
		return cause.Cause
	case w.parser.InTurn():
		return "The agent's program ended in the middle of a turn that it had begun after its answer."
	}
	return ""
}

const (
	maxUnder = 200 // calls that are remembered; nothing honest makes as many at a time
	maxNames = 12  // in one notice
	maxName  = 200 // runes of each
)

func (w *work) endedNames() []string {
	var names []string
	add := func(name string) {
		if name = core.Shortened(name, maxName); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, t := range slices.Concat(w.under.calls, w.under.tasks) {
		add(t.What)
	}
	w.mu.Lock()
	detached := w.detached
	w.mu.Unlock()
	for _, command := range detached {
		add(w.hidden.Load().Text(command))
	}
	if n := len(names) - maxNames; n > 0 {
		names = append(names[:maxNames], fmt.Sprintf("and %d more", n))
	}
	return names
}

// Between looks at what a program that has ended leaves running: its servers need
// a moment to notice.
const (
	lookEvery = 250 * time.Millisecond
	lookFor   = time.Second
)

// lookForDetached asks what runs on although the agent's program does not know of
// it. settle waits for what is about to end by itself.
func (w *work) lookForDetached(ctx context.Context, settle bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*lookFor)
	defer cancel()
	pause := backoff.Backoff{First: lookEvery, Most: lookEvery}
	for began := time.Now(); ; {
		sp, err := w.spawned(ctx)
		if err != nil {
			return
		}
		var found []string
		if sp != nil {
			found = sp.Detached
		}
		w.mu.Lock()
		w.detached = found
		w.mu.Unlock()
		if len(found) == 0 || !settle || time.Since(began) >= lookFor || !pause.Wait(ctx) {
			return
		}
	}
}
