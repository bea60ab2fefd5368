package filebridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/provision"
	"loop/backend/wire"
)

const (
	// maxPath bounds what a container says of a path, in bytes; Linux' own bound.
	maxPath = 4096
	// askTime bounds one request: the agent can stop “loop files”, which runs as itself.
	askTime = 30 * time.Second
)

var errTooMuch = errors.New("loop files said more than it may")

// ask has “loop files” in a container that runs do something, as the agent.
func (s *Service) ask(ctx context.Context, v view, req wire.FileRequest) (r wire.FileReply, err error) {
	c, ok := s.running(v.scopes)
	if !ok {
		return r, core.Fail(core.CodeNotFound, errNoContainer,
			fmt.Sprintf("“%s” is on no mount, and no container of this channel runs.", core.CleanTitle(req.Path)),
			"Open a terminal in the container, or begin a run, then try again.")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, core.Fail(core.CodeInternal, nil,
		fmt.Sprintf("The container had not answered about “%s” after %s.", core.CleanTitle(req.Path), askTime),
		"Try again. If it repeats, look into the container in a terminal."))
	defer cancel()
	defer func() {
		if ctx.Err() != nil && err != nil {
			err = context.Cause(ctx)
		}
	}()
	link, err := s.o.Links.Open(ctx, c)
	if err != nil {
		return r, fmt.Errorf("open link: %w", err)
	}
	defer func() { err = errors.Join(err, link.Close()) }()
	in, err := json.Marshal(req)
	if err != nil {
		return r, fmt.Errorf("encode request: %w", err)
	}
	spawn := core.SpawnRequest{
		ID: core.SpawnID(core.NewID()), Argv: []string{wire.GuestBinary, "files"}, Dir: "/",
		Stdio: core.StdioPipes, Keep: core.KeepPause, Stdin: in, PolicyVersion: 1,
	}
	if spawn.Policy, err = s.o.Policies.Policy(policy.NameSystem, v.channel, v.spec, spawn.ID); err != nil {
		return r, err
	}
	out, err := provision.OutputOf(ctx, link, spawn, wire.MaxFileReply)
	if err != nil {
		return r, err
	}
	if out.Code != 0 {
		return r, fmt.Errorf("loop files ended with %d: %s", out.Code, core.CleanTitle(out.Stderr))
	}
	return r, decode(out.Stdout, &r)
}

// decode reads what a container printed, and refuses what Loop's own program never says.
func decode(text string, r *wire.FileReply) error {
	if err := json.Unmarshal([]byte(text), r); err != nil {
		return fmt.Errorf("decode what loop files said: %w", err)
	}
	if r.Fault != "" {
		err := guestFaults[r.Fault]
		if err == nil {
			err = errors.New("the container cannot do it")
		}
		if detail := core.CleanTitle(core.Shortened(r.Detail, 200)); detail != "" && detail != err.Error() {
			err = fmt.Errorf("%w: %s", err, detail)
		}
		return err
	}
	if r.Path != "" && (len(r.Path) > maxPath || !path.IsAbs(r.Path)) || len(r.Files) > wire.MaxFileList || len(r.Data) > wire.MaxFileBytes {
		return errTooMuch
	}
	return nil
}

// fileFrom is a file by the container's word.
func fileFrom(f wire.FileInfo) (out core.ContainerFile, ok bool) {
	kind := core.FileKind(f.Kind)
	switch kind {
	case core.FileOrdinary, core.FileFolder, core.FileLink, core.FileOther:
	default:
		return out, false
	}
	if !utf8.ValidString(f.Name) || len(f.Name) > maxPath || len(f.Link) > maxPath || f.Bytes < 0 {
		return out, false
	}
	return core.ContainerFile{Name: f.Name, Kind: kind, Bytes: f.Bytes, ModifiedMs: f.ModifiedMs, Link: f.Link}, true
}

// isName reports whether a container's word is the name of one file, and no way to another.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.Contains(name, "/")
}

// running is a container of the channel that runs.
func (s *Service) running(scopes []string) (core.Container, bool) {
	for _, c := range s.o.Containers.InScopes(scopes...) {
		if c.Status == core.ContainerRunning && c.Type != core.TypeChrome {
			return c, true
		}
	}
	return core.Container{}, false
}

func placeOf(at string, r wire.FileReply) core.FilePlace {
	if r.Path != "" {
		at = r.Path
	}
	return core.FilePlace{Path: at}
}
