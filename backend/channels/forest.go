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
func (f forest) under(id core.ChannelID) (out []core.Channel) {
	for _, c := range f.list {
		if c.ParentID == id {
			out = append(out, f.under(c.ID)...)
		}
	}
	if ch, ok := f.byID[id]; ok {
		out = append(out, ch)
	}
	return out
}

// related reports whether two channels are of one project.
func (f forest) related(a, b core.ChannelID) bool {
	mine, ok := f.root(a)
	other, ok2 := f.root(b)
	return ok && ok2 && mine.ID == other.ID
}

// Within reports whether id is a channel of caller's project. What cannot be
// found out is a no.
func (s *Service) Within(ctx context.Context, caller, id core.ChannelID) bool {
	f, err := s.forest(ctx)
	return err == nil && f.related(caller, id)
}

// Members are the channels of the project that id is in, oldest first.
func (s *Service) Members(ctx context.Context, id core.ChannelID) ([]core.ChannelView, error) {
	views, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	f, err := s.forest(ctx)
	if err != nil {
		return nil, err
	}
	if !f.related(id, id) {
		return nil, missing(core.ErrNotFound)
	}
	return slices.DeleteFunc(views, func(v core.ChannelView) bool { return !f.related(id, v.ID) }), nil
}

// parentOf returns the parent of a channel to be made and the root above it. It
// is called with the tree locked.
func (s *Service) parentOf(ctx context.Context, id core.ChannelID) (parent, root core.Channel, f forest, err error) {
	if f, err = s.forest(ctx); err != nil {
		return parent, root, f, err
	}
	root, ok := f.root(id)
	switch {
	case !ok:
		err = missing(core.ErrNotFound)
	case s.going[id]:
		err = errGoing
	case len(f.under(root.ID)) >= maxProject:
		err = core.Fail(core.CodeConflict, core.ErrConflict, fmt.Sprintf("This project has %d channels already.", maxProject),
			"Remove threads that are no longer needed.")
	}
	return f.byID[id], root, f, err
}
