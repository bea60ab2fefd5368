package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/store"
)

// ward is a person and a Loop on a real database. The store fails once.
type ward struct {
	t       *testing.T
	db      *store.Store
	store   *faultStore
	boxes   *boxes
	s       *Service
	stop    context.CancelFunc
	stopped chan struct{}
	launch  *launchPorts
	gate    chan struct{} // the CLI of the prompt “busy” waits for it

	mu      sync.Mutex
	spawned map[string]int // CLIs started, by prompt
	worked  map[string]int // CLIs that finished their work
}

// launchPorts are the containers as one launch of Loop sees them. A dead launch cannot
// change them.
type launchPorts struct {
	*boxes
	mu   sync.Mutex
	dead bool
}

func (p *launchPorts) gone() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return errEngine
	}
	return nil
}

func (p *launchPorts) Start(ctx context.Context, spec core.Spec) (core.Container, error) {
	if err := p.gone(); err != nil {
		return core.Container{}, err
	}
	return p.boxes.Start(ctx, spec)
}
func (p *launchPorts) Join(spec core.Spec, h core.Holder) (core.Container, bool) {
	if p.gone() != nil {
		return core.Container{}, false
	}
	return p.boxes.Join(spec, h)
}
func (p *launchPorts) End(ctx context.Context, id core.ContainerID, h core.Holder) error {
	if err := p.gone(); err != nil {
		return err
	}
	return p.boxes.End(ctx, id, h)
}
func (p *launchPorts) Release(ctx context.Context, h core.Holder, e core.Ending) error {
	if err := p.gone(); err != nil {
		return err
	}
	return p.boxes.Release(ctx, h, e)
}
func (p *launchPorts) Left(kind core.HolderKind) []string {
	if p.gone() != nil {
		return nil
	}
	return p.boxes.Left(kind)
}
func (p *launchPorts) Facts(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error) {
	if err := p.gone(); err != nil {
		return core.ContainerFacts{}, err
	}
	return p.boxes.Facts(ctx, id)
}
func (p *launchPorts) Open(ctx context.Context, c core.Container) (core.Link, error) {
	if err := p.gone(); err != nil {
		return nil, err
	}
	return p.boxes.Open(ctx, c)
}

const wardInit = `{"type":"system","subtype":"init","session_id":"sess"}` + "\n"

// cli is what the agent does for a prompt. It knows what it did before, since
// containers outlive Loop.
func (w *ward) cli(p *proc) {
	prompt := p.prompt()
	word := strings.Fields(prompt)[0]
	w.mu.Lock()
	w.spawned[word]++
	n := w.spawned[word]
	w.mu.Unlock()
	out, code := wardInit+turn("did "+word)+goodResult, 0
	switch {
	case word == "slow":
		p.print(wardInit + turn("began "+word))
		<-p.killed
		return
	case word == "busy" && n == 1:
		select {
		case <-w.gate:
		case <-p.killed:
			return
		}
		out, code = wardInit+resultLine("API Error: 529 Overloaded", `,"api_error_status":529`), 1
	case word == "long" && n == 1:
		out, code = wardInit+resultLine("Prompt is too long", `,"api_error_status":400,"terminal_reason":"prompt_too_long"`), 1
	case word == "lost" && n == 1:
		out, code = strings.ReplaceAll(recording(w.t, "error-no-conversation"), "\r", ""), 1
	case word == "ask":
		out, code = recording(w.t, "ask"), 1
	case word == "plan":
		out, code = recording(w.t, "plan"), 1
	case word == "limit":
		out, code = wardInit+limitLine(time.Now().Add(2*time.Minute), "five_hour")+resultLine("You've hit your session limit", ""), 1
	}
	for _, line := range strings.SplitAfter(out, "\n") {
		select {
		case <-time.After(20 * time.Millisecond):
			p.print(line)
		case <-p.killed:
			return
		}
	}
	w.mu.Lock()
	w.worked[word]++
	w.mu.Unlock()
	p.end(code)
}

func newWard(t *testing.T, fault *faultStore) *ward {
	w := &ward{t: t, store: fault, gate: make(chan struct{}), spawned: map[string]int{}, worked: map[string]int{}}
	w.boxes = &boxes{cli: w.cli}
	var err error
	if w.db, err = store.Open(context.Background(), filepath.Join(t.TempDir(), "loop.db"), store.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, ch := range []core.Channel{{ID: "c", Kind: core.KindProject, Name: "c", Dir: "/repo"}, {ID: "d", Kind: core.KindProject, Name: "d", Dir: "/other"}} {
		if err := w.db.AddChannel(context.Background(), ch); err != nil {
			t.Fatal(err)
		}
	}
	fault.real = w.db
	w.open()
	return w
}

// open starts a launch of Loop.
func (w *ward) open() {
	w.boxes.relaunch()
	w.launch = &launchPorts{boxes: w.boxes}
	launch := w.launch
	ctx, cancel := context.WithCancel(context.Background())
	w.store.mu.Lock()
	w.store.dead = false
	w.store.died = func() {
		launch.mu.Lock()
		launch.dead = true
		launch.mu.Unlock()
		w.boxes.breakLinks()
		cancel()
	}
	w.store.mu.Unlock()
	makes := provisioner{launch, func(run core.Run, ch core.Channel) (made, error) {
		l := Launch{APIKey: "x", BaseURL: "http://model", Retry: Retry{Base: time.Second, SessionLimitContinue: true}}
		return made{Spec: specOf(run, ch), Launch: l}, nil
	}}
	w.s = New(Ports{
		Store: w.store, Containers: launch, Links: launch, Spools: spoolFiles{w.boxes}, Sessions: unknownSession, Log: quiet,
		Publish:   func(...core.Event) {},
		Provision: makes, Settings: makes, Gate: &fakeGate{},
	}, Options{})
	w.stop, w.stopped = cancel, make(chan struct{})
	s, stopped := w.s, w.stopped
	go func() {
		defer close(stopped)
		_ = s.Run(ctx)
	}()
}

// revive starts Loop again if it has died.
func (w *ward) revive() bool {
	if !w.store.isDead() {
		return false
	}
	<-w.stopped
	w.open()
	return true
}

// does repeats what a person does until it works, after a crash or an error. An answer
// that it was done already is then fine.
func (w *ward) does(what string, op func() error) {
	w.t.Helper()
	for again := false; ; again = true {
		err := op()
		if err == nil {
			return
		}
		code := codeOf(err)
		if again && (code == core.CodeConflict || code == core.CodeNotFound) {
			return
		}
		if !w.revive() && !errors.Is(err, errFault) && !errors.Is(err, errCrashed) {
			w.t.Fatalf("%s: %v", what, err)
		}
	}
}

func (w *ward) says(id core.RunID, ch core.ChannelID, prompt string) {
	w.t.Helper()
	w.does("prompt "+prompt, func() error {
		_, err := w.s.Prompt(context.Background(), core.Run{ID: id, ChannelID: ch, Prompt: prompt})
		return err
	})
}

// answers the one question that is open in a channel.
func (w *ward) answers(ch core.ChannelID, a core.Answer) {
	w.t.Helper()
	var q core.Question
	w.until("the question", func() bool {
		open, err := w.s.Questions(context.Background(), ch)
		if err == nil && len(open) == 1 {
			q = open[0]
		}
		return q.ID != ""
	})
	w.does("answer", func() error {
		_, err := w.s.Answer(context.Background(), q.ID, a)
		return err
	})
}

// until lets time pass until ok is true, with a new launch after each crash.
func (w *ward) until(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(24 * time.Hour); ; {
		synctest.Wait()
		w.revive()
		if ok() {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s does not happen", what)
		}
		<-time.After(100 * time.Millisecond)
	}
}

func (w *ward) state(id core.RunID) core.RunState {
	run, err := w.db.Run(context.Background(), id)
	if err != nil {
		return ""
	}
	return run.State
}

func (w *ward) finished(ids ...core.RunID) {
	w.t.Helper()
	for _, id := range ids {
		w.until("the end of "+string(id), func() bool { return w.state(id).Terminal() })
	}
}

// story uses everything of queue and sessions once.
func (w *ward) story() {
	ctx := context.Background()
	w.says("r1", "c", "first")
	w.finished("r1")
	w.says("r2", "c", "busy")
	w.until("busy begins", func() bool { return w.state("r2") == core.RunRunning })
	w.says("r3", "c", "long")
	w.says("r4", "c", "wrong")
	w.says("r5", "c", "later")
	w.says("r6", "c", "never")
	w.does("hold", func() error { _, err := w.s.Hold(ctx, "r4"); return err })
	w.does("reorder", func() error { _, err := w.s.Reorder(ctx, "c", []core.RunID{"r3", "r5", "r4", "r6"}); return err })
	w.does("edit", func() error { _, err := w.s.Edit(ctx, "r4", "right"); return err })
	w.does("hold again", func() error { _, err := w.s.Hold(ctx, "r6"); return err })
	w.does("release", func() error { return w.s.Release(ctx, "r6") })
	w.does("remove", func() error { return w.s.Remove(ctx, "r6") })
	close(w.gate)
	w.finished("r2", "r3", "r4", "r5", "r6")

	w.says("r7", "c", "slow")
	w.until("slow begins", func() bool { return w.state("r7") == core.RunRunning })
	w.says("r8", "c", "steered")
	w.does("steer", func() error { return w.s.Steer(ctx, "r8") })
	w.finished("r7", "r8")
	w.says("r9", "d", "slow") // interrupts a channel's first conversation
	w.until("slow begins", func() bool { return w.state("r9") == core.RunRunning })
	w.does("interrupt", func() error {
		_, err := w.s.Interrupt(ctx, core.Run{ID: "r10", ChannelID: "d", Prompt: "instead"})
		return err
	})
	w.finished("r9", "r10")

	w.says("r11", "c", "ask")
	w.finished("r11")
	w.says("r12", "c", "parked")
	w.answers("c", core.Answer{Action: core.AnswerGiven, Choices: [][]string{{"Red"}}})
	w.finished("r12")
	w.does("prompt plan", func() error {
		_, err := w.s.Prompt(ctx, core.Run{ID: "r17", ChannelID: "c", Prompt: "plan", Plan: true})
		return err
	})
	w.finished("r17")
	w.answers("c", core.Answer{Action: core.AnswerApprove}) // the plan's container is kept for what follows
	w.says("r13", "c", "lost")
	w.finished("r13")
	w.says("r14", "d", "limit")
	w.finished("r14", laterID("r14"))
	w.says("r15", "c", "slow")
	w.says("r16", "c", "slower")
	w.until("slow begins", func() bool { return w.state("r15") == core.RunRunning })
	w.does("remove the channel's runs", func() error { return w.s.CancelChannel(ctx, "c") })
	w.finished("r15", "r16")
	w.until("clean-up", func() bool {
		w.boxes.mu.Lock()
		defer w.boxes.mu.Unlock()
		return !slices.ContainsFunc(w.boxes.all, func(b *box) bool { return b.running || b.after < 0 })
	})
}

// check verifies the end of the story, wherever a call went wrong.
func (w *ward) check() {
	w.t.Helper()
	ctx := context.Background()
	for id, want := range map[core.RunID]core.RunState{
		"r1": core.RunDone, "r2": core.RunDone, "r3": core.RunDone, "r4": core.RunDone, "r5": core.RunDone, "r6": core.RunCancelled,
		"r7": core.RunCancelled, "r8": core.RunDone, "r9": core.RunCancelled, "r10": core.RunDone, "r11": core.RunDone, "r12": core.RunDone,
		"r13": core.RunDone, "r14": core.RunFailed, laterID("r14"): core.RunDone, "r15": core.RunCancelled, "r16": core.RunCancelled,
		"r17": core.RunDone,
	} {
		got := w.state(id)
		if run, _ := w.db.Run(ctx, id); run.Prompt == "slow" && got == core.RunFailed && run.Outcome.Failure.Code == core.CodeKilled {
			got = core.RunCancelled // Loop died between the stop and its record
		}
		if got != want {
			run, _ := w.db.Run(ctx, id)
			w.t.Errorf("%s ended %s, want %s: %+v", id, got, want, run.Outcome.Failure)
		}
	}
	// No message is lost, and none runs twice.
	want := map[string]int{"first": 1, "busy": 2, "long": 2, "/compact": 1, "right": 1, "later": 1, "slow": 3, "steered": 1, "instead": 1,
		"ask": 1, "My": 1, "parked": 1, "plan": 1, "Your": 1, "lost": 2, "limit": 1, "Continue": 1}
	w.mu.Lock()
	if !maps.Equal(w.spawned, want) {
		w.t.Errorf("spawned %v, want %v", w.spawned, want)
	}
	w.mu.Unlock()
	said := map[string]int{}
	ends := map[core.RunID]int{}
	for _, ch := range []core.ChannelID{"c", "d"} {
		events, more, err := w.db.Timeline(ctx, ch, 0, 5000)
		if err != nil || more {
			w.t.Fatal(err, more)
		}
		for _, e := range events {
			switch e.Type {
			case core.EventMessageCreated:
				var m core.MessageCreated
				_ = json.Unmarshal(e.Data, &m)
				said[fmt.Sprint(m.IsBot, " ", m.Content)]++
			case core.EventAskUser, core.EventAskResolved, core.EventPlanResolved:
				said[string(e.Type)]++
			case core.EventStatus:
				var st core.Status
				if _ = json.Unmarshal(e.Data, &st); st.State.Terminal() {
					ends[e.RunID]++
				}
			}
		}
		if queue, err := w.db.Queue(ctx, ch); err != nil || len(queue) > 0 {
			w.t.Errorf("queue %+v %v", queue, err)
		}
		if c, err := w.db.Channel(ctx, ch); err != nil || c.SessionID != "sess" {
			w.t.Errorf("session of %s: %q %v", ch, c.SessionID, err)
		}
	}
	for text, n := range said {
		if n != 1 && !strings.HasSuffix(text, " slow") && !strings.HasSuffix(text, "began slow") {
			w.t.Errorf("%q was said %d times", text, n)
		}
	}
	for _, text := range []string{"false first", "false busy", "true did busy", "true did long", "true did later", "true did right", "true did My", "true did Continue", "agent.ask_user", "agent.ask_resolved",
		"true did Your", string(core.EventPlanResolved)} {
		if said[text] != 1 {
			w.t.Errorf("%q was said %d times", text, said[text])
		}
	}
	for id, n := range ends {
		if n != 1 {
			w.t.Errorf("%s ended %d times", id, n)
		}
	}
	if open, err := w.db.OpenQuestions(ctx, ""); err != nil || len(open) > 0 {
		w.t.Errorf("open questions %+v %v", open, err)
	}
}

// play runs the story with one fault and returns the number of calls.
func play(t *testing.T, fault *faultStore) (calls int) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t, fault)
		defer func() {
			w.stop()
			<-w.stopped
			if err := w.db.Close(); err != nil {
				t.Error(err)
			}
		}()
		w.story()
		w.check()
		calls = fault.calls
	})
	return calls
}

// TestFaultAtEveryStoreCall: at every place that calls the store, Loop dies and is
// started again, or the call fails and Loop goes on. Each of these happens before and
// after the call took effect, and at the first, a middle and the last call of that
// place. No message is lost and none runs twice. LOOP_EVERY_FAULT=1 tries every call of
// every place. The race detector makes the test several times slower, so a place then gets
// only one of the four faults, once.
func TestFaultAtEveryStoreCall(t *testing.T) {
	tried := &sites{}
	whole := &faultStore{sites: tried, record: true}
	all := play(t, whole)
	kinds := []struct {
		name         string
		crash, after bool
	}{{"dies before", true, false}, {"dies after", true, true}, {"fails before", false, false}, {"fails after", false, true}}
	times := map[string][]int{}
	for i, place := range whole.calledFrom {
		times[place] = append(times[place], i+1)
	}
	t.Logf("%d calls of the store from %d places", all, len(times))
	t.Run("in the story", func(t *testing.T) {
		try := func(place string, at, kind int) {
			k := kinds[kind]
			t.Run(fmt.Sprint(place, " ", k.name, " ", at), func(t *testing.T) {
				t.Parallel()
				play(t, &faultStore{sites: tried, at: at, crash: k.crash, after: k.after})
			})
		}
		for i, place := range slices.Sorted(maps.Keys(times)) {
			at := times[place]
			if raceEnabled {
				try(place, at[0], i%len(kinds))
				continue
			}
			if os.Getenv("LOOP_EVERY_FAULT") == "" {
				at = slices.Compact([]int{at[0], at[len(at)/2], at[len(at)-1]})
			}
			for _, n := range at {
				for kind := range kinds {
					try(place, n, kind)
				}
			}
		}
	})
	if raceEnabled || t.Failed() {
		return
	}
	// These places are reached only after another fault.
	for _, place := range storeCalls(t) {
		for at := 0; at <= all && !t.Failed(); at++ {
			for _, kind := range kinds {
				if tried.has(place) {
					break
				}
				t.Run(fmt.Sprint(place, " ", kind.name, " ", at), func(t *testing.T) {
					play(t, &faultStore{sites: tried, at: at, crash: kind.crash, after: kind.after, then: place, thenCrash: at%2 == 0})
				})
			}
		}
		if !tried.has(place) {
			t.Errorf("the call of the store at %s was never tried", place)
		}
	}
}

// storeCalls lists the places in this package's source that call the store.
func storeCalls(t *testing.T) (out []string) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if method, ok := call.Fun.(*ast.SelectorExpr); ok {
				if port, ok := method.X.(*ast.SelectorExpr); ok && port.Sel.Name == "Store" {
					out = append(out, fmt.Sprintf("%s:%d", name, fset.Position(method.Sel.Pos()).Line))
				}
			}
			return true
		})
	}
	return out
}
