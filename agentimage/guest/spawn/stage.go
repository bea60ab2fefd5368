//go:build linux

package spawn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"loop/backend/wire"
)

// agentOOM makes the kernel prefer the agent's processes to loop init when the
// container is out of memory (range -1000..1000, default 0).
const agentOOM = "500"

// stageConfig goes from loop init to the stage through a pipe, so that nothing
// of it is in any environment or command line.
type stageConfig struct {
	Argv, Env []string
	Dir       string
	UID, GID  int
	Groups    []int
	RunDir    string            // the spawn's private directory
	Files     map[string][]byte // in it
	Pipes     []int             // descriptors that the program keeps besides 0, 1 and 2
	Gate      *confinement      // nil where nothing is supervised
}

// Stage becomes the agent and executes the program. It returns only when that
// failed, after telling the keeper why.
func Stage() int {
	runtime.LockOSThread() // credentials are per thread until execve
	syscall.CloseOnExec(configFD)
	syscall.CloseOnExec(peerFD)
	c, err := readConfig()
	if err == nil {
		err = stage(c, socket(peerFD))
	}
	_ = socket(peerFD).send(report{Error: wire.AsError(err)})
	return 127
}

func readConfig() (c stageConfig, err error) {
	in := os.NewFile(configFD, "config")
	err = json.NewDecoder(in).Decode(&c)
	_ = in.Close()
	if err != nil {
		return c, fmt.Errorf("read stage: %w", err)
	}
	return c, nil
}

func stage(c stageConfig, keeper socket) error {
	// Refused where the file system is masked: then the default stands.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte(agentOOM), 0)
	unix.Umask(0o022)
	if err := drop(c.UID, c.GID, c.Groups); err != nil {
		return wire.NewError(wire.CodePrivileges, err.Error())
	}
	// From here on everything happens with the agent's own rights.
	if err := writeFiles(c); err != nil {
		return err
	}
	if err := os.Chdir(c.Dir); err != nil {
		return wire.NewError(wire.CodeBadDir, "enter directory: "+err.Error())
	}
	program, err := lookPath(c.Argv[0], c.Env)
	if err != nil {
		return err
	}
	if c.Gate != nil {
		if err := confine(*c.Gate, keeper); err != nil {
			return wire.NewError(wire.CodeGate, err.Error())
		}
	}
	// Whatever else this process has open is not the program's business.
	// Everything was opened close-on-exec already; an engine whose filter does not
	// know close_range answers ENOSYS or EPERM.
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil && err != unix.ENOSYS && err != unix.EPERM {
		return fmt.Errorf("close descriptors: %w", err)
	}
	for _, fd := range c.Pipes {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("keep pipe %d: %w", fd, err)
		}
	}
	if err := keeper.send(report{}); err != nil {
		return fmt.Errorf("report to keeper: %w", err)
	}
	err = syscall.Exec(program, c.Argv, c.Env)
	if c.Gate != nil && errors.Is(err, fs.ErrPermission) { // lookPath saw that its mode allows it
		return wire.NewError(wire.CodeDenied, "execute "+program+": the policy, or a person, denied it")
	}
	return execError(program, err)
}

func execError(program string, err error) error {
	text := fmt.Sprintf("execute %s: %v", program, err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// The file was there a moment ago, so its interpreter is missing.
		return wire.NewError(wire.CodeNoProgram, text+" (its interpreter is missing)")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return wire.NewError(wire.CodeNotExec, text)
	case errors.Is(err, syscall.E2BIG):
		return wire.NewError(wire.CodeInvalid, text)
	}
	return errors.New(text)
}

// writeFiles makes the spawn's private directory. It must not exist: a spawn id
// is used once.
func writeFiles(c stageConfig) error {
	if len(c.Files) == 0 {
		return nil
	}
	if err := os.Mkdir(c.RunDir, 0o700); err != nil {
		return fileError(fmt.Errorf("make private directory: %w", err))
	}
	for name, data := range c.Files {
		if err := writeFile(filepath.Join(c.RunDir, name), data); err != nil {
			return fileError(fmt.Errorf("write %s: %w", name, err))
		}
	}
	return nil
}

func writeFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// fileError says what kept a file from being made.
func fileError(err error) error {
	code := wire.CodeInternal
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		code = wire.CodeDiskFull
	case errors.Is(err, fs.ErrExist):
		code = wire.CodeConflict
	}
	return wire.NewError(code, err.Error())
}

// lookPath finds the program as execvp would, in the PATH the program gets.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, checkProgram(name)
	}
	path := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			path = v
		}
	}
	for _, dir := range filepath.SplitList(path) {
		// The working directory is the agent's: never searched by accident.
		if file := filepath.Join(dir, name); filepath.IsAbs(dir) && checkProgram(file) == nil {
			return file, nil
		}
	}
	return "", wire.NewError(wire.CodeNoProgram, fmt.Sprintf("program %q is not in PATH (%s)", name, path))
}

func checkProgram(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil && !errors.Is(err, fs.ErrPermission):
		return wire.NewError(wire.CodeNoProgram, "look for the program: "+err.Error())
	case err == nil && info.IsDir():
		err = unix.EISDIR
	case err == nil:
		err = unix.Access(file, unix.X_OK)
	}
	if err != nil {
		return wire.NewError(wire.CodeNotExec, fmt.Sprintf("program %s may not be executed: %v", file, err))
	}
	return nil
}
