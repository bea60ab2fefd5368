package worktree

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"loop/backend/core"
)

//go:embed branches.sh
var branchesScript string

const (
	maxBranches = 1000
	maxChanged  = 20 // paths that are named
	maxSubject  = 200
	separator   = "\n\036\n"
)

// Branches are those of main's repository, the newest commit first, with what is not committed in
// dir, a path below main.Dir; "." is main.Dir itself. Where a branch is checked out is a path of
// the container.
func (s *Service) Branches(ctx context.Context, main core.Channel, dir string) (list core.BranchList, err error) {
	list.Branches, list.Changed = []core.Branch{}, []string{}
	if dir != "." {
		if err := checkRel(dir); err != nil {
			return list, err
		}
	}
	out, err := s.run(ctx, main, branchesScript, dir)
	if err != nil {
		return list, err
	}
	detail := errors.New(detailOf(out))
	switch out.Code {
	case 0:
	case codeNoRepo:
		return list, core.Fail(core.CodeDir, detail, fmt.Sprintf("%q is no git repository.", main.Dir),
			"Run “git init” there and make a first commit, or use a thread, which needs no git.")
	case codeNoCommit:
		return list, core.Fail(core.CodeConflict, detail, "The repository has no commit yet.", "Make a first commit, then try again.")
	default:
		return list, core.Fail(core.CodeDir, detail, "Git could not list the branches.", "Look at the detail for what git said.")
	}
	refs, status, ok := strings.Cut(out.Stdout, separator)
	if !ok {
		return list, core.Fail(core.CodeDir, detail, "Git could not list the branches.", "Look at the detail for what git said.")
	}
	parseRefs(refs, &list)
	parseChanged(status, &list)
	return list, nil
}

// parseRefs reads a line for each branch; one that was cut is left out.
func parseRefs(text string, list *core.BranchList) {
	for line := range strings.Lines(text) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(parts) != 6 || parts[0] == "" {
			continue
		}
		if len(list.Branches) == maxBranches {
			list.More = true
			return
		}
		at, err := strconv.ParseInt(parts[3], 10, 64)
		if err != nil {
			at = 0
		}
		list.Branches = append(list.Branches, core.Branch{
			Name: strings.ToValidUTF8(parts[0], "\ufffd"), Current: parts[1] == "*", Where: strings.ToValidUTF8(parts[2], "\ufffd"),
			AtMs: max(at, 0) * 1000, Subject: clip(parts[4], maxSubject),
		})
	}
}

// parseChanged reads “git status --porcelain -z”.
func parseChanged(text string, list *core.BranchList) {
	for record := range strings.SplitSeq(text, "\x00") {
		if len(record) < 4 || record[2] != ' ' {
			continue
		}
		if list.Changes++; len(list.Changed) < maxChanged {
			list.Changed = append(list.Changed, clip(record[3:], maxDetail))
		}
	}
}
