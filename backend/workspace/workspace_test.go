package workspace

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
)

// world is every port. Copies answer with what fails, if anything does.
type world struct {
	seed      core.WorkspaceSeed
	views     []core.ContainerView
	fail      error
	recreated []core.ChannelID
	discarded []string
	text      string
}

func (w *world) Channel(_ context.Context, id core.ChannelID) (core.Channel, error) {
	if id == "gone" {
		return core.Channel{}, core.ErrNotFound
	}
	return core.Channel{ID: id}, nil
}

func (w *world) Resolve(context.Context, provision.Want) (provision.Resolved, error) {
	return provision.Resolved{Spec: core.Spec{Seed: w.seed}}, nil
}
func (w *world) Views() []core.ContainerView { return w.views }
func (w *world) Compare(s core.WorkspaceSeed) (core.CopyComparison, error) {
	return core.CopyComparison{WorkspaceSeed: s}, w.fail
}
func (w *world) Both(core.WorkspaceSeed, string) (original, copied []byte, err error) {
	return []byte("o"), []byte(w.text), w.fail
}
func (w *world) Promote(core.WorkspaceSeed, map[string]string) (core.TrashedCopy, error) {
	return core.TrashedCopy{ID: "p"}, w.fail
}
func (w *world) Pull(core.WorkspaceSeed, map[string]string) (core.TrashedCopy, error) {
	return core.TrashedCopy{ID: "l"}, w.fail
}
func (w *world) Discard(dir string) (core.TrashedCopy, error) {
	w.discarded = append(w.discarded, dir)
	return core.TrashedCopy{ID: "d"}, w.fail
}
func (w *world) Trash(time.Time) ([]core.TrashedCopy, error) { return nil, w.fail }
func (w *world) Restore(id string) (core.TrashedCopy, error) { return core.TrashedCopy{ID: id}, w.fail }
func (w *world) Left() ([]core.LeftCopy, error) {
	return []core.LeftCopy{{ChannelID: "c", Copy: "/h/channels/c/copy"}, {ChannelID: "gone", Copy: "/h/channels/gone/copy"}}, nil
}

func newWorld() (*world, *Service) {
	w := &world{seed: core.WorkspaceSeed{Original: "/p", Copy: "/h/channels/c/copy"}}
	return w, New(Options{Channels: w, Provision: w, Copies: w, Trash: w, Containers: w, Recreate: func(_ context.Context, id core.ChannelID) (bool, error) {
		w.recreated = append(w.recreated, id)
		if id == "gone" {
			return false, core.Fail(core.CodeNotFound, core.ErrNotFound, "There is no such channel.", "")
		}
		return true, nil
	}})
}

// TestFailuresAreSentences: whoever has no copy, or no channel, hears what to do.
func TestFailuresAreSentences(t *testing.T) {
	w, s := newWorld()
	ctx := t.Context()
	each := func(id core.ChannelID) (all []error) {
		_, err := s.Compare(ctx, id)
		_, _, terr := s.Texts(ctx, id, "x")
		_, perr := s.Promote(ctx, id, nil)
		_, lerr := s.Pull(ctx, id, nil)
		_, aerr := s.Anew(ctx, id)
		return append(all, err, terr, perr, lerr, aerr)
	}
	for _, err := range each("c") {
		if err != nil {
			t.Error(err)
		}
	}
	check := func(what string, errs []error) {
		t.Helper()
		for i, err := range errs {
			if f := core.AsFailure(err); f == nil || f.Code == core.CodeInternal || f.Cause == "" || f.Remedy == "" {
				t.Errorf("%s, call %d: %v", what, i, err)
			}
		}
	}
	check("no channel", each("gone"))
	w.fail = fs.ErrNotExist
	check("no copy yet", each("c"))
	w.fail = nil
	w.seed = core.WorkspaceSeed{}
	check("the folder itself", each("c"))
	w.seed.Copy, w.text = "/h/channels/c/copy", "\xff"
	if _, _, err := s.Texts(ctx, "c", "x"); core.AsFailure(err).Code != core.CodeInvalid {
		t.Errorf("no text: %v", err)
	}
	w.fail = core.ErrNotFound
	if _, err := s.Restore(ctx, "x"); core.AsFailure(err).Code != core.CodeNotFound {
		t.Errorf("not in the trash: %v", err)
	}
}

// TestAnew: first nobody joins the old container, and nothing goes while something works in it.
func TestAnew(t *testing.T) {
	w, s := newWorld()
	held := core.ContainerView{Holders: []core.Holder{{Kind: core.HolderRun, ID: "r"}}}
	held.ChannelID, held.Name = "c", "loop-c"
	w.views = []core.ContainerView{held}
	if _, err := s.Anew(t.Context(), "c"); !errors.Is(err, core.ErrConflict) || len(w.recreated)+len(w.discarded) > 0 || !strings.Contains(core.AsFailure(err).Remedy, "loop-c") {
		t.Errorf("%v, %v", err, w)
	}
	w.views[0].Holders[0].Kind = core.HolderPrompt // somebody is writing, and nothing works yet
	if _, err := s.Anew(t.Context(), "c"); err != nil || len(w.recreated) != 1 || len(w.discarded) != 1 {
		t.Errorf("%v, %+v", err, w)
	}
	if _, err := s.Discard(t.Context(), "gone"); err != nil || w.discarded[1] != "/h/channels/gone/copy" {
		t.Errorf("a copy that was left behind: %v, %v", err, w.discarded)
	}
	if _, err := s.Discard(t.Context(), "/home/me"); core.AsFailure(err).Code != core.CodeNotFound || len(w.discarded) != 2 {
		t.Errorf("a folder that is no copy: %v, %v", err, w.discarded)
	}
	left, err := s.Left(t.Context())
	if err != nil || !left[0].InUse || left[1].InUse {
		t.Errorf("%+v, %v", left, err)
	}
}
