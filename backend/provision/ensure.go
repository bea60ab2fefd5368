package provision

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/sandbox"
	"loop/backend/wire"
)

// releaseTime bounds giving back a container that could not be used after all.
const releaseTime = 15 * time.Second

// Settings reads what counts for a channel now. Each call reads anew. Errors are
// *core.Failure: a file that cannot be used may have said “network none”.
type Settings interface {
	ForChannel(ctx context.Context, ch core.Channel) (Values, error)
}

// Values are the settings of one channel as far as its containers go.
type Values struct {
	Container sandbox.Settings // Image is always set
	// OverNetwork says that what is to run reaches its model over the network, so
	// that a container without one is refused.
	OverNetwork bool
	// Setup is what agents have of the person's own Claude set-up.
	Setup SetupGrant
	// Others are the channels that share the container of all, where this one does.
	Others []core.Channel
	// Key is the model's, as programs of the channel get it. Only a digest is kept.
	Key     core.Secret
	Notices []string // what of the settings is not in force, in sentences
	Browser Browser
	// Child is the project's own image, which takes the place of the settings'; nil without one.
	Child *core.ProjectImage
	// Undecided is the path of what such an image is made of, on which the person has not
	// decided yet; empty if there is none. Who works for a person asks them first.
	Undecided string
	// OnHost says that runs of the channel work on this computer itself, without a
	// container. Only the person's own settings file may say so. It counts for a Want that
	// allows it; everything else gets a container all the same.
	OnHost bool
}

// SetupGrant is the person's word on their own Claude set-up.
type SetupGrant struct {
	Granted bool
	Allow   []string // what runs programs or sets variables, and may come along
	From    core.SettingsOrigin
}

// ClaudeSetup reads the person's own Claude set-up, and keeps copies of it in a state.
type ClaudeSetup interface {
	Survey(allow []string) (core.ClaudeSetup, error)
	// Place has the Claude folder of a state hold what was granted, and nothing else of it.
	Place(granted bool, allow []string, dir string) error
}

// Browser are the settings of a channel's browser, which is an image of its own.
type Browser struct {
	Container sandbox.BrowserSettings
	Image     string
}

// Images are the agent image and the volume with loop init.
type Images interface {
	// Ensure has an image be there: Loop's own is built where it is missing or stale, another
	// is pulled where it is missing.
	Ensure(ctx context.Context, ref string) error
	// GuestVolume is the name of the volume, filled by means of an image that is there.
	GuestVolume(ctx context.Context, ref string) (string, error)
	// ForgetGuestVolume has the next GuestVolume look again whether it is whole.
	ForgetGuestVolume()
}

// ProjectImages are those that projects have Dockerfiles of their own for.
type ProjectImages interface {
	// EnsureProject has the image be there, on the base as that is now, which it sees to first.
	EnsureProject(ctx context.Context, p core.ProjectImage) error
}

// Engine says which image a reference means; core.ErrNoImage when there is none.
type Engine interface {
	ImageInspect(ctx context.Context, ref string) (id string, labels map[string]string, err error)
}

// Health is the engine's last known state.
type Health interface {
	Status(ctx context.Context) core.EngineStatus
}

// Computer is the one that Loop runs on.
type Computer interface {
	// Host gathers what Resolve has to know of it.
	Host(ctx context.Context, st core.EngineStatus) (sandbox.Host, error)
	// Prepare makes the folders and files that the spec needs; notices say what was
	// left out.
	Prepare(spec core.Spec, host sandbox.Host) (notices []string, err error)
	// PrepareOnHost makes what a run without a container needs.
	PrepareOnHost(spec core.Spec) (notices []string, err error)
	// Places is another text once a folder or file that the mounts lead to was replaced.
	Places(spec core.Spec) string
}

// Containers makes and starts containers, keeps them for their holders, and ends them
// when nobody holds them.
type Containers interface {
	// Acquire holds the container of the spec's scope that may serve with these rights,
	// or makes one.
	Acquire(ctx context.Context, spec core.Spec, rights string, by core.Holder) (core.Container, error)
	// Release gives back everything that a holder holds.
	Release(ctx context.Context, h core.Holder, e core.Ending) error
	// InScopes are those of scopes that take new work.
	InScopes(scopes ...string) []core.Container
}

// Links opens the link into a container and returns after its hello.
type Links interface {
	Open(ctx context.Context, c core.Container) (core.Link, error)
}

// Options of a Service; all are required, Browsers where browsers are wanted.
type Options struct {
	Install    string // value of the loop-install label
	Settings   Settings
	Images     Images
	Projects   ProjectImages
	Browsers   Images // the browser's image
	Engine     Engine
	Health     Health
	Computer   Computer
	Containers Containers
	Links      Links
	Setup      ClaudeSetup // nil: there is none
	Log        *slog.Logger
}

// Service provisions containers. Methods may be called from any goroutine.
type Service struct {
	o   Options
	now func() time.Time // time.Now; tests replace it
}

// New returns a Service that does nothing by itself.
func New(o Options) *Service { return &Service{o, time.Now} }

// Want says what a container is for.
type Want struct {
	Channel core.Channel
	Type    core.ContainerType // empty is an agent's
	Run     core.RunID         // empty for all but runs
	Plan    bool               // the run plans first: nothing of the project can be written
	// PlanGated says that the gate refuses what a plan may not write. Then the container
	// is an ordinary one; otherwise its mounts are read-only.
	PlanGated bool
	// Shared lets others of the channel use the container too, and this one what they use.
	// Without it the container is made anew, and ends with its holder.
	Shared bool
	Holder core.Holder // of no other container; a lease gives back all that it holds
	// Settings are read instead of the service's, by those who need more of the
	// same reading. Who shares a container gives those of runs, which have the key: by
	// another key, or none, the container would not serve, and a new one take its place.
	Settings Settings
	// OnHost allows the run's place to be this computer itself, where the settings have
	// that. Who wants something for what an agent started must not set it.
	OnHost bool
	// NoBuild makes a missing image an error, where Ensure would build it.
	NoBuild bool
	// Begun says that the agent has worked on this before: its copies of the
	// person's files stay as it left them.
	Begun bool
	// Ready gets what will be made, immediately before it is made; an error is
	// Ensure's. It is called once more if the volume with loop init had to be filled
	// again.
	Ready func(Resolved) error
	Link  bool // open a link as well
}

// Resolved is what a Want comes to.
type Resolved struct {
	Spec core.Spec
	Why  core.Explanation
	// Env holds the variables of the settings and the channel, and DockerConfig the Docker
	// CLI's file. They go with a spawn and never into the spec.
	Env          []core.EnvVar
	DockerConfig []byte
	OnHost       bool // the run's place is this computer itself; Spec has its folders and no container

	// Setup is what the channel's agents have of the person's own Claude set-up.
	Setup core.ClaudeSetup

	grant   SetupGrant
	rights  string
	imageID string
	fixed   string // what Spec.Fixed is made of, besides the places of the mounts
	host    sandbox.Host
}

// place has Spec.Fixed say where the mounts lead now. A container goes on showing a folder
// that was replaced since, in which nobody would find what the agent writes.
func (r *Resolved) place(c Computer) {
	sum := sha256.Sum256([]byte(r.fixed + c.Places(r.Spec)))
	r.Spec.Fixed = hex.EncodeToString(sum[:])
}

// Lease is a container for as long as its holder needs it.
type Lease struct {
	Resolved
	Container core.Container
	Fresh     bool      // the container was made for this lease
	Link      core.Link // nil unless wanted; the lease closes it

	containers Containers
	holder     core.Holder
}

// Release closes the link and gives the container back. It is called once.
func (l *Lease) Release(ctx context.Context, e core.Ending) error {
	var err error
	if l.Link != nil {
		err = l.Link.Close()
	}
	return errors.Join(err, l.containers.Release(ctx, l.holder, e))
}

// Ensure makes and starts the container, the image first where it is missing.
// On an error nothing of the container is left to the caller. Errors name the
// step, and wrap what its port said.
func (s *Service) Ensure(ctx context.Context, w Want) (*Lease, error) {
	if w.Shared && w.Settings == nil {
		return nil, core.Fail(core.CodeInternal, nil, "The container was not asked for, because it is not known with which key.", "")
	}
	v, err := s.settings(w).ForChannel(ctx, w.Channel)
	if err != nil {
		return nil, fmt.Errorf("resolve container: %w", err)
	}
	if w.OnHost && v.OnHost {
		return s.onHost(ctx, w, v)
	}
	w.Settings = asRead{s.settings(w), v, s.now, s.now()}
	if !w.NoBuild {
		if err := s.ensureImage(ctx, w, v); err != nil {
			return nil, fmt.Errorf("image: %w", err)
		}
	}
	l, err := s.start(ctx, w)
	// An engine silently puts an empty volume in the place of one that somebody
	// removed. It names the file that it misses, in whatever words.
	if err != nil && strings.Contains(err.Error(), wire.GuestBinary) {
		s.o.Log.Warn("loop init is not in its volume, filling it again", "err", err)
		s.images(w).ForgetGuestVolume()
		l, err = s.start(ctx, w)
	}
	if err != nil || !w.Link {
		return l, err
	}
	link, err := s.o.Links.Open(ctx, l.Container)
	if err != nil {
		rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("open link: %w", err), l.Release(rctx, core.Ending{Now: true}))
	}
	l.Link = link
	return l, nil
}

// start is Ensure from the settings to a container that runs.
func (s *Service) start(ctx context.Context, w Want) (*Lease, error) {
	r, err := s.Resolve(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("resolve container: %w", err)
	}
	if !w.Begun && w.Type != core.TypeChrome { // which has nothing of the host
		notices, err := s.o.Computer.Prepare(r.Spec, r.host)
		if err != nil {
			return nil, fmt.Errorf("prepare container: %w", err)
		}
		r.Why.Notices = append(r.Why.Notices, notices...)
		r.place(s.o.Computer) // with what was made just now
		if err := s.placeSetup(r); err != nil {
			return nil, err
		}
	}
	if s.settingUp(r.Spec) {
		r.Why.Notices = append(r.Why.Notices, fmt.Sprintf("The container is a new one and is set up first: its setupCommand runs as root, "+
			"for %d minutes at most. “loop logs” shows what it says.", int(wire.SetupTime.Minutes())))
	}
	if w.Ready != nil {
		if err := w.Ready(r); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	c, err := s.o.Containers.Acquire(ctx, r.Spec, r.rights, w.Holder)
	if err != nil {
		return nil, fmt.Errorf("start container: %w", err)
	}
	fresh := !c.CreatedAt.Before(began)
	return &Lease{Resolved: r, Container: c, Fresh: fresh, containers: s.o.Containers, holder: w.Holder}, nil
}

// settingUp reports whether a container of the spec is likely to be set up first.
func (s *Service) settingUp(spec core.Spec) bool {
	if spec.Setup.Command == "" {
		return false
	}
	return spec.Scope == "" || !slices.ContainsFunc(s.o.Containers.InScopes(spec.Scope), func(c core.Container) bool {
		return c.Fixed == spec.Fixed
	})
}

// Kept says, for the person, that a container goes on with settings of before because it
// was used a moment ago; empty where it has those of now.
func (l *Lease) Kept() string {
	if l.Container.Hash == l.Spec.Hash {
		return ""
	}
	return fmt.Sprintf("The settings of this channel's container were changed. It was used a moment ago, so it goes on as it is; "+
		"once nobody has used it for %d minutes, the next run gets a new one. “loop recreate --channel %s” has that happen at once.",
		int(core.HotWindow.Minutes()), l.Container.ChannelID)
}

// Renewed says, for the person, that the container is another than that of before, and why;
// empty where there is nothing to say.
func (l *Lease) Renewed() string {
	if !l.Fresh || l.Container.Why == "" {
		return ""
	}
	return "The channel's container is a new one. It " + l.Container.Why +
		". Programs that were left there have ended, and files in its /tmp are gone."
}

// Resolve says what Ensure would make. It changes nothing, builds no image, and
// calls the engine only to look. With an error, Why holds what was explained by then,
// and Env is there if the settings could be read.
func (s *Service) Resolve(ctx context.Context, w Want) (r Resolved, err error) {
	v, err := s.settings(w).ForChannel(ctx, w.Channel)
	if err != nil {
		return r, err
	}
	if w.OnHost && v.OnHost {
		return s.resolveOnHost(ctx, w, v)
	}
	r.Why.Notices = v.Notices
	if r.host, err = s.o.Computer.Host(ctx, s.o.Health.Status(ctx)); err != nil {
		return r, err
	}
	if w.Type == core.TypeChrome {
		return s.resolveBrowser(ctx, w, v.Browser, r)
	}
	if r.Env, err = sandbox.SpawnEnv(v.Container, r.host, w.Channel.ID); err != nil {
		return r, err
	}
	r.rights = rightsOf(s.o.Install, v.Key, r.Env)
	image, there, imageID, labels, err := s.image(ctx, w, &v)
	if err != nil {
		return r, err
	}
	volume, err := s.o.Images.GuestVolume(ctx, there)
	if err != nil {
		return r, err
	}
	r.Spec, r.Why, err = sandbox.Resolve(v.Container, s.subject(w, v, image, imageID, volume), r.host)
	if w.Plan && w.PlanGated {
		r.Why.Notices = append(r.Why.Notices,
			"This run plans first: the gate refuses every write but those of the agent's own state and of temporary files.")
	}
	if there != image {
		r.Why.Notices = append(r.Why.Notices, "The project's own image is not built yet. It is built before the next run begins.")
	}
	if labels[core.LabelBareImage] != "" {
		r.Why.Notices = append(r.Why.Notices, "The image "+image+" is degraded: a bare Debian with Claude Code, without git, python3 "+
			"and other tools. “loop image build sandbox” makes the whole one.")
	}
	r.Why.Notices = append(r.Why.Notices, v.Notices...)
	if err != nil {
		return r, err
	}
	if r.Setup, err = s.surveySetup(v.Setup, &r.Why); err != nil {
		return r, err
	}
	r.grant, r.imageID = v.Setup, imageID
	r.fixed = r.Spec.Fixed
	r.place(s.o.Computer)
	r.DockerConfig, err = sandbox.DockerConfig(v.Container, r.host)
	return r, err
}

func (s *Service) subject(w Want, v Values, image, imageID, volume string) sandbox.Subject {
	return sandbox.Subject{
		Channel: w.Channel, RunID: w.Run, Plan: w.Plan && !w.PlanGated, Type: cmp.Or(w.Type, core.TypeAgent), Image: image, ImageID: imageID,
		GuestVolume: volume, InstallID: s.o.Install, NameSuffix: core.NewID()[:6], ModelOnRelay: !v.OverNetwork,
		ParentDir: w.Channel.ParentDir, Shared: w.Shared, Others: v.Others,
	}
}

// Look is a spec for somebody who only wants to know which folders a container would have.
// It asks no engine: image, hashes and the volume with loop init stand for nothing.
func (s *Service) Look(ctx context.Context, w Want) (core.Spec, error) {
	v, err := s.settings(w).ForChannel(ctx, w.Channel)
	if err != nil {
		return core.Spec{}, err
	}
	host, err := s.o.Computer.Host(ctx, s.o.Health.Status(ctx))
	if err != nil {
		return core.Spec{}, err
	}
	spec, _, err := sandbox.Resolve(v.Container, s.subject(w, v, v.Container.Image.Value, "none", "loop-guest-none"), host)
	return spec, err
}

// Scopes are the scopes of the containers in which a channel's work may be.
func (s *Service) Scopes(ctx context.Context, ch core.Channel) ([]string, error) {
	v, err := s.o.Settings.ForChannel(ctx, ch)
	return sandbox.ScopesOf(v.Container, ch), err
}

// rightsOf is a digest of the credentials that programs get: the model's key, and those
// among their variables. The install's id keeps it from being looked up in a table.
func rightsOf(install string, key core.Secret, env []core.EnvVar) string {
	mac := hmac.New(sha256.New, []byte(install))
	write := func(s string) { fmt.Fprintf(mac, "%d:%s", len(s), s) }
	write(key.Reveal())
	for _, v := range env {
		if v.Secret {
			write(v.Name)
			write(v.Value)
		}
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// images are those that a Want is made of.
func (s *Service) images(w Want) Images {
	if w.Type == core.TypeChrome {
		return s.o.Browsers
	}
	return s.o.Images
}

// resolveBrowser is Resolve for the container of a browser.
func (s *Service) resolveBrowser(ctx context.Context, w Want, b Browser, r Resolved) (Resolved, error) {
	imageID, _, err := s.o.Engine.ImageInspect(ctx, b.Image)
	if err != nil {
		return r, err
	}
	volume, err := s.o.Browsers.GuestVolume(ctx, b.Image)
	if err != nil {
		return r, err
	}
	if !s.o.Health.Status(ctx).Traits.Seccomp {
		b.Container.Seccomp = ""
	}
	notices := r.Why.Notices
	r.Spec, r.Why, err = sandbox.ResolveBrowser(b.Container, sandbox.Subject{
		Channel: w.Channel, Type: core.TypeChrome, Image: b.Image, ImageID: imageID, GuestVolume: volume, InstallID: s.o.Install,
	}, r.host)
	r.Why.Notices = append(r.Why.Notices, notices...)
	return r, err
}
