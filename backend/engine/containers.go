package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	cerrdefs "github.com/containerd/errdefs"

	"loop/backend/core"
)

// maxLogBytes bounds what Logs returns.
const maxLogBytes = 256 << 10

// Create makes a container from a spec without starting it and returns the
// engine's full id and its warnings. It never pulls: a missing image is
// CodeNoImage (core.ErrNoImage), a taken name core.ErrConflict, a mount whose
// source is gone CodeMount, and so is an engine that binds another machine's folders
// (Options.Folder).
func (d *Docker) Create(ctx context.Context, s core.Spec) (core.ContainerID, []string, error) {
	cli, err := d.client(ctx)
	if err != nil {
		return "", nil, err
	}
	cfg, host := createBody(s)
	filesAreHere := d.tryFiles(ctx, s)
	resp, err := cli.ContainerCreate(ctx, cfg, host, nil, nil, s.Name)
	if err != nil {
		if cerrdefs.IsNotFound(err) && strings.Contains(strings.ToLower(err.Error()), "no such image") {
			return "", nil, noImage("create container", s.Image, err)
		}
		err = d.fail("create the container", err)
		if core.AsFailure(err).Code == core.CodeMount { // it may be the other machine that lacks the folder
			err = cmp.Or(filesAreHere(), err)
		}
		return "", nil, err
	}
	id := core.ContainerID(resp.ID)
	if err := filesAreHere(); err != nil {
		d.removeMade(ctx, id)
		return "", nil, err
	}
	return id, resp.Warnings, nil
}

// Start starts a created or stopped container; starting a running one succeeds.
func (d *Docker) Start(ctx context.Context, id core.ContainerID) error {
	cli, err := d.client(ctx)
	if err != nil {
		return err
	}
	return d.fail("start the container", cli.ContainerStart(ctx, string(id), container.StartOptions{}))
}

// Stop sends the stop signal and kills after grace. Stopping a container that is
// not running succeeds.
func (d *Docker) Stop(ctx context.Context, id core.ContainerID, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, grace+answerTimeout)
	defer cancel()
	cli, err := d.client(ctx)
	if err != nil {
		return err
	}
	sec := int((grace + time.Second - 1) / time.Second)
	return d.fail("stop the container", cli.ContainerStop(ctx, string(id), container.StopOptions{Timeout: &sec}))
}

// Kill sends SIGKILL; a container that is not running gives core.ErrNotRunning.
func (d *Docker) Kill(ctx context.Context, id core.ContainerID) error {
	cli, err := d.client(ctx)
	if err != nil {
		return err
	}
	return d.fail("kill the container", cli.ContainerKill(ctx, string(id), "KILL"))
}

// Remove removes a container with its anonymous volumes. An absent one gives
// core.ErrNotFound; one being removed already counts as success once it is gone.
func (d *Docker) Remove(ctx context.Context, id core.ContainerID, force bool) error {
	cli, err := d.client(ctx)
	if err != nil {
		return err
	}
	err = cli.ContainerRemove(ctx, string(id), container.RemoveOptions{Force: force, RemoveVolumes: true})
	if err != nil && cerrdefs.IsConflict(err) && strings.Contains(err.Error(), "already in progress") {
		_, err = d.Wait(ctx, id) // the other removal ends it
		if err == nil || errors.Is(err, core.ErrNotFound) {
			return nil
		}
	}
	return d.fail("remove the container", err)
}

// Wait blocks until the container is not running and returns its exit code. A
// container that was never started counts as not running.
func (d *Docker) Wait(ctx context.Context, id core.ContainerID) (int, error) {
	cli, err := d.client(ctx)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the client's own goroutine
	res, errs := cli.ContainerWait(ctx, string(id), container.WaitConditionNotRunning)
	select {
	case r := <-res:
		if r.Error != nil {
			return int(r.StatusCode), d.fail("wait for the container", errors.New(r.Error.Message))
		}
		return int(r.StatusCode), nil
	case err := <-errs:
		return 0, d.fail("wait for the container", err)
	}
}

// Inspect returns what the engine says of a container; core.ErrNotFound when it
// has none of that id.
func (d *Docker) Inspect(ctx context.Context, id core.ContainerID) (core.ContainerFacts, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	cli, err := d.client(ctx)
	if err != nil {
		return core.ContainerFacts{}, err
	}
	r, err := cli.ContainerInspect(ctx, string(id))
	if err != nil {
		return core.ContainerFacts{}, d.fail("inspect the container", err)
	}
	f := core.ContainerFacts{ID: core.ContainerID(r.ID), Name: strings.TrimPrefix(r.Name, "/"), ImageID: r.Image}
	f.CreatedAt = parseTime(r.Created)
	if r.Config != nil {
		f.Labels = r.Config.Labels
	}
	if st := r.State; st != nil {
		f.Running, f.Paused, f.ExitCode, f.OOMKilled, f.Error = st.Running, st.Paused, st.ExitCode, st.OOMKilled, st.Error
		f.FinishedAt = parseTime(st.FinishedAt)
	}
	if r.HostConfig != nil {
		f.Limits = limitsOf(r.HostConfig.Resources)
	}
	return f, nil
}

// parseTime reads the engine's times; its zero time and anything unreadable
// give the zero Time.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Year() <= 1 {
		return time.Time{}
	}
	return t
}

// List returns every container, running or not, that carries all the labels, in
// one call. OOMKilled, Error, FinishedAt and Limits are known to Inspect only.
func (d *Docker) List(ctx context.Context, labels map[string]string) ([]core.ContainerFacts, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	cli, err := d.client(ctx)
	if err != nil {
		return nil, err
	}
	list, err := cli.ContainerList(ctx, container.ListOptions{All: true, Filters: labelFilter(labels)})
	if err != nil {
		return nil, d.fail("list containers", err)
	}
	out := make([]core.ContainerFacts, 0, len(list))
	for _, c := range list {
		f := core.ContainerFacts{
			ID: core.ContainerID(c.ID), Labels: c.Labels, ImageID: c.ImageID,
			Running:  c.State == container.StateRunning || c.State == container.StatePaused || c.State == container.StateRestarting,
			Paused:   c.State == container.StatePaused,
			ExitCode: exitFromStatus(c.Status), CreatedAt: time.Unix(c.Created, 0),
		}
		if len(c.Names) > 0 {
			f.Name = strings.TrimPrefix(c.Names[0], "/")
		}
		out = append(out, f)
	}
	return out, nil
}

func labelFilter(labels map[string]string) filters.Args {
	f := filters.NewArgs()
	for k, v := range labels {
		f.Add("label", k+"="+v)
	}
	return f
}

// exitFromStatus reads the code out of “Exited (137) 2 minutes ago”; 0 when
// there is none.
func exitFromStatus(s string) int {
	_, rest, ok := strings.Cut(s, "Exited (")
	if !ok {
		return 0
	}
	num, _, _ := strings.Cut(rest, ")")
	n, err := strconv.Atoi(num)
	if err != nil {
		return 0
	}
	return n
}

// Logs returns the last n lines that PID 1 wrote, stdout and stderr together,
// at most 256 KiB. The bytes came out of a container: show them as text only.
func (d *Docker) Logs(ctx context.Context, id core.ContainerID, n int) (string, error) {
	cli, err := d.client(ctx)
	if err != nil {
		return "", err
	}
	rc, err := cli.ContainerLogs(ctx, string(id), container.LogsOptions{ShowStdout: true, ShowStderr: true, Tail: strconv.Itoa(n)})
	if err != nil {
		return "", d.fail("read the container's log", err)
	}
	defer func() { _ = rc.Close() }()
	var buf bytes.Buffer
	dm := demux{r: rc, stderr: func(p []byte) { keep(&buf, p) }}
	if _, err := io.Copy(writerFunc(func(p []byte) { keep(&buf, p) }), &dm); err != nil {
		return buf.String(), d.fail("read the container's log", err)
	}
	return buf.String(), nil
}

// keep appends to buf and drops the oldest half when it would pass the bound.
func keep(buf *bytes.Buffer, p []byte) {
	buf.Write(p)
	if over := buf.Len() - maxLogBytes; over > 0 {
		buf.Next(over)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }
