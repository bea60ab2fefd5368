package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"loop/backend/core"
)

// maxStatsBytes bounds one answer about what a container uses; with hundreds of block
// devices and networks it has some 50 KiB.
const maxStatsBytes = 1 << 20

// Usage says what a running container has used until now. Engines answer in some
// milliseconds, those before API 1.41 in one or two seconds. One that does not run is
// core.ErrNotRunning, an absent one core.ErrNotFound.
func (d *Docker) Usage(ctx context.Context, id core.ContainerID) (u core.ContainerUsage, err error) {
	err = d.ask(ctx, "ask what the container uses", func(ctx context.Context, cli *client.Client) error {
		r, err := cli.ContainerStatsOneShot(ctx, string(id))
		if err != nil {
			return err
		}
		defer func() { _ = r.Body.Close() }()
		var s container.StatsResponse
		if err := json.NewDecoder(io.LimitReader(r.Body, maxStatsBytes)).Decode(&s); err != nil {
			return err
		}
		if u = usageOf(s); u.At.IsZero() {
			return core.ErrNotRunning // engines answer for one that has stopped, with zeros
		}
		return nil
	})
	return u, err
}

// usageOf counts memory as the Docker CLI does: without files that the kernel keeps only
// as long as nobody needs the memory.
func usageOf(s container.StatsResponse) core.ContainerUsage {
	m := s.MemoryStats
	if s.Read.IsZero() || s.CPUStats.CPUUsage.TotalUsage == 0 && m.Usage == 0 {
		return core.ContainerUsage{}
	}
	used := m.Usage
	for _, name := range []string{"total_inactive_file", "inactive_file"} { // control groups v1, v2
		if files := m.Stats[name]; files > 0 && files < used {
			used -= files
			break
		}
	}
	cpu := min(s.CPUStats.CPUUsage.TotalUsage, math.MaxInt64)
	return core.ContainerUsage{At: s.Read, CPU: time.Duration(cpu), MemoryBytes: int64(min(used, math.MaxInt64))}
}

// Size says how many bytes a container's own files take on the disk, besides those of its
// image and its mounts. The engine looks at every file for it, so ask rarely. An absent
// container is core.ErrNotFound.
func (d *Docker) Size(ctx context.Context, id core.ContainerID) (bytes int64, err error) {
	err = d.ask(ctx, "measure the container", func(ctx context.Context, cli *client.Client) error {
		r, _, err := cli.ContainerInspectWithRaw(ctx, string(id), true)
		if err != nil {
			return err
		}
		if r.ContainerJSONBase == nil || r.SizeRw == nil {
			return errors.New("the engine does not say the size")
		}
		bytes = *r.SizeRw
		return nil
	})
	return bytes, err
}
