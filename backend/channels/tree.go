package channels

import (
	"context"
	"fmt"
	"slices"

	"loop/backend/core"
)

// maxProject bounds the channels of one project: an agent can make them.
const maxProject = 200

var errGoing = core.Fail(core.CodeConflict, core.ErrConflict, "This channel is being removed.", "Choose another channel.")

// forest is all channels by id, as they are now.
type forest struct {
	list []core.Channel
	byID map[core.ChannelID]core.Channel
}

func (s *Service) forest(ctx context.Context) (forest, error) {
	list, err := s.opts.Store.Channels(ctx)
	if err != nil {
		return forest{}, fmt.Errorf("list channels: %w", err)
	}
	f := forest{list: list, byID: make(map[core.ChannelID]core.Channel, len(list))}
	for _, ch := range list {
		f.byID[ch.ID] = ch
	}
	return f, nil
}

// root is the channel at the top of id's tree; false when id is not there, or a
// parent of it is not.
func (f forest) root(id core.ChannelID) (core.Channel, bool) {
	for range len(f.list) { // a ring cannot be stored; this ends in one nevertheless
		ch, ok := f.byID[id]
		if !ok || ch.ParentID == "" {
			return ch, ok
		}
		id = ch.ParentID
	}
	return core.Channel{}, false
}

// under lists id's descendants, children before their parents, id last.
func (f forest) under(id core.ChannelID) []core.Channel {
	var out []core.Channel
	seen := map[core.ChannelID]bool{}
	var visit func(core.Channel)
	visit = func(ch core.Channel) {
		if seen[ch.ID] {
			return
		}
		seen[ch.ID] = true
		for _, c := range f.list {
			if c.ParentID == ch.ID {
				visit(c)
			}
		}
		out = append(out, ch)
	}
	if ch, ok := f.byID[id]; ok {
		visit(ch)
	}
	return out
}

// Project is the root channel of the tree that id is in.
func (s *Service) Project(ctx context.Context, id core.ChannelID) (core.ChannelID, error) {
	f, err := s.forest(ctx)
	if err != nil {
		return "", err
	}
	root, ok := f.root(id)
	if !ok {
		return "", missing(core.ErrNotFound)
	}
	return root.ID, nil
}

// Within reports whether id is a channel of caller's project. What cannot be
// found out is a no.
func (s *Service) Within(ctx context.Context, caller, id core.ChannelID) bool {
	f, err := s.forest(ctx)
	if err != nil {
		return false
	}
	mine, ok := f.root(caller)
	if !ok {
		return false
	}
	other, ok := f.root(id)
	return ok && mine.ID == other.ID
}

// Members are the channels of the project that id is in, oldest first.
func (s *Service) Members(ctx context.Context, id core.ChannelID) ([]View, error) {
	views, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	f := forest{byID: map[core.ChannelID]core.Channel{}}
	for _, v := range views {
		f.list = append(f.list, v.Channel)
		f.byID[v.ID] = v.Channel
	}
	mine, ok := f.root(id)
	if !ok {
		return nil, missing(core.ErrNotFound)
	}
	return slices.DeleteFunc(views, func(v View) bool {
		root, ok := f.root(v.ID)
		return !ok || root.ID != mine.ID
	}), nil
}

// parent is that of a channel to be made, if it may have one at the moment.
func (s *Service) parent(ctx context.Context, id core.ChannelID) (core.Channel, error) {
	s.tree.Lock()
	defer s.tree.Unlock()
	parent, _, _, err := s.parentOf(ctx, id)
	return parent, err
}

// parentOf returns the parent of a channel to be made and the root above it. It
// is called with the tree locked.
func (s *Service) parentOf(ctx context.Context, id core.ChannelID) (parent, root core.Channel, f forest, err error) {
	if f, err = s.forest(ctx); err != nil {
		return
	}
	root, ok := f.root(id)
	if !ok {
		err = missing(core.ErrNotFound)
		return
	}
	if s.going[id] {
		err = errGoing
		return
	}
	if len(f.under(root.ID)) >= maxProject {
		err = core.Fail(core.CodeConflict, core.ErrConflict, fmt.Sprintf("This project has %d channels already.", maxProject),
			"Remove threads that are no longer needed.")
		return
	}
	return f.byID[id], root, f, nil
}
