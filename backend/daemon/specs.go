package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"loop/backend/channels"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/demo"
	"loop/backend/guestlink"
	"loop/backend/hostfacts"
	"loop/backend/runner"
	"loop/backend/sandbox"
	"loop/backend/sessions"
)

// specs resolves the container of a run from the configuration as it is now
// and the facts of this host.
type specs struct {
	home    string
	install string
	config  func() config.Snapshot
	image   func(ctx context.Context, ref string) (id string, labels map[string]string, err error)
	guest   func(ctx context.Context) (volume string, err error)
	engine  func(ctx context.Context) core.EngineStatus
	// key adds the credential that is kept outside the configuration; nil adds none.
	key func(ctx context.Context, cfg config.Config) (config.Config, error)
	// tcp lets programs of the agent call over TCP where the settings say so.
	tcp *guestlink.Listener
	// settings are those of the channel's project; nil knows the global ones alone.
	settings func(ch core.Channel) config.Effective
	// pending is told what a project's settings wait with; nil tells nobody.
	pending func(ch core.ChannelID, waiting []config.Pending)
}

// effective is the configuration of one channel. An error means that a file
// cannot be used: the defaults are no stand-in, it may have said “network none”.
func (s specs) effective(ch core.Channel) (config.Effective, error) {
	if s.settings != nil {
		e := s.settings(ch)
		return e, e.Err
	}
	snap := s.config()
	if snap.Err != nil && !snap.Good {
		return config.Effective{}, snap.Err
	}
	return config.Effective{Config: snap.Config}, nil
}

// guest_transport's value for callbacks over TCP, and what programs of an agent
// read for it.
const (
	transportTCP = "tcp"
	apiURLEnv    = "API_URL"
	apiTokenEnv  = "LOOP_API_TOKEN"
)

// waiting says what of the project's settings is left out of a run.
func waiting(pending []config.Pending) (notices []string) {
	for _, p := range pending {
		notices = append(notices, fmt.Sprintf("%s is not approved as it is, so this run goes without its %s. Look at it in the settings, or with “loop config trust”.", p.Path, strings.Join(p.Fields, ", ")))
	}
	return notices
}

// resolve is the runner's SpecFunc.
func (s specs) resolve(ctx context.Context, run core.Run, ch core.Channel) (core.Spec, core.Explanation, runner.Launch, error) {
	settings, err := s.effective(ch)
	if err != nil {
		return core.Spec{}, core.Explanation{}, runner.Launch{}, err
	}
	if s.pending != nil {
		s.pending(ch.ID, settings.Pending)
	}
	if s.key != nil && !run.Demo {
		if settings.Config, err = s.key(ctx, settings.Config); err != nil {
			return core.Spec{}, core.Explanation{}, runner.Launch{}, err
		}
	}
	cfg := settings.Config
	launch, err := launchOf(cfg, run)
	if err != nil {
		return core.Spec{}, core.Explanation{}, launch, err
	}
	spec, why, host, layers, err := s.container(ctx, settings, ch, core.TypeAgent, run, launch.Upstream != core.ModelUpstream{})
	if err != nil {
		return spec, why, launch, err
	}
	why.Notices = append(why.Notices, waiting(settings.Pending)...)
	if launch.Env, err = sandbox.SpawnEnv(layers, host); err != nil {
		return spec, why, launch, err
	}
	for _, e := range []core.EnvVar{{Name: retriesEnv, Value: maxRetries}, {Name: backgroundEnv, Value: backgroundWait}} {
		if _, set := cfg.Envs[e.Name]; !set {
			e.Lane = sandbox.LaneApp
			launch.Env = append(launch.Env, e)
		}
	}
	access, err := s.tcp.Admit(ctx, core.Caller{ChannelID: ch.ID, RunID: run.ID}, guestlink.Wish{
		TCP: cfg.GuestTransport == transportTCP, AdvertiseURL: cfg.APIAdvertiseURL,
		NoNetwork: spec.Network == "none", Rootless: s.engine(ctx).Rootless,
	})
	if err != nil {
		return spec, why, launch, err
	}
	if access.Notice != "" {
		why.Notices = append(why.Notices, access.Notice)
	}
	if launch.APIURL = access.URL; access.URL != "" {
		launch.Env = append(launch.Env,
			core.EnvVar{Name: apiURLEnv, Value: access.URL, Lane: sandbox.LaneApp},
			core.EnvVar{Name: apiTokenEnv, Value: access.Token.Reveal(), Lane: sandbox.LaneApp, Secret: true})
	}
	if launch.DockerConfig, err = sandbox.DockerConfig(layers, host); err != nil {
		return spec, why, launch, err
	}
	if run.ContainerID != "" {
		// A run that is taken over is at work in its container: what the agent did
		// to its copies and its .claude.json stays.
		return spec, why, launch, nil
	}
	notices, err := hostfacts.Prepare(spec, host)
	if err != nil {
		return spec, why, launch, err
	}
	why.Notices = append(why.Notices, notices...)
	return spec, why, launch, nil
}

// The CLI repeats a refused request ten times by default, a wrong key included,
// which took over three minutes to say so when measured. Four repeats bridge
// some fifteen seconds of an overloaded model. After its result it waits ten minutes
// for what goes on in the background, and then ends it; 0 is no limit, because the
// run's own is over that too. envs in the settings wins.
const (
	retriesEnv     = "CLAUDE_CODE_MAX_RETRIES"
	maxRetries     = "4"
	backgroundEnv  = "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS"
	backgroundWait = "0"
)

// container resolves and validates; it changes nothing on the host.
func (s specs) container(ctx context.Context, settings config.Effective, ch core.Channel, kind core.ContainerType, run core.Run, relayed bool) (spec core.Spec, why core.Explanation, host sandbox.Host, layers []sandbox.Layer, err error) {
	if ch.Kind != core.KindDemo { // the demo's directory is Loop's own
		if _, err = channels.CheckDir(ch.Dir); err != nil {
			return
		}
	}
	cfg := settings.Config
	imageID, _, err := s.image(ctx, cfg.ContainerImage)
	if err != nil {
		return
	}
	volume, err := s.guest(ctx)
	if err != nil {
		return
	}
	if host, err = hostfacts.Gather(ctx, s.home); err != nil {
		return
	}
	st := s.engine(ctx)
	host.EngineOS, host.EngineArch = st.OS, st.Arch
	layers = layersOf(settings)
	host.Env = hostfacts.Environ(sandbox.InheritNames(layers))
	sub := sandbox.Subject{
		Channel: ch, RunID: run.ID, Plan: run.Plan, Type: kind, Image: cfg.ContainerImage, ImageID: imageID,
		GuestVolume: volume, GuestHash: strings.TrimPrefix(volume, sandbox.GuestVolumePrefix), LoopHome: s.home, InstallID: s.install, NameSuffix: suffix(),
		ModelOnRelay: relayed, ParentDir: ch.ParentDir,
	}
	host.Paths = hostfacts.Paths(sandbox.Probes(layers, sub, host))
	if spec, why, err = sandbox.Resolve(layers, sub, host); err != nil {
		return
	}
	err = sandbox.Validate(spec, host)
	return
}

// fit judges a folder as container will, before it has a channel.
func (s specs) fit(ctx context.Context, dir string) error {
	host, err := hostfacts.Gather(ctx, s.home)
	if err != nil {
		return err
	}
	host.Paths = hostfacts.Paths(sandbox.FitProbes(dir, host))
	return sandbox.FitForWork(dir, host)
}

// suffix makes a container's name unique: three random bytes, as the original.
func suffix() string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails on supported systems
	return hex.EncodeToString(b[:])
}

// launchOf says how the CLI is started: which credential, and by which way the
// model is reached.
func launchOf(cfg config.Config, run core.Run) (runner.Launch, error) {
	l := runner.Launch{
		Bin: cfg.ClaudeBinPath, Model: cfg.ClaudeModel, Effort: cfg.ClaudeEffort, DisallowedTools: cfg.ClaudeBatchDisallowedTools,
		Timeout: time.Duration(cfg.ContainerTimeoutSec) * time.Second, KeepAlive: keepAlive(cfg),
		Retry: runner.Retry{
			MaxAttempts: cfg.ClaudeRetry.MaxAttempts, Base: time.Duration(cfg.ClaudeRetry.BackoffBaseSec) * time.Second,
			Max: time.Duration(cfg.ClaudeRetry.BackoffMaxSec) * time.Second, SessionLimitContinue: cfg.ClaudeRetry.SessionLimitAutoContinue,
		},
	}
	for name, server := range cfg.MCP.Servers {
		if l.MCPServers == nil {
			l.MCPServers = map[string]runner.MCPServer{}
		}
		l.MCPServers[name] = runner.MCPServer(server)
	}
	if run.Demo {
		lib, err := demo.Builtin()
		if err != nil {
			return l, fmt.Errorf("read demo scripts: %w", err)
		}
		script := orDefault(run.Script, demo.DefaultScript)
		if _, ok := lib.Script(script); !ok {
			return l, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("There is no demo script %q.", script), "Choose one of: "+strings.Join(lib.Names(), ", ")+".")
		}
		// Named always: a resumed session would bring back the script of the run before.
		l.Upstream, l.Model = core.ModelUpstream{Demo: true}, demo.ModelPrefix+script
		return l, nil
	}
	switch kind, secret := cfg.Credential(); kind {
	case config.CredentialOAuth:
		l.OAuthToken = secret.Reveal()
	case config.CredentialAPIKey:
		l.APIKey = secret.Reveal()
	default:
		if cfg.AnthropicBaseURL != "" {
			break // a model of the person's own may want no key
		}
		return l, core.Fail(core.CodeCredentials, nil, "Loop has no key for the model.",
			"Run “loop auth login”, paste an API key in the settings, or use the demo channel (“loop run --demo”), which needs none.")
	}
	if cfg.AnthropicBaseURL == "" {
		return l, nil
	}
	u, err := url.Parse(cfg.AnthropicBaseURL)
	if err != nil {
		return l, core.Fail(core.CodeConfig, err, "anthropic_base_url is not an address.", "Use the form https://host/path.")
	}
	if onThisHost(u.Hostname()) {
		l.Upstream = core.ModelUpstream{BaseURL: cfg.AnthropicBaseURL}
	} else {
		l.BaseURL = cfg.AnthropicBaseURL
	}
	return l, nil
}

// keepAlive is how long a stopped container stays; a setting of 0 means not at
// all, which the services take as a negative time because 0 is their default.
func keepAlive(cfg config.Config) time.Duration {
	if cfg.ContainerKeepAliveSec == 0 {
		return -1
	}
	return time.Duration(cfg.ContainerKeepAliveSec) * time.Second
}

// onThisHost says that a name means the machine Loop runs on, which a
// container cannot reach under it: such a model goes through the link.
func onThisHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "host.docker.internal" || host == "gateway.docker.internal" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// sessionExists is the runner's SessionFunc.
func (s specs) sessionExists(ch core.Channel, workDir string, session core.SessionID) (exists, known bool) {
	return transcripts(s.home).Exists(ch, workDir, session)
}

// transcripts reads what the agent CLI keeps in the channels' states.
func transcripts(home string) *sessions.Service {
	return sessions.New(sessions.Options{
		Home: home, DemoPrefix: demo.ModelPrefix,
		WorkDir: func(dir string) string { return sandbox.ContainerPath(hostOS, dir) },
	})
}
