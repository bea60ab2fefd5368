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
	"github.com/docker/docker/client"

	cerrdefs "github.com/containerd/errdefs"

	"loop/backend/core"
)

const (
	// maxProgressLine bounds one message of a pull, import or build.
	maxProgressLine = 1 << 20
	// maxPartial bounds what is kept of a line of output that does not end.
	maxPartial = 64 << 10
)

// aboutImage is do for a call about one image, which the engine may not have.
func (d *Docker) aboutImage(ctx context.Context, step, ref string, call func(context.Context, *client.Client) error) error {
	return d.do(ctx, step, func(ctx context.Context, cli *client.Client) error {
		err := call(ctx, cli)
		if cerrdefs.IsNotFound(err) {
			return noImage(step, ref, err)
		}
		return err
	})
}

// ImageInspect returns an image's id and labels; core.ErrNoImage when the engine
// does not have it.
func (d *Docker) ImageInspect(ctx context.Context, ref string) (id string, labels map[string]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	err = d.aboutImage(ctx, "inspect the image", ref, func(ctx context.Context, cli *client.Client) error {
		r, err := cli.ImageInspect(ctx, ref)
		if id = r.ID; r.Config != nil {
			labels = r.Config.Labels
		}
		return err
	})
	return id, labels, err
}

// ImagePull pulls ref; progress, if not nil, gets a line for each step, from
// this goroutine. A registry that cannot be reached is an ordinary error.
func (d *Docker) ImagePull(ctx context.Context, ref string, progress func(line string)) error {
	_, err := d.follow(ctx, "pull the image", progress, func(ctx context.Context, cli *client.Client) (io.ReadCloser, error) {
		return cli.ImagePull(ctx, ref, image.PullOptions{})
	})
	return err
}

// ImageImport makes ref from a tar of a root file system, reading tar to its end.
func (d *Docker) ImageImport(ctx context.Context, root io.Reader, ref string) error {
	_, err := d.follow(ctx, "import the image", nil, func(ctx context.Context, cli *client.Client) (io.ReadCloser, error) {
		return cli.ImageImport(ctx, image.ImportSource{Source: root, SourceName: "-"}, ref,
			image.ImportOptions{Changes: []string{`CMD ["bash"]`}})
	})
	return err
}

// Export streams a container's root file system as a tar. The caller closes it.
func (d *Docker) Export(ctx context.Context, id core.ContainerID) (root io.ReadCloser, err error) {
	err = d.do(ctx, "export the container", func(ctx context.Context, cli *client.Client) (err error) {
		root, err = cli.ContainerExport(ctx, string(id))
		return err
	})
	return root, err
}

// ImageBuildClassic builds with the engine's own builder, which knows no
// secrets, from a tar of the build context; progress gets each output line. It
// returns the image's id; no name is set. Ending ctx ends the build in the engine;
// containers and layers of a failed build are removed by the engine.
func (d *Docker) ImageBuildClassic(ctx context.Context, buildContext io.Reader, o core.BuildOptions, progress func(line string)) (string,
	error) {
	args := map[string]*string{}
	for k, v := range o.Args {
		args[k] = &v
	}
	opts := build.ImageBuildOptions{
		BuildArgs: args, Labels: o.Labels, Target: o.Target, Remove: true, ForceRemove: true, Version: build.BuilderV1,
	}
	return d.follow(ctx, "build the image", progress, func(ctx context.Context, cli *client.Client) (io.ReadCloser, error) {
		resp, err := cli.ImageBuild(ctx, buildContext, opts)
		return resp.Body, err
	})
}

// follow has the engine do what it reports on in messages, to their end.
func (d *Docker) follow(ctx context.Context, step string, progress func(line string),
	begin func(context.Context, *client.Client) (io.ReadCloser, error)) (id string, err error) {
	err = d.do(ctx, step, func(ctx context.Context, cli *client.Client) error {
		rc, err := begin(ctx, cli)
		if err != nil {
			return err
		}
		defer func() { _ = rc.Close() }()
		if id, err = readMessages(rc, progress); err != nil && ctx.Err() != nil {
			return ctx.Err() // whatever the engine says of what was broken off
		}
		return err
	})
	return id, err
}

// errBuild marks what a build or pull itself reported, as opposed to the
// connection breaking.
var errBuild = errors.New("engine reported")

// readMessages follows a JSON message stream to its end, hands lines of text to
// progress and returns the image id if one was named.
func readMessages(r io.Reader, progress func(string)) (id string, err error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxProgressLine)
	say := func(s string) {
		if progress != nil {
			progress(strings.TrimRight(s, "\r"))
		}
	}
	partial := ""
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
		if m.Status != "" {
			say(strings.TrimSpace(m.ID + " " + m.Status))
		}
		lines := strings.Split(partial+m.Stream, "\n")
		for _, line := range lines[:len(lines)-1] {
			say(line)
		}
		if partial = lines[len(lines)-1]; len(partial) > maxPartial { // a progress bar that only ever returns to the line's start
			say(partial)
			partial = ""
		}
	}
	if partial != "" {
		say(partial)
	}
	return id, sc.Err()
}

// ImagesDangling returns the images without a name, and with nothing built on
// them, that carry all the labels, each with the time it was made at.
func (d *Docker) ImagesDangling(ctx context.Context, labels map[string]string) (map[string]time.Time, error) {
	made := map[string]time.Time{}
	err := d.do(ctx, "list images", func(ctx context.Context, cli *client.Client) error {
		f := labelFilter(labels)
		f.Add("dangling", "true")
		list, err := cli.ImageList(ctx, image.ListOptions{Filters: f})
		for _, i := range list {
			made[i.ID] = time.Unix(i.Created, 0)
		}
		return err
	})
	return made, err
}

// ImagesNamed returns the labels of the images that have a name and carry all the labels, by
// each of their names.
func (d *Docker) ImagesNamed(ctx context.Context, labels map[string]string) (map[string]map[string]string, error) {
	byName := map[string]map[string]string{}
	err := d.do(ctx, "list images", func(ctx context.Context, cli *client.Client) error {
		list, err := cli.ImageList(ctx, image.ListOptions{Filters: labelFilter(labels)})
		for _, i := range list {
			for _, name := range i.RepoTags {
				byName[name] = i.Labels
			}
		}
		return err
	})
	return byName, err
}

// ImageTag gives an image another name.
func (d *Docker) ImageTag(ctx context.Context, source, ref string) error {
	return d.aboutImage(ctx, "tag the image", source, func(ctx context.Context, cli *client.Client) error {
		return cli.ImageTag(ctx, source, ref)
	})
}

// ImageRemove removes a name, and the image when it was the last. Given an id
// (sha256:…) it removes the image only if no name points to it. core.ErrNoImage
// when there is none; core.ErrConflict when a container or a name keeps it.
func (d *Docker) ImageRemove(ctx context.Context, ref string) error {
	return d.aboutImage(ctx, "remove the image", ref, func(ctx context.Context, cli *client.Client) error {
		if strings.HasPrefix(ref, "sha256:") {
			// The engine itself would take an only name along.
			r, err := cli.ImageInspect(ctx, ref)
			if err != nil {
				return err
			}
			if len(r.RepoTags) > 0 {
				return fmt.Errorf("it is also %s: %w", r.RepoTags[0], cerrdefs.ErrConflict)
			}
		}
		_, err := cli.ImageRemove(ctx, ref, image.RemoveOptions{PruneChildren: true})
		return err
	})
}
