package daemon

import (
	"cmp"
	"context"
	"errors"
	"os"

	"loop/agentimage"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/gate"
	"loop/backend/guestlink"
	"loop/backend/provision"
	"loop/backend/rulebook"
	"loop/backend/runner"
	"loop/backend/sandbox"
)

// channelSettings are what counts in channels; package settings has them.
type channelSettings interface {
	Effective(ch core.Channel) config.Effective
	Waits(ch core.ChannelID, pending []core.SettingsPending)
	Sharing(ctx context.Context) ([]core.Channel, error)
}

// credentialChoice adds the credential that is kept outside the configuration.
type credentialChoice interface {
	Add(ctx context.Context, cfg config.Config) (config.Config, error)
}

// settingsReader reads what counts in a channel for package provision.
type settingsReader struct {
	from channelSettings
	ask  bool             // have the person asked to approve what a project's settings wait with
	keys credentialChoice // for what shares a container with runs, and so has their rights; else nil
}

// read is the configuration of one channel. An error means that a file cannot be
// used: the defaults are no stand-in, it may have said “network none”.
func (s settingsReader) read(ch core.Channel) (config.Effective, error) {
	e := s.from.Effective(ch)
	if e.Err == nil && s.ask {
		s.from.Waits(ch.ID, e.Pending)
	}
	return e, e.Err
}

// ForPolicy implements rulebook.Settings.
func (s settingsReader) ForPolicy(ch core.Channel) (config.Effective, error) { return s.read(ch) }

// runGate is the gate as runs see it.
type runGate struct {
	*gate.Service
	rulebook.Policies
}

func (s settingsReader) ForChannel(ctx context.Context, ch core.Channel) (provision.Values, error) {
	e, err := s.read(ch)
	v, shared := s.values(ctx, ch, e, onHost(e, ch))
	err = cmp.Or(err, shared)
	if s.keys != nil && ch.Kind != core.KindDemo {
		// Without a key a person can log in on a terminal; a run says what is wrong with it.
		if cfg, noKey := s.keys.Add(ctx, e.Config); noKey == nil {
			_, v.Key = cfg.Credential()
		}
	}
	return v, err
}

func (s settingsReader) values(
	ctx context.Context, ch core.Channel, e config.Effective, host bool,
) (v provision.Values, err error) {
	b := provision.Browser{Container: e.BrowserContainer(), Image: agentimage.Chrome.Ref}
	b.Container.Seccomp = agentimage.ChromeSeccomp
	v = provision.Values{Container: e.Container(), Browser: b, OnHost: host, Child: e.Child, Undecided: e.Undecided}
	v.Notices = e.Waiting(v.OnHost)
	v.Setup = provision.SetupGrant{
		Granted: e.Config.ClaudeSetup == config.SetupRead && ch.Kind != core.KindDemo,
		Allow:   e.Config.ClaudeSetupAllow, From: e.Origins["claude_setup"],
	}
	if v.Container.Scope.Value == sandbox.ScopeShared {
		v.Others, err = s.from.Sharing(ctx)
	}
	var bad error
	v.Container.Seccomp, bad = e.Seccomp()
	return v, cmp.Or(err, bad)
}

// onHost says that the person's own settings have runs work on this computer itself.
func onHost(e config.Effective, ch core.Channel) bool { return e.OnHost(ch.Main()) }

// runSettings are those of runs, with the keys and the routes that their CLI needs.
type runSettings struct {
	settingsReader
	health provision.Health
	// tcp lets programs of the agent call over TCP where the settings say so, and here those
	// of runs on this computer itself, which have their files in hostRuns.
	tcp, here *guestlink.Listener
	hostRuns  string
}

var _ runner.Settings = runSettings{}

func (s runSettings) ForRun(ctx context.Context, run core.Run, ch core.Channel) (v provision.Values, l runner.Launch, err error) {
	e, err := s.read(ch)
	var noKey, noLaunch error
	if !run.Demo {
		e.Config, noKey = s.keys.Add(ctx, e.Config)
	}
	l, noLaunch = launchOf(e.Config, run)
	if err = cmp.Or(err, noKey, noLaunch); err != nil {
		l.Env, _ = sandbox.SpawnEnv(e.Container(), sandbox.Host{}, ch.ID) // a run under way goes on, and hides it
		return v, l, err
	}
	if v, err = s.values(ctx, ch, e, run.OnHost(onHost(e, ch))); err != nil {
		return v, l, err
	}
	if !run.Demo {
		_, v.Key = e.Config.Credential()
	}
	for _, own := range []core.EnvVar{{Name: retriesEnv, Value: maxRetries}, {Name: backgroundEnv, Value: backgroundWait}} {
		if _, set := e.Config.Envs[own.Name]; !set {
			own.Lane = sandbox.LaneApp
			l.Env = append(l.Env, own)
		}
	}
	if v.OnHost {
		return v, s.onHost(ctx, l, core.Caller{ChannelID: ch.ID, RunID: run.ID}), nil
	}
	v.OverNetwork = l.Upstream == core.ModelUpstream{}
	access, refused := s.tcp.Admit(ctx, core.Caller{ChannelID: ch.ID, RunID: run.ID}, guestlink.Wish{
		TCP: e.Config.GuestTransport == config.TransportTCP, AdvertiseURL: e.Config.APIAdvertiseURL,
		NoNetwork: v.Container.Network.Value == "none", Rootless: s.health.Status(ctx).Traits.Rootless,
	})
	l.Refused = refused
	if access.Notice != "" {
		v.Notices = append(v.Notices, access.Notice)
	}
	l.APIURL, l.Env = access.URL, append(l.Env, access.Env()...)
	return v, l, nil
}

// onHost is the launch of a run on this computer itself.
func (s runSettings) onHost(ctx context.Context, l runner.Launch, from core.Caller) runner.Launch {
	loop, err := os.Executable()
	access, refused := s.here.Admit(ctx, from, guestlink.Wish{TCP: true})
	l.Refused = errors.Join(err, refused)
	return l.OnHost(runner.HostPlace{Runs: s.hostRuns, Loop: loop, URL: access.URL, Token: access.Token})
}
