package programs

import (
	"context"
	"errors"
	"fmt"
	"path"

	"loop/backend/core"
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
	Exists(ch core.Channel, workDir string, session core.SessionID) (exists, known bool)
}

// Links opens links into containers.
type Links interface {
	Open(ctx context.Context, c core.Container) (core.Link, error)
}

// Waker lets a container that is held still go on.
type Waker interface {
	Awake(ctx context.Context, id core.ContainerID) (done func(), err error)
}

// Programs starts what runs on terminals, wherever that is.
type Programs struct {
	Host       Host
	Exec       Exec
	Containers Containers
	Links      Links
	Waker      Waker
	Agents     Agents
	Sessions   Sessions
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
	g := guestStart{Programs: t, id: s.ID, spec: s.Spec, container: c}
	g.spec.ChannelID = c.ChannelID
	// One that somebody paused is let go on, as for a run: a link that is open
	// already would be waited for until it breaks.
	if err := t.wake(ctx, c.ID); err != nil {
		return nil, err
	}
	p, err := g.start(ctx)
	if errors.Is(err, core.ErrLinkDown) && ctx.Err() == nil {
		p, err = g.start(ctx) // over a new link: a shared one breaks for reasons of its own
	}
	if _, ok := errors.AsType[*core.Failure](err); !ok && errors.Is(err, core.ErrLinkDown) {
		err = core.Fail(core.CodeNoLink, err, "The connection to the container broke off.",
			"Try again; if it repeats, look at the container's log.")
	}
	return p, err
}

func (t Programs) wake(ctx context.Context, id core.ContainerID) error {
	done, err := t.Waker.Awake(ctx, id)
	if err != nil {
		return fmt.Errorf("wake the container: %w", err)
	}
	done()
	return nil
}

// start spawns the program over a link of its own.
func (g guestStart) start(ctx context.Context) (terminal.Program, error) {
	link, err := g.open(ctx, g.container)
	if err != nil {
		return nil, fmt.Errorf("reach the container: %w", err)
	}
	typed, err := g.spawn(ctx, link, false)
	if err != nil {
		return nil, errors.Join(err, link.Close())
	}
	return terminal.NewGuest(g.ports(), g.container, core.SpawnID(g.id), link, 0, typed), nil
}

// Resume implements terminal.Programs.
func (t Programs) Resume(ctx context.Context, s terminal.Saved) (terminal.Program, int64, error) {
	c, ours, running, err := t.Containers.Running(ctx, s.Info.ContainerID)
	if err != nil {
		return nil, 0, fmt.Errorf("look at the container: %w", err)
	}
	if !ours || !running {
		return nil, 0, core.Fail(core.CodeNotFound, core.ErrNotFound, "The container it ran in was stopped while Loop was away.",
			"Open a new terminal.")
	}
	g := guestStart{Programs: t, id: s.Info.ID, container: c, spec: core.TerminalSpec{
		ChannelID: s.Info.ChannelID, ContainerID: c.ID, Target: s.Info.Target, Cmd: s.Info.Cmd, Plain: s.Plain,
		OpenMode: s.OpenMode, Cols: s.Info.Cols, Rows: s.Info.Rows,
	}}
	link, err := g.open(ctx, c)
	if err != nil {
		return nil, 0, fmt.Errorf("reach the container: %w", err)
	}
	list, err := link.Spawns(ctx)
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("list programs: %w", err), link.Close())
	}
	shift, end := s.Shift, s.Offset // of one that is not there, nothing more
	for _, i := range list {
		if i.ID == core.SpawnID(s.Info.ID) {
			end = i.OutEnd + shift
		}
	}
	return terminal.NewGuest(g.ports(), c, core.SpawnID(s.Info.ID), link, shift, ""), end, nil
}

// guestStart is how one program is started in a container of ours, and started
// again after the container was.
type guestStart struct {
	Programs
	id        core.TerminalID
	spec      core.TerminalSpec
	container core.Container
}

func (g guestStart) ports() terminal.GuestPorts {
	p := terminal.GuestPorts{
		Open: g.open,
		Running: func(ctx context.Context, id core.ContainerID) (bool, error) {
			_, _, running, err := g.Containers.Running(ctx, id)
			return running, err
		},
	}
	if g.agent() {
		p.Again = func(ctx context.Context, link core.Link) (string, error) { return g.spawn(ctx, link, true) }
	}
	return p
}

// agent says that the agent's command is typed into the shell.
func (g guestStart) agent() bool { return len(g.spec.Cmd) == 0 && !g.spec.Plain }

// open tells every new link who the terminal is and where its model is.
func (g guestStart) open(ctx context.Context, c core.Container) (core.Link, error) {
	link, err := g.Links.Open(ctx, c)
	if err != nil {
		return link, err
	}
	_, l, err := g.launch(ctx)
	if err != nil && g.agent() {
		return nil, errors.Join(err, link.Close())
	}
	g.admit(link, l) // a shell is there without a model, too
	return link, nil
}

func (g guestStart) admit(link core.Link, l runner.Launch) {
	link.Admit(core.SpawnID(g.id), core.Identity{ChannelID: g.spec.ChannelID, Upstream: runner.InteractiveUpstream(l)})
}

// launch is how the agent is started in the terminal's channel.
func (g guestStart) launch(ctx context.Context) (ch core.Channel, l runner.Launch, err error) {
	if ch, err = g.Host.Channels.Channel(ctx, g.spec.ChannelID); err != nil {
		return ch, l, core.Fail(core.CodeNotFound, err, "The channel of this terminal is gone.", "Open a new terminal in another channel.")
	}
	l, err = g.Agents.Interactive(ctx, ch)
	return ch, l, err
}

// agentShells are tried in turn; every image has the last.
var agentShells = [][]string{{"/bin/bash", "-l"}, {"/bin/sh", "-l"}}

// spawn starts the program and says what is to be typed into it.
func (g guestStart) spawn(ctx context.Context, link core.Link, again bool) (typed string, err error) {
	ch, l, err := g.launch(ctx)
	if err != nil {
		return "", err
	}
	made, err := g.Containers.Provision.Resolve(ctx, provision.Want{Channel: ch, Type: core.TypeShell})
	if err != nil {
		return "", err
	}
	l.Env, l.DockerConfig = made.Env, made.DockerConfig
	workDir := made.Spec.WorkDir
	if again { // with nothing to go on with the CLI only says so
		list, lerr := g.Sessions.List(ctx, ch)
		again = lerr != nil || len(list) > 0
	}
	cli, err := runner.InteractiveCommand(l, ch, ch.Kind == core.KindDemo, g.id, workDir, made.Why.AddDirs, runner.InteractiveStart{
		Mode: g.spec.OpenMode, Again: again,
		Exists: func(s core.SessionID) bool {
			exists, known := g.Sessions.Exists(ch, workDir, s)
			return exists || !known
		},
	})
	if err != nil {
		return "", err
	}
	req := core.SpawnRequest{
		ID: core.SpawnID(g.id), Stdio: core.StdioPTY, Cols: g.spec.Cols, Rows: g.spec.Rows,
		Env: append(Env(), cli.Env...), Files: cli.Files,
	}
	tries := agentShells
	if len(g.spec.Cmd) > 0 {
		tries = [][]string{g.spec.Cmd}
	}
	dirs := []string{workDir}
	if path.IsAbs(g.spec.Dir) && !again {
		dirs = []string{g.spec.Dir, workDir} // the first may be gone, or of another container
	}
	g.admit(link, l) // the settings may be others than when the link was opened
	for _, req.Dir = range dirs {
		if err = spawnFirst(ctx, link, req, tries, g.Host.Settings.ShellIntegration()); failedBy(err) != core.CodeDir {
			break
		}
	}
	if err != nil {
		return "", err
	}
	if !g.agent() {
		return "", nil
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
		if _, err = link.Spawn(ctx, r); failedBy(err) != core.CodeNotFound {
			break
		}
	}
	return err
}

func failedBy(err error) core.Code {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return f.Code
	}
	return ""
}
