package provision

import (
	"context"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// Settings reads what counts for a channel now. Each call reads anew. Errors are
// *core.Failure: a file that cannot be used may have said “network none”.
type Settings interface {
	ForChannel(ctx context.Context, ch core.Channel) (Values, error)
}

// Values are the settings of one channel as far as its containers go.
type Values struct {
	Container sandbox.Settings // Image is always set
	// OverNetwork says that what is to run reaches its model over the network, so
	// that a container without one is refused.
	OverNetwork bool
	Notices     []string // what of the settings is not in force, in sentences
}

// Images are the agent image and the volume with loop init.
type Images interface {
	// Ensure builds the image where it is missing or stale, and waits for it.
	Ensure(ctx context.Context) error
	// GuestVolume is the name of the volume, filled.
	GuestVolume(ctx context.Context) (string, error)
	// ForgetGuestVolume has the next GuestVolume look again whether it is whole.
	ForgetGuestVolume()
}

// Engine says which image a reference means; core.ErrNoImage when there is none.
type Engine interface {
	ImageInspect(ctx context.Context, ref string) (id string, labels map[string]string, err error)
}

// Health is the engine's last known state.
type Health interface {
	Status(ctx context.Context) core.EngineStatus
}

// Computer is the one that Loop runs on.
type Computer interface {
	// Host gathers what Resolve has to know of it.
	Host(ctx context.Context, st core.EngineStatus) (sandbox.Host, error)
	// Prepare makes the folders and files that the spec needs; notices say what was
	// left out.
	Prepare(spec core.Spec, host sandbox.Host) (notices []string, err error)
}

// Containers makes and starts containers, keeps them for their holders, and ends them
// when nobody holds them.
type Containers interface {
	Acquire(ctx context.Context, spec core.Spec, by core.Holder) (core.Container, error)
	// Release gives back everything that a holder holds.
	Release(ctx context.Context, h core.Holder, e core.Ending) error
}

// Links opens the link into a container and returns after its hello.
type Links interface {
	Open(ctx context.Context, c core.Container) (core.Link, error)
}
