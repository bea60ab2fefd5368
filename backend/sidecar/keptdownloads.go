package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"
)

const downloadsDir = "/profile/downloads"

// Downloads are files that Chromium has downloaded, by their ids. Methods may be called
// from any goroutine.
type Downloads struct{ c *Sidecar }

// Downloads are this Chromium's.
func (c *Sidecar) Downloads() Downloads { return Downloads{c} }

// Dir is where Chromium puts them.
func (Downloads) Dir() string { return downloadsDir }

// Keep brings a file to the agent and says where it is there. Errors are *core.Failure.
func (d Downloads) Keep(ctx context.Context, id, name string, size int64) (at string, err error) {
	c := d.c
	r, w := io.Pipe()
	var work sync.WaitGroup
	work.Go(func() {
		e, err := run(ctx, c.lease.Link, shell(`exec cat < "$1"`, inDownloads(id)), nil, w)
		_ = w.CloseWithError(errors.Join(err, e.err()))
	})
	at, err = c.s.keep(ctx, c.channel, name, size, r)
	_ = r.Close()
	work.Wait()
	if err != nil {
		return "", err
	}
	if err := d.Drop(ctx, []string{id}); err != nil {
		c.s.o.Log.Warn("remove a download that was kept", "channel", string(c.channel.ID), "err", err)
	}
	return at, nil
}

// Drop removes files.
func (d Downloads) Drop(ctx context.Context, ids []string) error {
	var paths []string
	for _, id := range ids {
		paths = append(paths, inDownloads(id))
	}
	if err := remove(ctx, d.c.lease.Link, paths); err != nil {
		return fmt.Errorf("drop downloads: %w", err)
	}
	return nil
}

// inDownloads is the path of a file, whatever an id holds.
func inDownloads(id string) string { return path.Join(downloadsDir, path.Base(path.Join("/", id))) }
