package review

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
)

//go:embed scripts/prelude.sh
var prelude string

//go:embed scripts/status.sh
var statusScript string

//go:embed scripts/counts.sh
var countsScript string

//go:embed scripts/file.sh
var fileScript string

//go:embed scripts/heads.sh
var headsScript string

//go:embed scripts/act.sh
var actScript string

// Program is a script of the shell with its arguments, which are data and never part of it.
type Program struct {
	Script string
	Args   []string
	Stdin  []byte
	Once   bool // it changes something, so it is never begun twice
}

// Output is what a program left: the first maxOutput bytes of each stream.
type Output = provision.Output

// Git runs programs as the agent where it sees the channel's folder, in that folder. An error
// says that it could not be run or was broken off; a program that fails is an Output. What surely was
// not begun is an unbegun error.
type Git interface {
	Exec(ctx context.Context, ch core.Channel, p Program) (Output, error)
}

const (
	maxOutput   = 8 << 20
	maxSections = 200
	readTime    = time.Minute
	countTime   = 20 * time.Second // then the list has no numbers of lines
	actTime     = 5 * time.Minute
	maxDetail   = 4000
)

// Codes of the scripts; git's own are below 130 and never these.
const (
	codeNoRepo    = 200
	codeBadBranch = 202
	codeTaken     = 203
	codeNoBase    = 204
	codeNotTop    = 207
	codeElsewhere = 208
	codeNoGit     = 209
	codeChanged   = 210
	codeNothing   = 211
	codeUnmerged  = 212
	codeAtNothing = 213
)

// readOnly is the system's word for a folder that can only be read.
const readOnly = "Read-only file system"

// section is a part of a script's output.
type section struct {
	name, text string
}

var errGarbled = errors.New("the scripts' output is not what they print")

// sections takes an output apart.
func sections(out string) (list []section, err error) {
	for out != "" {
		line, rest, ok := strings.Cut(out, "\n")
		name, size, spaced := strings.Cut(line, " ")
		n, nerr := strconv.Atoi(strings.TrimSpace(size))
		if !ok || !spaced || nerr != nil || name == "" || len(name) > 200 || n < 0 || n > len(rest) || len(list) == maxSections {
			return nil, errGarbled
		}
		list = append(list, section{name, rest[:n]})
		out = rest[n:]
	}
	return list, nil
}

// textOf is the section of a name, empty where there is none.
func textOf(list []section, name string) string {
	for _, s := range list {
		if s.name == name {
			return s.text
		}
	}
	return ""
}

// run runs a script after the prelude. Codes that mean the same for all scripts are failures.
func (s *Service) run(ctx context.Context, ch core.Channel, limit time.Duration, p Program) (list []section, out Output, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p.Script = prelude + p.Script
	out, err = s.o.Git.Exec(ctx, ch, p)
	if err != nil && p.Once && !notBegun(err) {
		return nil, out, unsure(err, limit)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, out, core.Fail(core.CodeTimeout, err, fmt.Sprintf("Git did not end within %s.", limit),
			"Look in a terminal what “git status” is waiting for.")
	}
	if err != nil {
		return nil, out, fmt.Errorf("run git in a container: %w", err)
	}
	if out.Code != 0 {
		return nil, out, nil
	}
	list, err = sections(out.Stdout)
	return list, out, err
}

// unsure is the failure of an act that was begun and of whose end nothing is known.
func unsure(err error, limit time.Duration) *core.Failure {
	code, how := core.CodeInterrupted, "Git was broken off, or its container went away"
	if errors.Is(err, context.DeadlineExceeded) {
		code, how = core.CodeTimeout, fmt.Sprintf("Git did not end within %s", limit)
	}
	return core.Fail(code, err, how+", so Loop does not know whether it did this.", "Read the changes again: they say whether it is done.")
}

// failed is what git could not do, where its code has no sentence of its own.
func failed(ch core.Channel, out Output, cause string) error {
	detail := errors.New(detailOf(out))
	conflict := errors.Join(core.ErrConflict, detail)
	switch out.Code {
	case codeNoGit:
		return core.Fail(core.CodeNoImage, detail, "The container's image has no git.", "Use an image that has it, then review.")
	case codeNoRepo:
		return core.Fail(core.CodeDir, detail, fmt.Sprintf("%q is no git repository.", ch.Dir), "Run “git init” there in a terminal.")
	case codeElsewhere:
		return core.Fail(core.CodeDir, detail, "The repository's data lies outside of this folder, where agents see nothing.",
			"Open the folder above it as a channel, and review there.")
	case codeNotTop:
		return core.Fail(core.CodeDir, detail, fmt.Sprintf("%q is not the top folder of its repository.", ch.Dir),
			"Open the top folder of the repository as a channel of its own.")
	case codeNoBase:
		return core.Fail(core.CodeConflict, conflict, "This branch and that of the main worktree have no commit in common.",
			"Look at the worktree's own changes instead.")
	case codeBadBranch:
		return core.Fail(core.CodeInvalid, detail, "That is no name for a branch.",
			"Use letters, digits, hyphens and slashes, for example fix/login.")
	case codeTaken:
		return core.Fail(core.CodeConflict, conflict, "There is a branch of that name already.", "Choose another name.")
	case codeChanged:
		return core.Fail(core.CodeConflict, conflict, "The file has changed since you looked at it. Nothing was staged.",
			"Look at it again, then accept it.")
	case codeNothing:
		return core.Fail(core.CodeConflict, conflict, "Nothing is accepted yet, so there is nothing to commit.",
			"Accept a hunk or a file first.")
	case codeUnmerged:
		return core.Fail(core.CodeConflict, conflict, "Some files still have both sides of a merge.",
			"Resolve them, accept each file, then commit.")
	case codeAtNothing:
		return core.Fail(core.CodeConflict, conflict, "The repository is in the middle of nothing.", "Read the changes again.")
	}
	switch {
	case strings.Contains(out.Stderr, "tell me who you are"), strings.Contains(out.Stderr, "empty ident"):
		return core.Fail(core.CodeConfig, detail, "Git does not know who you are.",
			"Set user.name and user.email in ~/.gitconfig on this computer, and build the agent image again.")
	case strings.Contains(out.Stderr, readOnly):
		return core.Fail(core.CodeMount, detail, "The container sees the project only to read.",
			"Set workspace_access to “rw”, or use a terminal of your own.")
	case strings.Contains(out.Stderr, ".lock': File exists"):
		return core.Fail(core.CodeConflict, conflict, "Another git is at work in this repository.", "Try again once it is done.")
	}
	return core.Fail(core.CodeConflict, conflict, cause, "Look at the detail for what git said.")
}

func detailOf(out Output) string {
	said := cmp.Or(strings.TrimSpace(out.Stderr), strings.TrimSpace(out.Stdout))
	if len(said) > maxDetail {
		said = said[:maxDetail] + "…"
	}
	return fmt.Sprintf("exit %d: %s", out.Code, strings.ToValidUTF8(said, "\ufffd"))
}

// fields are texts that end with NUL. The last one may have been cut, and is left out then.
func fields(text string) (list []string, cut bool) {
	for text != "" {
		one, rest, ok := strings.Cut(text, "\x00")
		if !ok {
			return list, true
		}
		list, text = append(list, one), rest
	}
	return list, false
}

// listOf are texts as the scripts read them.
func listOf(texts []string) []byte {
	var b bytes.Buffer
	for _, t := range texts {
		b.WriteString(t)
		b.WriteByte(0)
	}
	return b.Bytes()
}
