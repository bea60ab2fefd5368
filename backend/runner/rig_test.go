package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
	"loop/backend/provision"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// rig is a runner with fakes around it, in a synctest bubble.
type rig struct {
	t       *testing.T
	store   *memStore
	boxes   *boxes
	s       *Service
	ports   Ports
	opts    Options
	stop    context.CancelFunc
	stopped chan struct{}
	launch  Launch
	why     core.Explanation
	fixed   string // of what the containers are to reach
	setup   string // command by which they are set up

	mu  sync.Mutex
	bus []core.Event
}

func newRig(t *testing.T, cli func(*proc)) *rig {
	r := &rig{t: t, store: newMemStore(core.Channel{ID: "c", Dir: "/repo"}, core.Channel{ID: "d", Dir: "/other"}), boxes: &boxes{cli: cli}}
	r.launch = Launch{APIKey: "secret", BaseURL: "http://model"}
	r.ports = Ports{
		Store: r.store, Containers: r.boxes, Links: r.boxes, Spools: spoolFiles{r.boxes}, Sessions: unknownSession, Log: quiet,
		Publish: func(evs ...core.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.bus = append(r.bus, evs...)
		},
	}
	r.ports.makes(provisioner{r.boxes, func(run core.Run, ch core.Channel) (made, error) {
		spec := specOf(run, ch)
		spec.Fixed, spec.Setup.Command = r.fixed, r.setup
		return made{spec, r.why, r.launch}, nil
	}})
	return r
}

// makes has p make the containers.
func (o *Ports) makes(p provisioner) { o.Provision, o.Settings = p, p }

var quiet = slog.New(slog.DiscardHandler)

func unknownSession(core.Channel, string, core.SessionID) (exists, known bool) { return false, false }

// provisioner makes containers as package provision does, but of fakes.
type provisioner struct {
	boxes   imagesAndStarts
	resolve func(run core.Run, ch core.Channel) (made, error)
}

// made is what a run gets.
type made struct {
	Spec   core.Spec
	Why    core.Explanation
	Launch Launch
}

type imagesAndStarts interface {
	Ensure(ctx context.Context) error
	Start(ctx context.Context, spec core.Spec) (core.Container, error)
	// Join holds a container that serves once more, if there is one.
	Join(spec core.Spec, by core.Holder) (core.Container, bool)
}

func (p provisioner) ForRun(_ context.Context, run core.Run, ch core.Channel) (provision.Values, Launch, error) {
	m, err := p.resolve(run, ch)
	return provision.Values{}, m.Launch, err
}

func (p provisioner) Resolve(ctx context.Context, w provision.Want) (r provision.Resolved, err error) {
	if _, err = w.Settings.ForChannel(ctx, w.Channel); err != nil {
		return r, err
	}
	m, err := p.resolve(core.Run{ID: w.Run, Plan: w.Plan && !w.PlanGated}, w.Channel)
	return provision.Resolved{Spec: m.Spec, Why: m.Why}, err
}

func (p provisioner) Ensure(ctx context.Context, w provision.Want) (*provision.Lease, error) {
	if err := p.boxes.Ensure(ctx); err != nil {
		return nil, err
	}
	r, err := p.Resolve(ctx, w)
	if err == nil {
		err = w.Ready(r)
	}
	if err != nil {
		return nil, err
	}
	if c, ok := p.boxes.Join(r.Spec, w.Holder); ok {
		return &provision.Lease{Resolved: r, Container: c}, nil
	}
	c, err := p.boxes.Start(ctx, r.Spec)
	return &provision.Lease{Resolved: r, Container: c, Fresh: true}, err
}

func specOf(run core.Run, ch core.Channel) core.Spec {
	return core.Spec{Name: "box-of-" + string(run.ID), RunID: run.ID, ChannelID: ch.ID, WorkDir: ch.Dir, Plan: run.Plan, Scope: "session:" + string(ch.ID)}
}

// start begins a launch of Loop. quit ends it.
func (r *rig) start() {
	r.boxes.relaunch()
	r.s = New(r.ports, r.opts)
	ctx, cancel := context.WithCancel(context.Background())
	r.stop, r.stopped = cancel, make(chan struct{})
	go func() {
		defer close(r.stopped)
		if err := r.s.Run(ctx); err != nil {
			r.t.Error(err)
		}
	}()
}

func (r *rig) quit() {
	r.stop()
	<-r.stopped
}

func (r *rig) prompt(ch core.ChannelID, text string) core.Run {
	r.t.Helper()
	run, err := r.s.Prompt(context.Background(), core.Run{ChannelID: ch, Prompt: text})
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

func (r *rig) get(id core.RunID) core.Run {
	r.t.Helper()
	run, err := r.store.Run(context.Background(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

// until waits, on the bubble's clock, until a run is in one of the states.
func (r *rig) until(id core.RunID, limit time.Duration, states ...core.RunState) core.Run {
	r.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		synctest.Wait()
		run := r.get(id)
		for _, s := range states {
			if run.State == s {
				return run
			}
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("run is %s after %s, want %v\n%s", run.State, limit, states, r.dump(id))
		}
		r.pass(100 * time.Millisecond)
	}
}

func (r *rig) ended(id core.RunID, limit time.Duration) core.Run {
	r.t.Helper()
	run := r.until(id, limit, core.RunDone, core.RunFailed, core.RunCancelled, core.RunInterrupted)
	r.pass(time.Second) // the clean-up follows the stored end
	return run
}

// pass lets time of the bubble pass.
func (r *rig) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (r *rig) dump(id core.RunID) string {
	var sb strings.Builder
	for _, e := range r.store.timeline(id) {
		fmt.Fprintf(&sb, "%d %s %s\n", e.ID, e.Type, e.Data)
	}
	return sb.String() + strings.Join(r.boxes.calls, "\n")
}

// told lists the stored events of some types. For a status it gives the state and the
// step.
func (r *rig) told(id core.RunID, types ...core.EventType) (out []string) {
	for _, e := range r.store.timeline(id) {
		for _, t := range types {
			if e.Type != t {
				continue
			}
			var st core.Status
			if t == core.EventStatus {
				_ = json.Unmarshal(e.Data, &st)
				out = append(out, strings.TrimSpace(string(st.State)+" "+st.Step))
				continue
			}
			out = append(out, string(e.Data))
		}
	}
	return out
}

func (r *rig) did(call string) (n int) {
	r.boxes.mu.Lock()
	defer r.boxes.mu.Unlock()
	for _, c := range r.boxes.calls {
		if strings.HasPrefix(c, call) {
			n++
		}
	}
	return n
}

func (r *rig) published(t core.EventType) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.bus {
		if e.Type == t {
			n++
		}
	}
	return n
}

// recording is a sample of the real CLI's output.
func recording(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("transcript/testdata/claude-2.1.197/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// plays is a CLI that prints a recording line by line, with a pause after each.
func plays(text string, code int) func(*proc) {
	return func(p *proc) {
		for _, line := range strings.SplitAfter(text, "\n") {
			select {
			case <-time.After(20 * time.Millisecond):
				p.print(line)
			case <-p.killed:
				return
			}
		}
		p.end(code)
	}
}

func turn(text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":%q}]}}`+"\n", text)
}

const goodResult = `{"type":"result","subtype":"success","is_error":false,"result":"fine","session_id":"sess","num_turns":1,"total_cost_usd":0.01}` + "\n"

func inBubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }
