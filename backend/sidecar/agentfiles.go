package sidecar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/provision"
	"loop/backend/sharedfolder"
)

// Policies makes the documents that supervisors go by; nil says that a program is not
// supervised.
type Policies interface {
	Policy(name string, ch core.Channel, spec core.Spec, spawn core.SpawnID) ([]byte, error)
}

// kept is how long files of a browser stay with the agent. The folder is Loop's, so that
// what an agent puts there goes, too.
var kept = sharedfolder.Rule{
	Age: 7 * 24 * time.Hour, Max: 1 << 30,
	Put: func(info fs.FileInfo) (time.Time, bool) { return info.ModTime(), true },
}

const keptDir = ".loop-browser"

// asAgent is what a container of the channel's agents is made of.
func (s *Starter) asAgent(ctx context.Context, ch core.Channel) (core.Spec, error) {
	made, err := s.o.Provision.Resolve(ctx, provision.Want{Channel: ch, Type: core.TypeShell, Shared: true})
	return made.Spec, err
}

// keep puts a file where the channel's agents find it. Errors are *core.Failure.
func (s *Starter) keep(ctx context.Context, ch core.Channel, name string, size int64, r io.Reader) (string, error) {
	spec, err := s.asAgent(ctx, ch)
	if err != nil {
		return "", err
	}
	folder, err := sharedfolder.InHome(spec, keptDir)
	if err != nil {
		return "", err
	}
	at, err := folder.Keep(kept, name, size, r)
	if err != nil {
		return "", core.Fail(core.CodeDir, err, "The file could not be kept for the agent.",
			"Check that the disk is not full, and that "+folder.Target+" in the container is a folder.")
	}
	return at, nil
}

// Save puts a file where a channel's agents find it, and says where. Errors are *core.Failure.
func (s *Starter) Save(ctx context.Context, id core.ChannelID, name string, data []byte) (string, error) {
	ch, err := s.o.Channel(ctx, id)
	if err != nil {
		return "", err
	}
	return s.keep(ctx, ch, name, int64(len(data)), bytes.NewReader(data))
}

// How readScript ends where it reads nothing.
const (
	noFile    = 65
	noRegular = 66
)

// readScript prints a file. A link leads where the agent could go itself.
var readScript = fmt.Sprintf(`[ -e "$1" ] || exit %d; [ -f "$1" ] || exit %d; exec head -c "$2" < "$1"`, noFile, noRegular)

var errNoFile = errors.New("there is no such file")

const maxPath = 4096 // bytes, as Linux has it

// readFile copies a file as the channel's agents see it, read with their rights: by a
// program of theirs, under their rules, in a container of theirs. Errors are *core.Failure.
func (s *Starter) readFile(ctx context.Context, ch core.Channel, at string, to io.Writer) error {
	shown := core.CleanTitle(at)
	if at == "" || len(at) > maxPath || strings.ContainsRune(at, 0) {
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("“%s” is no path of a file.", shown), "Give the path of a file in the workspace.")
	}
	spec, err := s.asAgent(ctx, ch)
	if err != nil {
		return err
	}
	errs := []error{}
	for _, c := range s.agents(ch) {
		switch err := s.readIn(ctx, ch, c, spec, at, to); {
		case err == nil:
			return nil
		case errors.Is(err, errNoFile), errors.Is(err, core.ErrLinkDown), errors.Is(err, core.ErrNotFound):
			errs = append(errs, err)
		default:
			return unreadable(shown, err)
		}
	}
	if len(errs) == 0 {
		return core.Fail(core.CodeConflict, nil, "No container of the agent runs that the file could be read in.",
			"Try again while the agent works, or with a terminal open.")
	}
	return core.Fail(core.CodeNotFound, errors.Join(errs...), fmt.Sprintf("There is no file “%s” in the agent's container.", shown),
		"Give its path from /, or from the working directory.")
}

func unreadable(shown string, err error) error {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return f
	}
	return core.Fail(core.CodeForbidden, err, fmt.Sprintf("The file “%s” could not be read.", shown),
		"Check with a command in the container that the agent may read it.")
}

// readIn is readFile in one container.
func (s *Starter) readIn(ctx context.Context, ch core.Channel, c core.Container, spec core.Spec, at string, to io.Writer) error {
	link, err := s.o.Links.Open(ctx, c)
	if err != nil {
		return fmt.Errorf("%w: %w", core.ErrLinkDown, err)
	}
	defer func() { _ = link.Close() }()
	req := shell(readScript, at, strconv.Itoa(core.MaxBrowserFile+1)) // one more shows that it is too large
	req.Dir = spec.WorkDir
	if s.o.Policies != nil {
		if req.Policy, err = s.o.Policies.Policy(policy.NameAgent, ch, spec, req.ID); err != nil {
			return err
		}
	}
	if req.Policy != nil {
		req.PolicyVersion = 1
		// Unattended: an act of the browser is over before a person could answer.
		link.Admit(req.ID, core.Identity{ChannelID: ch.ID, Unattended: true})
	}
	e, err := run(ctx, link, req, nil, to)
	switch {
	case err != nil:
		return err
	case e.code == noFile:
		return errNoFile
	case e.code == noRegular:
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("“%s” is no ordinary file.", core.CleanTitle(at)), "Name a file, and no folder.")
	}
	return e.err()
}
