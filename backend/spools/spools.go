// Package spools reads the output that loop init kept of spawns in a channel's state,
// for when their container can no longer be asked. daemon and tests may import it.
package spools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// Folders are the spools of all channels. They are out of the agents' reach, yet
// are read like anything that came out of a container: below their root, plain
// files only, bounded.
type Folders struct{ Home string } // Loop's folder

// folder is the one with a spawn's output: the channel's own, or that of the channel whose
// state the container had. Ids of spawns are random, so that nobody can have another's.
func (s Folders) folder(ch core.ChannelID, spawn core.SpawnID) (*os.Root, error) {
	of := func(owner string) string { return filepath.Join(s.Home, "channels", owner, "spool") }
	own := of(string(ch))
	if _, err := os.Lstat(filepath.Join(own, string(spawn)+wire.OutSuffix)); errors.Is(err, fs.ErrNotExist) {
		others, _ := filepath.Glob(filepath.Join(of("*"), string(spawn)+wire.OutSuffix)) // its pattern is right
		if len(others) == 1 {
			own = filepath.Dir(others[0])
		}
	}
	return os.OpenRoot(own)
}

func (s Folders) file(ch core.ChannelID, spawn core.SpawnID, suffix string) (*os.File, error) {
	if !wire.ValidID(string(spawn)) {
		return nil, fmt.Errorf("spawn id: %w", core.ErrNotFound)
	}
	root, err := s.folder(ch, spawn)
	if err == nil {
		defer root.Close()
		var f *os.File
		// Non-blocking, so that a pipe in place of the file cannot hold the app up.
		if f, err = root.OpenFile(string(spawn)+suffix, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			if info, serr := f.Stat(); serr != nil || !info.Mode().IsRegular() {
				_ = f.Close()
				return nil, fmt.Errorf("spool of %s is not a plain file: %w", spawn, errors.Join(serr, core.ErrNotFound))
			}
			return f, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(err, core.ErrNotFound)
	}
	return nil, fmt.Errorf("open spool: %w", err)
}

// Open implements runner.Spools.
func (s Folders) Open(_ context.Context, ch core.ChannelID, spawn core.SpawnID, offset int64) (io.ReadCloser, error) {
	f, err := s.file(ch, spawn, wire.OutSuffix)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("seek in spool: %w", err)
	}
	return f, nil
}

// Exit implements runner.Spools.
func (s Folders) Exit(_ context.Context, ch core.ChannelID, spawn core.SpawnID) (core.ExitStatus, bool) {
	f, err := s.file(ch, spawn, wire.ExitSuffix)
	if err != nil {
		return core.ExitStatus{}, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 64<<10))
	r, perr := wire.ParseExitRecord(string(spawn), b)
	if err != nil || perr != nil {
		return core.ExitStatus{}, false
	}
	return core.ExitStatus{Code: r.Exit.Code, Signal: r.Exit.Signal, At: time.UnixMilli(r.Exit.At)}, true
}

// Drop implements runner.Spools.
func (s Folders) Drop(_ context.Context, ch core.ChannelID, spawn core.SpawnID) error {
	if !wire.ValidID(string(spawn)) {
		return nil
	}
	root, err := s.folder(ch, spawn)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open spool folder: %w", err)
	}
	defer root.Close()
	for _, suffix := range []string{wire.OutSuffix, wire.ErrSuffix, wire.ExitSuffix} {
		if rerr := root.Remove(string(spawn) + suffix); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("remove spool: %w", rerr))
		}
	}
	return err
}
