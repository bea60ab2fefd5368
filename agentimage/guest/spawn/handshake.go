//go:build linux

package spawn

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/filter"
	"loop/agentimage/guest/kernel"
	"loop/backend/wire"
)

// The handshake of a supervised start. The stage has become the agent, written the files
// and found the program. It installs the filter and sends the listener with the id of its
// spawn; the keeper looks at both and at the stage's thread from outside, starts the
// supervisor and sends the ack; the stage makes one call that only the supervisor answers
// in a certain way, and executes the program. Whatever else happens ends the stage.

// ack is the only byte that lets a stage go on.
const ack = 0x01

// ackTimeout bounds how long each waits for the other between the ack and the probe's
// answer: nothing in between needs a person.
const ackTimeout = 20 * time.Second

// confinement is what the stage does about supervision.
type confinement struct {
	Spawn   string
	Variant filter.Variant
}

// errAbove ends a stage whose keeper has gone: nobody would answer its calls.
var errAbove = errors.New("the supervisor has ended")

// errNoFence ends a stage whose programs may debug others, and could reach any.
var errNoFence = errors.New("programs may only debug each other behind Landlock, which is not here")

// confine puts the fence and the filter on the calling thread, which is locked, will
// execute the program and has no privilege left. What it installs is inherited by
// everything the program starts. The fence comes first: from then on nothing here changes
// a file. A kernel without Landlock has none, which “loop doctor” says.
func confine(c confinement, keeper socket) error {
	// A change of the uid has cleared it. The thread that forked this process is the one
	// whose end sends the signal; it lives as long as its process.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("ask to end with the supervisor: %w", err)
	}
	fence, err := filter.Landlock()
	if err != nil {
		return err
	}
	if c.Variant == filter.Debuggers && fence.ABI == 0 {
		return errNoFence
	}
	listener, err := filter.Install(c.Variant)
	if err != nil {
		return err
	}
	// From here on a call of filter.Notified stands still until the ack.
	err = keeper.send(report{Filter: &installed{Spawn: c.Spawn, Thread: unix.Gettid()}}, listener)
	// A copy here would keep calls waiting that nobody could answer any more.
	if err = errors.Join(err, unix.Close(listener)); err != nil {
		return fmt.Errorf("hand over the listener: %w", err)
	}
	if err := awaitAck(keeper); err != nil {
		return err
	}
	return filter.Probe()
}

func awaitAck(keeper socket) error {
	var b [2]byte
	n, err := retry(func() (int, error) { return unix.Read(int(keeper), b[:]) })
	switch {
	case err != nil:
		return fmt.Errorf("wait for the supervisor: %w", err)
	case n != 1 || b[0] != ack:
		return errAbove
	}
	return nil
}

// admit takes the listener of a stage that may go on: the message is whole, has exactly
// one descriptor, and names this spawn; the thread it names is of the stage, is confined by
// one filter more than the keeper is, and has no right that the agent has not. A stage
// that never came so far has said why.
func admit(stage socket, pid int, s supervision) (listener int, err error) {
	var said report
	listener, err = stage.receive(&said)
	switch {
	case errors.Is(err, io.EOF):
		return -1, errDiedEarly
	case err != nil:
		return -1, refuse("its handshake is broken: " + err.Error())
	case said.Error != nil && listener < 0:
		return -1, said.Error
	case said.Filter == nil || listener < 0:
		err = refuse("its handshake has no listener")
	case said.Filter.Spawn != s.Spawn:
		err = refuse(fmt.Sprintf("its handshake is of spawn %q", said.Filter.Spawn))
	default:
		err = attest(pid, said.Filter.Thread, s)
	}
	if err != nil {
		l := socket(listener)
		l.close()
		return -1, err
	}
	return listener, nil
}

func refuse(why string) error {
	return wire.NewError(wire.CodeGate, "the program was not confined: "+why)
}

// attest looks at the thread that will execute the program.
func attest(pid, tid int, s supervision) error {
	if _, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid)); err != nil {
		return refuse("its thread is not its own: " + err.Error())
	}
	own, err := filter.Filters(unix.Gettid())
	if err == nil {
		err = filter.Attest(tid, own+1)
	}
	if err != nil {
		return refuse(err.Error())
	}
	st, err := kernel.ReadStatus("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid) + "/status")
	if err == nil {
		err = st.Check(s.UID, s.GID, s.Groups, 0)
	}
	if err != nil {
		return refuse(err.Error())
	}
	return nil
}

// sendAck lets the stage go on.
func sendAck(stage socket) error {
	_, err := retry(func() (int, error) {
		return 1, unix.Sendto(int(stage), []byte{ack}, unix.MSG_NOSIGNAL, nil)
	})
	if err != nil {
		return fmt.Errorf("let the program go on: %w", err)
	}
	return nil
}
