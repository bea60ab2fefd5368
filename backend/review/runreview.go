package review

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"loop/backend/core"
)

// runStatus is what a run changed. Where git has the same change, its hunks can be decided about;
// without a repository, or without git, the list is to read.
func (s *Service) runStatus(ctx context.Context, ch core.Channel, run core.RunID) (st core.ReviewStatus, err error) {
	got, err := s.o.Runs.RunChanges(ctx, ch.ID, run)
	if err != nil {
		return st, err
	}
	tree, err := s.gitStatus(ctx, ch, core.ReviewScope{Kind: core.ReviewWorktree})
	if ctx.Err() != nil {
		return st, err
	}
	if err != nil {
		tree = core.ReviewStatus{State: core.ReviewNothing, Detail: core.AsFailure(err).Cause}
	}
	if tree.State == core.ReviewNoRepo || tree.State == core.ReviewSubmodule {
		tree.State = core.ReviewNothing
		tree.Editable = false
	}
	tree.Editable = tree.Editable && got.Known
	st = tree
	st.Run, st.Until, st.More, st.Odd = got.Run, got.Until, got.More, 0
	st.Files = make([]core.ReviewFile, 0, len(got.Files))
	for _, c := range got.Files {
		f := core.ReviewFile{Path: c.Path, Kind: c.Kind, Added: c.Added, Removed: c.Removed, Alarm: core.AlarmOf(c.Path)}
		if c.Edited {
			f.Since = core.SinceEdited
		}
		st.Files = append(st.Files, f)
	}
	if !st.Editable {
		return st, nil
	}
	heads, err := s.heads(ctx, ch, st.Files)
	if err != nil {
		return st, err
	}
	for i, c := range got.Files {
		at := slices.IndexFunc(tree.Files, func(f core.ReviewFile) bool { return f.Path == c.Path })
		if st.Files[i].Since = since(c, heads[c.Path], at >= 0); st.Files[i].Since == "" {
			st.Files[i] = tree.Files[at]
		}
	}
	for _, f := range tree.Files {
		if isGuarded(f.Path) {
			st.Files = append(st.Files, f)
		}
	}
	return st, nil
}

// since says why a file's change is not the one that git has, empty where it is.
func since(c core.RunChange, head string, changed bool) string {
	switch {
	case c.Edited:
		return core.SinceEdited
	case changed && slices.Contains(c.Before, head):
		return ""
	case changed:
		return core.SinceOther
	case slices.Contains(c.After, head):
		return core.SinceCommitted
	}
	return core.SinceOutside
}

// heads are git's names of what the last commit has of files.
func (s *Service) heads(ctx context.Context, ch core.Channel, files []core.ReviewFile) (map[string]string, error) {
	var names []string
	for _, f := range files {
		if !strings.Contains(f.Path, "\n") {
			names = append(names, f.Path)
		}
	}
	out := make(map[string]string, len(names))
	if len(names) == 0 {
		return out, nil
	}
	list, done, err := s.run(ctx, ch, readTime, Program{Script: headsScript, Stdin: []byte(strings.Join(names, "\n") + "\n")})
	if err == nil && done.Code != 0 {
		err = failed(ch, done, "Git could not say what the last commit has.")
	}
	if err != nil {
		return nil, err
	}
	each := strings.Split(strings.TrimSuffix(textOf(list, "heads"), "\n"), "\n")
	if len(each) != len(names) {
		return nil, failed(ch, done, "Git could not say what the last commit has.")
	}
	for i, name := range names {
		if out[name] = each[i]; each[i] == "-" {
			out[name] = ""
		}
	}
	return out, nil
}

// runFile is what a run did to one file: git's hunks where they are the same, else its own.
func (s *Service) runFile(ctx context.Context, ch core.Channel, run core.RunID, path string) (d core.ReviewDiff, err error) {
	if err := checkPath(path); err != nil {
		return d, err
	}
	// Git's part is read first: what a person edits after it makes the run's part another one.
	l, noGit := s.look(ctx, ch, core.ReviewScope{Kind: core.ReviewWorktree}, path)
	if err := ctx.Err(); err != nil {
		return d, err
	}
	f, err := s.o.Runs.RunFile(ctx, ch.ID, run, path)
	if err != nil {
		return d, err
	}
	why := core.SinceOutside
	switch {
	case noGit != nil:
		s.o.Log.Debug("look for git's part of a run", "channel", ch.ID, "error", noGit)
	case f.Known:
		if why = since(f.RunChange, l.head, len(l.diff.Hunks) > 0 || l.diff.Whole != ""); why == "" {
			return l.diff, nil
		}
	}
	if f.Edited {
		why = core.SinceEdited
	}
	d = core.ReviewDiff{Path: path, Hunks: []core.ReviewHunk{}, Since: why, Bytes: f.NewBytes, Before: f.OldBytes}
	if !f.Text {
		d.Whole = core.WholeBinary
		if max(f.OldBytes, f.NewBytes) > maxPatch {
			d.Whole = core.WholeLarge
		}
		return d, nil
	}
	p, err := parsePatch(runPatch(f), path)
	switch {
	case errors.Is(err, errLarge):
		d.Whole = core.WholeLarge
		return d, nil
	case err != nil:
		return d, core.Fail(core.CodeConflict, err, "The difference of this file cannot be read.", "Look at the file in a terminal.")
	}
	for _, h := range p.hunks {
		d.Hunks = append(d.Hunks, shown(h, false))
	}
	if len(d.Hunks) == 0 {
		d.Hunks = append(d.Hunks, core.ReviewHunk{ID: "whole", Section: withoutLines(f)})
	}
	return d, nil
}

// runPatch is git's form of a difference. The name is none of the file's, which may be any bytes.
func runPatch(f core.RunFile) string {
	text := udiff.Unified("a/file", "b/file", f.Old, f.New)
	if text == "" {
		return ""
	}
	return "diff --git a/file b/file\n" + text
}

// withoutLines is what changed where no line did.
func withoutLines(f core.RunFile) string {
	switch f.Kind {
	case "A":
		return "new, empty file"
	case "D":
		return "empty file, removed"
	}
	return modeOf(f.OldExecute) + ", now " + modeOf(f.NewExecute)
}

func modeOf(execute bool) string {
	if execute {
		return "a program"
	}
	return "no program"
}
