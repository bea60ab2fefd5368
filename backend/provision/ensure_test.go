package provision

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
	"loop/backend/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// world is everything that a Service needs. It notes each step in order, and fails at
// the step named by breaks.
type world struct {
	done   []string
	breaks string
	why    error
	values Values
	left   int // number of containers that are held
	rights string
	fixed  []string // of the specs that were acquired
	places string
	box    core.Container // that is there already, if it has an id
}

var errOwn = errors.New("its own words")

func (w *world) step(name string) error {
	w.done = append(w.done, name)
	if w.breaks == name {
		return w.why
	}
	return nil
}

func (w *world) ForChannel(context.Context, core.Channel) (Values, error) {
	return w.values, w.step("settings")
}
func (w *world) Ensure(_ context.Context, ref string) error { return w.step("build " + ref) }
func (w *world) GuestVolume(context.Context, string) (string, error) {
	return sandbox.GuestVolumePrefix + "0123", w.step("guest")
}
func (w *world) ForgetGuestVolume() { _ = w.step("forget") }
func (w *world) ImageInspect(_ context.Context, ref string) (string, map[string]string, error) {
	return "sha256:abc", nil, w.step("image " + ref)
}
func (w *world) Status(context.Context) core.EngineStatus {
	return core.EngineStatus{OK: true, OS: "linux", Arch: "amd64"}
}

func (w *world) Host(_ context.Context, st core.EngineStatus) (sandbox.Host, error) {
	return sandbox.Host{
		OS: "linux", User: "mira", UID: 1000, GID: 1000, Home: "/home/mira", LoopHome: "/home/mira/.loop",
		EngineOS: st.OS, EngineArch: st.Arch, Look: func(string) sandbox.PathFact { return sandbox.PathFact{Kind: sandbox.PathDir} },
	}, w.step("host")
}

func (w *world) Prepare(core.Spec, sandbox.Host) ([]string, error) {
	return []string{"a copy was left out"}, w.step("prepare")
}

func (w *world) PrepareOnHost(core.Spec) ([]string, error) {
	return []string{"a state file was started afresh"}, w.step("prepare folders")
}

func (w *world) Places(core.Spec) string { return w.places }

func (w *world) Acquire(_ context.Context, spec core.Spec, rights string, by core.Holder) (core.Container, error) {
	if err := w.step("start for " + string(by.Kind)); err != nil {
		return core.Container{}, err
	}
	w.left++
	w.fixed = append(w.fixed, spec.Fixed)
	if w.rights = rights; w.box.ID != "" {
		return w.box, nil
	}
	return core.Container{ID: "box", Name: spec.Name, Hash: spec.Hash, CreatedAt: time.Now()}, nil
}

func (w *world) InScopes(scopes ...string) (out []core.Container) {
	if slices.Contains(scopes, w.box.Scope) {
		out = append(out, w.box)
	}
	return out
}

func (w *world) Release(ctx context.Context, h core.Holder, _ core.Ending) error {
	if h.ID == "r1" {
		w.left--
	}
	return errors.Join(ctx.Err(), w.step("release"))
}

func (w *world) Open(_ context.Context, c core.Container) (core.Link, error) {
	if err := w.step("link to " + string(c.ID)); err != nil {
		return nil, err
	}
	return openLink{w: w}, nil
}

type openLink struct {
	core.Link
	w *world
}

func (l openLink) Close() error { return l.w.step("close") }

func values(image string) Values {
	made := sandbox.Settings{
		Access: sandbox.Setting[string]{Value: sandbox.AccessRW}, Network: sandbox.Setting[string]{Value: "bridge"},
		MemoryMB: sandbox.Setting[int]{Value: 2048}, CPUs: sandbox.Setting[float64]{Value: 1}, Pids: sandbox.Setting[int64]{Value: 1024},
	}
	v := Values{Container: made, Notices: []string{"one thing waits"}}
	v.Container.Image.Value = image
	return v
}

func newWorld() (*world, *Service, Want) {
	w := &world{why: errOwn, values: values("mine:1")}
	s := New(Options{
		Install: "install-1", Settings: w, Images: w, Engine: w, Health: w, Computer: w, Containers: w, Links: w,
		Log: slog.New(slog.DiscardHandler),
	})
	begun := time.Now() // and for the service no time passes
	s.now = func() time.Time { return begun }
	want := Want{
		Channel: core.Channel{ID: "c1", Kind: core.KindProject, Dir: "/srv/project"}, Run: "r1", Link: true,
		Holder: core.Holder{Kind: core.HolderRun, ID: "r1"},
	}
	want.Ready = func(Resolved) error { return w.step("ready") }
	return w, s, want
}

var whole = []string{"settings", "build mine:1", "host", "image mine:1", "guest", "prepare", "ready", "start for run", "link to box"}

// TestEnsure takes every step, once and in order, and gives everything back.
func TestEnsure(t *testing.T) {
	w, s, want := newWorld()
	want.Ready = func(r Resolved) error {
		if w.left != 0 || !slices.Equal(r.Why.Notices[1:], []string{"one thing waits", "a copy was left out"}) {
			t.Errorf("%d containers before it is ready, notices %q", w.left, r.Why.Notices)
		}
		return w.step("ready")
	}
	w.values.Container.Envs = map[string]sandbox.Setting[any]{"FORGE_TOKEN": {Value: "x"}}
	w.values.Container.HTTPProxy.Value = "http://proxy:1"
	l, err := s.Ensure(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.done, whole) {
		t.Errorf("did %q", w.done)
	}
	if l.Container.ID != "box" || l.Link == nil || l.Spec.RunID != "r1" || l.Spec.Labels[core.LabelInstall] != "install-1" {
		t.Errorf("%+v", l.Spec)
	}
	// Credentials go with the spawn, and so does the Docker CLI's file.
	if i := slices.IndexFunc(l.Env, func(e core.EnvVar) bool { return e.Name == "FORGE_TOKEN" && e.Secret }); i < 0 || !strings.Contains(string(l.DockerConfig), "httpProxy") {
		t.Errorf("%v, %s", l.Env, l.DockerConfig)
	}
	if err := l.Release(t.Context(), core.Ending{}); err != nil || w.left != 0 || !slices.Equal(w.done[len(whole):], []string{"close", "release"}) {
		t.Errorf("%v, did %q", err, w.done)
	}
}

// TestEnsureFails at each step: no later step is taken, nothing is left, and the error
// is the port's own.
func TestEnsureFails(t *testing.T) {
	for i, step := range whole {
		t.Run(step, func(t *testing.T) {
			w, s, want := newWorld()
			w.breaks = step
			l, err := s.Ensure(t.Context(), want)
			if l != nil || !errors.Is(err, errOwn) {
				t.Fatalf("%v, %v", l, err)
			}
			did := slices.DeleteFunc(slices.Clone(w.done), func(s string) bool { return s == "release" })
			if w.left != 0 || !slices.Equal(did, whole[:i+1]) {
				t.Errorf("%d left, did %q", w.left, w.done)
			}
		})
	}
}

// TestLinkThatFailsKeepsItsWords: the link's error is returned even when the container
// cannot be given back and the caller has gone.
func TestLinkThatFailsKeepsItsWords(t *testing.T) {
	w, s, want := newWorld()
	ctx, cancel := context.WithCancel(t.Context())
	want.Ready = func(Resolved) error { cancel(); return nil }
	w.breaks, w.why = "link to box", core.Fail(core.CodeNoLink, errOwn, "No hello.", "Look.")
	if _, err := s.Ensure(ctx, want); core.AsFailure(err).Code != core.CodeNoLink || w.left != 0 || errors.Is(err, context.Canceled) {
		t.Errorf("%v, %d left", err, w.left)
	}
}

// TestWhatAWantLeavesOut: a trial builds no image, work that has begun copies no files
// again, and a link is opened only when it is wanted.
func TestWhatAWantLeavesOut(t *testing.T) {
	w, s, want := newWorld()
	want.NoBuild, want.Begun, want.Link, want.Ready = true, true, false, nil
	l, err := s.Ensure(t.Context(), want)
	if err != nil || l.Link != nil || !slices.Equal(w.done, []string{"settings", "host", "image mine:1", "guest", "start for run"}) {
		t.Errorf("%v, did %q", err, w.done)
	}
	if err := l.Release(t.Context(), core.Ending{}); err != nil || w.left != 0 {
		t.Errorf("%v, %d left", err, w.left)
	}
}

// TestGuestVolumeIsFilledAgain once, when the engine does not find loop init.
func TestGuestVolumeIsFilledAgain(t *testing.T) {
	missing := core.Fail(core.CodeInternal, errors.New(`exec: "/opt/loop/bin/loop": no such file or directory`), "It could not be started.", "Look.")
	for name, again := range map[string]bool{"filled": true, "not to be filled": false} {
		t.Run(name, func(t *testing.T) {
			w, s, want := newWorld()
			w.breaks, w.why = "start for run", missing
			ready := 0
			want.Ready = func(Resolved) error {
				if ready++; ready == 2 && again {
					w.breaks = ""
				}
				return nil
			}
			_, err := s.Ensure(t.Context(), want)
			forgot := len(slices.DeleteFunc(slices.Clone(w.done), func(s string) bool { return s != "forget" }))
			if again != (err == nil) || forgot != 1 || ready != 2 {
				t.Errorf("%v, forgot %d times, ready %d times", err, forgot, ready)
			}
		})
	}
}

// TestResolveMakesNothing, and uses the settings that a Want carries.
func TestResolveMakesNothing(t *testing.T) {
	w, s, want := newWorld()
	own, _, _ := newWorld()
	own.values = values("theirs:2")
	want.Settings, want.Type, want.Run = own, core.TypeShell, ""
	r, err := s.Resolve(t.Context(), want)
	if err != nil || r.Spec.Type != core.TypeShell || r.Spec.Image != "theirs:2" || w.left != 0 || !slices.Equal(w.done, []string{"host", "image theirs:2", "guest"}) {
		t.Errorf("%v %+v, did %q", err, r.Spec, w.done)
	}
}

// TestLookNeedsNoEngine: the folders are those of Resolve, and neither image nor volume is
// asked for.
func TestLookNeedsNoEngine(t *testing.T) {
	w, s, want := newWorld()
	r, err := s.Resolve(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	w.done = nil
	spec, err := s.Look(t.Context(), want)
	if err != nil || !slices.Equal(w.done, []string{"settings", "host"}) || spec.WorkDir != r.Spec.WorkDir || spec.Scope != r.Spec.Scope {
		t.Errorf("%v, did %q", err, w.done)
	}
	own := func(m core.Mount) bool { return m.Target == sandbox.GuestDir }
	if a, b := slices.DeleteFunc(spec.Mounts, own), slices.DeleteFunc(r.Spec.Mounts, own); !slices.Equal(a, b) {
		t.Errorf("%+v instead of %+v", a, b)
	}
}

// TestEnvOfAContainerThatCannotBe: the credentials of the settings are known even so. A
// run taken over has them hidden in what it says.
func TestEnvOfAContainerThatCannotBe(t *testing.T) {
	for _, step := range []string{"image mine:1", "guest"} {
		w, s, want := newWorld()
		w.breaks = step
		w.values.Container.Envs = map[string]sandbox.Setting[any]{"FORGE_TOKEN": {Value: "x"}}
		if r, err := s.Resolve(t.Context(), want); !errors.Is(err, errOwn) || !slices.ContainsFunc(r.Env, func(e core.EnvVar) bool { return e.Value == "x" }) {
			t.Errorf("%s: %v, %v", step, err, r.Env)
		}
	}
}

// TestModelOverTheNetwork is refused for a container without a network, and only there.
func TestModelOverTheNetwork(t *testing.T) {
	w, s, want := newWorld()
	w.values.Container.Network.Value = "none"
	if r, err := s.Resolve(t.Context(), want); err != nil || r.Spec.Network != "none" {
		t.Errorf("%v", err)
	}
	w.values.OverNetwork = true
	if r, err := s.Resolve(t.Context(), want); core.AsFailure(err).Code != core.CodeInvalid || len(r.Why.Notices) == 0 {
		t.Errorf("%v, notices %q", err, r.Why.Notices)
	}
}

// TestRights: programs with the same credentials have the same rights, whatever else of
// the settings is different, and nothing of a credential can be read in them.
func TestRights(t *testing.T) {
	rights := func(change func(v *Values)) string {
		w, s, want := newWorld()
		w.values.Key = "sk-canary"
		w.values.Container.Envs = map[string]sandbox.Setting[any]{"FORGE_TOKEN": {Value: "canary"}, "A": {Value: "1"}}
		change(&w.values)
		l, err := s.Ensure(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Release(t.Context(), core.Ending{})
		return w.rights
	}
	same := rights(func(*Values) {})
	if len(same) != 64 || strings.Contains(same, "canary") {
		t.Errorf("%q", same)
	}
	for name, c := range map[string]struct {
		differ bool
		change func(v *Values)
	}{
		"another key":      {true, func(v *Values) { v.Key = "sk-other" }},
		"no key":           {true, func(v *Values) { v.Key = "" }},
		"another token":    {true, func(v *Values) { v.Container.Envs["FORGE_TOKEN"] = sandbox.Setting[any]{Value: "x"} }},
		"a further token":  {true, func(v *Values) { v.Container.Envs["B_TOKEN"] = sandbox.Setting[any]{Value: "canary"} }},
		"another variable": {false, func(v *Values) { v.Container.Envs["A"] = sandbox.Setting[any]{Value: "2"} }},
		"another memory":   {false, func(v *Values) { v.Container.MemoryMB.Value = 512 }},
	} {
		if got := rights(c.change); (got != same) != c.differ {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestReplacedFolder: a container does not serve again once a folder that it shows was
// replaced. What Resolve says without making anything is the same.
func TestReplacedFolder(t *testing.T) {
	w, s, want := newWorld()
	for _, w.places = range []string{"a", "a", "b"} {
		if _, err := s.Ensure(t.Context(), want); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.Resolve(t.Context(), want)
	if err != nil || w.fixed[0] != w.fixed[1] || w.fixed[1] == w.fixed[2] || r.Spec.Fixed != w.fixed[2] || len(r.Spec.Fixed) != 64 {
		t.Errorf("%v, %v, %v", w.fixed, r.Spec.Fixed, err)
	}
}

// TestSharedWithWhoseKey: by another key a shared container would not serve, and one that
// works would be replaced.
func TestSharedWithWhoseKey(t *testing.T) {
	_, s, want := newWorld()
	want.Shared, want.Settings = true, nil
	if l, err := s.Ensure(t.Context(), want); err == nil || !strings.Contains(err.Error(), "with which key") {
		t.Errorf("%v, %v", l, err)
	}
}

// TestKept: the person hears of a container that goes on with settings of before.
func TestKept(t *testing.T) {
	w, s, want := newWorld()
	want.Shared, want.Settings, w.values.Container.Scope.Value = true, w, sandbox.ScopeSession
	l, err := s.Ensure(t.Context(), want)
	if err != nil || l.Kept() != "" || !l.Fresh || l.Spec.Scope != "session:c1" {
		t.Fatalf("%v, %+v", err, l)
	}
	w.box = core.Container{ID: "old", ChannelID: "c1", Hash: "of before"}
	if l, err = s.Ensure(t.Context(), want); err != nil || l.Fresh || l.Renewed() != "" || !strings.Contains(l.Kept(), "loop recreate --channel c1") {
		t.Errorf("%v, %q", err, l.Kept())
	}
	w.box = core.Container{ID: "new", ChannelID: "c1", Hash: l.Spec.Hash, CreatedAt: time.Now().Add(time.Hour), Why: "takes the place of one that slept"}
	if l, err = s.Ensure(t.Context(), want); err != nil || l.Kept() != "" || !strings.Contains(l.Renewed(), "one that slept. Programs") {
		t.Errorf("%v, %q", err, l.Renewed())
	}
}

// TestPlan: the mounts are read-only where the gate does not hold, and say so.
func TestPlan(t *testing.T) {
	for _, gated := range []bool{false, true} {
		_, s, want := newWorld()
		want.Plan, want.PlanGated = true, gated
		r, err := s.Resolve(t.Context(), want)
		writable := slices.ContainsFunc(r.Spec.Mounts, func(m core.Mount) bool { return m.Kind == core.MountWorkspace && !m.ReadOnly })
		if err != nil || r.Spec.Plan == gated || writable != gated || !strings.HasPrefix(strings.Join(r.Why.Notices, "\n"), "This run plans first: ") {
			t.Errorf("gated %v: %v, plan %v, writable %v, %q", gated, err, r.Spec.Plan, writable, r.Why.Notices)
		}
		ordinary, err := s.Resolve(t.Context(), Want{Channel: want.Channel, Run: "r2", Holder: want.Holder})
		if err != nil || ordinary.Spec.Fixed == r.Spec.Fixed != gated {
			t.Errorf("gated %v: %v; like an ordinary one: %v", gated, err, !gated)
		}
	}
}

// TestSuffixesDiffer: the suffix distinguishes the containers of one channel.
func TestSuffixesDiffer(t *testing.T) {
	_, service, want := newWorld()
	seen := map[string]bool{}
	for range 50 {
		r, err := service.Resolve(t.Context(), want)
		s, named := strings.CutPrefix(r.Spec.Name, "loop-project-")
		if err != nil || !named || len(s) != 6 || strings.Trim(s, "0123456789abcdef") != "" || seen[s] {
			t.Errorf("%q after %d, %v", r.Spec.Name, len(seen), err)
		}
		seen[s] = true
	}
}

// TestEnsureSaysThatAContainerIsSetUp: before it waits, and only where there is no container.
func TestEnsureSaysThatAContainerIsSetUp(t *testing.T) {
	w, s, want := newWorld()
	w.values.Container.Setup.Value, w.values.Container.Scope.Value = "true", sandbox.ScopeSession
	want.Shared, want.Settings = true, w
	said := false
	want.Ready = func(r Resolved) error {
		said = strings.Contains(strings.Join(r.Why.Notices, " "), "its setupCommand runs as root, for 15 minutes at most")
		if w.left != 0 {
			t.Error("it is said too late")
		}
		return nil
	}
	l, err := s.Ensure(t.Context(), want)
	if err != nil || !said {
		t.Fatalf("said %v, %v", said, err)
	}
	for _, changed := range []bool{false, true} {
		w.left, w.box = 0, core.Container{ID: "box", Scope: l.Spec.Scope, Fixed: l.Spec.Fixed}
		if changed {
			w.values.Container.Setup.Value = "false"
		}
		if _, err := s.Ensure(t.Context(), want); err != nil || said != changed {
			t.Errorf("with a container, another command %v: said %v, %v", changed, said, err)
		}
	}
}
