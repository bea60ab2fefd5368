package imagebuild

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"loop/agentimage"
	"loop/backend/core"
)

// Labels of an image made here.
const (
	LabelImageHash = "loop.image-hash"     // of its build context
	LabelClaude    = "loop.claude-version" // what was asked for; the image's own "claude --version" is exact
)

// Engine is what building needs of the container engine.
type Engine interface {
	Status(ctx context.Context) core.EngineStatus
	ImageInspect(ctx context.Context, ref string) (id string, labels map[string]string, err error)
	ImagePull(ctx context.Context, ref string, progress func(line string)) error
	ImageImport(ctx context.Context, root io.Reader, ref string) error
	ImageBuildClassic(ctx context.Context, buildContext io.Reader, o core.BuildOptions, progress func(line string)) (id string, err error)
	ImageTag(ctx context.Context, source, ref string) error
	ImageRemove(ctx context.Context, ref string) error
	ImagesNamed(ctx context.Context, labels map[string]string) (byName map[string]map[string]string, err error)
	ImagesDangling(ctx context.Context, labels map[string]string) (made map[string]time.Time, err error)
	// A base image is made in a container.
	Create(ctx context.Context, s core.Spec) (core.ContainerID, []string, error)
	Start(ctx context.Context, id core.ContainerID) error
	Wait(ctx context.Context, id core.ContainerID) (int, error)
	Logs(ctx context.Context, id core.ContainerID, n int) (string, error)
	Export(ctx context.Context, id core.ContainerID) (io.ReadCloser, error)
	Remove(ctx context.Context, id core.ContainerID, force bool) error
	EnsureVolume(ctx context.Context, name string, labels map[string]string) error
	VolumeFill(ctx context.Context, volume, image string, files []core.VolumeFile) error
	VolumeRead(ctx context.Context, volume, image, file string) ([]byte, error)
}

// Options say what is built, and with what. Engine, Settings, Log and Publish are
// required.
type Options struct {
	Engine Engine
	Recipe agentimage.Recipe // what is built; the zero one is the agent image
	// Settings is asked with each use, so that a change counts at once; a build goes
	// on with those it began with.
	Settings  func() Settings
	Base      string            // the published base; empty means debian:bookworm-slim
	Parent    string            // the image to begin with instead of the base; no other takes its place
	Args      map[string]string // further arguments of the build
	Target    string            // the stage that is wanted; empty means the last
	Labels    map[string]string // further labels of the image
	LocalCA   string            // folder whose *.crt files are added; empty: none
	GitConfig string            // path of the person's .gitconfig; absent or empty: none is given to the build
	TempDir   string            // where a base is put together; empty means the system's place
	Log       *slog.Logger
	// Publish gets every change of the status, from one goroutine at a time; it
	// must not call back.
	Publish func(core.ImageStatus)

	out *outputs // of this service's builds and those of the services that it makes
}

// Settings are the person's.
type Settings struct {
	Ref         string   // the image to use; empty means the recipe's
	NoAutobuild bool     // Ensure then only reports that the image is missing or stale
	Bare        bool     // Ensure makes a bare image where openclaw-sandbox:bookworm-slim is missing
	ExtraCA     []string // PEM files; those of SSL_CERT_FILE and NODE_EXTRA_CA_CERTS are added
	Without     []string // parts of the image that are switched off, by their names in install-tools.sh
}

const (
	// publishEvery bounds how often progress is published; five a second looks live.
	publishEvery = 200 * time.Millisecond
	// keptLines is how many of the last output lines a status carries.
	keptLines = 40
	// maxLine bounds one of them, in bytes.
	maxLine = 400
)

// Service builds an image and fills the guest volume. Methods may be
// called from any goroutine. At most one build runs; callers who want the image
// meanwhile wait for it. Close cancels it and waits.
type Service struct {
	opts   Options
	engine Engine
	log    *slog.Logger

	// The world outside of the engine, which tests play.
	guestBinary func(arch string) (data []byte, hash string, err error)
	http        *http.Client // follows the proxy environment and keeps no connection
	command     CommandFunc
	find        func(program string) (path string, err error)

	mu     sync.Mutex
	build  *build           // the one under way
	last   core.ImageStatus // what the last build came to: note, lines and failure
	closed bool

	sandbox  sandboxBuild
	projects map[string]*Service // by image and parent
	swept    map[string]bool     // folders of projects of which no earlier image is left

	guestMu sync.Mutex // held while a volume is filled, so that it happens once
	guest   string     // the volume that was seen complete
	wg      sync.WaitGroup
}

// build is one build under way.
type build struct {
	set     Settings // as it began
	rep     *reporter
	cancel  context.CancelCauseFunc
	done    chan struct{}
	err     error // valid once done is closed
	waiters int   // callers who want it; with the last one gone it is cancelled
	ending  bool  // cancelled: nobody joins it any more
}

// New returns a service; it starts nothing.
func New(o Options) *Service {
	o.Base = cmp.Or(o.Base, defaultBase)
	if o.Recipe.Ref == "" {
		o.Recipe = agentimage.Agent
	}
	if o.out == nil {
		o.out = &outputs{}
	}
	net := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	return &Service{
		opts: o, engine: o.Engine, log: o.Log,
		guestBinary: agentimage.GuestBinary, http: &http.Client{Transport: net}, command: runCommand, find: findProgram,
	}
}

// Sibling is a service for another image, with the same engine, certificates and base. The
// person's choice of an image and of its parts is for the first one. Who made it closes it.
func (s *Service) Sibling(r agentimage.Recipe, publish func(core.ImageStatus)) *Service {
	o := s.opts
	o.Recipe, o.Publish = r, publish
	o.Settings = func() Settings {
		set := s.opts.Settings()
		return Settings{NoAutobuild: set.NoAutobuild, ExtraCA: set.ExtraCA}
	}
	return New(o)
}

// settings are those of this moment.
func (s *Service) settings() Settings {
	set := s.opts.Settings()
	set.Ref = cmp.Or(set.Ref, s.opts.Recipe.Ref)
	return set
}

// managed reports whether the image is Loop's own to build. An image that the
// person named otherwise is theirs: it is used as it is and never replaced.
func (s *Service) managed(set Settings) bool {
	name, _, _ := strings.Cut(set.Ref, ":")
	own, _, _ := strings.Cut(s.opts.Recipe.Ref, ":")
	return name == own
}

// Status tells how the image stands, asking the engine unless a build is under
// way. What went wrong is in Failure.
func (s *Service) Status(ctx context.Context) core.ImageStatus {
	s.mu.Lock()
	st, b := s.last, s.build
	s.mu.Unlock()
	if b != nil {
		return b.rep.said()
	}
	set := s.settings()
	now := s.inspect(ctx, set)
	if st.Ref == now.Ref { // else the last build was of another image
		now.Note, now.Lines = st.Note, st.Lines
		if now.Failure == nil && now.State != core.ImageReady {
			now.Failure = st.Failure // why the last build did not bring it
		}
	}
	if now.Theirs && now.State == core.ImageMissing && now.Failure == nil {
		now.Note, now.Failure = s.toFetch(set)
	}
	return now
}

func (s *Service) inspect(ctx context.Context, set Settings) core.ImageStatus {
	st := core.ImageStatus{State: core.ImageUnknown, Ref: set.Ref, Theirs: !s.managed(set)}
	id, labels, err := s.engine.ImageInspect(ctx, set.Ref)
	switch {
	case errors.Is(err, core.ErrNoImage):
		st.State = core.ImageMissing
	case err != nil:
		st.Failure = core.AsFailure(err)
	case s.managed(set) && labels[LabelImageHash] != s.opts.Recipe.Hash(set.Without):
		st.State, st.ID = core.ImageStale, id
	default:
		st.State, st.ID = core.ImageReady, id
	}
	return st
}

// errCancelled is the cause of a build that the person ended.
var errCancelled = errors.New("cancelled by the person")

func cancelled(why error) error {
	return core.Fail(core.CodeCancelled, why, "The image build was cancelled.",
		"Start it again when you are ready; nothing half-made was left.")
}

// Ensure returns once an image can be used; an empty ref is that of the settings. Loop's own is
// built: at once when it is there and up to date, after the build when one is under way or,
// with autobuild, needed. A stale image stays usable when its rebuild fails; the status then
// says both. Another image is used as it is, and pulled where it is missing; NotThere says that
// it cannot be had.
func (s *Service) Ensure(ctx context.Context, ref string) error {
	set := s.settings()
	set.Ref = cmp.Or(ref, set.Ref)
	s.mu.Lock()
	b := s.build
	s.mu.Unlock()
	if b != nil && s.managed(set) {
		err := s.buildOf(ctx, set)
		if b.set.Ref != set.Ref && ctx.Err() == nil {
			return s.Ensure(ctx, ref) // it was of the image that the settings named before
		}
		return s.usable(ctx, s.inspect(ctx, set), err)
	}
	st := s.inspect(ctx, set)
	switch {
	case st.Failure != nil:
		return st.Failure
	case st.State == core.ImageReady:
		return nil
	case !s.managed(set):
		err := s.fetch(ctx, set)
		s.fetched(ctx, set, err)
		return err
	case set.NoAutobuild && st.State == core.ImageStale:
		return nil
	case set.NoAutobuild:
		return core.Fail(core.CodeNoImage, core.ErrNoImage, "The "+s.opts.Recipe.Name+" is not built.",
			"Build it with the button in the status bar or with “loop image build”.")
	}
	return s.usable(ctx, st, s.buildOf(ctx, set))
}

// usable is nil as well if a build failed and there is an image.
func (s *Service) usable(ctx context.Context, st core.ImageStatus, err error) error {
	if err != nil && st.ID != "" && !errors.Is(err, errCancelled) && ctx.Err() == nil {
		s.log.Warn("the image could not be rebuilt; using it as it is", "err", err)
		return nil
	}
	return err
}

// Build builds the image, or waits for the build that is under way; one that was
// cancelled is waited for and followed by another. When ctx of every caller has
// ended, so does the build. Errors are core.Failure with
// CodeImageBuild, CodeCancelled, CodeDiskFull or one of the engine's.
func (s *Service) Build(ctx context.Context) error { return s.buildOf(ctx, s.settings()) }

func (s *Service) buildOf(ctx context.Context, set Settings) error {
	s.mu.Lock()
	for s.build != nil && s.build.ending {
		old := s.build.done
		s.mu.Unlock()
		select {
		case <-old:
		case <-ctx.Done():
			return ctx.Err()
		}
		s.mu.Lock()
	}
	if s.closed {
		s.mu.Unlock()
		return cancelled(errCancelled)
	}
	b := s.build
	if b == nil {
		if !s.managed(set) {
			s.mu.Unlock()
			return core.Fail(core.CodeInvalid, nil, "The image "+set.Ref+" is not one that Loop builds.",
				"Remove container_image from the settings to use Loop's own.")
		}
		// The build belongs to the service, not to the caller that came first.
		run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		b = &build{set: set, cancel: cancel, done: make(chan struct{})}
		b.rep = &reporter{s: s, dirty: true, st: core.ImageStatus{State: core.ImageBuilding, Ref: set.Ref, Step: "Starting"}}
		b.rep.out = s.opts.out.begin(set.Ref, s.opts.Recipe.Name)
		s.build = b
		s.wg.Go(func() { s.run(run, b) })
	}
	b.waiters++
	s.mu.Unlock()

	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
	}
	s.mu.Lock()
	b.waiters--
	if b.waiters == 0 {
		b.ending = true
		b.cancel(ctx.Err())
	}
	s.mu.Unlock()
	return ctx.Err()
}

// Building reports whether a build is under way, for callers that want to say
// that they wait.
func (s *Service) Building() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.build != nil
}

// Cancel ends the build under way, if any, and those of a sandbox image and of projects' own, and
// waits until their leftovers are removed.
func (s *Service) Cancel() {
	s.mu.Lock()
	b := s.build
	if b != nil {
		b.ending = true
	}
	s.mu.Unlock()
	if b != nil {
		b.cancel(errCancelled)
		<-b.done
	}
	s.cancelSandbox()
	for _, one := range s.projectBuilds() {
		one.Cancel()
	}
}

// Close cancels a build under way, waits for it and refuses further ones.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Cancel()
	s.wg.Wait()
	if one := s.sandbox.builds; one != nil {
		one.Close()
	}
	for _, one := range s.projectBuilds() {
		one.Close()
	}
}

// run is the goroutine of one build.
func (s *Service) run(ctx context.Context, b *build) {
	defer b.cancel(nil)
	made := make(chan struct{})
	var publishing sync.WaitGroup
	publishing.Go(func() { b.rep.publishLoop(made) })
	err := s.make(ctx, b.set, b.rep)
	close(made)
	publishing.Wait()

	said := b.rep.said()
	if err != nil {
		err = explain(ctx, s.opts.Recipe.Name, err, said.Lines)
		s.log.Error("image build", "err", err)
	}
	final := s.inspect(context.WithoutCancel(ctx), b.set)
	final.Note, final.Lines = said.Note, said.Lines
	if err != nil {
		final.Failure = core.AsFailure(err)
	}
	s.mu.Lock()
	s.last, s.build = final, nil
	s.mu.Unlock()
	s.opts.Publish(final)
	b.err = err
	close(b.done)
}
