package engine

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/client"

	"loop/backend/core"
)

// mostVetted bounds how many images are remembered; they are looked at again then.
const mostVetted = 256

// vetted are the images, by their ids, in which no link is on the way to the first program.
// An image never changes.
type vetted struct {
	mu  sync.Mutex
	ids []string
}

func (v *vetted) has(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Contains(v.ids, id)
}

func (v *vetted) add(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.ids) >= mostVetted {
		v.ids = nil
	}
	v.ids = append(v.ids, id)
}

// firstIsMounted reports whether the first program comes with a mount, and not with the image.
func firstIsMounted(s core.Spec) bool {
	return len(s.Entrypoint) > 0 && slices.ContainsFunc(s.Mounts, func(m core.Mount) bool {
		return m.Target == s.Entrypoint[0] || strings.HasPrefix(s.Entrypoint[0], strings.TrimSuffix(m.Target, "/")+"/")
	})
}

// straight refuses a container, before it starts, in whose image a link is on the way to a
// first program that is mounted. The engine follows such a link when it mounts: Loop's program
// could lie below a folder that an agent writes to, and be another one by then. No program in
// the container can be asked about that.
func (d *Docker) straight(ctx context.Context, cli *client.Client, id string, s core.Spec) error {
	if !firstIsMounted(s) {
		return nil
	}
	made, err := cli.ContainerInspect(ctx, id)
	if err != nil {
		return failed("look at the new container", err)
	}
	way := path.Dir(s.Entrypoint[0])
	key := made.Image + " " + way
	if d.vetted.has(key) {
		return nil
	}
	at := "/"
	for _, part := range strings.Split(strings.Trim(way, "/"), "/") {
		at = path.Join(at, part)
		st, err := cli.ContainerStatPath(ctx, id, at)
		if cerrdefs.IsNotFound(err) {
			break
		}
		if err != nil {
			return failed("look for links in the image", err)
		}
		if st.Mode&fs.ModeSymlink != 0 || !st.Mode.IsDir() {
			return core.Fail(core.CodeConfig, fmt.Errorf("%s in image %s leads to %q", at, made.Image, st.LinkTarget),
				fmt.Sprintf("The image has no folder at %s, where Loop's own program is mounted.", at),
				"Use another image, or have its set-up leave "+at+" alone.")
		}
	}
	d.vetted.add(key)
	return nil
}
