package attachments

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

const (
	keptDropped = 7 * 24 * time.Hour // a picture that was taken out of all drafts
	lookEvery   = 24 * time.Hour
	uses        = ".uses" // after a picture's name: the file with the number of its uses
	maxUses     = 20      // bytes of that file
)

// counting is held while uses are counted, and while a picture without any is removed.
var counting sync.Mutex

// use counts one more use of a picture. Which drafts there are, only pages know; so a picture
// stays until as many uses were taken back as there were.
func (f Files) use(ch core.ChannelID, id string, by int) error {
	at := f.path(ch, id) + uses
	n, err := usesOf(at)
	switch {
	case errors.Is(err, fs.ErrNotExist) && by < 0:
		return nil // it is older than the count, and stays
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("count the uses of a picture: %w", err)
	}
	if err := atomicfile.Replace(at, []byte(strconv.Itoa(max(n+by, 0)))); err != nil {
		return fmt.Errorf("count the uses of a picture: %w", err)
	}
	return nil
}

func usesOf(name string) (int, error) {
	data, _, err := atomicfile.Read(name, maxUses)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(data))
}

// Drop says that a picture was taken out of a draft.
func (f Files) Drop(ch core.ChannelID, id string) error {
	if !valid(ch, id) {
		return core.Fail(core.CodeInvalid, nil, "That is no attachment's id.", "")
	}
	counting.Lock()
	defer counting.Unlock()
	return f.use(ch, id, -1)
}

func valid(ch core.ChannelID, id string) bool {
	raw, err := hex.DecodeString(id)
	return err == nil && len(raw)*2 == idLength && filepath.IsLocal(string(ch))
}

// Run removes what nobody uses any more, at once and each day.
func (f Files) Run(ctx context.Context) error {
	day := time.Tick(lookEvery)
	for {
		if err := f.removeDropped(ctx, time.Now()); err != nil && ctx.Err() == nil {
			f.Log.Warn("remove pictures that were taken out of drafts", "err", err)
		}
		select {
		case <-day:
		case <-ctx.Done():
			return nil
		}
	}
}

// removeDropped removes the pictures whose last use was taken back long ago, and that no run and
// no event names. One that cannot be judged stays.
func (f Files) removeDropped(ctx context.Context, now time.Time) error {
	list, err := filepath.Glob(filepath.Join(f.Home, "channels", "*", folder, "*"+uses))
	if err != nil {
		return fmt.Errorf("list pictures: %w", err)
	}
	var errs []error
	for _, name := range list {
		if ctx.Err() != nil {
			break
		}
		if err := f.removeUnused(ctx, name, now); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (f Files) removeUnused(ctx context.Context, name string, now time.Time) error {
	id := strings.TrimSuffix(filepath.Base(name), uses)
	ch := core.ChannelID(filepath.Base(filepath.Dir(filepath.Dir(name))))
	if !valid(ch, id) {
		return nil
	}
	counting.Lock()
	defer counting.Unlock()
	info, err := os.Lstat(name)
	if err != nil || now.Sub(info.ModTime()) < keptDropped {
		return err
	}
	if n, err := usesOf(name); err != nil || n > 0 {
		return err
	}
	if named, err := f.Named(ctx, ch, id); err != nil || named {
		return err
	}
	if err := os.Remove(f.path(ch, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a picture: %w", err)
	}
	if err := os.Remove(name); err != nil {
		return fmt.Errorf("remove a picture's count: %w", err)
	}
	return nil
}
