package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/provision"
	"loop/backend/runner"
	"loop/backend/sandbox"
)

// channelSettings are what counts in channels; package settings has them.
type channelSettings interface {
	Effective(ch core.Channel) config.Effective
	Waits(ch core.ChannelID, pending []core.SettingsPending)
}

// credentialChoice adds the credential that is kept outside the configuration.
type credentialChoice interface {
	Add(ctx context.Context, cfg config.Config) (config.Config, error)
}

// settingsReader reads what counts in a channel for package provision.
type settingsReader struct {
	from channelSettings
	ask  bool // have the person asked to approve what a project's settings wait with
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

func (s settingsReader) ForChannel(_ context.Context, ch core.Channel) (provision.Values, error) {
	e, err := s.read(ch)
	return valuesOf(e), err
}

func valuesOf(e config.Effective) provision.Values {
	return provision.Values{Container: e.Container(), Notices: waiting(e.Pending)}
}

// waiting says what of the project's settings is left out of a run.
func waiting(pending []core.SettingsPending) (notices []string) {
	for _, p := range pending {
		notices = append(notices, fmt.Sprintf(
			"%s is not approved as it is, so this run goes without its %s. Look at it in the settings, or with “loop config trust”.",
			p.Path, strings.Join(p.Fields, ", ")))
	}
	return notices
}

// An agent's programs read these variables for callbacks over TCP.
const (
	apiURLEnv   = "API_URL"
	apiTokenEnv = "LOOP_API_TOKEN"
)

// runContainers is the runner's way to package provision.
type runContainers struct {
	provision *provision.Service
	settings  settingsReader
	health    provision.Health
	keys      credentialChoice
	// tcp lets programs of the agent call over TCP where the settings say so.
	tcp *guestlink.Listener
}

var _ runner.Provision = runContainers{}

// runReading is one reading of the settings for a run: its CLI is started by what
// its container is made by.
type runReading struct {
	runContainers
	run    core.Run
	launch runner.Launch
}

func (r *runReading) ForChannel(ctx context.Context, ch core.Channel) (v provision.Values, err error) {
	e, err := r.settings.read(ch)
	if err != nil {
		return v, err
	}
	if !r.run.Demo {
		if e.Config, err = r.keys.Add(ctx, e.Config); err != nil {
			return v, err
		}
	}
	if r.launch, err = launchOf(e.Config, r.run); err != nil {
		return v, err
	}
	v = valuesOf(e)
	v.OverNetwork = r.launch.Upstream == core.ModelUpstream{}
	l := &r.launch
	for _, own := range []core.EnvVar{{Name: retriesEnv, Value: maxRetries}, {Name: backgroundEnv, Value: backgroundWait}} {
		if _, set := e.Config.Envs[own.Name]; !set {
			own.Lane = sandbox.LaneApp
			l.Env = append(l.Env, own)
		}
	}
	access, err := r.tcp.Admit(ctx, core.Caller{ChannelID: ch.ID, RunID: r.run.ID}, guestlink.Wish{
		TCP: e.Config.GuestTransport == config.TransportTCP, AdvertiseURL: e.Config.APIAdvertiseURL,
		NoNetwork: v.Container.Network.Value == "none", Rootless: r.health.Status(ctx).Traits.Rootless,
	})
	if err != nil {
		return v, err
	}
	if access.Notice != "" {
		v.Notices = append(v.Notices, access.Notice)
	}
	if l.APIURL = access.URL; access.URL != "" {
		l.Env = append(l.Env,
			core.EnvVar{Name: apiURLEnv, Value: access.URL, Lane: sandbox.LaneApp},
			core.EnvVar{Name: apiTokenEnv, Value: access.Token.Reveal(), Lane: sandbox.LaneApp, Secret: true})
	}
	return v, nil
}

func (r *runReading) want(ch core.Channel) provision.Want {
	return provision.Want{
		Channel: ch, Run: r.run.ID, Plan: r.run.Plan, Settings: r,
		Holder: core.Holder{Kind: core.HolderRun, ID: string(r.run.ID)}, Begun: r.run.ContainerID != "",
	}
}

// resolved is what provision resolved, and how the CLI is started in it.
func (r *runReading) resolved(p provision.Resolved) runner.Resolved {
	out := runner.Resolved{Spec: p.Spec, Why: p.Why, Launch: r.launch}
	out.Launch.Env, out.Launch.DockerConfig = slices.Concat(p.Env, r.launch.Env), p.DockerConfig
	return out
}

func (c runContainers) Resolve(ctx context.Context, run core.Run, ch core.Channel) (runner.Resolved, error) {
	r := &runReading{runContainers: c, run: run}
	p, err := c.provision.Resolve(ctx, r.want(ch))
	if err != nil {
		return runner.Resolved{Launch: r.launch}, err
	}
	return r.resolved(p), nil
}

func (c runContainers) Ensure(
	ctx context.Context, run core.Run, ch core.Channel, ready func(runner.Resolved) error,
) (core.Container, error) {
	r := &runReading{runContainers: c, run: run}
	w := r.want(ch)
	w.Ready = func(p provision.Resolved) error { return ready(r.resolved(p)) }
	lease, err := c.provision.Ensure(ctx, w)
	if err != nil {
		return core.Container{}, err
	}
	return lease.Container, nil
}
