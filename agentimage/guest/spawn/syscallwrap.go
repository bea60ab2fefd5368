//go:build linux

package spawn

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/threads"
	"loop/backend/wire"
)

// report is what the stage tells the keeper: once without an error, right before it
// executes the program, or last of all with one. No report at all means that it died
// earlier. The keeper tells loop init in the same way how the start went, and then how
// the program ended.
type report struct {
	Pid    int         `json:"pid,omitempty"`    // the keeper's
	Status *int        `json:"status,omitempty"` // the keeper's: raw wait status
	Error  *wire.Error `json:"error,omitempty"`  // why the program was not executed
}

// Keep is the keeper's whole life: start the stage, report how the program
// started and how it ended, reap whatever is left below, and end when nothing is.
// args are those of startKeeper. It works on one thread, which alone forks and waits.
func Keep(args []string) int {
	runtime.LockOSThread()
	if len(args) == 0 {
		return 2
	}
	var pipes []int
	for _, a := range args[1:] {
		fd, err := strconv.Atoi(a)
		if err != nil {
			return 2
		}
		pipes = append(pipes, fd)
	}
	for fd := peerFD; fd < streamFD+3+len(pipes); fd++ {
		syscall.CloseOnExec(fd)
	}
	up := socket(peerFD)
	pid, stage, err := keepStart(args[0] == wire.StdioPTY, pipes)
	if err != nil {
		if errors.Is(err, syscall.EAGAIN) {
			err = errNoProcess
		}
		_ = up.send(report{Error: wire.AsError(err)})
		return 1
	}
	_ = up.send(report{Pid: pid, Error: awaitStage(stage)})
	stage.close()
	threads.WaitAll(func(ended int, ws syscall.WaitStatus) {
		if ended == pid {
			_ = up.send(report{Status: new(int(ws))})
		}
	})
	return 0
}

// keepStart starts the stage with the program's own descriptors in their places.
func keepStart(terminal bool, pipes []int) (pid int, stage socket, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, -1, fmt.Errorf("become subreaper: %w", err)
	}
	stage, theirs, err := newSocketPair()
	if err != nil {
		return 0, -1, err
	}
	at := map[int]int{peerFD: int(theirs), configFD: configFD}
	for i := range 3 {
		at[i] = streamFD + i
	}
	for i, fd := range pipes {
		at[fd] = streamFD + 3 + i
	}
	pid, err = syscall.ForkExec("/proc/self/exe", []string{"loop", "spawn"}, &syscall.ProcAttr{
		Env: os.Environ(), Files: layout(at), Sys: &syscall.SysProcAttr{Setsid: true, Setctty: terminal}})
	theirs.close()
	// The program's own ends must be the last ones, or its output would never end.
	for fd := configFD; fd < streamFD+3+len(pipes); fd++ {
		_ = syscall.Close(fd)
	}
	if err != nil {
		stage.close()
		return 0, -1, fmt.Errorf("start stage: %w", err)
	}
	return pid, stage, nil
}

// layout puts descriptors (values) into their places in a child (keys); what is
// between them is closed there.
func layout(at map[int]int) []uintptr {
	var files []uintptr
	for place, fd := range at {
		for len(files) <= place {
			files = append(files, ^uintptr(0))
		}
		files[place] = uintptr(fd)
	}
	return files
}

// awaitStage reads what the stage says until execve, or the stage's death, closes
// its end: nil means that the program runs.
func awaitStage(stage socket) *wire.Error {
	last := wire.NewError(wire.CodeLimit, "the process ended before it executed the program, which happens without free processes or memory")
	for {
		var said report
		fd, err := stage.receive(&said)
		if errors.Is(err, io.EOF) {
			return last
		}
		if err != nil {
			return wire.NewError(wire.CodeInternal, "hear from stage: "+err.Error())
		}
		listener := socket(fd) // no filter of this version makes one
		listener.close()
		last = said.Error
	}
}
