package bind_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/doctor"
)

// fake is every service behind the calls. It notes the calls in order, and answers nil
// slices, as an empty store may.
type fake struct {
	asked []string
	err   error

	beforeID int64
	limit    int
	run      core.Run
	id       string
	since    time.Time
	live     *core.LiveMessage
	set      map[string]any
	setErr   error
	config   bind.ConfigStatus
	opened   []string
	picked   string
}

func (f *fake) ask(what string) error {
	f.asked = append(f.asked, what)
	return f.err
}

func (f *fake) did() string { return strings.Join(f.asked, " ") }

// Each type embeds the whole interface, so a new method needs no change here.
type (
	fakeChannels struct {
		*fake
		bind.ChannelService
	}
	fakeStore struct {
		*fake
		bind.TimelineStore
	}
	fakeRuns struct {
		*fake
		bind.RunService
	}
	fakeImage struct {
		*fake
		bind.AgentImages
	}
	fakeContainers struct {
		*fake
		bind.ContainerService
	}
	fakeEngine struct {
		*fake
		bind.EngineService
	}
	fakeConfig struct {
		*fake
		bind.ConfigService
	}
	fakeDoctor struct{ bind.DoctorService }
	fakeGate   struct{ *fake }
	fakeWindow struct {
		*fake
		bind.Native
	}
)

func (f fakeChannels) List(context.Context) ([]core.ChannelView, error) {
	return nil, f.ask("channels")
}
func (f fakeChannels) Get(_ context.Context, id core.ChannelID) (core.ChannelView, error) {
	f.id = string(id)
	return core.ChannelView{}, f.ask("get")
}
func (f fakeChannels) Add(_ context.Context, dir, name string) (core.ChannelView, error) {
	return core.ChannelView{Channel: core.Channel{Dir: dir, Name: name}}, f.ask("add")
}
func (f fakeChannels) Demo(context.Context) (core.ChannelView, error) {
	return core.ChannelView{}, f.ask("demo")
}
func (f fakeChannels) SetChoices(context.Context, core.ChannelID, core.ChannelChoices) error {
	return nil
}

func (f fakeChannels) Agents() []core.AgentChoice { return nil }

func (f fakeChannels) Rename(_ context.Context, id core.ChannelID, name string) error {
	f.id = string(id) + "=" + name
	return f.ask("rename")
}
func (f fakeChannels) Remove(_ context.Context, id core.ChannelID) error {
	f.id = string(id)
	return f.ask("remove")
}

func (f fakeStore) Timeline(_ context.Context, _ core.ChannelID, beforeID int64, limit int) ([]core.Event, bool, error) {
	f.beforeID, f.limit = beforeID, limit
	return nil, true, f.ask("timeline")
}
func (f fakeStore) PromptHistory(_ context.Context, _ core.ChannelID, _ string, limit int) ([]string, error) {
	f.limit = limit
	return nil, f.ask("history")
}
func (f fakeRuns) Queue(context.Context, core.ChannelID) ([]core.Run, error) {
	return nil, f.ask("queue")
}
func (f fakeStore) CostSince(_ context.Context, since time.Time) (core.DayCost, error) {
	f.since = since
	return core.DayCost{Cost: core.Cost{CostUSD: 1.5, Estimated: true}, LastEventID: 3}, f.ask("cost")
}

func (f fakeRuns) Prompt(_ context.Context, r core.Run) (core.Run, error) {
	f.run = r
	return r, f.ask("prompt")
}
func (f fakeRuns) Cancel(_ context.Context, id core.RunID) error {
	f.id = string(id)
	return f.ask("cancel")
}
func (f fakeRuns) Remove(_ context.Context, id core.RunID) error {
	f.id = string(id)
	return f.ask("unqueue")
}
func (f fakeRuns) Retry(_ context.Context, id core.RunID) (core.Run, error) {
	f.id = string(id)
	return core.Run{ID: "again"}, f.ask("retry")
}
func (f fakeRuns) Live(core.ChannelID) *core.LiveMessage {
	_ = f.ask("live")
	return f.live
}

func (f fakeImage) Status(context.Context) core.ImageStatus {
	_ = f.ask("image")
	return core.ImageStatus{State: core.ImageReady}
}
func (f fakeImage) Build(context.Context) error { return f.ask("build") }
func (f fakeImage) SandboxStatus(_ context.Context, kind string) core.ImageStatus {
	_ = f.ask("image " + kind)
	return core.ImageStatus{State: core.ImageReady}
}
func (f fakeImage) BuildSandbox(_ context.Context, w core.SandboxImage) error {
	return f.ask("build " + w.Kind)
}
func (f fakeImage) Output() core.BuildOutput { return core.BuildOutput{Text: "all of it"} }
func (f fakeImage) Cancel()                  { _ = f.ask("cancel build") }

func (f fakeContainers) List() []core.Container {
	_ = f.ask("containers")
	return nil
}

func (f fakeContainers) Views() []core.ContainerView { return nil }

func (f fakeEngine) Status(context.Context) core.EngineStatus {
	_ = f.ask("engine")
	return core.EngineStatus{OK: true}
}

func (f fakeConfig) Status() bind.ConfigStatus { return f.config }
func (f fakeConfig) Set(_ context.Context, _ string, _ core.ChannelID, field string, value any) error {
	if f.setErr != nil {
		return f.setErr
	}
	if f.fake.set == nil {
		f.fake.set = map[string]any{}
	}
	f.fake.set[field] = value
	f.fake.config.HasCredentials = true
	return nil
}

func (f fakeDoctor) Check(context.Context) doctor.Report {
	return doctor.Report{Checks: []doctor.Check{{ID: "x", State: doctor.OK}}}
}

func (f fakeWindow) PickFolder() (string, error) { return f.picked, f.err }
func (f fakeWindow) SaveFile(_, name string) (string, error) {
	if f.picked == "" {
		return "", f.err
	}
	return filepath.Join(f.picked, name), f.err
}

func (f fakeWindow) OpenURL(url string) error {
	f.fake.opened = append(f.fake.opened, url)
	return f.err
}

func newChannels(f *fake) *bind.Channels {
	return &bind.Channels{Ctx: context.Background(), Service: fakeChannels{fake: f}, Timelines: fakeStore{fake: f}, Runs: fakeRuns{fake: f}}
}

// fakeKeys puts a key into fake.set, where the tests look for settings.
type fakeKeys struct {
	*fake
	bind.CredentialService
}

func (f fakeKeys) Save(_ context.Context, kind string, secret core.Secret, _ bool) (bind.SavedCredential, error) {
	if f.setErr != nil {
		return bind.SavedCredential{}, f.setErr
	}
	f.set = map[string]any{kind: secret.Reveal()}
	f.config.HasCredentials = true
	return bind.SavedCredential{Stored: true}, nil
}

func (f fakeKeys) Try(_ context.Context, kind string) (bind.KeyTrial, error) {
	return bind.KeyTrial{State: bind.KeyAccepted}, f.ask("try " + kind)
}

func (f fakeKeys) StopTrial() { _ = f.ask("stop") }

// fakeSignIn notes the calls of a sign-in.
type fakeSignIn struct{ *fake }

func (f fakeSignIn) Begin() (bind.SignInState, error) { return f.State(), f.ask("begin") }
func (f fakeSignIn) State() bind.SignInState          { return bind.SignInState{Step: bind.SignInNone} }
func (f fakeSignIn) Code(code string) (bind.SignInState, error) {
	return f.State(), f.ask("code " + code)
}
func (f fakeSignIn) End(context.Context) error { return f.ask("end") }

func (f fakeKeys) Clear(_ context.Context, kind string) error {
	_ = f.ask("clear " + kind)
	return f.setErr
}

func (f fakeKeys) List(context.Context) ([]bind.CredentialStatus, error) { return nil, f.err }

func (f fakeGate) Pending() []core.Approval { return nil }

func (f fakeGate) Answer(_ context.Context, id string, a core.ApprovalAnswer) (core.Approval, error) {
	return core.Approval{ID: id, Scope: a.Scope}, f.ask("answer " + id)
}

func (f fakeGate) Extend(id string) (core.Approval, error) {
	return core.Approval{ID: id}, f.ask("extend " + id)
}

func (f fakeGate) Status() core.GateStatus { return core.GateStatus{State: "on", Text: "Gate on"} }

func newSystem(f *fake) *bind.System {
	return &bind.System{
		Log: slog.New(slog.DiscardHandler),
		Ctx: context.Background(), Channels: fakeChannels{fake: f}, Containers: fakeContainers{fake: f}, Engine: fakeEngine{fake: f}, Image: fakeImage{fake: f}, Browsers: fakeImage{fake: f},
		Config: fakeConfig{fake: f}, Keys: fakeKeys{fake: f}, SignIn: fakeSignIn{f}, Doctors: fakeDoctor{}, Gate: fakeGate{fake: f}, Timelines: fakeStore{fake: f}, Version: "v1",
		Seq: func() uint64 { _ = f.ask("seq"); return 7 },
	}
}

// wantCode checks that err is a failure with this code, a cause and a remedy.
func wantCode(t *testing.T, err error, code core.Code) {
	t.Helper()
	f := core.AsFailure(err)
	if err == nil || f.Code != code || !strings.HasSuffix(f.Cause, ".") {
		t.Errorf("%v is no failure %q with a sentence", err, code)
	}
}

// noNull fails when a value has null where a page expects a list.
func noNull(t *testing.T, v any, fields ...string) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		if !strings.Contains(string(data), `"`+f+`":[]`) {
			t.Errorf("%s is not [] in %s", f, data)
		}
	}
}
