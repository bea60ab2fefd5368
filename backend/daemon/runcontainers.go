package daemon

import (
	"context"
	"fmt"
	"strings"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/provision"
	"loop/backend/registry"
	"loop/backend/runner"
	"loop/backend/sandbox"
)

// channelSettings are what counts in channels; package settings has them.
type channelSettings interface {
	Effective(ch core.Channel) config.Effective
	Waits(ch core.ChannelID, pending []config.Pending)
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
func waiting(pending []config.Pending) (notices []string) {
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
	cfg    config.Config
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
	r.cfg = e.Config
	if r.launch, err = launchOf(r.cfg, r.run); err != nil {
		return v, err
	}
	v = valuesOf(e)
	v.OverNetwork = r.launch.Upstream == core.ModelUpstream{}
	return v, nil
}

func (r *runReading) want(ch core.Channel) provision.Want {
	return provision.Want{
		Channel: ch, Run: r.run.ID, Plan: r.run.Plan, Settings: r,
		Holder: core.Holder{Kind: core.HolderRun, ID: string(r.run.ID)}, Begun: r.run.ContainerID != "",
	}
}

// resolved adds to what provision resolved how the CLI is started.
func (r *runReading) resolved(ctx context.Context, p provision.Resolved) (runner.Resolved, error) {
	out := runner.Resolved{Spec: p.Spec, Why: p.Why, Launch: r.launch}
	l := &out.Launch
	l.Env, l.DockerConfig = p.Env, p.DockerConfig
	for _, e := range []core.EnvVar{{Name: retriesEnv, Value: maxRetries}, {Name: backgroundEnv, Value: backgroundWait}} {
		if _, set := r.cfg.Envs[e.Name]; !set {
			e.Lane = sandbox.LaneApp
			l.Env = append(l.Env, e)
		}
	}
	access, err := r.tcp.Admit(ctx, core.Caller{ChannelID: p.Spec.ChannelID, RunID: r.run.ID}, guestlink.Wish{
		TCP: r.cfg.GuestTransport == config.TransportTCP, AdvertiseURL: r.cfg.APIAdvertiseURL,
		NoNetwork: p.Spec.Network == "none", Rootless: r.health.Status(ctx).Traits.Rootless,
	})
	if err != nil {
		return out, err
	}
	if access.Notice != "" {
		out.Why.Notices = append(out.Why.Notices, access.Notice)
	}
	if l.APIURL = access.URL; access.URL != "" {
		l.Env = append(l.Env,
			core.EnvVar{Name: apiURLEnv, Value: access.URL, Lane: sandbox.LaneApp},
			core.EnvVar{Name: apiTokenEnv, Value: access.Token.Reveal(), Lane: sandbox.LaneApp, Secret: true})
	}
	return out, nil
}

func (c runContainers) Resolve(ctx context.Context, run core.Run, ch core.Channel) (runner.Resolved, error) {
	r := &runReading{runContainers: c, run: run}
	p, err := c.provision.Resolve(ctx, r.want(ch))
	if err != nil {
		return runner.Resolved{Launch: r.launch}, err
	}
	return r.resolved(ctx, p)
}

func (c runContainers) Ensure(
	ctx context.Context, run core.Run, ch core.Channel, ready func(runner.Resolved) error,
) (core.Container, error) {
	r := &runReading{runContainers: c, run: run}
	w := r.want(ch)
	w.Ready = func(p provision.Resolved) error {
		out, err := r.resolved(ctx, p)
		if err != nil {
			return err
		}
		return ready(out)
	}
	lease, err := c.provision.Ensure(ctx, w)
	if err != nil {
		return core.Container{}, err
	}
	return lease.Container(), nil
}

// leases hands the registry's on, as interfaces or without them.
type leases struct{ *registry.Registry }

func (l leases) Acquire(ctx context.Context, spec core.Spec, by core.Holder) (provision.Held, error) {
	lease, err := l.Registry.Acquire(ctx, spec, by)
	if err != nil {
		return nil, err
	}
	return lease, nil
}

// Hold implements terminal.Leases.
func (l leases) Hold(ctx context.Context, id core.ContainerID, h core.Holder) error {
	_, err := l.Join(ctx, id, h)
	return err
}
