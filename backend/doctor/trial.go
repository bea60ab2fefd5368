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

// Container makes the trial of Parts.
type Container struct {
	Home   string // Loop's folder
	Ensure func(ctx context.Context, w provision.Want) (*provision.Lease, error)
}

// Try starts a container as a run would, waits for its hello, measures one round
// trip and removes it again. Nothing of it stays.
func (p Container) Try(ctx context.Context) (t Tried, err error) {
	// The folder of a demo channel is no person's choice, which would be checked.
	ch := core.Channel{ID: core.ChannelID(core.NewID()), Kind: core.KindDemo, Name: "doctor"}
	ch.Dir = filepath.Join(p.Home, "channels", string(ch.ID), "work")
	if err := os.MkdirAll(ch.Dir, 0o755); err != nil {
		return t, core.Fail(core.CodeDiskFull, err, "Loop could not make a folder for the trial.", "Check that the disk is not full.")
	}
	defer os.RemoveAll(filepath.Dir(ch.Dir))
	var began time.Time
	lease, err := p.Ensure(ctx, provision.Want{
		Channel: ch, Holder: core.Holder{Kind: core.HolderSetUp, ID: string(ch.ID)}, Link: true, NoBuild: true,
		Ready: func(provision.Resolved) error { began = time.Now(); return nil },
	})
	if err != nil {
		return t, err
	}
	defer func() {
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), trialCleanup)
		defer cancel()
		if rerr := lease.Release(cctx, core.Ending{Now: true}); rerr != nil && err == nil {
			err = fmt.Errorf("end the trial: %w", rerr)
		}
	}()
	t.Started = time.Since(began)
	if t.RoundTrip, err = lease.Link.Ping(ctx); err != nil {
		return t, fmt.Errorf("ping the container: %w", err)
	}
	return t, nil
}
