//go:build linux

package spawn

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/denial"
	"loop/agentimage/guest/supervise"
	"loop/agentimage/guest/threads"
	"loop/backend/policy"
	"loop/backend/wire"
)

// gatedThreads covers what may block at a time in a keeper that supervises: the thread
// that waits, the runtime's own for signals, four receivers, the record of denials, some
// calls that are performed, and those that run Go. They count against the container's limit
// of processes, which an agent may use up at any time; with the runtime's own there are 18.
// With 8 a keeper dies of a full container.
const gatedThreads = 13

// watcher is a keeper that supervises.
type watcher struct {
	keeper
	line   line
	s      supervision
	held   *held
	sup    *supervise.Supervisor
	denied *denial.Journal
	tracer *threads.Tracer
	told   chan struct{} // closed when loop init was told how the start went
	over   chan struct{} // closed when nothing is left to supervise
}

// supervise is the life of a keeper that supervises: as watch, with the handshake, and
// with orders from loop init that one goroutine takes until loop init is gone. The
// handshake is another goroutine's: this one waits, and traces what is executed, the
// first program as well.
func (k keeper) supervise(up socket) int {
	threads.Warm(gatedThreads)
	l, err := newLine(up)
	if err != nil {
		return 2
	}
	defer l.close()
	w := watcher{keeper: k, line: l, tracer: threads.NewTracer(), told: make(chan struct{}), over: make(chan struct{})}
	engine, err := w.begin()
	pid, fd := 0, -1
	var stage socket
	if err == nil {
		pid, stage, err = w.start()
	}
	if err == nil {
		// Whoever waits may take the stage's end at any time, and its pid with it.
		if fd, err = unix.PidfdOpen(pid, 0); err != nil {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	if err != nil {
		_ = l.send(report{Error: startError(err)})
		w.end()
		return notStarted
	}
	code := 0
	go func() {
		defer close(w.told)
		defer func() { _ = unix.Close(fd) }()
		defer stage.close()
		if err := w.confine(stage, pid, engine); err != nil {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			code = notStarted
			_ = l.send(report{Error: startError(err)})
			return
		}
		_ = l.send(report{Pid: pid})
	}()
	w.tracer.Run(func(ended int, ws syscall.WaitStatus) {
		if ended == pid {
			<-w.told // it only waits for the stage, which has ended
			if w.sup != nil {
				w.sup.Flush() // before the end is known, which ends the interest in it
			}
			_ = l.send(report{Status: new(int(ws))})
		}
	})
	w.end()
	return code
}

// afterEnd is how long a supervisor may have ended before the keeper: of a tree that has
// just ended, which is reaped in no time.
const afterEnd = time.Second

// unable is the exit code of a keeper whose supervisor could not go on. What it leaves
// behind ends with the container.
const unable = 3

// outlive ends the keeper if its supervisor does not live as long as the tree.
func (w *watcher) outlive() {
	<-w.sup.Done()
	select {
	case <-w.over:
	case <-time.After(afterEnd):
		slog.Error("the supervisor ended before its tree", "id", w.s.Spawn)
		os.Exit(unable)
	}
}

// end is for when nothing is left to supervise.
func (w *watcher) end() {
	close(w.over)
	if w.sup == nil {
		return
	}
	w.held.deny(whyEnding)
	if err := w.sup.Close(); err != nil {
		slog.Error("end supervisor", "id", w.s.Spawn, "err", err)
	}
	w.denied.Close()
}

// begin hears what to supervise.
func (w *watcher) begin() (*policy.Engine, error) {
	var first order
	pipe, err := w.line.receive(&first)
	if err != nil {
		return nil, fmt.Errorf("hear what to supervise: %w", err)
	}
	if first.Supervise == nil {
		return nil, errors.New("the first order is another")
	}
	w.s = *first.Supervise
	engine, err := readPolicy(pipe, w.s.Policy)
	if err != nil {
		return nil, err
	}
	if err := threads.CheckTracing(os.ReadFile); err != nil {
		return nil, refuse(err.Error())
	}
	if err := w.markTerminal(marks(engine)); err != nil {
		return nil, refuse("mark its terminal: " + err.Error())
	}
	w.held = newHeld(w.line)
	return engine, nil
}

// markTerminal tells other supervisors whose the program's terminal is.
func (w *watcher) markTerminal(m *supervise.Marks) error {
	if !w.terminal {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(streamFD, &st); err != nil {
		return err
	}
	return m.SetTerminal(st.Rdev)
}

// confine goes through the handshake and waits until the program runs. After an error
// the stage must be ended.
func (w *watcher) confine(stage socket, pid int, engine *policy.Engine) error {
	listener, err := admit(stage, pid, w.s)
	if err != nil {
		return err
	}
	if w.sup, err = w.startSupervisor(listener, engine); err != nil {
		return refuse(err.Error())
	}
	go w.obey() // both end with the process
	go w.outlive()
	if err := stage.timeout(ackTimeout); err != nil {
		return err
	}
	// Until then nothing under the filter has run: a keeper that dies leaves no harm.
	if err := w.line.send(report{Goes: true}); err != nil {
		return err
	}
	if err := sendAck(stage); err != nil {
		return err
	}
	// The first report comes after the probe: it says that the program is next.
	var said report
	fd, err := stage.receive(&said)
	s := socket(fd)
	s.close()
	switch {
	case errors.Is(err, unix.EAGAIN):
		return refuse("its supervisor does not answer")
	case errors.Is(err, io.EOF):
		return errDiedEarly
	case err != nil:
		return refuse(err.Error())
	case said.Error != nil:
		return said.Error
	}
	// The execution itself may have to wait for a person.
	if err := stage.timeout(0); err != nil {
		return err
	}
	if err := awaitStage(stage, nil); err != nil {
		return err
	}
	return nil
}

// obey does what loop init orders.
func (w *watcher) obey() {
	for {
		var o order
		pipe, err := w.line.receive(&o)
		if err != nil {
			w.held.lose()
			return
		}
		switch {
		case o.Answer != nil:
			w.held.answered(*o.Answer)
		case o.Deny != "":
			w.held.deny(o.Deny)
		case o.Policy != nil:
			w.setPolicy(*o.Policy, pipe)
			pipe = -1
		}
		s := socket(pipe)
		s.close()
	}
}

// setPolicy says that a policy is in force, or why the one before is.
func (w *watcher) setPolicy(head wire.Policy, pipe int) {
	taken := policyTaken{Version: head.Version}
	engine, err := readPolicy(pipe, head)
	if err == nil {
		w.sup.SetJudge(judge{engine}, head.Version)
	} else {
		taken.Error = wire.AsError(err)
	}
	_ = w.line.send(report{Policy: &taken})
}
