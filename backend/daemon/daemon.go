package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"loop/agentimage"
	"loop/backend/agentcopy"
	"loop/backend/api"
	"loop/backend/attachments"
	"loop/backend/bind"
	"loop/backend/browser"
	"loop/backend/bus"
	"loop/backend/callbacks"
	"loop/backend/channels"
	"loop/backend/claudesetup"
	"loop/backend/closing"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/credentials"
	"loop/backend/demo"
	"loop/backend/dialog"
	"loop/backend/doctor"
	"loop/backend/eagerstart"
	"loop/backend/engine"
	"loop/backend/filebridge"
	"loop/backend/footage"
	"loop/backend/gate"
	"loop/backend/gate/auditlog"
	"loop/backend/guestlink"
	"loop/backend/hostfacts"
	"loop/backend/hostrun"
	"loop/backend/imagebuild"
	"loop/backend/instance"
	"loop/backend/inventory"
	"loop/backend/logfile"
	"loop/backend/openeditor"
	"loop/backend/pagememory"
	"loop/backend/provision"
	"loop/backend/recordings"
	"loop/backend/registry"
	"loop/backend/review"
	"loop/backend/rewind"
	"loop/backend/rulebook"
	"loop/backend/runexport"
	"loop/backend/runner"
	"loop/backend/sandbox"
	"loop/backend/settings"
	"loop/backend/slashcommands"
	"loop/backend/spools"
	"loop/backend/store"
	"loop/backend/talks"
	"loop/backend/terminal"
	"loop/backend/terminal/programs"
	"loop/backend/workspace"
	"loop/backend/worktree"
)

// Options are what main knows.
type Options struct {
	Version  string
	Addr     string          // of the loopback listener; empty: the configuration's, else a free port
	Frontend fs.FS           // the built page
	Window   bind.Native     // nil headless
	Saves    bind.SaveDialog // nil headless
	Dialogs  dialog.Asker    // shows approvals while the window is out of sight; may be nil
	Frame    dialog.Frame    // the window as the desktop has it; set where Dialogs is
	Notices  dialog.Notifier // tells of those that wait behind a dialog; set where Dialogs is
	Desktop  bool            // this binary can open a window
	Command  bool            // it ends with one command
}

// Daemon is a running Loop. New makes it, Start begins work, Close ends it.
type Daemon struct {
	opts   Options
	home   string
	log    *slog.Logger
	logEnd *logfile.File

	lock       *flock.Flock
	config     *config.Source
	vault      *credentials.Vault
	setup      claudesetup.Setup
	copies     *agentcopy.Copies
	settings   *settings.Service
	store      *store.Store
	bus        *bus.Bus
	engine     *engine.Docker
	health     *engine.Health
	images     *imagebuild.Service
	chromes    *imagebuild.Service // the browser's image
	containers *registry.Registry
	provision  *provision.Service
	runner     *runner.Service
	eager      *eagerstart.Service
	pictures   attachments.Files
	files      *filebridge.Service
	rewind     *rewind.Service
	inventory  *inventory.Service
	channels   *channels.Service
	reviews    *review.Service
	terminals  *terminal.Service
	recordings *recordings.Store
	talks      *talks.Service
	callbacks  *lateCallbacks
	browsers   *browser.Service
	footage    *footage.Service
	gate       *gate.Service
	decisions  rulebook.Decisions
	ruleHits   *rulebook.Hits
	guestTCP   *guestlink.Listener
	hostTCP    *guestlink.Listener // for runs on this computer itself
	host       *hostrun.Service
	links      *guestlink.Pool
	bound      bound
	calls      api.Calls
	events     *api.Batches
	api        *api.Server
	life       closing.Life
	bell       *dialog.Bell // where there is a window
	token      string

	ctx    context.Context // the app's life
	stop   context.CancelFunc
	work   sync.WaitGroup
	closed sync.Once
	err    error
}

// bound are the structs the window and the page call.
type bound struct {
	channels   *bind.Channels
	runs       *bind.Runs
	settings   *bind.Settings
	system     *bind.System
	terminals  *bind.Terminals
	containers *bind.Containers
	workspaces *bind.Workspaces
	review     *bind.Review
	files      *bind.Files
	gate       *bind.Gate
	gateLog    *bind.GateLog
	gateRules  *bind.GateRules
	footage    *bind.Footage
	rewind     *bind.Rewind
}

// NewOrShow is New, or has the instance that works on the Loop folder bring its
// window to the front; then there is no Daemon.
func NewOrShow(ctx context.Context, opts Options) (*Daemon, error) {
	return instance.OpenOrShow(ctx, config.Home, func() (*Daemon, error) { return New(ctx, opts) })
}

// New opens everything in start order and starts nothing that works on its
// own. On an error what was opened is closed again.
func New(ctx context.Context, opts Options) (_ *Daemon, err error) {
	d := &Daemon{opts: opts, token: instance.NewToken()}
	d.ctx, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			_ = d.Close()
		}
	}()
	if d.home, err = config.Home(); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(d.home, 0o700); err != nil {
		return nil, core.Fail(core.CodeConfig, err, fmt.Sprintf("Loop could not make its folder %s.", d.home),
			"Check who owns the folder above it, or set LOOP_HOME to another place.")
	}
	if d.home, err = filepath.EvalSymlinks(d.home); err != nil {
		return nil, fmt.Errorf("resolve Loop's folder: %w", err)
	}
	if d.lock, err = instance.Lock(d.home); err != nil {
		return nil, err
	}
	d.config = config.NewSource(filepath.Join(d.home, config.FileName))
	cfg := d.config.Current().Config
	if d.log, d.logEnd, err = logfile.Open(logfile.Options{
		Path: cmp.Or(cfg.LogFile, filepath.Join(d.home, "loop.log")), Level: cfg.LogLevel, Format: cfg.LogFormat,
	}); err != nil {
		return nil, err
	}
	if d.store, err = store.Open(ctx, cmp.Or(cfg.DBPath, filepath.Join(d.home, "loop.db")), store.Options{Now: time.Now}); err != nil {
		return nil, err
	}
	d.config.Subscribe(func(s config.Snapshot) { d.logEnd.SetLevel(s.Config.LogLevel) })
	d.bus = bus.New()
	d.events = api.NewBatches(d.bus)
	d.vault = settings.OpenVault(d.home)
	home, _ := os.UserHomeDir() // without one there is no set-up
	d.copies = agentcopy.New(d.home)
	d.setup = claudesetup.Of(home, os.Getenv, sandbox.ClaudeDir)
	d.settings = settings.New(settings.Options{
		Home: d.home, Source: d.config, Vault: d.vault, Channels: d.store, Publish: d.bus.Publish, Survey: d.setup.Survey, Log: d.log,
	})
	d.engine = engine.Open(engine.Options{Host: cfg.DockerHost, Folder: d.home, Log: d.log})
	d.health = engine.NewHealth(d.engine, d.bus.Publish)
	d.images = imagebuild.New(imagebuild.Options{
		Engine: d.engine,
		Settings: func() imagebuild.Settings {
			c := d.settings.Current()
			return imagebuild.Settings{
				Ref: c.ContainerImage, NoAutobuild: !c.ContainerImageAutobuild, ExtraCA: c.ExtraCAFiles, Without: c.ImageTools.Off(),
				Bare: c.ContainerImageBare,
			}
		},
		LocalCA: imagebuild.LocalCADir, GitConfig: imagebuild.PersonsGitConfig(), Log: d.log,
		Publish: func(st core.ImageStatus) { d.bus.Publish(core.NewEvent(core.EventImageBuild, "", "", time.Now(), st)) },
	})
	d.chromes = d.images.Sibling(agentimage.Chrome, func(st core.ImageStatus) { d.browsers.Building(st) })
	d.containers = registry.New(registry.Options{
		Install: d.store.InstallID(), Store: d.store, Engine: d.engine,
		Keep:     func() time.Duration { return d.settings.Current().KeepAlive() },
		Warm:     func() int { return d.settings.Current().ContainerWarmMax },
		Memory:   func(ctx context.Context) int64 { return d.health.Status(ctx).Traits.MemoryBytes },
		Busy:     func(ctx context.Context, c core.Container) (bool, error) { return d.links.Busy(ctx, c) },
		LastLook: func(spec core.Spec) error { return hostfacts.LastLook(spec, d.home) },
		Setup:    hostfacts.StageSetup,
		Publish:  d.bus.Publish, Log: d.log,
	})
	if err = d.containers.Restore(ctx); err != nil {
		return nil, fmt.Errorf("restore containers: %w", err)
	}
	if d.host, err = hostrun.Open(hostrun.Options{Home: d.home, Log: d.log}); err != nil {
		return nil, err
	}
	d.assembleRuns()
	d.assembleBound()
	if d.calls, err = api.Tabulate(d.services()); err != nil {
		return nil, fmt.Errorf("tabulate services: %w", err)
	}
	if d.api, err = api.New(api.Options{
		Terminals: d.terminals, Screens: d.terminals, Recordings: d.recordings, Approvals: d.gate, Browsers: d.browsers, Frames: d.footage,
		Exports: d.bound.footage.Exports,
		Addr:    cmp.Or(opts.Addr, cfg.APIAddr), Token: d.token, Calls: d.calls, Events: d.events, Frontend: opts.Frontend, Log: d.log,
	}); err != nil {
		return nil, err
	}
	d.life.Clients = d.api.Clients
	return d, nil
}

// lateCallbacks stands for the callbacks before they exist: links need them, the
// runner opens links, and callbacks queue runs.
type lateCallbacks struct{ *callbacks.Service }

func (d *Daemon) assembleRuns() {
	d.callbacks = &lateCallbacks{}
	d.footage = footage.New(footage.Options{Home: d.home, Rows: d.store, Runs: d.store, Publish: d.bus.Publish, Now: time.Now, Log: d.log})
	answers := &rulebook.Answers{Home: d.home, Settings: d.settings, Channels: d.store}
	audit := auditlog.Open(filepath.Join(d.home, "gate", "audit"))
	d.ruleHits = rulebook.OpenHits(d.home, audit, time.Now(), d.log)
	d.gate = gate.New(gate.Options{
		Rules: answers,
		Bus:   d.bus, Timeline: d.store, Audit: d.ruleHits, Log: d.log,
		Settings: func() gate.Settings {
			g := d.settings.Current().Gates.AgentGate
			return gate.Settings{Timeout: time.Duration(g.TimeoutSec) * time.Second, HoldUntilBack: g.HoldUntilBack}
		},
	})
	supervised := rulebook.Policies{Settings: settingsReader{from: d.settings}, Answers: answers, Trial: d.gate}
	d.browsers = d.newBrowsers(supervised)
	d.guestTCP = guestlink.NewListener(guestlink.ListenerOptions{
		Home: d.home, Callbacks: d.callbacks, Browsers: d.browsers, Runs: d.store, Network: d.engine, Log: d.log,
	})
	d.decisions = rulebook.Decisions{Log: audit, Policies: supervised, Channels: d.store, Rules: &rulebook.Book{
		Policies: supervised, Answers: answers, Global: d.config.Current, Tree: d.store.Channels, Hits: d.ruleHits,
		Spec:   func(ctx context.Context, ch core.Channel) (core.Spec, error) { return d.provision.ShellSpec(ctx, ch) },
		Recent: rulebook.RecentIn(audit), Publish: d.bus.Publish, Now: time.Now,
	}}
	wanted := func(g config.AgentGate) {
		d.gate.Enable(g.Enabled)
		d.gate.SetMode(g.Mode, g.Modes)
		d.gate.SetDebuggers(g.Debuggers)
	}
	wanted(d.settings.Current().Gates.AgentGate)
	d.config.Subscribe(func(s config.Snapshot) { wanted(s.Config.Gates.AgentGate) })
	model := demo.New(demo.Options{})
	d.hostTCP = guestlink.NewListener(guestlink.ListenerOptions{
		Home: d.home, Callbacks: d.callbacks, Browsers: d.browsers, Runs: d.store, Host: "127.0.0.1", DemoModel: model, Log: d.log,
	})
	kept := transcripts(d.home, d.settings.States)
	d.talks = talks.New(talks.Options{
		Store: d.store, Terminals: func(ch core.ChannelID) []core.TerminalInfo { return d.terminals.List(ch) },
		Open: func(ctx context.Context, ch core.Channel, s core.SessionID, offset int64) (talks.Reading, error) {
			f, err := kept.Follow(ctx, ch, s, offset)
			if err != nil {
				return talks.Reading{}, err
			}
			return talks.Reading{ReadCloser: f, Size: f.Size, Agents: f}, nil
		},
		Publish: d.bus.Publish, Now: time.Now, Log: d.log,
	})
	d.links = guestlink.NewPool(&guestlink.Opener{
		Talks: d.talks, Dialer: d.engine, Callbacks: d.callbacks, Browsers: d.browsers, DemoModel: model, Gate: d.gate,
		Network: d.engine, Waker: d.containers, Log: d.log,
	})
	computer := hostfacts.Computer{LoopHome: d.home, Seed: d.copies.Seed}
	d.provision = provision.New(provision.Options{
		Install: d.store.InstallID(), Settings: settingsReader{from: d.settings},
		Images: d.images, Projects: d.images, Browsers: d.chromes, Engine: d.engine, Health: d.health,
		Computer: computer, Containers: d.containers, Links: d.links, Log: d.log, Setup: d.setup,
	})
	runs := settingsReader{from: d.settings, ask: true, keys: d.settings.Keys}
	places := hostrun.Places{Registry: d.containers, Containers: d.links, Host: d.host}
	d.pictures = attachments.Files{Home: d.home, Channels: d.store, Named: d.store.NamesPicture, Log: d.log}
	d.files = filebridge.New(filebridge.Options{
		Channels: d.store, Provision: d.provision, Containers: d.containers, Links: d.links, Policies: d.decisions.Policies,
	})
	d.rewind = rewind.New(rewind.Options{
		Home: d.home, Rows: d.store, Runs: d.store, Folders: d.files, Sessions: kept, Publish: d.bus.Publish, Now: time.Now, Log: d.log,
	})
	d.runner = runner.New(runner.Ports{
		Store: d.store, Containers: places, Links: places, Spools: spools.Folders{Home: d.home},
		Provision: d.provision,
		Settings:  runSettings{runs, d.health, d.guestTCP, d.hostTCP, d.host.Folder()},
		Sessions:  kept.Resumable, Stamp: kept.Stamp, Attachments: d.pictures, Publish: d.bus.Publish, Log: d.log,
		Gate: runGate{d.gate, supervised}, Checkpoints: d.rewind, Toolchains: d.settings,
		Begun: func(ctx context.Context, ch core.Channel, prompt string) error {
			return d.channels.Begin(ctx, ch, prompt)
		},
	}, runner.Options{Now: time.Now, AfterRun: 2 * time.Minute})
	d.rewind.Follow(d.runner)
	d.recordings = recordings.New(filepath.Join(d.home, "recordings"), time.Now)
	d.eager = eagerstart.New(eagerstart.Options{
		Provision: d.provision, Channels: d.store, Containers: d.containers, Links: d.links, Agents: d.runner,
		Settings: runs, Log: d.log})
	containers := programs.Containers{Registry: d.containers, Provision: d.provision, Channels: d.store, Settings: runs,
		Timeline: d.store, Publish: d.bus.Publish}
	d.terminals = terminal.New(terminal.Options{
		Record:   func(i core.TerminalInfo) (terminal.Recording, error) { return d.recordings.Begin(i) },
		Programs: d.programs(containers, supervised), Containers: containers, Leases: d.containers,
		Keeper: terminal.Files{Dir: filepath.Join(d.home, "terminals")},
		Publish: func(t core.EventType, i core.TerminalInfo) {
			d.bus.Publish(core.NewEvent(t, i.ChannelID, "", time.Now(), i))
			d.talks.Changed(i)
		},
		IdleTimeout: func() time.Duration { return time.Duration(d.settings.Current().Terminal.IdleSec) * time.Second }, Log: d.log,
	})
	d.channels = channels.New(channels.Options{
		Store: d.store, Titles: d.store, Runs: channelWork{d.runner, d.terminals}, Sessions: kept,
		Home: d.home, Fit: computer.Fit,
		Worktrees: worktree.New(worktree.Container{Provision: d.provision, Policies: supervised, Log: d.log}.Exec),
		Browsers:  d.browsers, Agents: d.settings, Choose: d.store.SetChannelChoices,
		OnHost:  func(ch core.Channel) bool { return onHost(d.settings.Effective(ch), ch) },
		Publish: d.bus.Publish, Now: time.Now,
	})
	d.reviews = review.Open(filepath.Join(d.home, "channels"), d.store, d.rewind, &review.Containers{
		Provision: d.provision, Settings: runs, Running: d.containers, Policies: supervised, Log: d.log})
	d.callbacks.Service = callbacks.New(callbacks.Options{
		Channels: d.channels, Runs: d.runner, Store: d.store, Hide: d.runner.Hide,
		Publish: d.bus.Publish, Now: time.Now,
	})
}

// programs starts what runs on terminals.
func (d *Daemon) programs(containers programs.Containers, supervised rulebook.Policies) programs.Programs {
	return programs.Programs{
		Host:       programs.Host{Home: d.home, Channels: d.store, Settings: d.settings, Log: d.log},
		Exec:       programs.Exec{Engine: d.engine, Containers: containers},
		Containers: containers, Links: d.links, Sessions: transcripts(d.home, d.settings.States), Policies: supervised,
		Agents: agents{settings: settingsReader{from: d.settings}, keys: d.settings.Keys, log: d.log},
	}
}

func (d *Daemon) assembleBound() {
	trial := doctor.Container{Home: d.home, Ensure: d.provision.Ensure, Settings: settingsReader{from: d.settings},
		Debuggers: func() bool { return d.settings.Current().Gates.AgentGate.Debuggers }}
	checks := doctor.Doctor{Probes: doctor.Probes(doctor.Parts{
		Engine: d.engine.Status, Image: d.images.Status, Trial: trial.Try, GateTrial: trial.TryGate, Gate: doctorGate{d.gate, d.settings},
		Settings: settings.ForDoctor{Service: d.settings, File: d.config}, ReadCA: imagebuild.ReadCAFile,
		Home: d.home, Build: d.images.Build, Desktop: d.opts.Desktop, OS: runtime.GOOS, Getenv: os.Getenv, Notices: d.opts.Notices,
	})}
	memory, err := pagememory.Open(d.home)
	if err != nil {
		d.log.Warn("the page begins without memory", "err", err)
	}
	copies := workspace.New(workspace.Options{
		Channels: d.store, Provision: d.provision, Copies: d.copies, Trash: d.copies, Containers: d.containers, Recreate: d.eager.Recreate})
	previews := preview{d.store, d.provision, d.gate}
	d.inventory = inventory.New(inventory.Options{
		Containers: d.containers, Engine: d.engine, Channels: d.store, Explainer: previews, Links: d.links, Machine: d.health.Status,
		Provision: provision.Drifts{Service: d.provision, Settings: settingsReader{from: d.settings, keys: d.settings.Keys}},
		GiveBack:  d.reviews.GiveBack,
		WarmMost:  func() int { return d.settings.Current().ContainerWarmMax },
		OnAppExit: func() string { return d.settings.Current().OnAppExit },
	})
	d.bound = bound{
		channels: &bind.Channels{Ctx: d.ctx, Service: d.channels, Timelines: d.store, Runs: d.runner, Window: d.opts.Window},
		runs:     &bind.Runs{Ctx: d.ctx, Service: d.runner}, containers: &bind.Containers{Ctx: d.ctx, Service: d.eager, Inventory: d.inventory},
		workspaces: &bind.Workspaces{Ctx: d.ctx, Service: copies, Kept: copies},
		review:     &bind.Review{Ctx: d.ctx, Service: d.reviews, Acts: d.reviews},
		files: &bind.Files{Ctx: d.ctx, Service: d.files, Finder: d.files, Pictures: d.pictures, Slash: slashcommands.Of(d.store, d.files),
			Editor: openeditor.New(d.files, func() []string { return d.settings.Current().Editor })},
		rewind: &bind.Rewind{Ctx: d.ctx, Service: d.rewind},
		gate:   &bind.Gate{Ctx: d.ctx, Service: d.gate}, gateLog: &bind.GateLog{Ctx: d.ctx, Service: d.decisions},
		gateRules: &bind.GateRules{Ctx: d.ctx, Service: d.decisions.Rules},
		footage: &bind.Footage{Ctx: d.ctx, Service: d.footage, Dialog: d.opts.Saves, Exports: runexport.New(runexport.Options{
			Run: d.store.Run, Events: d.store.RunEvents, Secrets: d.settings.Secrets, Picture: d.pictures.Read,
			Frames: d.footage, Recordings: d.recordings, Now: time.Now,
		})},
		settings: &bind.Settings{Ctx: d.ctx, Service: d.settings, Looks: d.settings},
		terminals: &bind.Terminals{Ctx: d.ctx, Service: d.terminals, Tapes: d.recordings, Shared: d.files, Files: d.files, OS: runtime.GOOS,
			At: func() bind.Endpoint { return bind.Endpoint{Base: d.api.URL(), Token: d.token} }},
		system: &bind.System{
			Ctx: d.ctx, Channels: d.channels, Containers: d.containers, Engine: d.health, Image: d.images, Browsers: d.chromes,
			Config: d.settings, Keys: d.settings.Keys, SignIn: d.settings.SignIn, Explainer: previews, Doctors: checks, Gate: d.gate,
			Timelines: d.store, Seq: d.bus.Seq, Launch: d.bus.Launch(), Version: d.opts.Version, Window: d.opts.Window,
			Kept: memory, MaxRuns: d.runner.MaxRuns(), Log: d.log,
		},
	}
	if d.opts.Window != nil {
		d.life.Window, d.life.Look, d.life.Memory, d.life.Log = d.opts.Window, d.survey().Leaving, memory, d.log
		words := dialogWords{d.settings, d.channels}
		d.bell = dialog.NewBell(d.opts.Notices, dialogWindow{d.opts.Window}, words, words, d.log)
		d.bound.system.Life, d.bound.system.Looked = &d.life, d.bell.Look
	}
}

// survey looks at what goes on in Loop.
func (d *Daemon) survey() closing.Survey {
	return closing.Survey{
		Store: d.store, Standing: d.terminals.Standing, Building: d.images.Building, Feeds: upstreams{settingsReader{from: d.settings}}.Feeds,
	}
}

// keyringWait is how long the end of the app waits for a keyring that does not
// answer; what is left then dies with the process.
const keyringWait = time.Second

// services are the bound structs by the name the page calls them.
func (d *Daemon) services() map[string]any {
	return map[string]any{
		"Channels": d.bound.channels, "Runs": d.bound.runs, "Settings": d.bound.settings, "System": d.bound.system, "Footage": d.bound.footage,
		"Terminals": d.bound.terminals, "Containers": d.bound.containers, "Workspaces": d.bound.workspaces, "Files": d.bound.files,
		"Review": d.bound.review, "Gate": d.bound.gate, "GateLog": d.bound.gateLog, "GateRules": d.bound.gateRules,
		"Rewind": d.bound.rewind,
	}
}

// Bound are the structs Wails binds; their package name, bind, is part of what
// the page calls.
func (d *Daemon) Bound() []any {
	return []any{
		d.bound.channels, d.bound.runs, d.bound.settings, d.bound.system, d.bound.terminals, d.bound.gate, d.bound.gateLog,
		d.bound.gateRules, d.bound.footage, d.bound.containers, d.bound.workspaces, d.bound.files, d.bound.review, d.bound.rewind,
	}
}

// Start begins work: recovery, queues, reconciling, the listener. It returns
// at once; Close waits for all of it.
func (d *Daemon) Start() error {
	if err := instance.Write(d.home, instance.Info{
		PID: os.Getpid(), URL: d.api.URL(), Token: d.token, Version: d.opts.Version, StartedAt: time.Now(), Command: d.opts.Command,
	}); err != nil {
		return core.Fail(core.CodeConfig, err, "Loop could not write into its folder.",
			"Check that the disk is not full and who owns "+d.home+".")
	}
	d.log.Info("loop started", "version", d.opts.Version, "pid", os.Getpid(), "addr", d.api.Addr())
	d.work.Go(func() { d.settings.Run(d.ctx) })
	d.work.Go(func() { d.health.Run(d.ctx) })
	d.background("registry", d.containers.Run)
	d.background("rules", d.ruleHits.Run)
	d.background("gate", d.gate.Run)
	d.background("rules of running programs", func(ctx context.Context) error {
		return rulebook.Follow(ctx, d.bus, d.links.RulesChanged)
	})
	d.background("checkpoints", d.rewind.Run)
	d.background("runner", d.runner.Run)
	d.background("containers of prompts", d.eager.Run)
	d.background("watched containers", d.inventory.Run)
	if err := d.terminals.Restore(d.ctx); err != nil {
		d.log.Error("take up terminals again", "err", err) // the rest works without
	}
	d.background("terminals", d.terminals.Run)
	d.background("conversations in terminals", d.talks.Run)
	d.background("browsers", d.browsers.Run)
	d.background("frames of browsers", d.footage.Run)
	d.work.Go(func() { d.sidecars().Sweep(d.ctx) })
	if d.opts.Window != nil {
		d.work.Go(func() { d.life.Watch(d.ctx) })
		d.background("dialogs", d.presentDialogs)
	}
	d.background("containers of reviews", d.reviews.Run)
	d.background("pictures of drafts", d.pictures.Run)
	d.background("listener", func(context.Context) error { return d.api.Serve() })
	return nil
}

// background runs a service until the app ends. One that ends early is a
// fault worth a line in the log; the rest goes on.
func (d *Daemon) background(name string, run func(context.Context) error) {
	d.work.Go(func() {
		if err := run(d.ctx); err != nil && d.ctx.Err() == nil {
			d.log.Error("service ended", "service", name, "err", err)
		}
	})
}

// URL of the page, without the token.
func (d *Daemon) URL() string { return d.api.URL() }

// ContentPolicy is what the window's page may load and talk to.
func (d *Daemon) ContentPolicy() string { return d.api.WindowPolicy() }

// Token of this launch.
func (d *Daemon) Token() string { return d.token }

// BeginClose says that the person wants the app to end, whatever is running.
func (d *Daemon) BeginClose() { d.life.Begin() }

// Closing reports whether BeginClose or Close was called.
func (d *Daemon) Closing() bool { return d.life.Begun() }

// CloseRequested handles a person who closed the window or chose to quit from the
// system's menu, and reports whether Loop ends now. Else the window was hidden, or
// its page asks the person. It may take two seconds.
func (d *Daemon) CloseRequested(what string) (end bool) { return d.life.Requested(d.ctx, what) }

// Close ends work in reverse order and waits for it. Containers with runs in
// them go on; the next start takes them up again.
func (d *Daemon) Close() error {
	d.closed.Do(func() {
		d.life.Begin()
		var errs []error
		// What is denied by that is told and written down by a service that stop ends.
		if d.gate != nil {
			d.gate.Close()
		}
		// Other work learns first that the app ends. A build that is broken off after that
		// leaves the runs that wait for it to the next start, instead of failing them.
		d.stop()
		for _, builds := range []*imagebuild.Service{d.images, d.chromes} {
			if builds != nil {
				builds.Close()
			}
		}
		if d.api != nil {
			errs = append(errs, d.api.Close())
		}
		if d.browsers != nil {
			errs = append(errs, d.browsers.Close())
		}
		if d.terminals != nil {
			errs = append(errs, d.terminals.Close())
		}
		for _, tcp := range []*guestlink.Listener{d.guestTCP, d.hostTCP} {
			if tcp != nil {
				tcp.Close()
			}
		}
		if d.bus != nil {
			d.bus.Close()
			d.events.Wait()
		}
		d.work.Wait()
		if d.host != nil {
			d.host.Close()
		}
		if d.links != nil {
			d.links.Close()
			d.containers.Close(d.settings.Current().OnAppExit)
		}
		if d.ruleHits != nil {
			d.ruleHits.Keep() // what was decided at the end is among them
		}
		if d.vault != nil {
			d.vault.Wait(keyringWait)
		}
		if d.engine != nil {
			errs = append(errs, d.engine.Close())
		}
		if d.store != nil {
			errs = append(errs, d.store.Close())
		}
		if d.lock != nil {
			errs = append(errs, instance.Remove(d.home), d.lock.Unlock())
		}
		if d.logEnd != nil {
			d.log.Info("loop ended")
			errs = append(errs, d.logEnd.Close())
		}
		d.err = errors.Join(errs...)
	})
	return d.err
}
