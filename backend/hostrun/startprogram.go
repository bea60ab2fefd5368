package hostrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loop/backend/atomicfile"
	"loop/backend/core"
	"loop/backend/hostpty"
	"loop/backend/wire"
)

// check refuses what only a container can do.
func check(req core.SpawnRequest) error {
	refuse := func(what string) error {
		return core.Fail(core.CodeInvalid, nil, "A program on this computer itself cannot have "+what+".", "")
	}
	switch {
	case !wire.ValidID(string(req.ID)):
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The spawn id %q is not valid.", req.ID), "")
	case len(req.Argv) == 0:
		return core.Fail(core.CodeInvalid, nil, "No program is named.", "")
	case req.Stdio == core.StdioPTY:
		return core.Fail(core.CodeInvalid, nil, "Runs on this computer itself have no terminals.", "Open a terminal of this computer.")
	case req.OpenStdin:
		return refuse("an input that stays open")
	case req.Keep == core.KeepPause || len(req.Pipes) > 0:
		return refuse("streams that wait for a reader")
	case req.Policy != nil:
		return core.Fail(core.CodeForbidden, nil, "The gate cannot hold programs on this computer itself.", "Use a container.")
	}
	for _, f := range req.Files {
		if f.Name == "" || f.Name != filepath.Base(f.Name) || !filepath.IsLocal(f.Name) || f.Name == recordFile || f.Name == stdinFile {
			return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The file name %q is not valid.", f.Name), "")
		}
	}
	return nil
}

// stdinFile is what the program reads.
const stdinFile = "stdin"

// start starts a program. What it leaves behind on an error is nothing.
func (s *Service) start(run core.RunID, ch core.ChannelID, req core.SpawnRequest) (*spawn, error) {
	if err := check(req); err != nil {
		return nil, err
	}
	sp := &spawn{done: make(chan struct{}), record: record{
		Spawn: req.ID, Run: run, Channel: ch, Started: time.Now(), Ref: hostpty.Ref{Marker: string(req.ID)},
	}}
	if err := os.MkdirAll(s.Folder(), 0o700); err != nil {
		return nil, noFiles(err)
	}
	if err := os.Mkdir(s.own(req.ID), 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("spawn %s: %w", req.ID, core.ErrConflict)
		}
		return nil, noFiles(err)
	}
	err := s.prepared(sp, req)
	if err != nil {
		return nil, errors.Join(err, s.remove(sp))
	}
	s.keep(sp)
	return sp, nil
}

func noFiles(err error) error {
	return core.Fail(core.CodeDir, err, "Loop could not make the files of the run.",
		"Check that the disk is not full and who owns Loop's folder.")
}

// prepared writes the files, and then starts the program. Its record is there before it, so
// that a launch that follows a crash in between looks for it.
func (s *Service) prepared(sp *spawn, req core.SpawnRequest) error {
	files := slices.Concat(req.Files, []core.SpawnFile{{Name: stdinFile, Data: req.Stdin}})
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(s.own(sp.Spawn), f.Name), f.Data, 0o600); err != nil {
			return noFiles(err)
		}
	}
	if err := s.note(sp); err != nil {
		return noFiles(err)
	}
	if err := os.MkdirAll(filepath.Dir(s.spool(sp, "")), 0o700); err != nil {
		return noFiles(err)
	}
	in, err := os.Open(filepath.Join(s.own(sp.Spawn), stdinFile))
	if err != nil {
		return noFiles(err)
	}
	defer in.Close()
	var out [2]*os.File
	for i, suffix := range []string{wire.OutSuffix, wire.ErrSuffix} {
		f, err := os.OpenFile(s.spool(sp, suffix), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return noFiles(err)
		}
		defer f.Close()
		out[i] = f
	}
	argv, err := s.found(req.Argv)
	if err != nil {
		return err
	}
	sp.prog, err = hostpty.StartProgram(hostpty.ProgramOptions{
		Options: hostpty.Options{Argv: argv, Dir: req.Dir, Env: Environment(s.o.Environ(), req.Env), ID: core.TerminalID(sp.Spawn)},
		Stdin:   in, Stdout: out[0], Stderr: out[1],
	})
	if err != nil {
		return err
	}
	sp.Ref = sp.prog.Ref()
	if err := s.note(sp); err != nil { // the marker finds it as well
		s.o.Log.Warn("write down a program's number", "spawn", sp.Spawn, "err", err)
	}
	return nil
}

// note writes the record.
func (s *Service) note(sp *spawn) error {
	b, err := json.Marshal(sp.record)
	if err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(s.own(sp.Spawn), recordFile), b)
}

// places are where installers put the agent's CLI. A program that was started from a
// desktop often has not the path of a shell.
var places = []string{".local/bin", ".claude/local", ".npm-global/bin", "/opt/homebrew/bin", "/usr/local/bin"}

// found is the command with the program's path in the place of its name.
func (s *Service) found(argv []string) ([]string, error) {
	path, err := Find(argv[0])
	if err != nil {
		return nil, err
	}
	return append([]string{path}, argv[1:]...), nil
}

// Find looks for the agent's CLI on this computer.
func Find(name string) (string, error) {
	if filepath.Base(name) != name {
		if _, err := os.Stat(name); err != nil {
			return "", missing(name, err)
		}
		return name, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		home, _ := os.UserHomeDir()
		for _, dir := range places {
			if !filepath.IsAbs(dir) && home != "" {
				dir = filepath.Join(home, dir)
			}
			if p, lerr := exec.LookPath(filepath.Join(dir, name)); lerr == nil && filepath.IsAbs(p) {
				path, err = p, nil
				break
			}
		}
	}
	if err != nil {
		return "", missing(name, err)
	}
	return path, nil
}

func missing(name string, err error) error {
	return core.Fail(core.CodeNotFound, err, "The agent's program “"+name+"” is not on this computer.",
		"Install Claude Code with “npm install -g @anthropic-ai/claude-code”, set claude_bin_path to where it is, "+
			"or let the channel's runs use containers again.")
}

// Environment is the person's own, less what decides which model an agent talks to and what
// Loop itself was started with, and the spawn's over it. Nothing else is left out: what is
// in it the person has put there, and has in each shell.
func Environment(own []string, spawn []core.EnvVar) []string {
	out := slices.DeleteFunc(slices.Clone(own), func(kv string) bool {
		name, _, ok := strings.Cut(kv, "=")
		up := strings.ToUpper(name)
		return !ok || up == "CLAUDECODE" || up == hostpty.Marker ||
			slices.ContainsFunc([]string{"LOOP_", "ANTHROPIC_", "CLAUDE_"}, func(p string) bool { return strings.HasPrefix(up, p) })
	})
	for _, v := range spawn {
		out = append(out, v.Name+"="+v.Value)
	}
	return out
}
