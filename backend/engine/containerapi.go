package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"

	cerrdefs "github.com/containerd/errdefs"

	"loop/backend/backoff"
	"loop/backend/core"
)

// Create makes a container from a spec without starting it and returns the
// engine's full id and its warnings. It never pulls: a missing image is
// CodeNoImage (core.ErrNoImage), a taken name core.ErrConflict, a mount whose
// source is gone CodeMount, and so is an engine that binds another machine's folders
// (Options.Folder).
func (d *Docker) Create(ctx context.Context, s core.Spec) (id core.ContainerID, warnings []string, err error) {
	err = d.do(ctx, "create the container", func(ctx context.Context, cli *client.Client) error {
		cfg, host := createBody(s)
		filesAreHere := d.tryFiles(ctx, s)
		resp, err := cli.ContainerCreate(ctx, cfg, host, nil, nil, s.Name)
		if err != nil {
			if cerrdefs.IsNotFound(err) && strings.Contains(strings.ToLower(err.Error()), "no such image") {
				return noImage("create container", s.Image, err)
			}
			err = failed("create the container", err)
			if core.AsFailure(err).Code == core.CodeMount { // it may be the other machine that lacks the folder
				err = cmp.Or(filesAreHere(), err)
			}
			return err
		}
		id, warnings = core.ContainerID(resp.ID), resp.Warnings
		err = filesAreHere()
		if err == nil {
			err = d.straight(ctx, cli, resp.ID, s)
		}
		if err != nil {
			d.removeMade(ctx, id)
		}
		return err
	})
	if err != nil {
		return "", nil, err
	}
	return id, warnings, nil
}

// Start starts a created or stopped container; starting a running one succeeds.
func (d *Docker) Start(ctx context.Context, id core.ContainerID) error {
	return d.do(ctx, "start the container", func(ctx context.Context, cli *client.Client) error {
		return cli.ContainerStart(ctx, string(id), container.StartOptions{})
	})
}

// Stop sends the stop signal and kills after grace. Stopping a container that is
// not running succeeds.
func (d *Docker) Stop(ctx context.Context, id core.ContainerID, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, grace+answerTimeout)
	defer cancel()
	sec := int((grace + time.Second - 1) / time.Second)
	return d.do(ctx, "stop the container", func(ctx context.Context, cli *client.Client) error {
		return cli.ContainerStop(ctx, string(id), container.StopOptions{Timeout: &sec})
	})
}

// Pause stops every process of a running container where it is. One that is
// not running gives core.ErrNotRunning, one that is paused already
// core.ErrConflict, so that the caller knows whom it is not to wake.
func (d *Docker) Pause(ctx context.Context, id core.ContainerID) error {
	return d.ask(ctx, "pause the container", func(ctx context.Context, cli *client.Client) error {
		for {
			err := cli.ContainerPause(ctx, string(id))
			// On a busy machine runc gives up a freezer (cgroup v1) that needs longer than
			// its thousand looks, and lets the processes go on. Another try finds them
			// elsewhere.
			if err == nil || !strings.Contains(err.Error(), "unable to freeze") || !backoff.Sleep(ctx, freezeAgain) {
				return err
			}
		}
	})
}

// freezeAgain is the pause after a freezer that was given up; runc's own try takes
// some 20 ms.
const freezeAgain = 20 * time.Millisecond

// Unpause lets a paused container go on; one that is not paused gives
// core.ErrConflict. An engine's record of it may be late for some milliseconds
// after another Pause or Unpause (seen with 20.10), in both directions.
func (d *Docker) Unpause(ctx context.Context, id core.ContainerID) error {
	return d.ask(ctx, "unpause the container", func(ctx context.Context, cli *client.Client) error {
		return cli.ContainerUnpause(ctx, string(id))
	})
}

// Update gives a container other limits, at once where it runs; what is zero in
// limits stays as it is. Memory below what is in use ends in an error or in the
// kernel's choice of a victim, as the kernel has it. An absent container gives
// core.ErrNotFound.
func (d *Docker) Update(ctx context.Context, id core.ContainerID, limits core.Limits) error {
	return d.ask(ctx, "change the container's limits", func(ctx context.Context, cli *client.Client) error {
		_, err := cli.ContainerUpdate(ctx, string(id), container.UpdateConfig{Resources: resources(limits)})
		return err
	})
}

// Rename gives a container another name. A name that another container has gives
// core.ErrConflict, an absent container core.ErrNotFound; its own name changes
// nothing.
func (d *Docker) Rename(ctx context.Context, id core.ContainerID, name string) error {
	f, err := d.Inspect(ctx, id)
	if err != nil || f.Name == name { // the engine refuses a name that is the same
		return err
	}
	return d.ask(ctx, "rename the container", func(ctx context.Context, cli *client.Client) error {
		return cli.ContainerRename(ctx, string(id), name)
	})
}

// SetNetwork has a container that does not run be on one network alone from its next start
// on, whatever it was on before. Its HostConfig keeps the one it was made with.
func (d *Docker) SetNetwork(ctx context.Context, id core.ContainerID, network string) error {
	return d.ask(ctx, "change the container's network", func(ctx context.Context, cli *client.Client) error {
		r, err := cli.ContainerInspect(ctx, string(id))
		if err != nil {
			return err
		}
		for _, name := range networksOf(r) { // before the other, since “none” goes with no other
			if err := cli.NetworkDisconnect(ctx, name, string(id), false); err != nil {
				return err
			}
		}
		return cli.NetworkConnect(ctx, network, string(id), nil)
	})
}

func networksOf(r container.InspectResponse) (names []string) {
	if r.NetworkSettings != nil {
		names = slices.Sorted(maps.Keys(r.NetworkSettings.Networks))
	}
	return names
}

// Remove removes a container with its anonymous volumes. An absent one gives
// core.ErrNotFound; one being removed already counts as success once it is gone.
func (d *Docker) Remove(ctx context.Context, id core.ContainerID, force bool) error {
	err := d.do(ctx, "remove the container", func(ctx context.Context, cli *client.Client) error {
		return cli.ContainerRemove(ctx, string(id), container.RemoveOptions{Force: force, RemoveVolumes: true})
	})
	if errors.Is(err, core.ErrConflict) && strings.Contains(err.Error(), "already in progress") {
		if _, err = d.Wait(ctx, id); errors.Is(err, core.ErrNotFound) { // the other removal ends it
			return nil
		}
	}
	return err
}

// Wait blocks until the container is not running and returns its exit code. A
// container that was never started counts as not running.
func (d *Docker) Wait(ctx context.Context, id core.ContainerID) (code int, err error) {
	err = d.do(ctx, "wait for the container", func(ctx context.Context, cli *client.Client) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // ends the client's own goroutine
		res, errs := cli.ContainerWait(ctx, string(id), container.WaitConditionNotRunning)
		select {
		case r := <-res:
			if code = int(r.StatusCode); r.Error != nil {
				return errors.New(r.Error.Message)
			}
			return nil
		case err := <-errs:
			return err
		}
	})
	return code, err
}

// Inspect returns what the engine says of a container; core.ErrNotFound when it
// has none of that id.
func (d *Docker) Inspect(ctx context.Context, id core.ContainerID) (f core.ContainerFacts, err error) {
	err = d.ask(ctx, "inspect the container", func(ctx context.Context, cli *client.Client) error {
		r, err := cli.ContainerInspect(ctx, string(id))
		if err != nil {
			return err
		}
		if r.ContainerJSONBase == nil || r.State == nil || r.Config == nil || r.HostConfig == nil {
			return errors.New("parts of the answer are missing")
		}
		st := r.State
		f = core.ContainerFacts{
			ID: core.ContainerID(r.ID), Name: strings.TrimPrefix(r.Name, "/"), ImageID: r.Image, Labels: r.Config.Labels,
			Running: st.Running, Paused: st.Paused, ExitCode: st.ExitCode, OOMKilled: st.OOMKilled, Error: st.Error,
			Limits: limitsOf(r.HostConfig.Resources), Networks: networksOf(r),
		}
		f.CreatedAt, _ = time.Parse(time.RFC3339Nano, r.Created) // zero where it cannot be read
		for _, m := range r.HostConfig.Mounts {
			f.Mounts = append(f.Mounts, core.Mount{Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly, Volume: m.Type == mount.TypeVolume})
		}
		return nil
	})
	return f, err
}

// List returns every container, running or not, that carries all the labels, in
// one call. OOMKilled, Error, Limits and Mounts are known to Inspect only.
func (d *Docker) List(ctx context.Context, labels map[string]string) (out []core.ContainerFacts, err error) {
	err = d.ask(ctx, "list containers", func(ctx context.Context, cli *client.Client) error {
		list, err := cli.ContainerList(ctx, container.ListOptions{All: true, Filters: labelFilter(labels)})
		for _, c := range list {
			if c.State == container.StateRemoving && !there(ctx, cli, c.ID) {
				continue
			}
			f := core.ContainerFacts{
				ID: core.ContainerID(c.ID), Labels: c.Labels, ImageID: c.ImageID, CreatedAt: time.Unix(c.Created, 0),
				Running: c.State == container.StateRunning || c.State == container.StatePaused || c.State == container.StateRestarting,
				Paused:  c.State == container.StatePaused,
			}
			_, _ = fmt.Sscanf(c.Status, "Exited (%d)", &f.ExitCode) // 0 where it says nothing of an exit
			if len(c.Names) > 0 {
				f.Name = strings.TrimPrefix(c.Names[0], "/")
			}
			out = append(out, f)
		}
		return err
	})
	return out, err
}

// there reports whether the engine has a container that it lists as being removed. One that is
// removed while a program is started in it stays in the list of 20.10 until the engine is
// restarted, and nobody can remove it.
func there(ctx context.Context, cli *client.Client, id string) bool {
	_, err := cli.ContainerInspect(ctx, id)
	return !cerrdefs.IsNotFound(err)
}

func labelFilter(labels map[string]string) filters.Args {
	f := filters.NewArgs()
	for k, v := range labels {
		f.Add("label", k+"="+v)
	}
	return f
}
