package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
)

const (
	// readyTimeout is far more than Chromium takes to answer its first command, 0.2 to
	// 0.6 s at half a processor.
	readyTimeout = 30 * time.Second
	// endTimeout bounds the end of a container.
	endTimeout = 20 * time.Second
	// maxReason bounds what is read of Chromium's last words, in bytes.
	maxReason = 64 << 10
)

// Provision makes containers; package provision has it.
type Provision interface {
	Ensure(ctx context.Context, w provision.Want) (*provision.Lease, error)
	Resolve(ctx context.Context, w provision.Want) (provision.Resolved, error)
}

// Containers knows those of this Loop folder; package registry has it.
type Containers interface {
	List() []core.Container
	Remove(ctx context.Context, id core.ContainerID) error
	Limit(ctx context.Context, id core.ContainerID, by core.Holder, limits core.Limits) error
}

// Links opens the link into a container.
type Links interface {
	Open(ctx context.Context, c core.Container) (core.Link, error)
}

// Volumes are those of the engine; package engine has them.
type Volumes interface {
	Volumes(ctx context.Context, labels map[string]string) ([]core.Volume, error)
	EnsureVolume(ctx context.Context, name string, labels map[string]string) error
	VolumeRemove(ctx context.Context, name string) error
}

// Options of a Starter; all but Policies and Ask are required.
type Options struct {
	Install    string // value of the loop-install label
	Provision  Provision
	Containers Containers
	Links      Links
	Volumes    Volumes
	Channel    func(ctx context.Context, id core.ChannelID) (core.Channel, error)
	// Policies bound what is read of the agent's files; nil: nothing is supervised.
	Policies Policies
	// CPUs are what a browser of the channel gets while nobody watches, and while a pane does.
	CPUs func(ch core.Channel) (alone, watched float64)
	// Ask decides about a site that a channel's browser connects to for the first time since it was
	// started; nil allows.
	Ask func(ctx context.Context, ch core.ChannelID, host string, port uint16) error
	Log *slog.Logger
}

// Starter starts browsers. Methods may be called from any goroutine.
type Starter struct{ o Options }

// New returns a Starter, which starts nothing by itself.
func New(o Options) *Starter { return &Starter{o} }

// Sidecar is one Chromium that runs. Whoever started it closes it.
type Sidecar struct {
	Notices []string // in sentences, for the person

	s       *Starter
	channel core.Channel
	lease   *provision.Lease
	id      core.SpawnID
	in      io.WriteCloser
	out     io.ReadCloser
	done    chan struct{} // closed when Chromium has ended
	life    context.Context
	end     context.CancelFunc
	waiting sync.WaitGroup
	uploads uploadTable
}

// Start makes the channel's container and starts Chromium in it. A container of the
// channel's browser that is left from before goes first: there is one. fresh forgets the
// profile. Errors are *core.Failure; with one, nothing is left.
func (s *Starter) Start(ctx context.Context, id core.ChannelID, fresh bool) (_ *Sidecar, err error) {
	ch, err := s.o.Channel(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := s.clear(ctx, id); err != nil {
		return nil, err
	}
	if err := s.keepProfile(ctx, id); err != nil {
		return nil, err
	}
	lease, err := s.o.Provision.Ensure(ctx, provision.Want{
		Channel: ch, Type: core.TypeChrome, Holder: holder(id), Link: true,
	})
	if err != nil {
		return nil, err
	}
	c := &Sidecar{s: s, channel: ch, lease: lease, Notices: lease.Why.Notices}
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	// A start is nearly all processor time: with half of one it took three times as long, measured.
	if err := c.Watched(ctx, true); err != nil {
		s.o.Log.Debug("processors for the start of a browser", "err", err)
	}
	why, err := c.launch(ctx, fresh, true)
	if err != nil && strings.Contains(why, "No usable sandbox") {
		c.Notices = append(c.Notices, "Chromium runs without its own sandbox, which this engine does not let it have: "+
			"the container alone holds its pages.")
		why, err = c.launch(ctx, false, false)
	}
	if err != nil {
		return nil, startFailure(err, why)
	}
	return c, nil
}

// clear removes what is left of an earlier browser of the channel.
func (s *Starter) clear(ctx context.Context, id core.ChannelID) error {
	for _, c := range s.o.Containers.List() {
		if c.Type == core.TypeChrome && c.ChannelID == id {
			if err := s.o.Containers.Remove(ctx, c.ID); err != nil && !errors.Is(err, core.ErrNotFound) {
				return fmt.Errorf("remove the browser's earlier container: %w", err)
			}
		}
	}
	return nil
}

func holder(ch core.ChannelID) core.Holder {
	return core.Holder{Kind: core.HolderBrowser, ID: string(ch)}
}

func startFailure(err error, why string) error {
	if f := core.AsFailure(err); f.Code != core.CodeInternal {
		return f
	}
	f := core.Fail(core.CodeInternal, err, "Chromium did not start.", "Look at the detail; “Restart” in the browser's pane tries again.")
	f.Detail = strings.ToValidUTF8(strings.TrimSpace(err.Error()+"\n"+why), "\uFFFD")
	return f
}

// launch starts Chromium and returns when it answers. With an error, why has its words.
func (c *Sidecar) launch(ctx context.Context, fresh, sandboxed bool) (why string, err error) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	script := prepare
	if fresh {
		script = wipe
	}
	link := c.lease.Link
	c.id = core.SpawnID(core.NewID())
	// Without a channel it may ask Loop for nothing: what it has is a way out.
	link.Admit(c.id, core.Identity{Egress: c.wayOut()})
	_, err = link.Spawn(ctx, core.SpawnRequest{
		ID: c.id, Argv: append([]string{"/bin/sh", "-c", script, "chromium"}, arguments(sandboxed)...), Dir: "/", Stdio: core.StdioPipes,
		Pipes: []core.SpawnPipe{{FD: commandsFD}, {FD: answersFD, Write: true}},
	})
	if err != nil {
		return "", fmt.Errorf("start Chromium: %w", err)
	}
	pipes, interrupt := context.WithCancel(c.life)
	stop := context.AfterFunc(ctx, interrupt) // they outlive the start, unless it takes too long
	if c.in, err = link.Feed(pipes, c.id, commandsFD); err != nil {
		return "", fmt.Errorf("open the pipe of commands: %w", err)
	}
	if c.out, err = link.ReadHeld(pipes, c.id, fmt.Sprint(answersFD), 0); err != nil {
		return "", fmt.Errorf("open the pipe of answers: %w", err)
	}
	err = answers(c.in, c.out)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_, _ = c.in.Close(), c.out.Close()
		c.in, c.out = nil, nil
		return c.lastWords(), fmt.Errorf("wait for Chromium: %w", err)
	}
	done, id := make(chan struct{}), c.id
	c.done = done
	c.waiting.Go(func() {
		defer close(done)
		_, _ = link.Wait(c.life, id) // or the link, or the life of this ends
	})
	return "", nil
}

// answers asks for the version, as the first command, and reads its answer to the end.
// Not a byte more is read: the rest is the driver's.
func answers(in io.Writer, out io.Reader) error {
	if _, err := io.WriteString(in, `{"id":1,"method":"Browser.getVersion"}`+"\x00"); err != nil {
		return err
	}
	one := make([]byte, 1)
	for range maxReason {
		if _, err := io.ReadFull(out, one); err != nil {
			return err
		}
		if one[0] == 0 {
			return nil
		}
	}
	return errors.New("its first answer has no end")
}

// lastWords ends a Chromium that did not come up, and returns what it has said.
func (c *Sidecar) lastWords() string {
	ctx, cancel := context.WithTimeout(c.life, endTimeout)
	defer cancel()
	link := c.lease.Link
	if err := link.Kill(ctx, c.id); err != nil {
		return ""
	}
	r, err := link.Read(ctx, c.id, "err", 0)
	if err != nil {
		return ""
	}
	defer func() { _ = r.Close() }()
	text, _ := io.ReadAll(io.LimitReader(r, maxReason))
	_ = link.Forget(ctx, c.id)
	return string(text)
}

// Pipe returns both ends of the DevTools protocol: what Chromium says, and where it
// reads. They are the caller's to close.
func (c *Sidecar) Pipe() (io.ReadCloser, io.WriteCloser) { return c.out, c.in }

// Done is closed when Chromium has ended, or cannot be reached any more.
func (c *Sidecar) Done() <-chan struct{} { return c.done }

// Watched gives Chromium the processor time that it has while a pane shows it, or takes
// it back: at half a processor a page moves at ten frames a second.
func (c *Sidecar) Watched(ctx context.Context, on bool) error {
	alone, watched := c.s.o.CPUs(c.channel)
	limits := core.Limits{CPUs: alone}
	if on {
		limits.CPUs = watched
	}
	if err := c.s.o.Containers.Limit(ctx, c.lease.Container.ID, holder(c.channel.ID), limits); err != nil {
		return fmt.Errorf("change the browser's limits: %w", err)
	}
	return nil
}

// Close ends Chromium and its container.
func (c *Sidecar) Close() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.life), endTimeout)
	defer cancel()
	c.end()
	err := c.lease.Release(ctx, core.Ending{Now: true})
	c.waiting.Wait()
	return err
}
