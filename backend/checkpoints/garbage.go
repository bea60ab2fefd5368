package checkpoints

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	// young is how old a file must be to be removed: it may belong to a checkpoint that is being
	// taken.
	young = time.Hour
	// pauseAfter is how many files are looked at between two pauses.
	pauseAfter = 256
)

// Collect removes what no tree of live needs, by mark and sweep, and returns the bytes that
// are left. A tree that cannot be read keeps everything: what it needs is not known.
//
// Collect calls pause after each tree, and after some files. Others may use the store in it. It
// returns the trees that are needed now, of which Collect may know some.
func (s Store) Collect(ctx context.Context, live []Hash, now time.Time, pause func() ([]Hash, error)) (left int64, err error) {
	c := &collecting{Store: s, ctx: ctx, now: now, pause: pause, live: map[Hash]bool{}, trees: map[Hash]bool{}, blobs: map[Hash]bool{}}
	c.need(live)
	for len(c.todo) > 0 {
		if err := errors.Join(ctx.Err(), c.markOne()); err != nil {
			return 0, err
		}
		if err := c.rest(); err != nil {
			return 0, err
		}
	}
	// Trees go first: one whose contents are gone could not be told from a damaged one.
	err = errors.Join(c.sweep(treesDir, c.trees), c.sweep(blobsDir, c.blobs))
	return c.left, errors.Join(append(c.errs, err)...)
}

type collecting struct {
	Store
	ctx          context.Context
	now          time.Time
	pause        func() ([]Hash, error)
	live         map[Hash]bool
	todo         []Hash        // of live, not marked yet
	trees, blobs map[Hash]bool // marked
	looked       int           // files since the last pause
	left         int64
	errs         []error // of files that could not be removed
}

func (c *collecting) need(trees []Hash) {
	for _, h := range trees {
		if !c.live[h] {
			c.live[h] = true
			c.todo = append(c.todo, h)
		}
	}
}

func (c *collecting) rest() error {
	also, err := c.pause()
	c.need(also)
	return errors.Join(err, c.ctx.Err())
}

// markOne marks what one tree needs. Of the trees that it leans on only the files are read, down
// to one that is marked for itself; no tree is put together.
func (c *collecting) markOne() error {
	h := c.todo[len(c.todo)-1]
	c.todo = c.todo[:len(c.todo)-1]
	replaced := map[string]bool{} // paths that a tree above has otherwise
	for n := 0; ; n++ {
		entries, base, leans, err := c.own(h)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errEmpty) {
			return nil // what there still is, it cannot be read with
		}
		if err == nil && n > maxChain+1 {
			err = errDamaged
		}
		if err != nil {
			return err
		}
		c.trees[h] = true
		for i := range entries {
			e := &entries[i]
			if e.Kind == File && !replaced[e.Path] {
				c.blobs[e.Sum] = true
			}
			if leans {
				replaced[e.Path] = true
			}
		}
		if !leans || c.live[base] {
			return nil
		}
		h = base
	}
}

// sweep removes the old files of one kind that are not marked.
func (c *collecting) sweep(kind string, marked map[Hash]bool) error {
	return filepath.WalkDir(filepath.Join(c.dir, kind), func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || c.ctx.Err() != nil {
			return errors.Join(err, c.ctx.Err())
		}
		if d.IsDir() {
			return nil
		}
		if c.looked++; c.looked%pauseAfter == 0 {
			err := c.rest()
			for err == nil && len(c.todo) > 0 {
				err = c.markOne()
			}
			if err != nil {
				return err
			}
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // gone by now
		}
		h, err := ParseHash(filepath.Base(filepath.Dir(name)) + filepath.Base(name))
		if err == nil && marked[h] || c.now.Sub(info.ModTime()) < young {
			c.left += info.Size()
			return nil
		}
		if err := os.Remove(name); err != nil {
			c.errs = append(c.errs, err)
		}
		return nil
	})
}
