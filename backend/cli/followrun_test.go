package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/instance"
)

// stuck scripts a run that goes on until something else ends it.
func stuck(begun func()) func(*fake, bind.PromptRequest) error {
	return func(f *fake, req bind.PromptRequest) error {
		f.publish(core.EventStatus, core.RunID(req.ClientID), true, core.Status{State: core.RunRunning, Step: "agent"})
		begun()
		return nil
	}
}

func TestInterruptOnce(t *testing.T) {
	r := newRig(t)
	r.fake.prompt = stuck(func() { r.interrupts <- os.Interrupt })
	r.fake.cancel = func(f *fake, id core.RunID) error {
		f.publish(core.EventStatus, id, true, core.Status{State: core.RunCancelled})
		return nil
	}
	if code := r.run("run", "--json", "--dir", r.dir, "x"); code != exitCancelled {
		t.Fatalf("exit %d", code)
	}
	lines := r.lines()
	if last := lines[len(lines)-1]; last["type"] != "result" || last["state"] != "cancelled" {
		t.Errorf("last line %v", last)
	}
	if r.fake.closed != 1 {
		t.Error("not closed")
	}
}

// TestInterruptWithoutEvent: the answer of Cancel is enough, even when no event
// follows.
func TestInterruptWithoutEvent(t *testing.T) {
	r := newRig(t)
	r.fake.prompt = stuck(func() { r.interrupts <- os.Interrupt })
	r.fake.cancel = func(*fake, core.RunID) error { return nil }
	if code := r.run("run", "--dir", r.dir, "x"); code != exitCancelled {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("err", "Stopping the run.")
	r.wantIn("err", "Stopped")
}

func TestInterruptTwice(t *testing.T) {
	r := newRig(t)
	release := make(chan struct{})
	defer close(release)
	r.fake.prompt = stuck(func() { r.interrupts <- os.Interrupt })
	r.fake.cancel = func(*fake, core.RunID) error {
		r.interrupts <- os.Interrupt
		<-release
		return nil
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitCancelled {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("err", "Left before the run had stopped. Its agent may go on")
}

// TestInterruptTooLate: a run that ends by itself while it is being stopped counts as
// ended by itself.
func TestInterruptTooLate(t *testing.T) {
	r := newRig(t)
	r.fake.prompt = stuck(func() { r.interrupts <- os.Interrupt })
	r.fake.cancel = func(f *fake, id core.RunID) error {
		f.publish(core.EventStatus, id, true, core.Status{State: core.RunDone, Result: "ok"})
		return core.Fail(core.CodeConflict, nil, "It has ended.", "")
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
}

func TestCancelFails(t *testing.T) {
	r := newRig(t)
	r.fake.prompt = stuck(func() { r.interrupts <- os.Interrupt })
	r.fake.cancel = func(*fake, core.RunID) error {
		return core.Fail(core.CodeEngineLost, nil, "The engine went away.", "Start it again.")
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitFailed {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("err", "The engine went away.")
}

func TestTerminated(t *testing.T) {
	r := newRig(t)
	ctx, term := context.WithCancel(t.Context())
	defer term()
	r.ctx = ctx
	r.fake.prompt = stuck(term)
	r.fake.cancel = func(f *fake, id core.RunID) error {
		f.publish(core.EventStatus, id, true, core.Status{State: core.RunCancelled})
		return nil
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitCancelled {
		t.Fatalf("exit %d", code)
	}
	if r.fake.closed != 1 {
		t.Error("not closed")
	}
}

func TestTerminatedAndStuck(t *testing.T) {
	r := newRig(t)
	r.times.stopping = 200 * time.Millisecond
	ctx, term := context.WithCancel(t.Context())
	defer term()
	r.ctx = ctx
	release := make(chan struct{})
	defer close(release)
	r.fake.prompt = stuck(term)
	r.fake.cancel = func(*fake, core.RunID) error { <-release; return nil }
	if code := r.run("run", "--dir", r.dir, "x"); code != exitCancelled {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("err", "Left before the run had stopped. Its agent may go on")
}

func TestInterruptedBeforeTheRun(t *testing.T) {
	r := newRig(t)
	r.deps.Open = func(context.Context) (Core, error) {
		r.interrupts <- os.Interrupt
		return r.fake, nil
	}
	r.fake.add = func(string) (core.Channel, error) {
		deadline := time.NewTimer(time.Minute)
		defer deadline.Stop()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for len(r.interrupts) > 0 {
			select {
			case <-tick.C:
			case <-deadline.C:
				t.Error("the signal was not taken")
				return core.Channel{}, errFake
			}
		}
		return core.Channel{}, context.Canceled
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitCancelled {
		t.Fatalf("exit %d", code)
	}
	if r.fake.called("Runs.Prompt") || r.fake.closed != 1 {
		t.Error("a prompt was sent, or Loop was left open")
	}
}

// TestFallenBehind: a follower that was disconnected reads the timeline and goes on. It
// shows nothing twice and loses nothing.
func TestFallenBehind(t *testing.T) {
	r := newRig(t)
	r.fake.prompt = func(f *fake, req bind.PromptRequest) error {
		id := core.RunID(req.ClientID)
		f.publish(core.EventMessageStreaming, id, false, core.MessageStreaming{MsgID: "m1", Kind: "text", Delta: "One, "})
		f.drop()
		f.publish(core.EventMessageCreated, id, true, core.MessageCreated{MsgID: "m1", Content: "One, two.", IsBot: true})
		f.publish(core.EventMessageCreated, "other", true, core.MessageCreated{MsgID: "m9", Content: "Not ours.", IsBot: true})
		f.publish(core.EventToolUse, id, true, core.ToolUse{Name: "mcp__loop__send_message", Input: []byte(`{"content":"hi"}`)})
		f.publish(core.EventStatus, id, true, core.Status{State: core.RunDone, Result: "One, two."})
		return nil
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	if want := "One, two.\n→ loop: send_message  hi\n"; r.out.String() != want {
		t.Errorf("printed %q, want %q", r.out.String(), want)
	}
}

// TestSilence: the run has ended, but its last event did not arrive.
func TestSilence(t *testing.T) {
	r := newRig(t)
	r.fake.prompt = func(f *fake, req bind.PromptRequest) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		e := core.NewEvent(core.EventStatus, "ch1", core.RunID(req.ClientID), time.Now(), core.Status{State: core.RunDone, Result: "Quietly done."})
		e.ID = 1
		f.stored = append(f.stored, e)
		return nil
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("out", "Quietly done.")
}

// TestEndAfterALaterEvent: the run and the gate store events side by side, so that the end
// of the run can be told after an event with a greater id, or be missed beside it.
func TestEndAfterALaterEvent(t *testing.T) {
	for _, told := range []bool{true, false} {
		r := newRig(t)
		r.fake.prompt = func(f *fake, req bind.PromptRequest) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			run := core.RunID(req.ClientID)
			end := core.NewEvent(core.EventStatus, "ch1", run, time.Now(), core.Status{State: core.RunDone, Result: "Done late."})
			after := core.NewEvent(core.EventGateDecided, "ch1", run, time.Now(), core.GateDecisions{})
			end.ID, after.ID = 1, 2
			f.stored = append(f.stored, end, after)
			for c := range f.subs {
				c <- []core.Event{after}
				if told {
					c <- []core.Event{end}
				}
			}
			return nil
		}
		if code := r.run("run", "--dir", r.dir, "x"); code != exitOK {
			t.Fatalf("told %v: exit %d", told, code)
		}
		r.wantIn("out", "Done late.")
	}
}

func TestAlwaysFallingBehind(t *testing.T) {
	r := newRig(t)
	r.fake.prompt = stuck(func() {})
	r.fake.fails["Channels.Timeline"] = core.Fail(instance.CodeLost, nil, "The running Loop went away.", "Start it again.")
	go func() { // disconnects the follower once the run has begun
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if r.fake.called("Runs.Prompt") {
				r.fake.drop()
				return
			}
		}
	}()
	if code := r.run("run", "--dir", r.dir, "x"); code != exitFailed {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("err", "went away")
}

// leftReader is a pipe whose reader has gone after a few bytes.
type leftReader struct{ left int }

func (w *leftReader) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
	}
	return len(b), nil
}

// TestReaderLeaves: a run whose output nobody reads any more is stopped.
func TestReaderLeaves(t *testing.T) {
	r := newRig(t)
	r.fake.prompt = func(f *fake, req bind.PromptRequest) error {
		for range 5 {
			f.publish(core.EventNotice, core.RunID(req.ClientID), true, core.Notice{Level: "info", Text: strings.Repeat("x", 100)})
		}
		return nil
	}
	r.fake.cancel = func(f *fake, id core.RunID) error {
		f.publish(core.EventStatus, id, true, core.Status{State: core.RunCancelled})
		return nil
	}
	a := r.app("")
	a.out.w = &leftReader{left: 300}
	if code := a.main(r.ctx, []string{"run", "--json", "--dir", r.dir, "x"}); code != exitCancelled {
		t.Fatalf("exit %d: %s", code, r.err.String())
	}
	if !r.fake.called("Runs.Cancel") || r.fake.closed != 1 {
		t.Errorf("not stopped, or not closed: %v", r.fake.calls)
	}
}

// waitsFor scripts a prompt of channel ch1 that waits for one thing after another. An
// event announces each of them, and after the last the run ends.
func waitsFor(r *rig, waits ...core.Wait) {
	var mu sync.Mutex
	at, run := 0, core.Run{}
	r.fake.handle = func(method string, args []json.RawMessage) (any, bool, error) {
		mu.Lock()
		defer mu.Unlock()
		switch method {
		case "Runs.Prompt":
			var req bind.PromptRequest
			if err := json.Unmarshal(args[0], &req); err != nil {
				return nil, false, err
			}
			run = core.Run{ID: core.RunID(req.ClientID), ChannelID: "ch1", Prompt: req.Prompt, State: core.RunQueued, WaitsFor: waits[0]}
			r.fake.publish(core.EventAskUser, "other", false, core.Question{})
			return run, true, nil
		case "Channels.Timeline":
			if at++; at == len(waits) {
				_ = ends(core.RunDone, nil)(r.fake, bind.PromptRequest{ClientID: string(run.ID)})
				return map[string]any{}, true, nil
			}
			run.WaitsFor = waits[at]
			r.fake.publish(core.EventAskResolved, "other", false, core.Question{})
			return map[string]any{"queue": []core.Run{run}}, true, nil
		}
		return nil, false, nil
	}
}

// TestRunSaysWhyItWaits: the command says each reason at once, and only when it
// changes.
func TestRunSaysWhyItWaits(t *testing.T) {
	asked := core.Wait{Reason: core.WaitQuestion, QuestionID: "q1"}
	waits := []core.Wait{
		asked, asked, {Reason: core.WaitBehind, Ahead: 2}, {Reason: core.WaitBehind, Ahead: 1}, {Reason: core.WaitRun},
		{Reason: core.WaitPlan, QuestionID: "q2"}, {},
	}
	r := newRig(t)
	// Every reading of the timeline is one step of the script: none may come of a silence.
	r.times.first, r.times.quiet = time.Hour, time.Hour
	waitsFor(r, waits...)
	if code := r.run("run", "--dir", r.dir, "x"); code != exitOK {
		t.Fatal(code, r.err.String())
	}
	said := r.err.String()
	for _, want := range []string{
		"waits for your answer to the agent's question. Answer it with: loop answer --question q1\n",
		"behind 2 others", "run under way", "loop answer --question q2\n",
	} {
		before, rest, ok := strings.Cut(said, want)
		if !ok || strings.Contains(before, "waits") && strings.Count(before, "waits") > 1 {
			t.Fatalf("%q is not the next thing said in\n%s", want, r.err.String())
		}
		said = rest
	}
	if strings.Contains(said, "waits") {
		t.Errorf("said more than once:\n%s", r.err.String())
	}

	waitsFor(r, waits...)
	if code := r.run("run", "--json", "--dir", r.dir, "x"); code != exitOK {
		t.Fatal(code)
	}
	var reasons []string
	for _, line := range r.lines() {
		if line["type"] == "run.waiting" {
			data := line["data"].(map[string]any)
			reasons = append(reasons, fmt.Sprint(data["reason"], " ", data["question_id"]))
			if data["text"] == "" || line["run_id"] == "" || line["channel_id"] != "ch1" {
				t.Errorf("%v", line)
			}
		}
	}
	if want := []string{"question q1", "behind <nil>", "run <nil>", "plan q2"}; !slices.Equal(reasons, want) {
		t.Errorf("%q, want %q", reasons, want)
	}
}
