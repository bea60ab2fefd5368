package channels

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"loop/backend/core"
)

// worktreeFolder holds a project's worktrees, below its folder; the original's name.
const worktreeFolder = ".worktrees"

// undoTime bounds taking a worktree away again whose channel could not be stored.
const undoTime = time.Minute

// CreateWorktree makes <project>/.worktrees/<name> and a channel in it that
// begins with a copy of the parent's conversation. A worktree that is there
// already for the branch and has no channel gets one.
func (s *Service) CreateWorktree(ctx context.Context, req core.WorktreeRequest) (core.ChannelView, error) {
	branch := strings.TrimSpace(req.Branch)
	if err := CheckBranch(branch); err != nil {
		return core.ChannelView{}, err
	}
	base := strings.TrimSpace(req.Base)
	if len(base) > maxBranch || strings.HasPrefix(base, "-") || strings.ContainsAny(base, "\x00\n\r") {
		return core.ChannelView{}, core.Fail(core.CodeInvalid, nil, "That is no branch, tag or commit to begin from.",
			"Name one that “git log” shows, or leave it empty.")
	}
	ch, parent, root, err := s.planWorktree(ctx, req.ParentID, branch, req.Name)
	if err != nil {
		return core.ChannelView{}, err
	}
	defer func() {
		s.tree.Lock()
		defer s.tree.Unlock()
		delete(s.making, ch.Dir)
	}()
	if base == "" {
		base = parent.Branch
	}
	rel, err := below(root.Dir, ch.Dir)
	if err != nil {
		return core.ChannelView{}, err
	}
	made, err := s.opts.Worktrees.Create(ctx, root, rel, branch, base)
	if err != nil {
		return core.ChannelView{}, err
	}
	view, err := s.adopt(ctx, parent, ch)
	if err == nil {
		return view, nil
	}
	errs := []error{err, os.RemoveAll(filepath.Join(s.opts.Home, "channels", string(ch.ID)))}
	if made {
		uctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
		defer cancel()
		errs = append(errs, s.opts.Worktrees.Remove(uctx, root, []string{rel}, false))
	}
	return core.ChannelView{}, errors.Join(errs...)
}

// Branches are what a worktree of a channel can begin from, with the channels that they are
// checked out in, and what is not committed in the channel's folder.
func (s *Service) Branches(ctx context.Context, id core.ChannelID) (list core.BranchList, err error) {
	s.tree.Lock()
	parent, root, f, err := s.parentOf(ctx, id)
	s.tree.Unlock()
	if err != nil {
		return list, err
	}
	dir := "."
	if parent.Dir != root.Dir {
		if dir, err = below(root.Dir, parent.Dir); err != nil {
			return list, err
		}
	}
	if list, err = s.opts.Worktrees.Branches(ctx, root, dir); err != nil {
		return list, err
	}
	for i := range list.Branches {
		b := &list.Branches[i]
		for _, ch := range f.list {
			if b.Where != "" && ch.Kind == core.KindWorktree && ch.ParentDir == root.Dir && ch.Branch == b.Name {
				b.In = ch.Name
			}
		}
	}
	return list, nil
}

// planWorktree names the channel and the folder, which nothing else may take
// until it is released from making.
func (s *Service) planWorktree(ctx context.Context, parentID core.ChannelID, branch, name string) (ch, parent, root core.Channel,
	err error) {
	s.tree.Lock()
	defer s.tree.Unlock()
	var f forest
	if parent, root, f, err = s.parentOf(ctx, parentID); err != nil {
		return
	}
	if strings.TrimSpace(name) == "" {
		name = branch
	}
	if name, err = checkName(name); err != nil {
		return
	}
	taken := maps.Clone(s.making)
	for _, other := range f.list {
		if other.Kind == core.KindWorktree && other.ParentDir == root.Dir && other.Branch == branch {
			err = core.Fail(core.CodeConflict, core.ErrConflict, fmt.Sprintf("The channel “%s” is in a worktree of that branch already.",
				other.Name), "Use that channel, or choose another branch name.")
			return
		}
		taken[other.Dir] = true
	}
	place := func(folder string) string { return filepath.Join(root.Dir, worktreeFolder, folder) }
	dir := place(folderName(branch))
	for n := 2; taken[dir]; n++ { // fix/login and fix-login
		dir = place(fmt.Sprintf("%s-%d", folderName(branch), n))
	}
	s.making[dir] = true
	return core.Channel{
		Choices: inherited(parent),
		ID:      core.ChannelID(core.NewID()), ParentID: parent.ID, Kind: core.KindWorktree, Name: name,
		Dir: dir, ParentDir: root.Dir, Branch: branch,
	}, parent, root, nil
}

// adopt stores the channel of a worktree that is on the disk.
func (s *Service) adopt(ctx context.Context, parent, ch core.Channel) (core.ChannelView, error) {
	// An agent could have put a link there; git in the container followed it.
	real, err := CheckDir(ch.Dir)
	if err != nil {
		return core.ChannelView{}, err
	}
	if real != ch.Dir {
		return core.ChannelView{}, core.Fail(core.CodeDir, nil, fmt.Sprintf("%q leads to another place.", ch.Dir),
			"Look what is at “.worktrees” in the project, and remove the link.")
	}
	for _, demo := range []bool{false, true} {
		session := parent.Session(demo)
		if next := parent.Next(demo); next.Mode == core.SessionFresh {
			session = ""
		} else if next.SessionID != "" {
			session = next.SessionID
		}
		if session == "" {
			continue
		}
		err := s.opts.Sessions.Copy(ctx, parent, ch, parent.Dir, ch.Dir, session)
		switch {
		case errors.Is(err, core.ErrNotFound):
			continue // the CLI deletes old transcripts; the worktree starts afresh
		case err != nil:
			return core.ChannelView{}, fmt.Errorf("copy the conversation: %w", err)
		case demo:
			ch.DemoSessionID = session
		default:
			ch.SessionID = session
		}
	}
	s.tree.Lock()
	defer s.tree.Unlock()
	if _, _, _, err := s.parentOf(ctx, parent.ID); err != nil { // removed meanwhile
		return core.ChannelView{}, err
	}
	return s.create(ctx, ch)
}

const maxBranch = 200 // bytes; with “.lock” and the folder still a file name

// CheckBranch refuses what git would, and what could be taken for an option,
// before anything is started for it.
func CheckBranch(name string) error {
	bad := name == "" || len(name) > maxBranch || name == "@" || name == "HEAD" ||
		strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") ||
		strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsAny(name, " ~^:?*[\\\x7f")
	for _, part := range strings.Split(name, "/") {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	for _, r := range name {
		bad = bad || r < ' ' || r == '\ufffd' || !shownAsIs(r)
	}
	if bad {
		return core.Fail(core.CodeInvalid, nil, "That is no name for a branch.",
			"Use letters, digits, hyphens and slashes, for example fix/login.")
	}
	return nil
}

// folderName is the branch as one path element.
func folderName(branch string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.', r > 0x7f:
			return r
		}
		return '-'
	}, branch)
}

// below is dir as a path with slashes relative to main, which it must be inside of.
func below(main, dir string) (string, error) {
	rel, err := filepath.Rel(main, dir)
	if main == "" || err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%q is not below %q", dir, main)
	}
	return filepath.ToSlash(rel), nil
}
