// Package workspace is what a person sees of the copies in which agents work, and does to
// them: compare with the original, promote, pull, begin anew, bring back.
//
// It is a service: provision says which copy a channel has, and agentcopy is a port. Package
// daemon imports it.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"loop/backend/core"
	"loop/backend/provision"
)

// Channels finds channels; one that is gone is core.ErrNotFound.
type Channels interface {
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
}

// Provision says what a channel's next container would be. It makes nothing.
type Provision interface {
	Resolve(ctx context.Context, w provision.Want) (provision.Resolved, error)
}

// Copies are the files; package agentcopy has them.
type Copies interface {
	Compare(s core.WorkspaceSeed) (core.CopyComparison, error)
	Both(s core.WorkspaceSeed, name string) (original, copied []byte, err error)
	Promote(s core.WorkspaceSeed, marks map[string]string) (core.TrashedCopy, error)
	Pull(s core.WorkspaceSeed, marks map[string]string) (core.TrashedCopy, error)
}

// Trash is what was taken away, and can come back.
type Trash interface {
	Discard(copyDir string) (core.TrashedCopy, error)
	Trash(now time.Time) ([]core.TrashedCopy, error)
	Restore(id string) (core.TrashedCopy, error)
	Left() ([]core.LeftCopy, error)
}

// Containers are those of this Loop folder, with who holds them.
type Containers interface {
	Views() []core.ContainerView
}

// Options of a Service; all are required.
type Options struct {
	Channels   Channels
	Provision  Provision
	Copies     Copies
	Trash      Trash
	Containers Containers
	// Recreate has a channel's next container made anew.
	Recreate func(ctx context.Context, id core.ChannelID) (bool, error)
}

// Service compares copies and brings files over. Methods may be called from any goroutine.
type Service struct{ o Options }

// New returns a Service, which does nothing by itself.
func New(o Options) *Service { return &Service{o} }

// seed is the copy in which a channel's agents work.
func (s *Service) seed(ctx context.Context, id core.ChannelID) (core.WorkspaceSeed, error) {
	ch, err := s.o.Channels.Channel(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return core.WorkspaceSeed{}, core.Fail(core.CodeNotFound, err, "There is no such channel.", "Choose one of the list.")
	}
	if err != nil {
		return core.WorkspaceSeed{}, fmt.Errorf("read channel: %w", err)
	}
	r, err := s.o.Provision.Resolve(ctx, provision.Want{Channel: ch, Shared: true})
	if err != nil {
		return core.WorkspaceSeed{}, fmt.Errorf("find the channel's copy: %w", err)
	}
	if r.Spec.Seed.Copy == "" {
		return r.Spec.Seed, core.Fail(core.CodeNotFound, core.ErrNotFound, "This channel's agents work in the folder itself, not in a copy.",
			"workspace_access “none” gives them a copy.")
	}
	return r.Spec.Seed, nil
}

// Compare says what is not the same in the copy and its original.
func (s *Service) Compare(ctx context.Context, id core.ChannelID) (core.CopyComparison, error) {
	seed, err := s.seed(ctx, id)
	if err != nil {
		return core.CopyComparison{}, err
	}
	out, err := s.o.Copies.Compare(seed)
	return out, missing(err)
}

// missing turns the absence of a copy into a sentence.
func missing(err error) error {
	if _, ok := errors.AsType[*core.Failure](err); ok || err == nil {
		return err
	}
	return core.Fail(core.CodeNotFound, err, "There is no copy yet, or its original cannot be opened.",
		"A run makes the copy. If there was one, look whether the channel's folder is there.")
}

// Texts are a file in the original and in the copy. One that is no text is a failure.
func (s *Service) Texts(ctx context.Context, id core.ChannelID, path string) (original, copied string, err error) {
	seed, err := s.seed(ctx, id)
	if err != nil {
		return "", "", err
	}
	o, c, err := s.o.Copies.Both(seed, path)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return "", "", core.Fail(core.CodeNotFound, err, "That file is the same in both, or in neither.", "Compare again.")
	case err != nil:
		return "", "", missing(err)
	case !utf8.Valid(o) || !utf8.Valid(c):
		return "", "", core.Fail(core.CodeInvalid, nil, "That file is no text.", "Its sizes are in the comparison.")
	}
	return string(o), string(c), nil
}

// Promote makes files of the original what they are in the copy.
func (s *Service) Promote(ctx context.Context, id core.ChannelID, marks map[string]string) (core.TrashedCopy, error) {
	seed, err := s.seed(ctx, id)
	if err != nil {
		return core.TrashedCopy{}, err
	}
	t, err := s.o.Copies.Promote(seed, marks)
	return t, missing(err)
}

// Pull is the other way round.
func (s *Service) Pull(ctx context.Context, id core.ChannelID, marks map[string]string) (core.TrashedCopy, error) {
	seed, err := s.seed(ctx, id)
	if err != nil {
		return core.TrashedCopy{}, err
	}
	t, err := s.o.Copies.Pull(seed, marks)
	return t, missing(err)
}

// Anew moves the copy to the trash and has the next container made anew, with a fresh copy.
// While something works in the copy it is a conflict.
func (s *Service) Anew(ctx context.Context, id core.ChannelID) (core.TrashedCopy, error) {
	seed, err := s.seed(ctx, id)
	if err != nil {
		return core.TrashedCopy{}, err
	}
	return s.discard(ctx, id, seed.Copy)
}

func (s *Service) discard(ctx context.Context, id core.ChannelID, copyDir string) (core.TrashedCopy, error) {
	owner := core.ChannelID(filepath.Base(filepath.Dir(copyDir)))
	works := func(v core.ContainerView) bool {
		return v.ChannelID == owner && slices.ContainsFunc(v.Holders, func(h core.Holder) bool { return h.Kind != core.HolderPrompt })
	}
	if i := slices.IndexFunc(s.o.Containers.Views(), works); i >= 0 {
		return core.TrashedCopy{}, core.Fail(core.CodeConflict, core.ErrConflict, "Something works in this copy.",
			"Stop the run, and close the terminals of "+s.o.Containers.Views()[i].Name+", then try again.")
	}
	// First nobody joins the container any more, which would go on showing the old copy.
	if _, err := s.o.Recreate(ctx, id); err != nil && !errors.Is(err, core.ErrNotFound) && core.AsFailure(err).Code != core.CodeNotFound {
		return core.TrashedCopy{}, err
	}
	t, err := s.o.Trash.Discard(copyDir)
	return t, missing(err)
}

// Left lists the copies that there are, the largest first.
func (s *Service) Left(ctx context.Context) ([]core.LeftCopy, error) {
	all, err := s.o.Trash.Left()
	if err != nil {
		return nil, err
	}
	for i := range all {
		seed, err := s.seed(ctx, all[i].ChannelID)
		all[i].InUse = err == nil && seed.Copy == all[i].Copy
	}
	return all, nil
}

// Discard moves a copy of the list to the trash, whatever became of its channel.
func (s *Service) Discard(ctx context.Context, copyDir string) (core.TrashedCopy, error) {
	all, err := s.o.Trash.Left()
	if err != nil {
		return core.TrashedCopy{}, err
	}
	i := slices.IndexFunc(all, func(l core.LeftCopy) bool { return l.Copy == copyDir || string(l.ChannelID) == copyDir })
	if i < 0 {
		return core.TrashedCopy{}, core.Fail(core.CodeNotFound, core.ErrNotFound, "There is no such copy.",
			"“loop workspace copies” lists them.")
	}
	return s.discard(ctx, all[i].ChannelID, all[i].Copy)
}

// Trash lists what can come back, the newest first.
func (s *Service) Trash(context.Context) ([]core.TrashedCopy, error) {
	return s.o.Trash.Trash(time.Now())
}

// Restore brings something of the trash back.
func (s *Service) Restore(_ context.Context, id string) (core.TrashedCopy, error) {
	t, err := s.o.Trash.Restore(id)
	if errors.Is(err, core.ErrNotFound) {
		return t, core.Fail(core.CodeNotFound, err, "That is not in the trash.", "“loop workspace trash” lists what is.")
	}
	return t, err
}
