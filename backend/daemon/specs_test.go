package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/hostfacts"
	"loop/backend/provision"
	"loop/backend/runner"
	"loop/backend/sandbox"
)

// specRig is a Loop folder and a project on this computer, with an engine that exists
// only in the test.
type specRig struct {
	runSettings
	provision *provision.Service

	snap    config.Snapshot
	channel core.Channel
	asked   []string
	home    string
	ruled   rules
	image   func(ref string) (string, error)
	guest   func() (string, error)
}

// rules are settings that a test sets.
type rules struct {
	effective func(ch core.Channel) config.Effective
	waits     []core.SettingsPending // from the last call of Waits
}

func (r *rules) Effective(ch core.Channel) config.Effective                      { return r.effective(ch) }
func (r *rules) Sharing(context.Context) ([]core.Channel, error)                 { return nil, nil }
func (r *rules) Waits(_ core.ChannelID, pending []core.SettingsPending)          { r.waits = pending }
func (r *rules) Add(_ context.Context, cfg config.Config) (config.Config, error) { return cfg, nil }

func newSpecRig(t *testing.T) *specRig {
	t.Helper()
	t.Setenv("HOME", t.TempDir()) // keeps the files of the person who runs the test out of it
	r := &specRig{
		home: realDir(t), snap: config.Snapshot{Config: keyed(), Good: true},
		channel: core.Channel{ID: "c1", Kind: core.KindProject, Name: "one", Dir: realDir(t)},
		image:   func(string) (string, error) { return "sha256:abc", nil },
		guest:   func() (string, error) { return sandbox.GuestVolumePrefix + "0123", nil },
	}
	r.settingsReader = settingsReader{from: &r.ruled, keys: &r.ruled}
	r.ruled.effective = func(core.Channel) config.Effective { return config.ForDir(r.snap, new(config.Trust), "", "") }
	e := specEngine{r}
	r.health = e
	r.provision = provision.New(provision.Options{
		Install: "install-1", Settings: e, Images: e, Engine: e, Health: e,
		Computer: hostfacts.Computer{LoopHome: r.home}, Containers: e, Log: slog.New(slog.DiscardHandler),
	})
	return r
}

// resolve returns what the runner gets for a run. It calls Ensure unless the run has a
// container.
func (r *specRig) resolve(ctx context.Context, run core.Run, ch core.Channel) (core.Spec, core.Explanation, runner.Launch, error) {
	read := &specReading{r: r, run: run}
	w := provision.Want{Channel: ch, Run: run.ID, Plan: run.Plan, Settings: read, Begun: run.ContainerID != ""}
	var out provision.Resolved
	var err error
	if w.Begun {
		out, err = r.provision.Resolve(ctx, w)
	} else {
		w.Ready = func(made provision.Resolved) error { out = made; return nil }
		_, err = r.provision.Ensure(ctx, w)
	}
	read.launch.Env, read.launch.DockerConfig = slices.Concat(out.Env, read.launch.Env), out.DockerConfig
	return out.Spec, out.Why, read.launch, err
}

// specReading reads the settings for a run, as the runner does.
type specReading struct {
	r      *specRig
	run    core.Run
	launch runner.Launch
}

func (s *specReading) ForChannel(ctx context.Context, ch core.Channel) (v provision.Values, err error) {
	v, s.launch, err = s.r.ForRun(ctx, s.run, ch)
	return v, err
}

// specEngine answers the engine's calls from the rig.
type specEngine struct{ r *specRig }

func (e specEngine) ForChannel(ctx context.Context, ch core.Channel) (provision.Values, error) {
	return e.r.settingsReader.ForChannel(ctx, ch) // reads what the test has set by now
}
func (specEngine) Ensure(context.Context, string) error                  { return nil }
func (e specEngine) GuestVolume(context.Context, string) (string, error) { return e.r.guest() }
func (specEngine) ForgetGuestVolume()                                    {}
func (specEngine) Status(context.Context) core.EngineStatus {
	return core.EngineStatus{OK: true, OS: "linux", Arch: "amd64"}
}
func (specEngine) InScopes(...string) []core.Container { return nil }

func (specEngine) Acquire(context.Context, core.Spec, string, core.Holder) (core.Container, error) {
	return core.Container{ID: "box"}, nil
}
func (specEngine) Hold(context.Context, core.ContainerID, core.Holder) error {
	return core.ErrNotRunning
}
func (specEngine) Release(context.Context, core.Holder, core.Ending) error { return nil }
func (e specEngine) ImageInspect(_ context.Context, ref string) (string, map[string]string, error) {
	e.r.asked = append(e.r.asked, "image "+ref)
	id, err := e.r.image(ref)
	return id, nil, err
}

// realDir is a new directory under its real name: macOS's temporary one is behind a
// link.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFit: a chosen folder is judged by the same rules as the folder of a run.
func TestFit(t *testing.T) {
	r := newSpecRig(t)
	if err := (hostfacts.Computer{LoopHome: r.home}).Fit(t.Context(), r.channel.Dir); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{"/", os.Getenv("HOME"), r.home, filepath.Dir(r.home)} {
		if f := core.AsFailure((hostfacts.Computer{LoopHome: r.home}).Fit(t.Context(), dir)); f.Code != core.CodeDir || f.Remedy == "" {
			t.Errorf("%s: %v", dir, f)
		}
	}
}

func TestResolveAssemblesTheContainer(t *testing.T) {
	r := newSpecRig(t)
	r.snap.Config.ContainerImage, r.snap.Config.ContainerNetwork, r.snap.Config.ContainerMemoryMB = "mine:1", "none", 512
	r.snap.Config.AnthropicBaseURL = "http://127.0.0.1:11434" // goes through the link, which needs no network
	r.snap.Config.Envs = map[string]any{"GREETING": "hello", "FORGE_TOKEN": canary}
	spec, _, launch, err := r.resolve(t.Context(), core.Run{ID: "r1"}, r.channel)
	if err != nil {
		t.Fatal(err)
	}
	if spec.ChannelID != "c1" || spec.RunID != "r1" || spec.Type != core.TypeAgent || spec.Network != "none" || spec.Limits.MemoryBytes != 512<<20 || spec.WorkDir != r.channel.Dir {
		t.Errorf("%+v", spec)
	}
	if spec.Labels[core.LabelInstall] != "install-1" || spec.Labels[core.LabelRun] != "r1" {
		t.Errorf("labels %v", spec.Labels)
	}
	if !slices.Contains(r.asked, "image mine:1") {
		t.Errorf("asked for %q", r.asked)
	}
	if !slices.ContainsFunc(spec.Mounts, func(m core.Mount) bool { return m.Source == sandbox.GuestVolumePrefix+"0123" && m.ReadOnly }) {
		t.Errorf("the guest's volume is not mounted read-only: %+v", spec.Mounts)
	}
	if v, _ := envOf(launch.Env, "GREETING"); v != "hello" {
		t.Errorf("environment of the agent: %v", launch.Env)
	}
	// The container does not get a variable that is named like a credential. Only the
	// agent does.
	if _, there := envOf(spec.Env, "FORGE_TOKEN"); there {
		t.Errorf("environment of the container: %v", spec.Env)
	}
	if v, _ := envOf(launch.Env, "FORGE_TOKEN"); v != canary {
		t.Errorf("environment of the agent: %v", launch.Env)
	}
	// The host folders and files that the container mounts exist before it is made.
	for _, m := range spec.Mounts {
		if m.Kind != core.MountState {
			continue
		}
		if info, err := os.Stat(m.Source); err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", m.Source, err)
		}
	}
	again, _, _, err := r.resolve(t.Context(), core.Run{ID: "r2"}, r.channel)
	if err != nil || again.Name == spec.Name {
		t.Errorf("two containers are both called %q, %v", spec.Name, err)
	}
}

// TestCredentialsStayOutOfTheContainer: a spec becomes the container's configuration,
// and every program that may use the engine can read that.
func TestCredentialsStayOutOfTheContainer(t *testing.T) {
	r := newSpecRig(t)
	r.snap.Config.ClaudeCodeOAuthToken = canary + "-token"
	spec, why, launch, err := r.resolve(t.Context(), core.Run{ID: "r1"}, r.channel)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"the spec": spec, "the explanation": why, "the agent's settings": launch.Env} {
		if data, err := json.Marshal(v); err != nil || strings.Contains(string(data), canary) {
			t.Errorf("%s holds a credential: %s, %v", name, data, err)
		}
	}
	if launch.OAuthToken != canary+"-token" {
		t.Error("and the CLI has none")
	}
}

// TestLimitsOfTheCLIUnlessAsked: the CLI repeats a refused request only a few times.
// Only the time limit of the run bounds its background work.
func TestLimitsOfTheCLIUnlessAsked(t *testing.T) {
	for name, value := range map[string]string{retriesEnv: maxRetries, backgroundEnv: backgroundWait} {
		r := newSpecRig(t)
		_, _, launch, err := r.resolve(t.Context(), core.Run{ID: "r1"}, r.channel)
		if v, _ := envOf(launch.Env, name); err != nil || v != value {
			t.Errorf("%q, %v", v, err)
		}
		r.snap.Config.Envs = map[string]any{name: "9"}
		_, _, launch, err = r.resolve(t.Context(), core.Run{ID: "r1"}, r.channel)
		if v, _ := envOf(launch.Env, name); err != nil || v != "9" {
			t.Errorf("%q, %v", v, err)
		}
		if n := len(slices.DeleteFunc(slices.Clone(launch.Env), func(v core.EnvVar) bool { return v.Name != name })); n != 1 {
			t.Errorf("%d values", n)
		}
	}
}

// TestResolveRefuses what cannot work, and passes an error's own words on.
func TestResolveRefuses(t *testing.T) {
	own := errors.New("its own words")
	for name, tc := range map[string]struct {
		break_ func(t *testing.T, r *specRig)
		code   core.Code // empty: the error is own
	}{
		// An unreadable file may have said “network none”.
		"settings that cannot be read": {func(_ *testing.T, r *specRig) { r.snap.Err, r.snap.Good = own, false }, ""},
		"no key":                       {func(_ *testing.T, r *specRig) { r.snap.Config.AnthropicAPIKey = "" }, core.CodeCredentials},
		"image that cannot be seen": {func(_ *testing.T, r *specRig) {
			r.image = func(string) (string, error) { return "", own }
		}, ""},
		"no volume for the guest": {func(_ *testing.T, r *specRig) {
			r.guest = func() (string, error) { return "", own }
		}, ""},
		"project that is gone": {func(t *testing.T, r *specRig) {
			if err := os.Remove(r.channel.Dir); err != nil {
				t.Fatal(err)
			}
		}, core.CodeDir},
		"a model that only the network leads to, and none": {func(_ *testing.T, r *specRig) { r.snap.Config.ContainerNetwork = "none" }, core.CodeInvalid},
		"another channel's memory as a project": {func(t *testing.T, r *specRig) {
			r.channel.Dir = filepath.Join(r.home, "channels", "c2", "claude")
			if err := os.MkdirAll(r.channel.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}, core.CodeDir},
		"Loop's own folder as a project": {func(_ *testing.T, r *specRig) { r.channel.Dir = r.home }, core.CodeDir},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSpecRig(t)
			tc.break_(t, r)
			_, _, _, err := r.resolve(t.Context(), core.Run{ID: "r1"}, r.channel)
			if tc.code == "" && !errors.Is(err, own) || tc.code != "" && (err == nil || core.AsFailure(err).Code != tc.code) {
				t.Errorf("%v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(r.home, "channels", "c1")); len(left) > 0 {
				t.Errorf("and yet it made %q", left)
			}
		})
	}
}

// TestSettingsThatWereGoodStandIn: while a person edits the file, the last good
// settings are used.
func TestSettingsThatWereGoodStandIn(t *testing.T) {
	r := newSpecRig(t)
	r.snap.Err = errors.New("line 3: what is this")
	if _, _, _, err := r.resolve(t.Context(), core.Run{ID: "r1"}, r.channel); err != nil {
		t.Error(err)
	}
}

// TestDemoDirectoryIsLoopsOwn: the demo's directory lies in Loop's folder, where no
// project may be.
func TestDemoDirectoryIsLoopsOwn(t *testing.T) {
	r := newSpecRig(t)
	dir := filepath.Join(r.home, "channels", "c1", "work")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.channel.Kind, r.channel.Dir, r.snap.Config.AnthropicAPIKey = core.KindDemo, dir, ""
	spec, _, launch, err := r.resolve(t.Context(), core.Run{ID: "r1", Demo: true}, r.channel)
	if err != nil || !launch.Upstream.Demo || spec.WorkDir == "" {
		t.Errorf("%+v, %v", launch, err)
	}
}

// TestHostFilesAndVariablesOfAContainer: files are copied before the container is made.
// They are not copied again while an agent works with them. A proxy's login and the
// Docker CLI's file go only to the spawned program.
func TestHostFilesAndVariablesOfAContainer(t *testing.T) {
	r := newSpecRig(t)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte("x=1"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "https://goproxy.test")
	t.Setenv("MY_SECRET", canary)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"} {
		t.Setenv(name, "")
	}
	cfg := &r.snap.Config
	cfg.CopyFiles, cfg.InheritEnvs = []string{"~/.npmrc", "~/.gone"}, []string{"GOPROXY", "MY_*"}
	cfg.Proxies.HTTPSProxy = "http://u:" + canary + "@127.0.0.1:3128"
	cfg.GuestTransport, cfg.APIAdvertiseURL = config.TransportTCP, "http://loop.test:9"
	spec, why, launch, err := r.resolve(t.Context(), core.Run{ID: "r1"}, r.channel)
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := json.Marshal([]any{spec, why}); strings.Contains(string(data), canary) {
		t.Errorf("a credential is in the spec or its explanation: %s", data)
	}
	if v, _ := envOf(launch.Env, "GOPROXY"); v != "https://goproxy.test" {
		t.Errorf("environment of the agent: %v", launch.Env)
	}
	if v, _ := envOf(launch.Env, "no_proxy"); !strings.HasPrefix(v, "loop.test,") {
		t.Errorf("no_proxy %q", v)
	}
	if v, _ := envOf(launch.Env, "https_proxy"); v != "http://u:"+canary+"@host.docker.internal:3128" {
		t.Errorf("environment of the agent: %v", launch.Env)
	}
	if !strings.Contains(string(launch.DockerConfig), "httpsProxy") {
		t.Errorf("the Docker CLI's file: %s", launch.DockerConfig)
	}
	if len(why.Skipped) != 1 || why.Skipped[0].Text != "~/.gone" {
		t.Errorf("left out: %v", why.Skipped)
	}
	mine := filepath.Join(r.home, "channels", "c1", "home", ".npmrc")
	if b, err := os.ReadFile(mine); err != nil || string(b) != "x=1" {
		t.Errorf("%q %v", b, err)
	}
	if err := os.WriteFile(mine, []byte("the agent's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := r.resolve(t.Context(), core.Run{ID: "r1", ContainerID: "k1"}, r.channel); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(mine); string(b) != "the agent's" {
		t.Errorf("a run that was taken over lost its file: %q", b)
	}
}

func envOf(env []core.EnvVar, name string) (string, bool) {
	at := slices.IndexFunc(env, func(e core.EnvVar) bool { return e.Name == name })
	if at < 0 {
		return "", false
	}
	return env[at].Value, true
}

// TestPlannedContainer: a run that plans first gets the project read-only, and
// preparing for that leaves nothing in the project. The next run, and a shell, may
// write to it as usual.
func TestPlannedContainer(t *testing.T) {
	r := newSpecRig(t)
	r.snap.Config.Mounts = []string{"loop-modules:" + filepath.Join(r.channel.Dir, "node_modules")}
	writable := func(spec core.Spec) bool {
		return slices.ContainsFunc(spec.Mounts, func(m core.Mount) bool { return m.Target == r.channel.Dir && !m.ReadOnly })
	}
	spec, why, _, err := r.resolve(t.Context(), core.Run{ID: "r1", Plan: true}, r.channel)
	if err != nil {
		t.Fatal(err)
	}
	if err := hostfacts.Unmoved(spec); err != nil {
		t.Fatal(err)
	}
	if !spec.Plan || writable(spec) || len(why.Skipped) != 1 {
		t.Errorf("plan %v, left out %+v, mounts %+v", spec.Plan, why.Skipped, spec.Mounts)
	}
	if left, err := os.ReadDir(r.channel.Dir); err != nil || len(left) > 0 {
		t.Errorf("in the project: %v %v", left, err)
	}
	// A container that is taken over after a restart is resolved again.
	if spec, _, _, err = r.resolve(t.Context(), core.Run{ID: "r1", Plan: true, ContainerID: "box"}, r.channel); err != nil || !spec.Plan || writable(spec) {
		t.Errorf("taken over: %+v %v", spec.Mounts, err)
	}
	if spec, _, _, err = r.resolve(t.Context(), core.Run{ID: "r2"}, r.channel); err != nil || spec.Plan || !writable(spec) {
		t.Errorf("the run after it: %+v %v", spec.Mounts, err)
	}
	if shell, err := r.provision.Resolve(t.Context(), provision.Want{Channel: r.channel, Type: core.TypeShell}); err != nil || shell.Spec.Plan || !writable(shell.Spec) {
		t.Errorf("a shell: %+v %v", shell.Spec.Mounts, err)
	}
}
