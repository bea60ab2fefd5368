package provision

import (
	"context"
	"errors"
	"fmt"
	"time"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// HostNotice is said before everything that a run on this computer itself does.
const HostNotice = "This run works on this computer itself, without a container: it can do whatever you can. " +
	"The gate holds nothing, planning is not enforced, and the browser is not kept apart from the agent."

// asRead are settings that were read a moment ago: the run that wants a container needs
// them before the image is looked at, because there it may need none.
type asRead struct {
	Settings
	v   Values
	now func() time.Time
	at  time.Time
}

// freshFor is how long what was read counts; an image may be built meanwhile.
const freshFor = time.Second

func (a asRead) ForChannel(ctx context.Context, ch core.Channel) (Values, error) {
	if a.now().Sub(a.at) < freshFor {
		return a.v, nil
	}
	return a.Settings.ForChannel(ctx, ch)
}

// settings are those that a Want goes by.
func (s *Service) settings(w Want) Settings {
	if w.Settings != nil {
		return w.Settings
	}
	return s.o.Settings
}

// onHost is Ensure without a container: it makes the state folders, and calls no engine.
func (s *Service) onHost(ctx context.Context, w Want, v Values) (*Lease, error) {
	r, err := s.resolveOnHost(ctx, w, v)
	if err != nil {
		return nil, fmt.Errorf("resolve the run's place: %w", err)
	}
	if !w.Begun {
		notices, err := s.o.Computer.PrepareOnHost(r.Spec)
		if err != nil {
			return nil, fmt.Errorf("prepare the run's place: %w", err)
		}
		r.Why.Notices = append(r.Why.Notices, notices...)
	}
	if w.Ready != nil {
		if err := w.Ready(r); err != nil {
			return nil, err
		}
	}
	if w.Run == "" || w.Link {
		return nil, errors.New("only runs work without a container, and open their links themselves")
	}
	return &Lease{
		Resolved: r, Fresh: true, containers: nothingHeld{}, holder: w.Holder,
		Container: core.Container{
			ID: core.HostPlace(w.Run), Name: r.Spec.Name, ChannelID: w.Channel.ID, RunID: w.Run, Type: core.TypeAgent,
			Status: core.ContainerRunning, CreatedAt: time.Now(),
		},
	}, nil
}

// resolveOnHost says what a run gets on this computer. The engine is not asked how it is.
func (s *Service) resolveOnHost(ctx context.Context, w Want, v Values) (r Resolved, err error) {
	r.Why.Notices, r.OnHost = v.Notices, true
	if r.host, err = s.o.Computer.Host(ctx, core.EngineStatus{}); err != nil {
		return r, err
	}
	r.Spec, r.Env, r.Why, err = sandbox.OnHost(v.Container, w.Channel, w.Run, r.host)
	mode := core.FieldOrigin{Field: "mode", Value: "off: on this computer itself", Layer: core.LayerGlobal}
	r.Why.Origins = append([]core.FieldOrigin{mode}, r.Why.Origins...)
	said := []string{HostNotice}
	if w.Plan {
		said = append(said, "This run plans first: only the agent's own plan mode asks it to change nothing.")
	}
	r.Why.Notices = append(append(said, r.Why.Notices...), v.Notices...)
	return r, err
}

// nothingHeld is what a lease without a container gives back.
type nothingHeld struct{ Containers }

func (nothingHeld) Release(context.Context, core.Holder, core.Ending) error { return nil }
