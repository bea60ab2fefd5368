package hostfacts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"loop/backend/atomicfile"
	"loop/backend/core"
	"loop/backend/sandbox"
)

// Prepare makes what the spec needs on the host, as the person: the state
// folders, the passwd and group files, the copies, .claude.json with its
// consent flags, and the mountpoints. It is called immediately before the
// container is made and may be repeated until then; once the agent works, a
// repetition would take back what it did to its copies. Notices say what had to
// be started afresh or left out. Errors are *core.Failure.
func (c Computer) Prepare(spec core.Spec, host sandbox.Host) (notices []string, err error) {
	fail := func(step string, err error) ([]string, error) {
		if _, ok := errors.AsType[*core.Failure](err); ok {
			return nil, err
		}
		return nil, core.Fail(core.CodeDir, fmt.Errorf("%s: %w", step, err),
			"Loop's own folders for the channel could not be made.", "Check that the disk is not full and that "+host.LoopHome+" belongs to you.")
	}
	for _, m := range spec.Mounts {
		if m.Kind == core.MountState {
			if err := os.MkdirAll(m.Source, 0o700); err != nil {
				return fail("make state folder", err)
			}
		}
	}
	if dir := spec.Setup.Dir; dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fail("make the folder of the set-up", err)
		}
	}
	if spec.Seed.Copy != "" {
		if notices, err = c.Seed(spec.Seed); err != nil {
			return fail("make the agent's copy", err)
		}
	}
	if err := writeEtc(spec.Agent, host.LoopHome); err != nil {
		return fail("write passwd and group", err)
	}
	for _, c := range spec.Copies {
		if reason := copyInto(spec, c); reason != "" {
			notices = append(notices, "“"+c.Source+"” was not copied: "+reason+".")
		}
	}
	dirs := append([]string{spec.WorkDir}, spec.Dirs...)
	notice, err := consent(stateSource(spec, sandbox.ClaudeDir), stateSource(spec, spec.Agent.Home), dirs)
	if err != nil {
		return fail("write .claude.json", err)
	}
	if notice != "" {
		notices = append(notices, notice)
	}
	for _, p := range sandbox.Mountpoints(spec, host) {
		// loop init's own folder is a tmpfs; nothing is made on the host for it.
		if err := MakeMountpoint(p); err != nil {
			return fail("make mountpoint", err)
		}
	}
	return notices, nil
}

// PrepareOnHost makes the state folders of a run that works on this computer itself, and
// .claude.json with its consent flags. Errors and notices are Prepare's.
func (c Computer) PrepareOnHost(spec core.Spec) (notices []string, err error) {
	for _, m := range spec.Mounts {
		err = errors.Join(err, os.MkdirAll(m.Source, 0o700))
	}
	var notice string
	if err == nil {
		notice, err = consent(stateSource(spec, sandbox.ClaudeDir), stateSource(spec, spec.Agent.Home), []string{spec.WorkDir})
	}
	if err != nil {
		return nil, core.Fail(core.CodeDir, err, "Loop's own folders for the channel could not be made.",
			"Check that the disk is not full and that "+c.LoopHome+" belongs to you.")
	}
	if notice != "" {
		notices = append(notices, notice)
	}
	return notices, nil
}

func stateSource(spec core.Spec, target string) string {
	for _, m := range spec.Mounts {
		if m.Kind == core.MountState && m.Target == target {
			return m.Source
		}
	}
	return ""
}

// writeEtc keeps the files when they are right: a bind mount of a file shows
// the inode it was made with, and running containers have it mounted.
func writeEtc(agent core.AgentUser, loopHome string) error {
	dir := filepath.Join(loopHome, "run", "etc")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"passwd": sandbox.PasswdFile(agent), "group": sandbox.GroupFile(agent)} {
		path := filepath.Join(dir, name)
		if old, err := os.ReadFile(path); err == nil && string(old) == text {
			continue
		}
		if err := errors.Join(atomicfile.Replace(path, []byte(text)), os.Chmod(path, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

const claudeJSON = ".claude.json"

// consent merges the flags into the channel's .claude.json, takes over the one
// that a CLI without CLAUDE_CONFIG_DIR keeps in the home, and lays a link for
// those who look for ~/.claude. Agents write both folders and may let the link
// lead anywhere: it is never followed, and no file but an ordinary one is read.
func consent(claude, home string, workDirs []string) (notice string, err error) {
	state, err := os.OpenRoot(claude)
	if err != nil {
		return "", err
	}
	defer state.Close()
	places, err := os.OpenRoot(home)
	if err != nil {
		return "", err
	}
	defer places.Close()
	old, err := readState(state)
	if errors.Is(err, errNotOrdinary) {
		notice = "The channel's .claude.json was not an ordinary file and was started afresh."
		err = state.RemoveAll(claudeJSON)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	earlier, err := readState(places)
	found := err == nil
	if !found && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotOrdinary) {
		return "", err
	}
	merged, damaged := old, false
	for _, dir := range workDirs {
		var bad bool
		merged, bad = sandbox.MergeConsent(merged, earlier, dir)
		damaged = damaged || bad
	}
	if damaged {
		notice = "The channel's .claude.json was damaged, or too large; its unreadable parts were started afresh."
	}
	if !bytes.Equal(merged, old) {
		if err := (atomicfile.Writer{Root: state, Durable: found}).Replace(claudeJSON, merged); err != nil {
			return notice, err
		}
	}
	if found {
		if err := places.Remove(claudeJSON); err != nil {
			return notice, err
		}
	}
	// The link is a courtesy: nothing depends on it. Plugins and hooks may know paths
	// from when the folder was mounted in the home, on an empty one.
	if info, err := places.Lstat(".claude"); err == nil && info.IsDir() {
		_ = places.Remove(".claude") // unless there is something in it
	}
	_ = places.Symlink(sandbox.ClaudeDir, ".claude")
	return notice, nil
}

// readState reads the .claude.json of a folder that agents write.
func readState(root *os.Root) ([]byte, error) {
	data, err := readPlain(root, claudeJSON, sandbox.MaxConsentSize)
	if errors.Is(err, atomicfile.ErrTooLarge) {
		err = nil // one byte more than may be: MergeConsent says what happens to such a file
	}
	return data, err
}

// readPlain reads a file in a folder that agents write, unless it is a link or none of
// the ordinary kind.
func readPlain(root *os.Root, name string, most int64) ([]byte, error) {
	data, err := atomicfile.ReadIn(root, name, most)
	if errors.Is(err, atomicfile.ErrNotRegular) {
		return nil, errNotOrdinary
	}
	return data, err
}

// MakeMountpoint makes the folder or file that a mount is laid over, if it is
// missing. A link anywhere on the way is refused: the agent of an earlier run
// could have put it there to have the mount land elsewhere.
func MakeMountpoint(p sandbox.Mountpoint) error {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	parts := strings.Split(p.Rel, "/")
	for i := range parts {
		at := filepath.Join(parts[:i+1]...)
		file := p.File && i == len(parts)-1
		info, err := root.Lstat(at)
		full := filepath.Join(p.Root, at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && file:
			var f *os.File
			if f, err = root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				err = f.Close()
			}
		case errors.Is(err, fs.ErrNotExist):
			err = root.Mkdir(at, 0o755)
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0:
			err = core.Fail(core.CodeMount, nil, "A link stands at “"+full+"”, where something is to be mounted.",
				"Remove it; an agent may have made it.")
		case info.IsDir() == file:
			err = core.Fail(core.CodeMount, nil, "“"+full+"” is in the way of a mount: a folder and a file do not fit over each other.",
				"Move it away.")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
