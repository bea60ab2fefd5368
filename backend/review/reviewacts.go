package review

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"loop/backend/core"
)

const maxMessage = 64 << 10

// misfits are git's words for a patch that is not of the file as it is. It looks before it writes.
var misfits = []string{"patch does not apply", "already exists", "No such file", "does not exist", "does not match"}

// Stage has the index take hunks of a file, exactly as they were shown. Without hunks it takes
// the whole file, if its mark is still the one that was shown.
func (s *Service) Stage(ctx context.Context, id core.ChannelID, path string, hunks []string, mark string) error {
	ch, err := s.channel(ctx, id)
	if err != nil {
		return err
	}
	if isGuarded(path) {
		return s.acceptGuarded(ctx, ch, path, mark)
	}
	l, err := s.look(ctx, ch, core.ReviewScope{Kind: core.ReviewWorktree}, path)
	if err != nil {
		return err
	}
	switch d := l.diff; {
	case d.Filter != "":
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("Git's filter “%s” changes this file, and Loop does not run it.", d.Filter),
			"Stage it in a terminal with “git add”.")
	case len(hunks) == 0:
		return s.act(ctx, ch, nil, "Git could not stage the file.", "stage-file", strings.TrimSuffix(path, "/"), mark)
	case d.Whole != "" && d.Whole != core.WholeBinary:
		return core.Fail(core.CodeInvalid, nil, "This file can only be staged as one.", "Accept the file.")
	}
	chosen, ok := l.unstaged.chosen(hunks, path)
	if !ok {
		return changed("Nothing was staged.")
	}
	_, err = s.apply(ctx, ch, l.unstaged.with(chosen, false), "stage")
	return err
}

// Unstage takes hunks out of the index; the file stays as it is. Without hunks it is all of the file.
func (s *Service) Unstage(ctx context.Context, id core.ChannelID, path string, hunks []string) error {
	ch, err := s.channel(ctx, id)
	if err != nil {
		return err
	}
	l, err := s.look(ctx, ch, core.ReviewScope{Kind: core.ReviewWorktree}, path)
	if err != nil {
		return err
	}
	if len(hunks) == 0 {
		return s.act(ctx, ch, nil, "Git could not take the file out of the index.", "unstage-file", strings.TrimSuffix(path, "/"))
	}
	chosen, ok := l.staged.chosen(hunks, "staged\x00"+path)
	if !ok {
		return changed("It is still accepted.")
	}
	_, err = s.apply(ctx, ch, l.staged.with(chosen, true), "unstage")
	return err
}

// Reject takes hunks that are not staged out of the file. What it took out is kept first, and
// forgotten only if git surely took nothing out: what is kept may be the only copy.
func (s *Service) Reject(ctx context.Context, id core.ChannelID, path string, hunks []string) (u core.ReviewUndo, err error) {
	ch, err := s.channel(ctx, id)
	if err != nil {
		return u, err
	}
	l, err := s.look(ctx, ch, core.ReviewScope{Kind: core.ReviewWorktree}, path)
	if err != nil {
		return u, err
	}
	if d := l.diff; d.Whole != "" && d.Whole != core.WholeBinary {
		return u, core.Fail(core.CodeInvalid, nil, "Loop cannot take this change out and put it back.", "Change the file in a terminal.")
	}
	chosen, ok := l.unstaged.chosen(hunks, path)
	if !ok {
		return u, changed("Nothing was taken out.")
	}
	patch := l.unstaged.with(chosen, true)
	if u.ID, err = s.o.Keeper.KeepPatch(id, []byte(patch)); err != nil {
		return u, fmt.Errorf("keep what is to be taken out: %w", err)
	}
	untouched, err := s.apply(ctx, ch, patch, "reject")
	switch {
	case err == nil:
		return u, nil
	case untouched:
		if derr := s.o.Keeper.DropPatch(id, u.ID); derr != nil {
			s.o.Log.Warn("forget a patch that was not taken out", "channel", id, "err", derr)
		}
		return core.ReviewUndo{}, err
	}
	s.o.Log.Warn("it is not known whether a change was taken out", "channel", id, "patch", u.ID, "err", err)
	doubt := *core.AsFailure(err)
	doubt.Remedy = "Look at the file: if the change is gone, Undo puts it back. Loop keeps it for 30 days."
	u.Doubt = &doubt
	return u, nil
}

// Undo puts back what Reject took out.
func (s *Service) Undo(ctx context.Context, id core.ChannelID, undo string) error {
	ch, err := s.channel(ctx, id)
	if err != nil {
		return err
	}
	patch, err := s.o.Keeper.Patch(id, undo)
	if err != nil {
		return core.Fail(core.CodeNotFound, err, "What was taken out is not kept any more.", "Loop keeps it for 30 days.")
	}
	if _, err := s.apply(ctx, ch, string(patch), "restore"); err != nil {
		return err
	}
	if err := s.o.Keeper.DropPatch(id, undo); err != nil {
		s.o.Log.Warn("forget a patch that was put back", "channel", id, "err", err)
	}
	return nil
}

// Commit commits what is staged.
func (s *Service) Commit(ctx context.Context, id core.ChannelID, message string) (c core.ReviewCommit, err error) {
	ch, err := s.channel(ctx, id)
	if err != nil {
		return c, err
	}
	switch {
	case strings.TrimSpace(message) == "":
		return c, core.Fail(core.CodeInvalid, nil, "A commit needs a message.", "Say in a line what it does.")
	case len(message) > maxMessage || !utf8.ValidString(message) || strings.ContainsRune(message, 0):
		return c, core.Fail(core.CodeInvalid, nil, "That message is too long, or no text.", "Say it in less than 64 KB.")
	}
	list, out, err := s.run(ctx, ch, actTime, Program{Script: actScript, Args: []string{"commit"}, Stdin: []byte(message), Once: true})
	if err != nil {
		return c, err
	}
	if out.Code != 0 {
		return c, failed(ch, out, "Git could not commit.")
	}
	c.ID = said(list, "commit")
	return c, nil
}

// Branch makes a branch at HEAD and goes on in it; the files stay as they are.
func (s *Service) Branch(ctx context.Context, id core.ChannelID, name string) error {
	ch, err := s.channel(ctx, id)
	if err != nil {
		return err
	}
	if name == "" || len(name) > 200 || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n@{") {
		return failed(ch, Output{Code: codeBadBranch}, "")
	}
	return s.act(ctx, ch, nil, "Git could not make the branch.", "branch", name)
}

// Proceed goes on with what the repository is in the middle of, or gives it up.
func (s *Service) Proceed(ctx context.Context, id core.ChannelID, abort bool) error {
	ch, err := s.channel(ctx, id)
	if err != nil {
		return err
	}
	if abort {
		return s.act(ctx, ch, nil, "Git could not give it up.", "abort")
	}
	return s.act(ctx, ch, nil, "Git could not go on. There may be conflicts.", "continue")
}

// apply has git take a patch. untouched says that an error left everything as it was.
func (s *Service) apply(ctx context.Context, ch core.Channel, patch, how string) (untouched bool, err error) {
	_, out, err := s.run(ctx, ch, actTime, Program{Script: actScript, Args: []string{how}, Stdin: []byte(patch), Once: true})
	if err != nil {
		return notBegun(err), err
	}
	said := func(words string) bool { return strings.Contains(out.Stderr, words) }
	if out.Code == 1 && slices.ContainsFunc(misfits, said) {
		f := changed("Nothing was changed, and what was taken out is kept.")
		f.Detail = detailOf(out)
		return true, f
	}
	if out.Code != 0 {
		return out.Code >= codeNoRepo || said(readOnly), failed(ch, out, "Git could not apply the change.")
	}
	return false, nil
}

func (s *Service) act(ctx context.Context, ch core.Channel, stdin []byte, cause string, args ...string) error {
	_, out, err := s.run(ctx, ch, actTime, Program{Script: actScript, Args: args, Stdin: stdin, Once: true})
	if err == nil && out.Code != 0 {
		err = failed(ch, out, cause)
	}
	return err
}

// changed refuses what would not be what a person saw.
func changed(what string) *core.Failure {
	return core.Fail(core.CodeConflict, core.ErrConflict, "The file has changed since you looked at it. "+what,
		"Look at it again, then decide once more.")
}
