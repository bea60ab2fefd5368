package bind

import (
	"context"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/doctor"
)

// System is bound as window.go.bind.System.
type System struct {
	Ctx        context.Context   `json:"-"`
	Channels   ChannelService    `json:"-"`
	Containers ContainerService  `json:"-"`
	Engine     EngineService     `json:"-"`
	Image      AgentImages       `json:"-"`
	Browsers   ImageService      `json:"-"` // of the image that browsers run in
	Config     ConfigService     `json:"-"`
	Keys       CredentialService `json:"-"`
	SignIn     SignInService     `json:"-"`
	Explainer  Explainer         `json:"-"`
	Doctors    DoctorService     `json:"-"`
	Gate       GateService       `json:"-"`
	Timelines  TimelineStore     `json:"-"`
	Seq        func() uint64     `json:"-"`
	Launch     string            `json:"-"`
	Version    string            `json:"-"`
	Window     Native            `json:"-"`
	Life       Life              `json:"-"` // nil: there is no window
	Kept       PageMemory        `json:"-"`
	MaxRuns    int               `json:"-"`
	// Looked hears what the person looks at; nil: nothing rings here.
	Looked func(looking bool, at core.ChannelID) `json:"-"`
	Log    *slog.Logger                          `json:"-"`

	asked sync.Once
}

// Mode says what shows the page.
type Mode string

const (
	ModeWindow   Mode = "window"
	ModeHeadless Mode = "headless"
)

// Snapshot is everything the frame shows, as of event Seq.
type Snapshot struct {
	Seq        uint64             `json:"seq"`
	Launch     string             `json:"launch"` // numbers of another launch mean nothing in this one
	Version    string             `json:"version"`
	Mode       Mode               `json:"mode"`
	Engine     core.EngineStatus  `json:"engine"`
	Image      core.ImageStatus   `json:"image"`
	Channels   []core.ChannelView `json:"channels"`
	Containers []core.Container   `json:"containers"`
	Config     ConfigStatus       `json:"config"`
	CostToday  core.DayCost       `json:"cost_today"`
	Gate       core.GateStatus    `json:"gate"`
	Approvals  []core.Approval    `json:"approvals"` // those that wait, oldest first
	MaxRuns    int                `json:"max_runs"`  // under way at once, over all channels
}

// Snapshot reads the number first: what happens while the rest is read comes
// again as an event, and events are safe to apply twice.
func (s *System) Snapshot() (Snapshot, error) {
	snap := Snapshot{Seq: s.Seq(), Launch: s.Launch, Version: s.Version, Mode: ModeHeadless, MaxRuns: s.MaxRuns}
	if s.Window != nil {
		snap.Mode = ModeWindow
	}
	// A start is over for the person when the page asks for the first time.
	s.asked.Do(func() { s.Log.Info("first page") })
	snap.Engine = s.Engine.Status(s.Ctx)
	snap.Image = s.ImageStatus()
	snap.Config = s.Config.Status()
	snap.Gate, snap.Approvals = s.Gate.Status(), orEmpty(s.Gate.Pending())
	var err error
	if snap.Channels, err = s.Channels.List(s.Ctx); err != nil {
		return Snapshot{}, err
	}
	snap.Containers = s.Containers.List()
	now := time.Now()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	if snap.CostToday, err = s.Timelines.CostSince(s.Ctx, midnight); err != nil {
		return Snapshot{}, err
	}
	snap.Channels, snap.Containers, snap.Config.Problems = orEmpty(snap.Channels), orEmpty(snap.Containers), orEmpty(snap.Config.Problems)
	return snap, nil
}

// Doctor performs every check; it takes a few seconds.
func (s *System) Doctor() (doctor.Report, error) { return s.Doctors.Check(s.Ctx), nil }

// Fix puts right what a check offers to, and returns the check as it is then. Building the
// image takes minutes.
func (s *System) Fix(id string) (doctor.Check, error) { return s.Doctors.Fix(s.Ctx, id) }

// imageWait bounds how long the page waits for the engine, which may hang.
const imageWait = 2 * time.Second

// ImageStatus returns the state of the agent image.
func (s *System) ImageStatus() core.ImageStatus {
	ctx, cancel := context.WithTimeout(s.Ctx, imageWait)
	defer cancel()
	return s.Image.Status(ctx)
}

// BuildImage builds the agent image and returns when it is done.
func (s *System) BuildImage() error { return s.Image.Build(s.Ctx) }

// BrowserImageStatus returns the state of the image that browsers run in.
func (s *System) BrowserImageStatus() core.ImageStatus {
	ctx, cancel := context.WithTimeout(s.Ctx, imageWait)
	defer cancel()
	return s.Browsers.Status(ctx)
}

// BuildBrowserImage builds the image that browsers run in, which the first browser would
// do, and returns when it is done.
func (s *System) BuildBrowserImage() error { return s.Browsers.Build(s.Ctx) }

// SandboxImageStatus returns the state of the image “sandbox” or “sandbox-common”, or of the
// one of those that is being built.
func (s *System) SandboxImageStatus(kind string) core.ImageStatus {
	ctx, cancel := context.WithTimeout(s.Ctx, imageWait)
	defer cancel()
	return s.Image.SandboxStatus(ctx, kind)
}

// BuildSandboxImage builds one of OpenClaw's images and returns when it is done.
func (s *System) BuildSandboxImage(w core.SandboxImage) error { return s.Image.BuildSandbox(s.Ctx, w) }

// BuildOutput is what the build of an image said that began last since Loop was started.
func (s *System) BuildOutput() core.BuildOutput { return s.Image.Output() }

// CancelImageBuild stops builds under way.
func (s *System) CancelImageBuild() error { s.Image.Cancel(); s.Browsers.Cancel(); return nil }

// ListContainers lists what this Loop folder has made, with who holds it and when it ends.
func (s *System) ListContainers() []core.ContainerView { return orEmpty(s.Containers.Views()) }

// SetTheme stores dark, light, system or the name of an imported theme.
func (s *System) SetTheme(theme string) error {
	return s.Config.Set(s.Ctx, "global", "", "theme", theme)
}

// SetDoNotDisturb stores whether the desktop is to show no notifications.
func (s *System) SetDoNotDisturb(on bool) error {
	return s.Config.Set(s.Ctx, "global", "", "do_not_disturb", on)
}

// Look says whether the person looks at the window, and which channel it shows.
func (s *System) Look(looking bool, channelID string) error {
	if s.Looked != nil {
		s.Looked(looking, core.ChannelID(channelID))
	}
	return nil
}

// OpenURL opens a web page in the person's browser. Only http and https: any
// other scheme in agent text could start a program.
func (s *System) OpenURL(link string) error {
	u, err := url.Parse(link)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return core.Fail(core.CodeInvalid, err, "Loop opens web addresses only.", "Copy the link if you trust it.")
	}
	if s.Window == nil {
		return core.Fail("no_native_dialog", nil, "Only Loop's window opens links here.", "Click the link in the browser.")
	}
	return s.Window.OpenURL(u.String())
}

// Explainer resolves the container that a channel's next run would get.
type Explainer interface {
	Explain(ctx context.Context, id core.ChannelID, plan bool) (core.Explanation, error)
}

// Explain says where the value of each field comes from, for the container that the
// channel's next run would get, and which mounts are left out and why. plan says that
// the run is to plan first. Nothing is made or changed. Credentials are not among the
// values.
func (s *System) Explain(channelID string, plan bool) (core.Explanation, error) {
	why, err := s.Explainer.Explain(s.Ctx, core.ChannelID(channelID), plan)
	why.Origins = orEmpty(why.Origins)
	return why, err
}

// PageMemory keeps short texts by name: layouts, sizes and open panels for the page's
// next start.
type PageMemory interface {
	All() map[string]string
	Keep(key, value string) error
}

// Memory returns everything that the page has asked to keep.
func (s *System) Memory() map[string]string { return s.Kept.All() }

// Keep stores a value under a name, or forgets the name when the value is empty.
func (s *System) Keep(key, value string) error { return s.Kept.Keep(key, value) }
