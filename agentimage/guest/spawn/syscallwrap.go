//go:build linux

package spawn

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/threads"
	"loop/backend/wire"
)

// notStarted is the exit code of a keeper whose program was not executed and that has
// waited for whatever it had started. It has said why.
const notStarted = 1

// keeper is the parent of one stage, then of everything that comes from it.
type keeper struct {
	terminal bool
	pipes    []int // of the program
}

// Keep is the keeper's whole life: start the stage, report how the program
// started and how it ended, reap whatever is left below, and end when nothing is.
// args are those of startKeeper. One thread, which never ends before, forks and waits;
// where nothing is supervised there is no other.
func Keep(args []string) int {
	runtime.LockOSThread()
	if len(args) < 2 {
		return 2
	}
	k := keeper{terminal: args[0] == wire.StdioPTY}
	for _, a := range args[2:] {
		fd, err := strconv.Atoi(a)
		if err != nil {
			return 2
		}
		k.pipes = append(k.pipes, fd)
	}
	for fd := peerFD; fd < streamFD+3+len(k.pipes); fd++ {
		syscall.CloseOnExec(fd)
	}
	if args[1] == gated {
		return k.supervise(peerFD)
	}
	return k.watch(peerFD)
}

// watch is the life of a keeper that supervises nothing.
func (k keeper) watch(up socket) int {
	pid, stage, err := k.start()
	if err != nil {
		_ = up.send(report{Error: startError(err)})
		return notStarted
	}
	_ = up.send(report{Pid: pid, Error: awaitStage(stage, errDiedEarly)})
	stage.close()
	threads.WaitAll(func(ended int, ws syscall.WaitStatus) {
		if ended == pid {
			_ = up.send(report{Status: new(int(ws))})
		}
	})
	return 0
}

func startError(err error) *wire.Error {
	if errors.Is(err, syscall.EAGAIN) {
		err = errNoProcess
	}
	return wire.AsError(err)
}

// start starts the stage with the program's own descriptors in their places.
func (k keeper) start() (pid int, stage socket, err error) {
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
	for i, fd := range k.pipes {
		at[fd] = streamFD + 3 + i
	}
	pid, err = syscall.ForkExec("/proc/self/exe", []string{"loop", "spawn"}, &syscall.ProcAttr{
		Env: freeEnv, Files: layout(at), Sys: &syscall.SysProcAttr{Setsid: true, Setctty: k.terminal}})
	theirs.close()
	// The program's own ends must be the last ones, or its output would never end.
	for fd := configFD; fd < streamFD+3+len(k.pipes); fd++ {
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
// its end: nil means that the program runs. last is what was heard until now.
func awaitStage(stage socket, last *wire.Error) *wire.Error {
	for {
		var said report
		fd, err := stage.receive(&said)
		if errors.Is(err, io.EOF) {
			return last
		}
		if err != nil {
			return wire.NewError(wire.CodeInternal, "hear from stage: "+err.Error())
		}
		listener := socket(fd) // only a stage that is to be supervised makes one
		listener.close()
		last = said.Error
	}
}

var errDiedEarly = wire.NewError(wire.CodeLimit,
	"the process ended before it executed the program, which happens without free processes or memory")
