package inventory

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// world has some containers, and fails as told.
type world struct {
	boxes []core.ContainerView
	did   []string
	fail  error
	facts core.ContainerFacts
	drift core.ContainerDrift
	noLog error
	since time.Time
	lines int
	why   core.Explanation
	runs  map[core.RunID]core.RunState
	left  func() // called before the container is stopped

	unused bool // git keeps the last container and does not use it

	mu    sync.Mutex // guards the following
	used  func(core.ContainerID) (core.ContainerUsage, error)
	sized func() (int64, error)
	ports []core.ListeningPort
	shut  int // links that were closed

	dial   func(port uint16) net.Conn
	dialed []uint16
}

func (w *world) machine(context.Context) core.EngineStatus {
	return core.EngineStatus{OK: true, Traits: core.EngineTraits{CPUs: 4, MemoryBytes: 1 << 33}}
}

func (w *world) Explain(context.Context, core.ChannelID, bool) (core.Explanation, error) {
	return w.why, w.noLog
}

func (w *world) Usage(_ context.Context, id core.ContainerID) (core.ContainerUsage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.used(id)
}

func (w *world) Size(context.Context, core.ContainerID) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sized()
}

func (w *world) Open(context.Context, core.Container) (core.Link, error) {
	return openLink{w: w}, w.fail
}

// openLink is a link that tells ports and nothing else.
type openLink struct {
	core.Link
	w *world
}

func (l openLink) Ports(context.Context) ([]core.ListeningPort, error) { return l.w.ports, l.w.noLog }
func (l openLink) Dial(_ context.Context, port uint16) (net.Conn, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	l.w.dialed = append(l.w.dialed, port)
	if port == 8 {
		return nil, core.ErrNotFound
	}
	return l.w.dial(port), nil
}
func (l openLink) Close() error { l.w.shut++; return nil }

func (w *world) Views() []core.ContainerView {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.boxes)
}
func (w *world) note(what string, id core.ContainerID) error {
	w.did = append(w.did, what+" "+string(id))
	return w.fail
}
func (w *world) giveBack(id core.ContainerID) {
	if w.unused && w.boxes[2].ID == id {
		w.boxes[2].Holders, w.fail = nil, nil
	}
}

func (w *world) Stop(_ context.Context, id core.ContainerID) error {
	if w.left != nil {
		w.left()
	}
	return w.note("stop", id)
}

func (w *world) Remove(_ context.Context, id core.ContainerID) error { return w.note("remove", id) }

func (w *world) RemoveUnheld(_ context.Context, id core.ContainerID) error { return w.note("free", id) }

func (w *world) Prune(_ context.Context, dry bool, _ []core.ContainerID) ([]core.PrunedContainer, error) {
	return []core.PrunedContainer{{ID: "abcd1", Why: "has stopped"}}, w.fail
}

func (w *world) Facts(context.Context, core.ContainerID) (core.ContainerFacts, error) {
	return w.facts, w.fail
}

func (w *world) Channel(_ context.Context, id core.ChannelID) (core.Channel, error) {
	if id == "gone" {
		return core.Channel{}, core.ErrNotFound
	}
	return core.Channel{ID: id}, nil
}

func (w *world) Run(_ context.Context, id core.RunID) (core.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	state, known := w.runs[id]
	if !known {
		return core.Run{}, core.ErrNotFound
	}
	return core.Run{ID: id, State: state}, nil
}

func (w *world) Drift(context.Context, core.Channel, core.Container, core.ContainerFacts) (core.ContainerDrift, error) {
	return w.drift, w.noLog
}

func (w *world) LogSince(_ context.Context, _ core.ContainerID, since time.Time, n int) (string, time.Time, error) {
	w.since, w.lines = since, n
	return "said\n", time.Unix(7, 9), w.noLog
}

func rig() (*world, *Service) {
	box := func(id core.ContainerID, name string) core.ContainerView {
		return core.ContainerView{Container: core.Container{ID: id, Name: name, Scope: "session:c", ChannelID: "c"}}
	}
	w := &world{boxes: []core.ContainerView{box("abcd1", "loop-a-0"), box("abcd2", "loop-b-0"), box("beef1", "abcd")}}
	return w, New(Options{GiveBack: w.giveBack, Containers: w, Engine: w, Channels: w, Provision: w, Explainer: w, Links: w, Machine: w.machine,
		WarmMost: func() int { return 3 }, OnAppExit: func() string { return "stop" }})
}

// failsAs has a service fail in each of some ways, and looks for the person's words.
func failsAs(t *testing.T, w *world, call func() error, codes map[error]core.Code) {
	t.Helper()
	for why, code := range codes {
		w.fail = why
		if err := call(); core.AsFailure(err).Code != code || !errors.Is(err, why) {
			t.Errorf("%v: %v", why, err)
		}
	}
	w.fail = nil
}

// TestStop: a container is named by its name, its id, or the beginning of one.
func TestStop(t *testing.T) {
	w, s := rig()
	for name, want := range map[string]core.ContainerID{"loop-a-0": "abcd1", "abcd2": "abcd2", "abcd": "beef1", "beef": "beef1"} {
		if c, err := s.Stop(t.Context(), name); err != nil || c.ID != want || w.did[len(w.did)-1] != "stop "+string(want) {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	w.boxes[2].Name = "other"
	for name, code := range map[string]core.Code{"abcd": core.CodeInvalid, "abc": core.CodeNotFound, "": core.CodeNotFound, "loop": core.CodeNotFound} {
		if _, err := s.Stop(t.Context(), name); core.AsFailure(err).Code != code {
			t.Errorf("%q: %v", name, err)
		}
	}
	failsAs(t, w, func() error { _, err := s.Stop(t.Context(), "beef1"); return err }, map[error]core.Code{
		core.ErrConflict: core.CodeConflict, core.ErrNotRunning: core.CodeConflict, core.ErrNotFound: core.CodeNotFound, errors.New("busy"): core.CodeInternal,
	})
}

// TestStopOnceLeft: what is about to leave a container is waited for, and nothing else is.
func TestStopOnceLeft(t *testing.T) {
	hold := func(kind core.HolderKind, id string) core.Holder { return core.Holder{Kind: kind, ID: id} }
	for name, c := range map[string]struct {
		holders []core.Holder
		looks   int // until the container is free; 0: it never is
		want    time.Duration
		unused  bool
		gone    error // what the second try finds
	}{
		"a run that has ended":    {holders: []core.Holder{hold(core.HolderRun, "over")}, looks: 3, want: 2 * leaveTick},
		"git":                     {holders: []core.Holder{hold(core.HolderGit, "g")}, looks: 2, want: leaveTick},
		"git alone":               {holders: []core.Holder{hold(core.HolderGit, "g")}, looks: 2, unused: true, gone: core.ErrNotFound},
		"that ended for it":       {holders: []core.Holder{hold(core.HolderGit, "g")}, looks: 2, unused: true, gone: core.ErrNotRunning},
		"git that is over":        {holders: []core.Holder{hold(core.HolderGit, "g")}, looks: 2, unused: true},
		"left just now":           {looks: 2},
		"refused though free":     {},
		"with a terminal":         {holders: []core.Holder{hold(core.HolderTerminal, "t"), hold(core.HolderRun, "over")}, looks: 2, want: leaveTick},
		"a run that stays":        {holders: []core.Holder{hold(core.HolderRun, "over")}, want: leaveTime},
		"a run that works":        {holders: []core.Holder{hold(core.HolderGit, "g"), hold(core.HolderRun, "works")}},
		"a run that nobody knows": {holders: []core.Holder{hold(core.HolderRun, "other")}},
		"a set-up":                {holders: []core.Holder{hold(core.HolderGit, "g"), hold(core.HolderSetUp, "s")}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, s := rig()
				w.runs = map[core.RunID]core.RunState{"over": core.RunDone, "works": core.RunRunning}
				w.boxes[2].Holders, w.fail, w.unused = c.holders, core.ErrConflict, c.unused
				looks := 0
				w.left = func() {
					if looks++; looks == c.looks {
						w.fail = c.gone
					}
				}
				began := time.Now()
				_, err := s.Stop(t.Context(), "beef1")
				if took := time.Since(began); took != c.want || (err == nil) != (c.looks > 0) || err != nil && core.AsFailure(err).Code != core.CodeConflict {
					t.Errorf("%v after %s", err, took)
				}
			})
		})
	}
}

// TestRemove: without force, what somebody holds stays, and they are named.
func TestRemove(t *testing.T) {
	w, s := rig()
	if _, err := s.Remove(t.Context(), "beef", false); err != nil || w.did[0] != "free beef1" {
		t.Error(err, w.did)
	}
	if _, err := s.Remove(t.Context(), "beef", true); err != nil || w.did[1] != "remove beef1" {
		t.Error(err, w.did)
	}
	if _, err := s.Remove(t.Context(), "none", true); core.AsFailure(err).Code != core.CodeNotFound {
		t.Error(err)
	}
	w.boxes[2].Holders = []core.Holder{{Kind: core.HolderRun, ID: "r"}, {Kind: core.HolderTerminal, ID: "t"}}
	w.fail = core.ErrConflict
	_, err := s.Remove(t.Context(), "beef", false)
	if f := core.AsFailure(err); f.Code != core.CodeConflict || !strings.Contains(f.Cause, "run r, terminal t") || !strings.Contains(f.Remedy, "--force") {
		t.Error(err)
	}
	failsAs(t, w, func() error { _, err := s.Remove(t.Context(), "beef1", false); return err }, map[error]core.Code{
		core.ErrConflict: core.CodeConflict, core.ErrNotFound: core.CodeNotFound, errors.New("busy"): core.CodeInternal,
	})
	if list, err := s.Prune(t.Context(), true, nil); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
	failsAs(t, w, func() error { _, err := s.Prune(t.Context(), false, nil); return err }, map[error]core.Code{errors.New("busy"): core.CodeInternal})
}

// TestInspect: what cannot be told of the settings does not hide the rest.
func TestInspect(t *testing.T) {
	w, s := rig()
	w.facts = core.ContainerFacts{ExitCode: 137, OOMKilled: true, ImageID: "sha256:1", Limits: core.Limits{Pids: 5}}
	w.drift = core.ContainerDrift{Changed: true, Parts: []string{"image"}}
	got, err := s.Inspect(t.Context(), "beef1")
	if err != nil || got.ID != "beef1" || !got.Engine.OOMKilled || got.Engine.ExitCode != 137 || got.Engine.Limits.Pids != 5 || !got.Drift.Changed ||
		got.Engine.Mounts == nil {
		t.Errorf("%+v, %v", got, err)
	}
	w.noLog = core.Fail(core.CodeConfig, nil, "The file has an error.", "Mend it.")
	if got, err = s.Inspect(t.Context(), "beef1"); err != nil || !strings.Contains(got.Drift.Unknown, "The file has an error.") || got.Drift.Parts == nil {
		t.Errorf("%+v, %v", got.Drift, err)
	}
	w.boxes[2].ChannelID = "gone"
	if got, err = s.Inspect(t.Context(), "beef1"); err != nil || !strings.Contains(got.Drift.Unknown, "gone") {
		t.Errorf("%+v, %v", got.Drift, err)
	}
	w.boxes[2].Scope = ""
	if got, err = s.Inspect(t.Context(), "beef1"); err != nil || !strings.Contains(got.Drift.Unknown, "Nobody joins") {
		t.Errorf("%+v, %v", got.Drift, err)
	}
	failsAs(t, w, func() error { _, err := s.Inspect(t.Context(), "beef1"); return err }, map[error]core.Code{
		core.ErrNotFound: core.CodeNotFound, errors.New("busy"): core.CodeInternal,
	})
}

// TestLog is read from where it was left, within bounds.
func TestLog(t *testing.T) {
	w, s := rig()
	w.facts.Running = true
	l, err := s.Log(t.Context(), "beef1", "", 0)
	if err != nil || l.Text != "said\n" || !l.Running || w.lines != fewLines || !w.since.IsZero() {
		t.Errorf("%+v, %v; %d lines since %v", l, err, w.lines, w.since)
	}
	if _, err = s.Log(t.Context(), "beef1", l.Next, 3); err != nil || !w.since.Equal(time.Unix(7, 9)) || w.lines != mostLines {
		t.Errorf("%v; %d lines since %v", err, w.lines, w.since)
	}
	for _, c := range []struct {
		since string
		tail  int
	}{{"yesterday", 1}, {"", -1}, {"", mostLines + 1}} {
		if _, err := s.Log(t.Context(), "beef1", c.since, c.tail); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%+v: %v", c, err)
		}
	}
	w.noLog = core.ErrNotFound
	if _, err := s.Log(t.Context(), "beef1", "", 1); core.AsFailure(err).Code != core.CodeNotFound {
		t.Error(err)
	}
	w.noLog = errors.New("busy")
	if _, err := s.Log(t.Context(), "beef1", "", 1); !errors.Is(err, w.noLog) {
		t.Error(err)
	}
}
