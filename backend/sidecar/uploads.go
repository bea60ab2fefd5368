package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"loop/backend/core"
)

const (
	uploadsDir = "/profile/uploads"
	// maxUploads bounds the files in it: twenty of the largest, which is one act's, and one
	// more, so that no file of an act pushes out another one.
	maxUploads = 21 * core.MaxBrowserFile
)

// uploadTable knows what lies in uploadsDir. Methods may be called from any goroutine.
type uploadTable struct {
	mu  sync.Mutex
	all []*uploaded // oldest first
}

type uploaded struct {
	at    string
	size  int64 // the most that one may have, until it is whole
	whole bool
}

// begin makes room for a file and returns which ones have to go.
func (t *uploadTable) begin(at string) (gone []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, &uploaded{at: at, size: core.MaxBrowserFile})
	sum := int64(0)
	for _, u := range t.all {
		sum += u.size
	}
	t.all = slices.DeleteFunc(t.all, func(u *uploaded) bool {
		if sum <= maxUploads || !u.whole {
			return false
		}
		sum -= u.size
		gone = append(gone, path.Dir(u.at))
		return true
	})
	return gone
}

// end says how large a file is; less than nothing that there is none.
func (t *uploadTable) end(at string, size int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = slices.DeleteFunc(t.all, func(u *uploaded) bool {
		if u.at == at {
			u.size, u.whole = size, true
		}
		return u.at == at && size < 0
	})
}

func (t *uploadTable) has(at string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.all, func(u *uploaded) bool { return u.at == at && u.whole })
}

// Given reports whether a file was put at a path of Chromium's container.
func (c *Sidecar) Given(inside string) bool { return c.uploads.has(inside) }

// PutFile makes a file readable by Chromium and says where it is there. Errors are
// *core.Failure.
func (c *Sidecar) PutFile(ctx context.Context, name string, r io.Reader) (inside string, err error) {
	at := path.Join(uploadsDir, core.NewID(), uploadName(name))
	link := c.lease.Link
	if gone := c.uploads.begin(at); len(gone) > 0 {
		if err := remove(ctx, link, gone); err != nil {
			c.uploads.end(at, -1)
			return "", notGiven(err)
		}
	}
	size := &counted{r: r, most: core.MaxBrowserFile}
	e, err := run(ctx, link, shell(`umask 077 && mkdir -p "$1" && exec cat > "$2"`, path.Dir(at), at), size, io.Discard)
	if err = errors.Join(err, e.err()); err != nil {
		over, stop := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer stop()
		c.uploads.end(at, -1)
		return "", notGiven(errors.Join(err, remove(over, link, []string{path.Dir(at)})))
	}
	c.uploads.end(at, size.n)
	return at, nil
}

// uploadName is the last part of a file's path, as a page reads it. It stays as it is
// where a system can have it.
func uploadName(name string) string {
	base := path.Base(name)
	if base == "." || base == ".." || base == "/" || len(base) > 255 || !utf8.ValidString(base) ||
		strings.ContainsFunc(base, unicode.IsControl) {
		return core.PlainFileName(name)
	}
	return base
}

// notGiven says that a page cannot have a file.
func notGiven(err error) error {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return f
	}
	return core.Fail(core.CodeInternal, err, "The file could not be given to the browser.",
		"Try again; “Restart” in the browser's pane begins anew.")
}

// counted refuses more than most bytes.
type counted struct {
	r       io.Reader
	n, most int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.n += int64(n); c.n > c.most {
		return 0, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The file is larger than %d MiB.", c.most>>20), "Give a smaller one.")
	}
	return n, err
}

// remove removes folders and files.
func remove(ctx context.Context, link core.Link, paths []string) error {
	e, err := run(ctx, link, shell(`exec rm -rf -- "$@"`, paths...), nil, io.Discard)
	if err = errors.Join(err, e.err()); err != nil {
		return fmt.Errorf("remove files of the browser: %w", err)
	}
	return nil
}

// Upload makes a file of the channel's agent readable by Chromium and says where it is
// there. Errors are *core.Failure.
func (c *Sidecar) Upload(ctx context.Context, at string) (inside string, err error) {
	r, w := io.Pipe()
	var work sync.WaitGroup
	work.Go(func() { _ = w.CloseWithError(c.s.readFile(ctx, c.channel, at, w)) })
	inside, err = c.PutFile(ctx, path.Base(at), r)
	_ = r.Close()
	work.Wait()
	return inside, err
}
