package channels

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// Remove stops the channel's runs, then forgets it with its timeline and the
// state Loop kept for it. The person's directory is never touched. A channel
// with threads or worktrees is core.ErrConflict; see RemoveTree.
func (s *Service) Remove(ctx context.Context, id core.ChannelID) error {
	return s.taken(ctx, id, func(_ forest, list []core.Channel) error {
		if len(list) > 1 {
			return core.Fail(core.CodeConflict, core.ErrConflict, fmt.Sprintf("%d threads or worktrees belong to this channel.", len(list)-1),
				"Remove them first, or remove the channel together with them.")
		}
		return s.remove(ctx, list)
	})
}

// RemoveTree removes a channel with everything below it. With removeFiles the
// folders of worktrees go too, unless one has changes that are not committed;
// then nothing is removed, but runs have been stopped. The folder a person chose
// is never touched.
func (s *Service) RemoveTree(ctx context.Context, id core.ChannelID, removeFiles bool) error {
	if removeFiles {
		return s.removeFiles(ctx, id, false)
	}
	return s.taken(ctx, id, func(_ forest, list []core.Channel) error { return s.remove(ctx, list) })
}

// RemoveWorktree removes a worktree's channel and folder; force does so even
// with changes that are not committed.
func (s *Service) RemoveWorktree(ctx context.Context, id core.ChannelID, force bool) error {
	ch, err := s.opts.Store.Channel(ctx, id)
	if err != nil {
		return missing(err)
	}
	if ch.Kind != core.KindWorktree {
		return core.Fail(core.CodeInvalid, nil, "That channel is no worktree.", "Remove the channel instead; its folder stays.")
	}
	return s.removeFiles(ctx, id, force)
}

// taken does something with id and what is below it, children first, and keeps
// everything else off them meanwhile.
func (s *Service) taken(ctx context.Context, id core.ChannelID, do func(forest, []core.Channel) error) error {
	f, list, err := s.take(ctx, id)
	if err != nil {
		return err
	}
	defer func() {
		s.tree.Lock()
		defer s.tree.Unlock()
		for _, ch := range list {
			delete(s.going, ch.ID)
		}
	}()
	return do(f, list)
}

func (s *Service) take(ctx context.Context, id core.ChannelID) (f forest, list []core.Channel, err error) {
	s.tree.Lock()
	defer s.tree.Unlock()
	if f, err = s.forest(ctx); err != nil {
		return f, nil, err
	}
	if list = f.under(id); len(list) == 0 {
		return f, nil, missing(core.ErrNotFound)
	}
	if slices.ContainsFunc(list, func(ch core.Channel) bool { return s.going[ch.ID] }) {
		return f, nil, errGoing
	}
	for _, ch := range list {
		s.going[ch.ID] = true
	}
	return f, list, nil
}

func (s *Service) removeFiles(ctx context.Context, id core.ChannelID, force bool) error {
	return s.taken(ctx, id, func(f forest, list []core.Channel) error {
		if err := s.stop(ctx, list); err != nil {
			return err
		}
		root, ok := f.root(id)
		var dirs []string
		for _, ch := range list {
			if ch.Kind != core.KindWorktree {
				continue
			}
			rel, err := below(ch.ParentDir, ch.Dir)
			if err != nil || !ok || root.Dir != ch.ParentDir {
				return core.Fail(core.CodeInvalid, err, fmt.Sprintf("Loop did not make the folder %q and does not remove it.", ch.Dir),
					"Remove the channel and keep its files.")
			}
			dirs = append(dirs, rel)
		}
		if len(dirs) > 0 {
			if err := s.opts.Worktrees.Remove(ctx, root, dirs, force); err != nil {
				return err
			}
		}
		return s.remove(ctx, list)
	})
}

func (s *Service) stop(ctx context.Context, list []core.Channel) error {
	for _, ch := range list {
		if err := s.opts.Runs.CancelChannel(ctx, ch.ID); err != nil {
			return fmt.Errorf("stop the channel's runs: %w", err)
		}
	}
	return nil
}

// remove forgets channels, children before parents. One that is gone meanwhile
// is what was asked for.
func (s *Service) remove(ctx context.Context, list []core.Channel) error {
	if err := s.stop(ctx, list); err != nil {
		return err
	}
	var errs []error
	for _, ch := range list {
		if err := s.opts.Store.RemoveChannel(ctx, ch.ID); err != nil && !errors.Is(err, core.ErrNotFound) {
			return errors.Join(append(errs, fmt.Errorf("remove channel: %w", err))...)
		}
		s.opts.Publish(core.NewEvent(core.EventChannelDeleted, ch.ID, "", s.opts.Now(), nil))
		if err := atomicfile.RemoveTree(filepath.Join(s.opts.Home, "channels", string(ch.ID))); err != nil {
			errs = append(errs, fmt.Errorf("remove the channel's state: %w", err))
		}
		s.opts.Browsers.Forget(ctx, ch.ID)
	}
	return errors.Join(errs...)
}
