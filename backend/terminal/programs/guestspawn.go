package programs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/provision"
	"loop/backend/runner"
	"loop/backend/terminal"
)

// Agents says how the agent's CLI is started in a channel, as the settings stand.
type Agents interface {
	// Interactive is for a person at a terminal. Without a key it is given all the
	// same: a person can log in there.
	Interactive(ctx context.Context, ch core.Channel) (runner.Launch, error)
}

// Sessions are the conversations that the agent keeps.
type Sessions interface {
	List(ctx context.Context, ch core.Channel) ([]core.SessionInfo, error)
	Resumable(ch core.Channel, workDir string, session core.SessionID) (exists, known bool)
}

// Links opens links into containers.
type Links interface {
	Open(ctx context.Context, c core.Container) (core.Link, error)
}

// Programs starts what runs on terminals, wherever that is.
type Programs struct {
	Host       Host
	Exec       Exec
	Containers Containers
	Links      Links
	Agents     Agents
	Sessions   Sessions
	Policies   Policies // nil: programs are not supervised
}

// Policies makes the documents that supervisors go by; nil says that a program is not
// supervised.
type Policies interface {
	Policy(name string, ch core.Channel, spec core.Spec, spawn core.SpawnID) ([]byte, error)
}

var _ terminal.Programs = Programs{}

// Start implements terminal.Programs.
func (t Programs) Start(ctx context.Context, s terminal.Start) (terminal.Program, error) {
	if s.Spec.Target == core.TargetHost {
		return t.Host.Start(ctx, s)
	}
	c, ours, _, err := t.Containers.Running(ctx, s.Container.ID)
	if err != nil {
		return nil, fmt.Errorf("look at the container: %w", err)
	}
	if !ours {
		return t.Exec.Start(ctx, s)
	}
	g := guestSpawn{Programs: t, id: s.ID, spec: s.Spec}
	g.spec.ContainerID = c.ID
	g.spec.ChannelID = cmp.Or(s.Spec.ChannelID, c.ChannelID)
	// One that somebody paused is let go on, as for a run: a link that is open
	// already would be waited for until it breaks.
	if err := t.Containers.Registry.Awake(ctx, c.ID); err != nil {
		return nil, fmt.Errorf("wake the container: %w", err)
	}
	p, err := g.start(ctx, c)
	if errors.Is(err, core.ErrLinkDown) && ctx.Err() == nil {
		p, err = g.start(ctx, c) // over a new link: a shared one breaks for reasons of its own
	}
	if _, ok := errors.AsType[*core.Failure](err); !ok && errors.Is(err, core.ErrLinkDown) {
		err = core.Fail(core.CodeNoLink, err, "The connection to the container broke off.",
			"Try again; if it repeats, look at the container's log.")
	}
	return p, err
}

// Resume implements terminal.Programs.
func (t Programs) Resume(s terminal.Saved, found func(end int64)) terminal.Program {
	return terminal.ResumeGuest(guestSpawn{Programs: t, id: s.Info.ID, spec: core.TerminalSpec{
		ChannelID: s.Info.ChannelID, ContainerID: s.Info.ContainerID, Target: s.Info.Target, Cmd: s.Info.Cmd, Plain: s.Info.Plain,
		OpenMode: s.OpenMode, Cols: s.Info.Cols, Rows: s.Info.Rows,
	}}, s, found)
}

// guestSpawn is how one program is started in a container of ours, and started
// again after the container was.
type guestSpawn struct {
	Programs
	id   core.TerminalID
	spec core.TerminalSpec
}

var _ terminal.GuestContainer = guestSpawn{}

// start spawns the program over a link of its own.
func (g guestSpawn) start(ctx context.Context, c core.Container) (terminal.Program, error) {
	link, err := g.open(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("reach the container: %w", err)
	}
	typed, err := g.spawn(ctx, link, false)
	if err != nil {
		return nil, errors.Join(err, link.Close())
	}
	return terminal.NewGuest(g, core.SpawnID(g.id), link, typed), nil
}

// Open implements terminal.GuestContainer.
func (g guestSpawn) Open(ctx context.Context) (core.Link, error) {
	c, ours, running, err := g.Containers.Running(ctx, g.spec.ContainerID)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look at the container: %w", err)
	case !ours:
		return nil, fmt.Errorf("container %s: %w", g.spec.ContainerID, core.ErrNotFound)
	case !running:
		return nil, fmt.Errorf("container %s: %w", c.Name, core.ErrNotRunning)
	}
	return g.open(ctx, c)
}

// Again implements terminal.GuestContainer: only the agent is started again.
func (g guestSpawn) Again(ctx context.Context, link core.Link) (typed string, err error) {
	if !g.agent() {
		return "", fmt.Errorf("start terminal again: %w", core.ErrNotFound)
	}
	return g.spawn(ctx, link, true)
}

// agent says that the agent's command is typed into the shell.
func (g guestSpawn) agent() bool { return len(g.spec.Cmd) == 0 && !g.spec.Plain }

// open tells every new link who the terminal is and where its model is.
func (g guestSpawn) open(ctx context.Context, c core.Container) (core.Link, error) {
	link, err := g.Links.Open(ctx, c)
	if err != nil {
		return link, err
	}
	ch, l, err := g.launch(ctx)
	if err != nil && g.agent() {
		return nil, errors.Join(err, link.Close())
	}
	g.admit(link, l, g.rulesIn(ctx, ch, c)) // a shell is there without a model, too
	return link, nil
}

func (g guestSpawn) admit(link core.Link, l runner.Launch, rules func() ([]byte, error)) {
	link.Admit(core.SpawnID(g.id), core.Identity{ChannelID: g.spec.ChannelID, Upstream: runner.InteractiveUpstream(l), Rules: rules})
}

// rulesIn make the document for a program that a new link may find running. One whose
// container is not what the settings would make keeps its rules: they are for its mounts.
func (g guestSpawn) rulesIn(ctx context.Context, ch core.Channel, c core.Container) func() ([]byte, error) {
	if g.Policies == nil || ch.ID == "" {
		return nil
	}
	made, err := g.Containers.Provision.Resolve(ctx, provision.Want{Channel: ch, Type: core.TypeShell, Shared: true})
	if err != nil || made.Spec.Fixed != c.Fixed {
		return nil
	}
	return g.rules(ch, made.Spec)
}

func (g guestSpawn) rules(ch core.Channel, spec core.Spec) func() ([]byte, error) {
	return func() ([]byte, error) { return g.policy(ch, spec) }
}

// launch is how the agent is started in the terminal's channel.
func (g guestSpawn) launch(ctx context.Context) (ch core.Channel, l runner.Launch, err error) {
	if ch, err = g.Host.Channels.Channel(ctx, g.spec.ChannelID); err != nil {
		return ch, l, core.Fail(core.CodeNotFound, err, "The channel of this terminal is gone.", "Open a new terminal in another channel.")
	}
	l, err = g.Agents.Interactive(ctx, ch)
	return ch, l, err
}

// policy is what the program goes by; nil is nothing.
func (g guestSpawn) policy(ch core.Channel, spec core.Spec) ([]byte, error) {
	if g.Policies == nil {
		return nil, nil
	}
	name := policy.NamePerson
	if g.agent() {
		name = policy.NameAgent
	}
	return g.Policies.Policy(name, ch, spec, core.SpawnID(g.id))
}

// agentShells are tried in turn; every image has the last.
var agentShells = [][]string{{"/bin/bash", "-l"}, {"/bin/sh", "-l"}}

// spawn starts the program and says what is to be typed into it.
func (g guestSpawn) spawn(ctx context.Context, link core.Link, again bool) (typed string, err error) {
	ch, l, err := g.launch(ctx)
	if err != nil {
		return "", err
	}
	made, err := g.Containers.Provision.Resolve(ctx, provision.Want{Channel: ch, Type: core.TypeShell, Shared: true})
	if err != nil {
		return "", err
	}
	l.Take(made)
	workDir := made.Spec.WorkDir
	if again { // with nothing to go on with the CLI only says so
		list, lerr := g.Sessions.List(ctx, ch)
		again = lerr != nil || len(list) > 0
	}
	rules, err := g.policy(ch, made.Spec)
	if err != nil {
		return "", err
	}
	l.Gated = rules != nil
	cli, err := runner.InteractiveCommand(l, ch, ch.Kind == core.KindDemo, g.id, workDir, made.Why.AddDirs, runner.InteractiveStart{
		Mode: g.spec.OpenMode, Again: again,
		Exists: func(s core.SessionID) bool {
			exists, known := g.Sessions.Resumable(ch, workDir, s)
			return exists || !known
		},
	})
	if err != nil {
		return "", err
	}
	req := core.SpawnRequest{
		ID: core.SpawnID(g.id), Stdio: core.StdioPTY, Cols: g.spec.Cols, Rows: g.spec.Rows,
		Env: append(Env(), cli.Env...), Files: cli.Files,
		Policy: rules, PolicyVersion: 1,
	}
	tries := agentShells
	if len(g.spec.Cmd) > 0 {
		tries = [][]string{g.spec.Cmd}
	}
	dirs := []string{workDir}
	if path.IsAbs(g.spec.Dir) && !again {
		dirs = []string{g.spec.Dir, workDir} // the first may be gone, or of another container
	}
	g.admit(link, l, g.rules(ch, made.Spec)) // the settings may be others than when the link was opened
	for _, req.Dir = range dirs {
		if err = spawnFirst(ctx, link, req, tries, g.Host.Settings.ShellIntegration()); core.AsFailure(err).Code != core.CodeDir {
			break
		}
	}
	if err != nil || !g.agent() {
		return "", err
	}
	return cli.Line, nil
}

// spawnFirst starts the first of several programs that is there.
func spawnFirst(ctx context.Context, link core.Link, req core.SpawnRequest, tries [][]string, integrate bool) (err error) {
	for _, argv := range tries {
		r := req
		if r.Argv = argv; integrate {
			r = Marked(req, argv)
		}
		if _, err = link.Spawn(ctx, r); core.AsFailure(err).Code != core.CodeNotFound {
			break
		}
	}
	return err
}
