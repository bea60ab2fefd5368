package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"

	cerrdefs "github.com/containerd/errdefs"

	"loop/backend/core"
)

const (
	// maxProgressLine bounds one message of a pull, import or build.
	maxProgressLine = 1 << 20
	// maxPartial bounds what is kept of a line of output that does not end.
	maxPartial = 64 << 10
)

// ImageInspect returns an image's id and labels; core.ErrNoImage when the engine
// does not have it.
func (d *Docker) ImageInspect(ctx context.Context, ref string) (string, map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	cli, err := d.client(ctx)
	if err != nil {
		return "", nil, err
	}
	r, err := cli.ImageInspect(ctx, ref)
	if cerrdefs.IsNotFound(err) {
		return "", nil, noImage("inspect image", ref, err)
	}
	if err != nil {
		return "", nil, d.fail("inspect the image", err)
	}
	if r.Config == nil {
		return r.ID, nil, nil
	}
	return r.ID, r.Config.Labels, nil
}

// ImagePull pulls ref; progress, if not nil, gets a line for each step, from
// this goroutine. A registry that cannot be reached is an ordinary error.
func (d *Docker) ImagePull(ctx context.Context, ref string, progress func(line string)) error {
	cli, err := d.client(ctx)
	if err != nil {
		return err
	}
	rc, err := cli.ImagePull(ctx, ref, image.PullOptions{})
	if err != nil {
		return d.fail("pull the image", err)
	}
	defer func() { _ = rc.Close() }()
	_, err = readMessages(rc, progress)
	return d.fail("pull the image", err)
}

// ImageImport makes ref from a tar of a root file system, reading tar to its end.
func (d *Docker) ImageImport(ctx context.Context, root io.Reader, ref string) error {
	cli, err := d.client(ctx)
	if err != nil {
		return err
	}
	rc, err := cli.ImageImport(ctx, image.ImportSource{Source: root, SourceName: "-"}, ref,
		image.ImportOptions{Changes: []string{`CMD ["bash"]`}})
	if err != nil {
		return d.fail("import the image", err)
	}
	defer func() { _ = rc.Close() }()
	_, err = readMessages(rc, nil)
	return d.fail("import the image", err)
}

// Export streams a container's root file system as a tar. The caller closes it.
func (d *Docker) Export(ctx context.Context, id core.ContainerID) (io.ReadCloser, error) {
	cli, err := d.client(ctx)
	if err != nil {
		return nil, err
	}
	rc, err := cli.ContainerExport(ctx, string(id))
	return rc, d.fail("export the container", err)
}

// ImageBuildClassic builds with the engine's own builder, which knows no
// secrets, from a tar of the build context; progress gets each output line. It
// returns the image's id. Ending ctx ends the build in the engine; containers
// and layers of a failed build are removed by the engine, and the tag is set
// only on success.
func (d *Docker) ImageBuildClassic(ctx context.Context, buildContext io.Reader, o core.BuildOptions, progress func(line string)) (string,
	error) {
	cli, err := d.client(ctx)
	if err != nil {
		return "", err
	}
	args := map[string]*string{}
	for k, v := range o.Args {
		args[k] = &v
	}
	opts := build.ImageBuildOptions{
		Dockerfile: o.Dockerfile, BuildArgs: args, Labels: o.Labels, NoCache: o.NoCache,
		Remove: true, ForceRemove: true, Version: build.BuilderV1,
	}
	if o.Tag != "" {
		opts.Tags = []string{o.Tag}
	}
	resp, err := cli.ImageBuild(ctx, buildContext, opts)
	if err != nil {
		return "", d.fail("build the image", err)
	}
	defer func() { _ = resp.Body.Close() }()
	id, err := readMessages(resp.Body, progress)
	if err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("build image: %w", ctx.Err())
		}
		return "", d.fail("build the image", err)
	}
	return id, nil
}

// errBuild marks what a build or pull itself reported, as opposed to the
// connection breaking.
var errBuild = errors.New("engine reported")

// readMessages follows a JSON message stream to its end, hands lines of text to
// progress and returns the image id if one was named.
func readMessages(r io.Reader, progress func(string)) (id string, err error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxProgressLine)
	var partial strings.Builder
	say := func(s string) {
		if progress != nil {
			progress(strings.TrimRight(s, "\r"))
		}
	}
	for sc.Scan() {
		var m struct {
			Stream, Status, ID, Error string
			Aux                       struct{ ID string }
		}
		if json.Unmarshal(sc.Bytes(), &m) != nil {
			continue // a line that is no message carries nothing needed
		}
		if m.Error != "" {
			return id, fmt.Errorf("%w: %s", errBuild, m.Error)
		}
		if m.Aux.ID != "" {
			id = m.Aux.ID
		}
		if m.Stream != "" {
			partial.WriteString(m.Stream)
			for {
				line, rest, ok := strings.Cut(partial.String(), "\n")
				if !ok {
					break
				}
				partial.Reset()
				partial.WriteString(rest)
				say(line)
			}
			if partial.Len() > maxPartial { // a progress bar that only ever returns to the line's start
				say(partial.String())
				partial.Reset()
			}
		}
		if m.Status != "" {
			say(strings.TrimSpace(m.ID + " " + m.Status))
		}
	}
	if partial.Len() > 0 {
		say(partial.String())
	}
	return id, sc.Err()
}

// ImagesDangling returns the images without a name, and with nothing built on
// them, that carry all the labels: id to time of creation by the engine's clock.
func (d *Docker) ImagesDangling(ctx context.Context, labels map[string]string) (map[string]time.Time, error) {
	cli, err := d.client(ctx)
	if err != nil {
		return nil, err
	}
	f := labelFilter(labels)
	f.Add("dangling", "true")
	list, err := cli.ImageList(ctx, image.ListOptions{Filters: f})
	if err != nil {
		return nil, d.fail("list images", err)
	}
	out := make(map[string]time.Time, len(list))
	for _, i := range list {
		out[i.ID] = time.Unix(i.Created, 0)
	}
	return out, nil
}

// ImageTag gives an image another name.
func (d *Docker) ImageTag(ctx context.Context, source, ref string) error {
	cli, err := d.client(ctx)
	if err != nil {
		return err
	}
	err = cli.ImageTag(ctx, source, ref)
	if cerrdefs.IsNotFound(err) {
		return noImage("tag image", source, err)
	}
	return d.fail("tag the image", err)
}

// ImageRemove removes a name, and the image when it was the last. Given an id
// (sha256:…) it removes the image only if no name points to it. core.ErrNoImage
// when there is none; core.ErrConflict when a container or a name keeps it.
func (d *Docker) ImageRemove(ctx context.Context, ref string) error {
	cli, err := d.client(ctx)
	if err != nil {
		return err
	}
	if strings.HasPrefix(ref, "sha256:") {
		// The engine itself would take an only name along.
		r, err := cli.ImageInspect(ctx, ref)
		if cerrdefs.IsNotFound(err) {
			return noImage("remove image", ref, err)
		}
		if err == nil && len(r.RepoTags) > 0 {
			return fmt.Errorf("remove the image: it is also %s: %w", r.RepoTags[0], core.ErrConflict)
		}
	}
	_, err = cli.ImageRemove(ctx, ref, image.RemoveOptions{PruneChildren: true})
	if cerrdefs.IsNotFound(err) {
		return noImage("remove image", ref, err)
	}
	return d.fail("remove the image", err)
}
