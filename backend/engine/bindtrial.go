package engine

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"

	"loop/backend/core"
)

// A helper sees the folder of a trial at trialTarget, with trialFile in it.
const (
	trialTarget = "/trial"
	trialFile   = "word"
)

// files remembers that the engine of this connection binds this computer's folders
// and not another one's. No address proves that, not even the default socket's: it
// may be forwarded, or lead to an engine that runs in a container or a machine of
// its own. So a trial proves it, once for a connection. A socket of this computer
// needs no other trial while the engine behind it has the ID that passed before, so
// that only the first run ever waits. An address in the network is tried every time.
type files struct {
	mu   sync.Mutex
	here bool
}

// proof returns the file that remembers an engine that passed, and its line in it;
// empty for an engine that is tried every time.
func (d *Docker) proof() (file, line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	local := strings.HasPrefix(d.at.host, "unix://") || strings.HasPrefix(d.at.host, "npipe://")
	if !local || d.known.ID == "" {
		return "", ""
	}
	return filepath.Join(d.opts.Folder, "run", "engine-seen"), d.at.host + " " + d.known.ID + "\n"
}

// tryFiles begins the trial that s needs, beside a create that takes as long, so that
// a run waits for neither twice; answer waits for its outcome. A trial that failed is
// made again for the next container, since its cause may be mended.
func (d *Docker) tryFiles(ctx context.Context, s core.Spec) (answer func() error) {
	bound := slices.ContainsFunc(s.Mounts, func(m core.Mount) bool { return !m.Volume })
	if !bound || d.opts.Folder == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	d.wg.Go(func() {
		d.files.mu.Lock()
		defer d.files.mu.Unlock()
		file, line := d.proof()
		if seen, err := os.ReadFile(file); err == nil && string(seen) == line {
			d.files.here = true
		}
		if d.files.here {
			done <- nil
			return
		}
		clean, err := d.fileTrial(ctx, s.Image)
		d.files.here = err == nil
		done <- err
		clean()
		if err == nil && file != "" {
			// Without the line the next Loop tries again; so a disk that is full costs no more.
			_ = errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(line), 0o600))
		}
	})
	return func() error { return <-done }
}

// fileTrial puts a fresh random file into Loop's folder, binds that into a helper
// that never runs, and asks the engine what the helper sees. The caller calls clean,
// for which nobody needs to wait.
func (d *Docker) fileTrial(ctx context.Context, image string) (clean func(), err error) {
	clean = func() {}
	word := []byte(rand.Text())
	dir, err := os.MkdirTemp(d.opts.Folder, ".engine-trial-")
	if err == nil {
		clean = func() { _ = os.RemoveAll(dir) }
		err = os.WriteFile(filepath.Join(dir, trialFile), word, 0o600)
	}
	if err != nil {
		return clean, fmt.Errorf("make a file for the engine to show: %w", err)
	}
	id, remove, err := d.helper(ctx, image, mount.Mount{Type: mount.TypeBind, Source: dir, Target: trialTarget, ReadOnly: true})
	switch {
	case err != nil && core.AsFailure(err).Code == core.CodeMount:
		return clean, d.filesElsewhere(err)
	case err != nil:
		return clean, err
	}
	clean = func() { remove(); _ = os.RemoveAll(dir) }
	seen, err := d.readHelper(ctx, id, trialTarget+"/"+trialFile, int64(len(word)))
	switch {
	case errors.Is(err, core.ErrNotFound):
		return clean, d.filesElsewhere(err)
	case err != nil:
		return clean, err
	case !bytes.Equal(seen, word):
		return clean, d.filesElsewhere(errors.New("the file in the helper holds something else"))
	}
	return clean, nil
}

// filesElsewhere is the refusal of an engine that would bind another machine's
// folders.
func (d *Docker) filesElsewhere(err error) error {
	host, source := d.Host()
	return core.Fail(core.CodeMount, fmt.Errorf("look at a file of %s through the engine: %w", d.opts.Folder, err),
		fmt.Sprintf("The container engine at %s (%s) does not see this computer's folders: a file that Loop put into %s is not there for it. "+
			"A container would get another machine's folder of that name.", host, source, d.opts.Folder),
		"Use an engine of this computer (docker_host, DOCKER_HOST or “docker context use default”), run Loop on the engine's machine, "+
			"or, where the engine runs in a virtual machine, share the folder with it.")
}

// readHelper reads a small file as a container that never ran would see it.
func (d *Docker) readHelper(ctx context.Context, id, file string, most int64) (data []byte, err error) {
	err = d.do(ctx, "read from a helper container", func(ctx context.Context, cli *client.Client) error {
		rc, _, err := cli.CopyFromContainer(ctx, id, file)
		if err != nil {
			return err
		}
		defer func() { _ = rc.Close() }()
		tr := tar.NewReader(rc)
		h, err := tr.Next()
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || h.Size > most {
			return fmt.Errorf("%s is not a small file", file)
		}
		data, err = io.ReadAll(io.LimitReader(tr, most))
		return err
	})
	return data, err
}
