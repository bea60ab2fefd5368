package engine

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"loop/backend/core"
)

// maxLogBytes bounds what Logs and LogSince return.
const maxLogBytes = 256 << 10

// Logs returns the last n lines that PID 1 wrote, stdout and stderr together,
// at most 256 KiB. The bytes came out of a container: show them as text only.
func (d *Docker) Logs(ctx context.Context, id core.ContainerID, n int) (string, error) {
	return d.readLog(ctx, id, container.LogsOptions{ShowStdout: true, ShowStderr: true, Tail: strconv.Itoa(n)})
}

// LogSince is Logs for what was written after a time; the zero time is from the beginning. It
// returns when the last of it was written as well, or since where there is nothing.
func (d *Docker) LogSince(ctx context.Context, id core.ContainerID, since time.Time, n int) (text string, last time.Time, err error) {
	o := container.LogsOptions{ShowStdout: true, ShowStderr: true, Timestamps: true, Tail: strconv.Itoa(n)}
	if !since.IsZero() {
		o.Since = since.Format(time.RFC3339Nano)
	}
	raw, err := d.readLog(ctx, id, o)
	if err != nil {
		return "", last, err
	}
	text, last = linesAfter(raw, since)
	return text, last, nil
}

func (d *Docker) readLog(ctx context.Context, id core.ContainerID, o container.LogsOptions) (string, error) {
	log := tail{max: maxLogBytes}
	err := d.do(ctx, "read the container's log", func(ctx context.Context, cli *client.Client) error {
		rc, err := cli.ContainerLogs(ctx, string(id), o)
		if err != nil {
			return err
		}
		defer func() { _ = rc.Close() }()
		_, err = io.Copy(&log, &demux{r: rc, stderr: &log})
		return err
	})
	return log.String(), err
}

// linesAfter takes the engine's times off the lines of a log, and leaves out those that were
// not written after since: engines begin with the lines of that moment. A line without a time
// is the rest of one that was cut, and is left out too. last is the time of the last line, or
// since where that is later.
func linesAfter(raw string, since time.Time) (text string, last time.Time) {
	var out strings.Builder
	last = since
	for line := range strings.Lines(raw) {
		stamp, rest, _ := strings.Cut(line, " ")
		at, err := time.Parse(time.RFC3339Nano, stamp)
		if err != nil || !at.After(since) {
			continue
		}
		if at.After(last) {
			last = at
		}
		out.WriteString(rest)
	}
	return out.String(), last
}
