package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"loop/backend/core"
)

// Channels finds channels; one that is gone is core.ErrNotFound.
type Channels interface {
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
}

// Keeper keeps what a review must not lose, where agents see nothing of it.
type Keeper interface {
	// Guarded are the texts of files that are in no difference, as a person last saw them.
	Guarded(ch core.ChannelID) (texts map[string]string, known bool, err error)
	KeepGuarded(ch core.ChannelID, texts map[string]string) error
	// KeepPatch keeps what was taken out, and names it.
	KeepPatch(ch core.ChannelID, patch []byte) (id string, err error)
	Patch(ch core.ChannelID, id string) ([]byte, error)
	DropPatch(ch core.ChannelID, id string) error
}

// Runs says what runs changed, without git.
type Runs interface {
	RunChanges(ctx context.Context, ch core.ChannelID, run core.RunID) (core.RunChanges, error)
	RunFile(ctx context.Context, ch core.ChannelID, run core.RunID, path string) (core.RunFile, error)
}

// Options of a Service; all are required.
type Options struct {
	Channels Channels
	Runs     Runs
	Git      Git
	Keeper   Keeper
	Log      *slog.Logger
}

// Service reviews. Methods may be called from any goroutine.
type Service struct {
	o          Options
	containers *Containers // of Open
}

// New returns a Service, which does nothing by itself.
func New(o Options) *Service { return &Service{o: o} }

// Open is New with git in these containers, and with what is kept in a folder.
func Open(dir string, channels Channels, runs Runs, git *Containers) *Service {
	s := New(Options{Channels: channels, Runs: runs, Git: git, Keeper: Files{Dir: dir, Now: time.Now}, Log: git.Log})
	s.containers = git
	return s
}

// Run gives containers back that nobody has used for a while, until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.containers.Run(ctx) }

// GiveBack gives a container back that is kept for the next look and not used now.
func (s *Service) GiveBack(id core.ContainerID) { s.containers.GiveBack(id) }

func (s *Service) channel(ctx context.Context, id core.ChannelID) (core.Channel, error) {
	ch, err := s.o.Channels.Channel(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return ch, core.Fail(core.CodeNotFound, err, "There is no such channel.", "Choose one of the list.")
	}
	if err != nil {
		return ch, fmt.Errorf("read channel: %w", err)
	}
	return ch, nil
}

// checked is a scope that the scripts may get.
func checked(scope core.ReviewScope) (core.ReviewScope, error) {
	tree := func(s string) bool {
		return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
	}
	switch scope.Kind {
	case "", core.ReviewWorktree:
		return core.ReviewScope{Kind: core.ReviewWorktree}, nil
	case core.ReviewBranch:
		return core.ReviewScope{Kind: core.ReviewBranch}, nil
	case core.ReviewTrees:
		if tree(scope.From) && (scope.To == "" || tree(scope.To)) {
			return scope, nil
		}
	}
	return scope, core.Fail(core.CodeInvalid, nil, "There is no such comparison.", "Compare the worktree with its last commit.")
}

// Status says what has changed in a channel's folder.
func (s *Service) Status(ctx context.Context, id core.ChannelID, scope core.ReviewScope) (st core.ReviewStatus, err error) {
	ch, err := s.channel(ctx, id)
	if err != nil {
		return st, err
	}
	if scope.Kind == core.ReviewRun {
		return s.runStatus(ctx, ch, core.RunID(scope.From))
	}
	if scope, err = checked(scope); err != nil {
		return st, err
	}
	return s.gitStatus(ctx, ch, scope)
}

func (s *Service) gitStatus(ctx context.Context, ch core.Channel, scope core.ReviewScope) (st core.ReviewStatus, err error) {
	list, out, err := s.run(ctx, ch, readTime, Program{Script: statusScript, Args: []string{scope.Kind, scope.From, scope.To}})
	if err != nil {
		return st, err
	}
	st.Files = []core.ReviewFile{}
	switch out.Code {
	case 0:
	case codeNoRepo, codeElsewhere, codeNotTop:
		f := core.AsFailure(failed(ch, out, ""))
		st.State, st.Detail = core.ReviewNoRepo, f.Cause+" "+f.Remedy
		if out.Code != codeNoRepo {
			st.State = core.ReviewSubmodule
		}
		return st, nil
	default:
		return st, failed(ch, out, "Git could not say what has changed.")
	}
	st.State, st.Branch, st.Base = said(list, "state"), said(list, "branch"), said(list, "base")
	st.Editable = scope.Kind == core.ReviewWorktree
	var c changes
	if st.Editable {
		c = parseStatus(textOf(list, "status"))
	} else {
		scope.From = said(list, "from")
		c = parseNames(textOf(list, "names"), textOf(list, "others"))
	}
	if len(c.files) > 0 {
		if err := s.counted(ctx, ch, scope, &c); err != nil {
			return st, err
		}
	}
	st.Files, st.More, st.Odd = append(st.Files, sorted(c.files)...), c.more, c.odd
	if st.Editable {
		err = s.withGuarded(ch.ID, list, &st)
	}
	return st, err
}

// counted asks git for lines and hunks.
func (s *Service) counted(ctx context.Context, ch core.Channel, scope core.ReviewScope, c *changes) error {
	from, to := trees(scope)
	list, out, err := s.run(ctx, ch, countTime, Program{Script: countsScript, Args: []string{from, to}, Stdin: listOf(c.untracked())})
	if f, ok := errors.AsType[*core.Failure](err); ok && f.Code == core.CodeTimeout {
		s.o.Log.Debug("git did not count the lines in time", "channel", ch.ID, "files", len(c.files))
		c.uncounted()
		return nil
	}
	if err != nil {
		return err
	}
	if out.Code != 0 {
		return failed(ch, out, "Git could not count what has changed.")
	}
	c.count(parseCounts(textOf(list, "staged"), textOf(list, "staged-hunks")), true)
	c.count(parseCounts(textOf(list, "unstaged"), textOf(list, "unstaged-hunks")), false)
	c.count(largeOnes(textOf(list, "large")), false)
	return nil
}

// trees are the scripts' words for a scope; both are empty for the worktree.
func trees(scope core.ReviewScope) (from, to string) {
	if scope.Kind == core.ReviewWorktree {
		return "", ""
	}
	return scope.From, scope.To
}

// said is a short text of a section, as something that can be shown.
func said(list []section, name string) string {
	return core.CleanTitle(strings.TrimSpace(textOf(list, name)))
}

// base is the commit at which a branch left that of the main worktree.
func (s *Service) base(ctx context.Context, ch core.Channel) (string, error) {
	list, out, err := s.run(ctx, ch, readTime, Program{Script: `out from 100 g merge-base HEAD main-worktree/HEAD`})
	if err != nil {
		return "", err
	}
	scope, err := checked(core.ReviewScope{Kind: core.ReviewTrees, From: strings.TrimSpace(textOf(list, "from"))})
	if out.Code != 0 || err != nil {
		out.Code = codeNoBase
		return "", failed(ch, out, "")
	}
	return scope.From, nil
}

// File is what changed in one file.
func (s *Service) File(ctx context.Context, id core.ChannelID, scope core.ReviewScope, path string) (d core.ReviewDiff, err error) {
	ch, err := s.channel(ctx, id)
	if err != nil {
		return d, err
	}
	if isGuarded(path) {
		return s.guardedDiff(ctx, ch, path)
	}
	if scope.Kind == core.ReviewRun {
		return s.runFile(ctx, ch, core.RunID(scope.From), path)
	}
	if scope, err = checked(scope); err != nil {
		return d, err
	}
	l, err := s.look(ctx, ch, scope, path)
	return l.diff, err
}

// looked is a file with git's patches of it.
type looked struct {
	diff             core.ReviewDiff
	head             string // git's name of what the last commit has
	staged, unstaged filePatch
}

func (s *Service) look(ctx context.Context, ch core.Channel, scope core.ReviewScope, path string) (l looked, err error) {
	l.diff = core.ReviewDiff{Path: path, Hunks: []core.ReviewHunk{}, Bytes: -1, Before: -1}
	if err := checkPath(path); err != nil {
		return l, err
	}
	if scope.Kind == core.ReviewBranch {
		if scope.From, err = s.base(ctx, ch); err != nil {
			return l, err
		}
	}
	from, to := trees(scope)
	list, out, err := s.run(ctx, ch, readTime, Program{Script: fileScript, Args: []string{strings.TrimSuffix(path, "/"), from, to}})
	if err != nil {
		return l, err
	}
	if out.Code != 0 {
		return l, failed(ch, out, "Git could not say what has changed in the file.")
	}
	d := &l.diff
	d.Filter, d.Mark, d.Whole = said(list, "filter"), said(list, "mark"), said(list, "kind")
	l.head = said(list, "head")
	d.Bytes, d.Before = bytesIn(said(list, "now")), bytesIn(said(list, "was"))
	if l.staged, err = parsePatch(textOf(list, "staged"), "staged\x00"+path); err == nil {
		l.unstaged, err = parsePatch(textOf(list, "unstaged"), path)
	}
	switch {
	case errors.Is(err, errLarge):
		d.Whole = core.WholeLarge
		return l, nil
	case err != nil:
		return l, core.Fail(core.CodeConflict, err, "Git's difference of this file cannot be read.", "Look at the file in a terminal.")
	case d.Filter != "":
		d.Whole = core.WholeFilter
	case d.Whole == "" && (l.staged.binary || l.unstaged.binary):
		d.Whole = core.WholeBinary
	}
	d.Hunks = append(d.Hunks, merged(l.staged, l.unstaged, path)...)
	return l, nil
}
