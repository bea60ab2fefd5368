package inventory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"loop/backend/core"
)

// leastID is how much of a container's id names it.
const leastID = 4

// Containers is the registry, as far as people steer it.
type Containers interface {
	Views() []core.ContainerView
	// Stop is core.ErrConflict while something works in the container, core.ErrNotRunning
	// where it has stopped, and core.ErrNotFound where it is gone.
	Stop(ctx context.Context, id core.ContainerID) error
	Remove(ctx context.Context, id core.ContainerID) error
	RemoveUnheld(ctx context.Context, id core.ContainerID) error // core.ErrConflict while it is held
	Prune(ctx context.Context, dry bool, only []core.ContainerID) ([]core.PrunedContainer, error)
	Facts(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error)
}

// Engine says what containers wrote, use and take.
type Engine interface {
	// LogSince returns the last n lines of what the first process wrote after a time.
	LogSince(ctx context.Context, id core.ContainerID, since time.Time, n int) (text string, last time.Time, err error)
	// Usage is core.ErrNotRunning for one that does not run.
	Usage(ctx context.Context, id core.ContainerID) (core.ContainerUsage, error)
	// Size takes the engine some time.
	Size(ctx context.Context, id core.ContainerID) (bytes int64, err error)
}

// Links are ways into containers that run.
type Links interface {
	Open(ctx context.Context, c core.Container) (core.Link, error)
}

// Channels finds channels and their runs; what is gone is core.ErrNotFound.
type Channels interface {
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
	Run(ctx context.Context, id core.RunID) (core.Run, error)
}

// Provision compares containers with what would be made now. It makes nothing.
type Provision interface {
	Drift(ctx context.Context, ch core.Channel, c core.Container, f core.ContainerFacts) (core.ContainerDrift, error)
}

// Explainer says what a channel's next container would be made of, and why.
type Explainer interface {
	Explain(ctx context.Context, id core.ChannelID, plan bool) (core.Explanation, error)
}

// Options of a Service; all are required.
type Options struct {
	Containers Containers
	Engine     Engine
	Channels   Channels
	Provision  Provision
	Explainer  Explainer
	Links      Links
	Machine    func(ctx context.Context) core.EngineStatus // of the engine's machine
	GiveBack   func(id core.ContainerID)                   // has git that keeps a container unused give it back
	WarmMost   func() int                                  // the setting container_warm_max
	OnAppExit  func() string                               // the setting on_app_exit
}

// Service lists and steers containers, and watches them while somebody looks at them. Its
// methods may be called from any goroutine. Run is for its owner.
type Service struct {
	o     Options
	asked chan struct{} // somebody looks
	pages pages

	unsized   error // why the last size is not known; of measure alone
	unsizedAt time.Time

	mu       sync.Mutex // guards all below
	until    time.Time  // when nobody looks any more
	machine  core.EngineTraits
	seen     map[core.ContainerID]*sight
	failures map[string]*core.Failure // by what was looked for, where the last look failed
}

// New returns a Service, which does nothing by itself before Run.
func New(o Options) *Service {
	return &Service{o: o, asked: make(chan struct{}, 1), seen: map[core.ContainerID]*sight{}, failures: map[string]*core.Failure{}}
}

// Views are all containers of this Loop folder, oldest first.
func (s *Service) Views() []core.ContainerView { return s.o.Containers.Views() }

// Inspect says everything of one container. Where the settings cannot be read, its drift says
// so instead.
func (s *Service) Inspect(ctx context.Context, name string) (out core.ContainerInspection, err error) {
	if out.ContainerView, err = s.named(name); err != nil {
		return out, err
	}
	f, err := s.facts(ctx, out.ID)
	if err != nil {
		return out, err
	}
	out.Engine, out.Drift = stateOf(f), s.drift(ctx, out.Container, f)
	return out, nil
}

func stateOf(f core.ContainerFacts) core.ContainerState {
	return core.ContainerState{
		Running: f.Running, Paused: f.Paused, ExitCode: f.ExitCode, OOMKilled: f.OOMKilled, Error: f.Error,
		ImageID: f.ImageID, Limits: f.Limits, Mounts: append([]core.Mount{}, f.Mounts...),
	}
}

func (s *Service) drift(ctx context.Context, c core.Container, f core.ContainerFacts) core.ContainerDrift {
	d := s.compare(ctx, c, f)
	if d.Parts == nil {
		d.Parts = []string{}
	}
	if !d.Changed {
		return d
	}
	why, err := s.o.Explainer.Explain(ctx, c.ChannelID, false)
	if err != nil {
		d.Parts = append(d.Parts, "by settings that cannot be named now: "+core.AsFailure(err).Cause)
		return d
	}
	d.Origins = changed(why.Origins, d.Parts, f)
	return d
}

func (s *Service) compare(ctx context.Context, c core.Container, f core.ContainerFacts) core.ContainerDrift {
	if c.Scope == "" {
		return core.ContainerDrift{Unknown: "Nobody joins this container, so the settings of now do not count for it."}
	}
	ch, err := s.o.Channels.Channel(ctx, c.ChannelID)
	if errors.Is(err, core.ErrNotFound) {
		return core.ContainerDrift{Unknown: "The channel that it was made for is gone."}
	}
	var d core.ContainerDrift
	if err == nil {
		d, err = s.o.Provision.Drift(ctx, ch, c, f)
	}
	if err != nil {
		return core.ContainerDrift{Unknown: "What the settings would make now cannot be told: " + core.AsFailure(err).Cause}
	}
	return d
}

func (s *Service) facts(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error) {
	f, err := s.o.Containers.Facts(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return f, gone(err)
	}
	if err != nil {
		return f, fmt.Errorf("ask the engine for the container: %w", err)
	}
	return f, nil
}

// The lines of a log that one call returns.
const (
	fewLines  = 100
	mostLines = 5000
)

// Log returns the last lines of a container's log: those after since, which an earlier
// answer said as Next, or else the last tail ones (0 is a hundred).
func (s *Service) Log(ctx context.Context, name, since string, tail int) (out core.ContainerLog, err error) {
	c, err := s.named(name)
	if err != nil {
		return out, err
	}
	if tail < 0 || tail > mostLines {
		return out, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("A log shows between 1 and %d lines at once.", mostLines), "Ask for fewer.")
	}
	var from time.Time
	if since != "" {
		if from, err = time.Parse(time.RFC3339Nano, since); err != nil {
			return out, core.Fail(core.CodeInvalid, err, "This is no place in a log.", "Begin at its end.")
		}
		tail = mostLines
	}
	if tail == 0 {
		tail = fewLines
	}
	f, err := s.facts(ctx, c.ID) // before the log, so that what was written at the end is in it
	if err != nil {
		return out, err
	}
	text, last, err := s.o.Engine.LogSince(ctx, c.ID, from, tail)
	if errors.Is(err, core.ErrNotFound) {
		return out, gone(err)
	}
	if err != nil {
		return out, fmt.Errorf("read the log of the container: %w", err)
	}
	out = core.ContainerLog{Text: text, Next: since, Running: f.Running}
	if !last.IsZero() {
		out.Next = last.UTC().Format(time.RFC3339Nano)
	}
	return out, nil
}

// named is the container of a name, of an id, or of the beginning of one.
func (s *Service) named(name string) (found core.ContainerView, err error) {
	n := 0
	for _, c := range s.o.Containers.Views() {
		if c.Name == name || string(c.ID) == name {
			return c, nil
		}
		if len(name) >= leastID && strings.HasPrefix(string(c.ID), name) {
			found = c
			n++
		}
	}
	switch {
	case n > 1:
		return found, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%d containers have an id that begins like that.", n), "Give more of the id.")
	case n == 0:
		return found, gone(core.ErrNotFound)
	}
	return found, nil
}

func gone(err error) error {
	return core.Fail(core.CodeNotFound, err, "There is no such container of this Loop folder.", "“loop ps” lists them.")
}
