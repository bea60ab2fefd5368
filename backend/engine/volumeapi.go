package engine

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"

	cerrdefs "github.com/containerd/errdefs"

	"loop/backend/core"
)

const (
	// helperLabel marks the containers this file makes for a moment.
	helperLabel = "loop-helper"
	// helperStale is the age at which a helper can only be left over from a crash.
	helperStale = 15 * time.Minute
	// helperTarget is where the volume is seen inside a helper.
	helperTarget = "/volume"
	// cleanupTimeout bounds clean-up that must happen although ctx ended.
	cleanupTimeout = 20 * time.Second
	// maxVolumeRead bounds a file read back from a volume.
	maxVolumeRead = 1 << 20
)

// EnsureVolume creates a named volume unless it exists. Labels are set on
// creation only.
func (d *Docker) EnsureVolume(ctx context.Context, name string, labels map[string]string) error {
	return d.do(ctx, "create the volume", func(ctx context.Context, cli *client.Client) error {
		_, err := cli.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: labels})
		return err
	})
}

// Volumes lists the named volumes that have all these labels.
func (d *Docker) Volumes(ctx context.Context, labels map[string]string) (out []core.Volume, err error) {
	err = d.do(ctx, "list volumes", func(ctx context.Context, cli *client.Client) error {
		list, err := cli.VolumeList(ctx, volume.ListOptions{Filters: labelFilter(labels)})
		for _, v := range list.Volumes {
			out = append(out, core.Volume{Name: v.Name, Labels: v.Labels})
		}
		return err
	})
	return out, err
}

// VolumeRemove removes a named volume. Errors wrap core.ErrNotFound when there is none, and
// core.ErrConflict while a container has it, running or not.
func (d *Docker) VolumeRemove(ctx context.Context, name string) error {
	return d.do(ctx, "remove the volume", func(ctx context.Context, cli *client.Client) error {
		return cli.VolumeRemove(ctx, name, false)
	})
}

// VolumeFill writes files into a volume, in order, so the last one can serve as
// a mark of completeness. image is any image the engine has: its content plays
// no part, because the helper container made from it is never started.
func (d *Docker) VolumeFill(ctx context.Context, vol, image string, files []core.VolumeFile) error {
	body, err := tarOf(files)
	if err != nil {
		return fmt.Errorf("pack files for the volume: %w", err)
	}
	return d.withHelper(ctx, vol, image, func(id string) error {
		return d.do(ctx, "fill the volume", func(ctx context.Context, cli *client.Client) error {
			return cli.CopyToContainer(ctx, id, helperTarget, bytes.NewReader(body), container.CopyToContainerOptions{})
		})
	})
}

// VolumeRead returns one small file (at most 1 MiB) of a volume;
// core.ErrNotFound when the volume does not hold it.
func (d *Docker) VolumeRead(ctx context.Context, vol, image, file string) (out []byte, err error) {
	err = d.withHelper(ctx, vol, image, func(id string) (err error) {
		out, err = d.readHelper(ctx, id, path.Join(helperTarget, path.Clean("/"+file)), maxVolumeRead)
		return err
	})
	return out, err
}

// withHelper gives fn a container that has the volume mounted but never runs.
func (d *Docker) withHelper(ctx context.Context, vol, image string, fn func(id string) error) error {
	d.sweepHelpers(ctx)
	id, remove, err := d.helper(ctx, image, mount.Mount{Type: mount.TypeVolume, Source: vol, Target: helperTarget,
		VolumeOptions: &mount.VolumeOptions{NoCopy: true}})
	if err != nil {
		return err
	}
	defer remove()
	return fn(id)
}

// helper makes a container that never runs, by which the engine shows what m does.
func (d *Docker) helper(ctx context.Context, image string, m mount.Mount) (id string, remove func(), err error) {
	err = d.aboutImage(ctx, "create a helper container", image, func(ctx context.Context, cli *client.Client) error {
		resp, err := cli.ContainerCreate(ctx,
			&container.Config{Image: image, Entrypoint: []string{"/loop-helper"}, Labels: map[string]string{helperLabel: "volume"}},
			&container.HostConfig{NetworkMode: network.NetworkNone, Init: new(bool), CapDrop: []string{"ALL"}, Mounts: []mount.Mount{m}},
			nil, nil, "loop-helper-"+core.NewID()[:12])
		id = resp.ID
		return err
	})
	return id, func() { d.removeMade(ctx, core.ContainerID(id)) }, err
}

// removeMade takes back a container that this package made, also after a cancelled
// ctx.
func (d *Docker) removeMade(ctx context.Context, id core.ContainerID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := d.Remove(ctx, id, true); err != nil && !errors.Is(err, core.ErrNotFound) {
		d.log.Warn("container stays behind", "container_id", id, "err", err)
	}
}

// sweepHelpers removes helpers left by a crash. Where the engine does not answer,
// the call that follows says so.
func (d *Docker) sweepHelpers(ctx context.Context) {
	list, _ := d.List(ctx, map[string]string{helperLabel: "volume"})
	for _, c := range list {
		if time.Since(c.CreatedAt) > helperStale {
			d.removeMade(ctx, c.ID)
		}
	}
}

// tarOf packs files owned by uid 0; the engine makes the directories they need.
func tarOf(files []core.VolumeFile) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: int64(f.Mode), Size: int64(len(f.Data)), ModTime: time.Now()}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	return buf.Bytes(), w.Close()
}

// GatewayIP returns the address of this machine on the engine's default bridge.
// Some engines name only the subnet; they take its first address for themselves.
func (d *Docker) GatewayIP(ctx context.Context) (ip string, err error) {
	err = d.ask(ctx, "inspect the bridge network", func(ctx context.Context, cli *client.Client) error {
		n, err := cli.NetworkInspect(ctx, "bridge", network.InspectOptions{})
		if err != nil {
			return err
		}
		for _, c := range n.IPAM.Config {
			if c.Gateway != "" {
				ip = c.Gateway
				return nil
			}
			if p, err := netip.ParsePrefix(c.Subnet); err == nil && p.Addr().Is4() {
				ip = p.Masked().Addr().Next().String()
				return nil
			}
		}
		return fmt.Errorf("it has no gateway: %w", cerrdefs.ErrNotFound)
	})
	return ip, err
}
