package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
)

// trialCleanup bounds removing the trial's container after its probe ended.
const trialCleanup = 15 * time.Second

// Container makes the trials of Parts.
type Container struct {
	Home     string // Loop's folder
	Ensure   func(ctx context.Context, w provision.Want) (*provision.Lease, error)
	Settings provision.Settings // of a container
	// Debuggers reports whether the person's settings want programs to debug each other.
	Debuggers func() bool
}

// Try starts a container as a run would, waits for its hello, measures one round
// trip and removes it again. Nothing of it stays.
func (p Container) Try(ctx context.Context) (t Tried, err error) {
	var began time.Time
	want := provision.Want{Ready: func(provision.Resolved) error { began = time.Now(); return nil }}
	err = p.with(ctx, want, func(ctx context.Context, l *provision.Lease) (err error) {
		t.Started = time.Since(began)
		if t.RoundTrip, err = l.Link.Ping(ctx); err != nil {
			return fmt.Errorf("ping the container: %w", err)
		}
		return nil
	})
	return t, err
}

// with has use work in a container of its own, with a link, that ends with it.
func (p Container) with(ctx context.Context, w provision.Want, use func(context.Context, *provision.Lease) error) (err error) {
	// The folder of a demo channel is no person's choice, which would be checked.
	ch := core.Channel{ID: core.ChannelID(core.NewID()), Kind: core.KindDemo, Name: "doctor"}
	ch.Dir = filepath.Join(p.Home, "channels", string(ch.ID), "work")
	if err := os.MkdirAll(ch.Dir, 0o755); err != nil {
		return core.Fail(core.CodeDiskFull, err, "Loop could not make a folder for the trial.", "Check that the disk is not full.")
	}
	defer os.RemoveAll(filepath.Dir(ch.Dir))
	w.Channel, w.Holder = ch, core.Holder{Kind: core.HolderSetUp, ID: string(ch.ID)}
	w.Link, w.NoBuild = true, true
	lease, err := p.Ensure(ctx, w)
	if err != nil {
		return err
	}
	defer func() {
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), trialCleanup)
		defer cancel()
		if rerr := lease.Release(cctx, core.Ending{Now: true}); rerr != nil && err == nil {
			err = fmt.Errorf("end the trial: %w", rerr)
		}
	}()
	return use(ctx, lease)
}
