package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

const (
	maxGuarded  = 8 << 20 // JSON makes six bytes of some; the script prints 1.2 MB at most
	maxRejected = 200     // patches of one channel
	keepTime    = 30 * 24 * time.Hour
)

// Files is a Keeper in a channel's folder of Loop's own (Dir is that of all channels), in a part
// that no container sees. It goes away with the channel.
type Files struct {
	Dir string
	Now func() time.Time
}

func (f Files) folder(ch core.ChannelID) string { return filepath.Join(f.Dir, string(ch), "review") }

// Guarded implements Keeper.
func (f Files) Guarded(ch core.ChannelID) (texts map[string]string, known bool, err error) {
	data, _, err := atomicfile.Read(filepath.Join(f.folder(ch), "guarded.json"), maxGuarded)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &texts)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read what a person last saw of git's files: %w", err)
	}
	return texts, true, nil
}

// KeepGuarded implements Keeper.
func (f Files) KeepGuarded(ch core.ChannelID, texts map[string]string) error {
	data, err := json.Marshal(texts)
	if err != nil {
		return fmt.Errorf("encode git's files: %w", err)
	}
	if err := os.MkdirAll(f.folder(ch), 0o700); err != nil {
		return fmt.Errorf("make the folder of reviews: %w", err)
	}
	return atomicfile.Replace(filepath.Join(f.folder(ch), "guarded.json"), data)
}

// KeepPatch implements Keeper. Old patches make room.
func (f Files) KeepPatch(ch core.ChannelID, patch []byte) (id string, err error) {
	dir := filepath.Join(f.folder(ch), "rejected")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of patches: %w", err)
	}
	if err := f.prune(dir); err != nil {
		return "", err
	}
	id = core.NewID()
	return id, atomicfile.Replace(filepath.Join(dir, id), patch)
}

func (f Files) prune(dir string) error {
	all, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list patches: %w", err)
	}
	type patch struct {
		name string
		at   time.Time
	}
	var kept []patch
	for _, e := range all {
		info, err := e.Info()
		if err != nil {
			continue // it was put back just now
		}
		kept = append(kept, patch{e.Name(), info.ModTime()})
	}
	slices.SortFunc(kept, func(a, b patch) int { return b.at.Compare(a.at) })
	for i, p := range kept {
		if i < maxRejected-1 && f.Now().Sub(p.at) < keepTime {
			continue
		}
		if err := os.Remove(filepath.Join(dir, p.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an old patch: %w", err)
		}
	}
	return nil
}

// Patch implements Keeper.
func (f Files) Patch(ch core.ChannelID, id string) ([]byte, error) {
	name, err := f.patch(ch, id)
	if err != nil {
		return nil, err
	}
	data, _, err := atomicfile.Read(name, maxOutput)
	return data, err
}

// DropPatch implements Keeper.
func (f Files) DropPatch(ch core.ChannelID, id string) error {
	name, err := f.patch(ch, id)
	if err != nil {
		return err
	}
	return os.Remove(name)
}

func (f Files) patch(ch core.ChannelID, id string) (string, error) {
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", fmt.Errorf("patch %q: %w", id, core.ErrNotFound)
	}
	return filepath.Join(f.folder(ch), "rejected", id), nil
}
