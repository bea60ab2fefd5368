package worktree

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
)

// Output is what a program in a container left.
type Output = provision.Output

// Exec runs a program as the agent in a container of ch, in dir, a path of the
// host's. An error says that it could not be run or was broken off; a program
// that fails is an Output.
type Exec func(ctx context.Context, ch core.Channel, argv []string, dir string) (Output, error)

// timeout bounds one operation, container included: a checkout of a large
// project with its filters takes a while; a hook that waits for input must end.
const timeout = 5 * time.Minute

// Service is safe for use from any goroutine.
type Service struct{ exec Exec }

// New makes the service.
func New(exec Exec) *Service { return &Service{exec: exec} }

//go:embed create.sh
var createScript string

//go:embed remove.sh
var removeScript string

// kept is what create.sh prints when it made nothing.
const kept = "kept\n"

// Codes of the scripts; git's own are below 130 and never these.
const (
	codeNoRepo    = 200
	codeNoCommit  = 201
	codeBadBranch = 202
	codeTaken     = 203
	codeNoBase    = 204
	codeDirty     = 205
	codeElsewhere = 206
	codeNotMain   = 207
)

// Create makes dir, a path below main.Dir with slashes, as a worktree of
// branch. A branch that does not exist is made from base; empty is what main has
// checked out. A worktree of that branch at that place is kept as it is; then
// made is false.
func (s *Service) Create(ctx context.Context, main core.Channel, dir, branch, base string) (made bool, err error) {
	if err := checkRel(dir); err != nil {
		return false, err
	}
	out, err := s.run(ctx, main, createScript, branch, dir, base)
	if err != nil {
		return false, err
	}
	detail := errors.New(detailOf(out))
	switch out.Code {
	case 0:
		return !strings.Contains(out.Stdout, kept), nil
	case codeNoRepo:
		return false, core.Fail(core.CodeDir, detail, fmt.Sprintf("%q is no git repository.", main.Dir),
			"Run “git init” there and make a first commit, or use a thread, which needs no git.")
	case codeNotMain:
		return false, core.Fail(core.CodeDir, detail, fmt.Sprintf("%q is not the top folder of its repository, and agents see nothing above it.",
			main.Dir), "Open the top folder of the repository as a channel of its own.")
	case codeNoCommit:
		return false, core.Fail(core.CodeConflict, detail, "The repository has no commit yet.", "Make a first commit, then try again.")
	case codeBadBranch:
		return false, core.Fail(core.CodeInvalid, detail, "That is no name for a branch.",
			"Use letters, digits, hyphens and slashes, for example fix/login.")
	case codeTaken:
		return false, core.Fail(core.CodeConflict, errors.Join(core.ErrConflict, detail),
			fmt.Sprintf("There is something else at %q in the project.", dir), "Move it away, or choose another branch name.")
	case codeNoBase:
		return false, core.Fail(core.CodeInvalid, detail, fmt.Sprintf("The repository has no %q to begin from.", clip(base, maxName)),
			"Name a branch, tag or commit that “git log” shows, or leave it empty.")
	case codeElsewhere:
		return false, core.Fail(core.CodeConflict, errors.Join(core.ErrConflict, detail), "That branch is checked out in another worktree.",
			"Choose another branch name, or remove that worktree first.")
	}
	return false, core.Fail(core.CodeDir, detail, "Git could not make the worktree.", "Look at the detail for what git said.")
}

// Remove takes worktrees away; their branches stay. Without force, changes in any
// of them that are not committed make it core.ErrConflict, and all of them stay.
// One that is gone is no error.
func (s *Service) Remove(ctx context.Context, main core.Channel, dirs []string, force bool) error {
	for _, dir := range dirs {
		if err := checkRel(dir); err != nil {
			return err
		}
	}
	how := "safe"
	if force {
		how = "force"
	}
	out, err := s.run(ctx, main, removeScript, append([]string{how}, dirs...)...)
	if err != nil {
		return err
	}
	detail, dir := errors.New(detailOf(out)), stoppedAt(out, dirs)
	switch out.Code {
	case 0:
		return nil
	case codeDirty:
		return core.Fail(core.CodeConflict, errors.Join(core.ErrConflict, detail),
			fmt.Sprintf("The worktree %q has changes that are not committed.", dir), "Commit them or throw them away, or keep the files.")
	case codeTaken:
		return core.Fail(core.CodeConflict, errors.Join(core.ErrConflict, detail), fmt.Sprintf("%q is not a worktree of this project.", dir),
			"Look at the folder yourself, and keep its files here.")
	}
	return core.Fail(core.CodeDir, detail, fmt.Sprintf("Git could not remove the worktree %q.", dir), "Look at the detail for what git said.")
}

// stoppedAt is the path that the script named last. Programs of the repository
// may have printed, too, so it counts only if it was asked for.
func stoppedAt(out Output, dirs []string) string {
	text := strings.TrimSuffix(out.Stdout, "\n")
	if said := text[strings.LastIndexByte(text, '\n')+1:]; slices.Contains(dirs, said) {
		return said
	}
	return strings.Join(dirs, ", ")
}

func (s *Service) run(ctx context.Context, main core.Channel, script string, args ...string) (Output, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// Arguments are data in $1, $2 …, never part of the script.
	out, err := s.exec(ctx, main, append([]string{"/bin/sh", "-c", script, "sh"}, args...), main.Dir)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return out, core.Fail(core.CodeTimeout, err, fmt.Sprintf("Git did not end within %d minutes.", int(timeout.Minutes())),
				"A hook of the repository may be waiting for something; look at its hooks.")
		}
		return out, fmt.Errorf("run git in a container: %w", err)
	}
	return out, nil
}

// checkRel keeps a place below the project.
func checkRel(dir string) error {
	bad := dir == "" || len(dir) > 1024 || strings.HasPrefix(dir, "/") || strings.HasPrefix(dir, "-") || strings.ContainsAny(dir, "\x00\n\r\\")
	for _, part := range strings.Split(dir, "/") {
		bad = bad || part == "" || part == "." || part == ".." || part == ".git"
	}
	if bad {
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%q is no place for a worktree.", clip(dir, maxName)), "Choose another branch name.")
	}
	return nil
}

// Bounds of texts in failures, in bytes.
const (
	maxDetail = 4000
	maxName   = 100
)

func detailOf(out Output) string {
	return fmt.Sprintf("exit %d: %s", out.Code, clip(cmp.Or(strings.TrimSpace(out.Stderr), strings.TrimSpace(out.Stdout)), maxDetail))
}

func clip(s string, limit int) string {
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
