package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/doctor"
	"loop/backend/hostfacts"
)

const hostOS = runtime.GOOS

// trialCleanup bounds removing the trial's container after its probe ended.
const trialCleanup = 15 * time.Second

// trial starts a container as a run would, waits for its hello, measures one
// round trip and removes it again. Nothing of it stays.
func (d *Daemon) trial(ctx context.Context) (t doctor.Trial, err error) {
	// A demo channel's directory needs no check of a person's choice.
	ch := core.Channel{ID: core.ChannelID(core.NewID()), Kind: core.KindDemo, Name: "doctor"}
	ch.Dir = filepath.Join(d.home, "channels", string(ch.ID), "work")
	if err := os.MkdirAll(ch.Dir, 0o755); err != nil {
		return t, core.Fail(core.CodeDiskFull, err, "Loop could not make a folder for the trial.", "Check that the disk is not full.")
	}
	defer os.RemoveAll(filepath.Dir(ch.Dir))
	s := d.specs()
	spec, _, host, _, err := s.container(ctx, config.Effective{Config: s.config().Config}, ch, core.TypeAgent, core.Run{}, true)
	if err != nil {
		return t, err
	}
	if _, err := hostfacts.Prepare(spec, host); err != nil {
		return t, err
	}
	began := time.Now()
	lease, err := d.containers.Acquire(ctx, spec, core.Holder{Kind: core.HolderSetUp, ID: core.NewID()})
	if err != nil {
		return t, err
	}
	defer func() {
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), trialCleanup)
		defer cancel()
		if rerr := lease.Release(cctx, core.Ending{Now: true}); rerr != nil && err == nil {
			err = fmt.Errorf("remove the trial's container: %w", rerr)
		}
	}()
	link, err := d.links(nil).Open(ctx, lease.Container())
	if err != nil {
		return t, err
	}
	defer link.Close()
	t.Started = time.Since(began)
	if t.RoundTrip, err = link.Ping(ctx); err != nil {
		return t, fmt.Errorf("ping the container: %w", err)
	}
	return t, nil
}
