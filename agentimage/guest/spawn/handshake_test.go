//go:build linux

package spawn

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/filter"
	"loop/agentimage/guest/kernel"
	"loop/backend/policy"
	"loop/backend/wire"
)

// ruled makes a spawn request that is to be supervised.
func ruled(req wire.Spawn, doc string) (wire.Spawn, Body) {
	sum := sha256.Sum256([]byte(doc))
	req.Policy = &wire.Policy{Version: 1, Hash: hex.EncodeToString(sum[:]), Size: int64(len(doc))}
	return req, Body{Policy: []byte(doc)}
}

var allowing = string(policy.Policy{DefaultDecision: policy.Allow}.Encode())

// oddHandshakes are what a stage could send instead of its handshake.
var oddHandshakes = map[string]func(keeper socket, spawn string, pipe int) error{
	"odd:nothing": func(socket, string, int) error { return nil },
	"odd:no descriptor": func(s socket, spawn string, _ int) error {
		return s.send(report{Filter: &installed{Spawn: spawn, Thread: unix.Gettid()}})
	},
	"odd:two descriptors": func(s socket, spawn string, pipe int) error {
		return s.send(report{Filter: &installed{Spawn: spawn, Thread: unix.Gettid()}}, pipe, pipe)
	},
	"odd:cut": func(s socket, _ string, pipe int) error {
		return unix.Sendmsg(int(s), []byte(`{"filter":{"spawn":"a"`), unix.UnixRights(pipe), nil, 0)
	},
	"odd:only a descriptor": func(s socket, _ string, pipe int) error { return s.send(report{}, pipe) },
	"odd:another spawn": func(s socket, _ string, pipe int) error {
		return s.send(report{Filter: &installed{Spawn: "b", Thread: unix.Gettid()}}, pipe)
	},
	"odd:another's thread": func(s socket, spawn string, pipe int) error {
		return s.send(report{Filter: &installed{Spawn: spawn, Thread: os.Getppid()}}, pipe)
	},
	"odd:no filter": func(s socket, spawn string, pipe int) error {
		return s.send(report{Filter: &installed{Spawn: spawn, Thread: unix.Gettid()}}, pipe)
	},
}

// oddStage is the stage of the tests: one that does what its program's name says, or the
// real one.
func oddStage() int {
	runtime.LockOSThread() // as Stage: else another thread may execute the program, which has dropped nothing
	unix.CloseOnExec(configFD)
	unix.CloseOnExec(peerFD)
	c, err := readConfig()
	if err != nil {
		return 1
	}
	odd, ok := oddHandshakes[c.Argv[0]]
	if !ok {
		_ = socket(peerFD).send(report{Error: wire.AsError(stage(c, peerFD))})
		return 127
	}
	r, _, err := os.Pipe()
	if err != nil || c.Gate == nil || odd(peerFD, c.Gate.Spawn, int(r.Fd())) != nil {
		return 1
	}
	if c.Argv[0] == "odd:nothing" {
		return 0
	}
	// Whoever gets the ack could execute the program.
	if err := awaitAck(peerFD); err == nil {
		_ = os.WriteFile(c.Dir+"/ran", nil, 0o600)
	}
	return 0
}

// whyOdd is what the start says of each. Any other reason would be another guard's.
var whyOdd = map[string]string{
	"odd:nothing": "ended before", "odd:no descriptor": "no listener", "odd:two descriptors": "is broken", "odd:cut": "is broken",
	"odd:only a descriptor": "no listener", "odd:another spawn": "of spawn \"b\"", "odd:another's thread": "not its own",
	"odd:no filter": "Seccomp is",
}

// TestOddHandshakesAreKilled: a stage that sends anything but its own listener, or is not
// confined, never gets the ack. It is killed, and the start fails with the reason.
func TestOddHandshakesAreKilled(t *testing.T) {
	m := newTable(t)
	dir := t.TempDir()
	for name := range oddHandshakes {
		req, body := ruled(wire.Spawn{Argv: []string{name}, Dir: dir, Stdio: wire.StdioPipes}, allowing)
		want := wire.CodeGate
		if name == "odd:nothing" {
			want = wire.CodeLimit
		}
		_, err := m.Spawn(t.Context(), "a", req, body)
		if code(err) != want || !strings.Contains(err.Error(), whyOdd[name]) {
			t.Errorf("%s: %v", name, err)
		}
		until(t, "the id to be free", func() bool { return len(m.all()) == 0 })
		if left, _ := os.ReadDir(m.cfg.GateDir); len(left) != 0 {
			t.Errorf("%s left %v", name, left)
		}
	}
	if _, err := os.Stat(dir + "/ran"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("one was let go on: %v", err)
	}
	if below, err := descendants(os.Getpid()); err != nil || len(below) > 0 {
		t.Errorf("left: %v %v", below, err)
	}
}

// TestNoSupervisorNoStart: a program whose calls nobody can hold does not run. The
// supervisor's uid is what is missing in this test.
func TestNoSupervisorNoStart(t *testing.T) {
	m := newTable(t)
	req, body := ruled(sh("touch ran"), allowing)
	req.Dir = t.TempDir()
	if _, err := m.Spawn(t.Context(), "a", req, body); code(err) != wire.CodeGate {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(req.Dir + "/ran"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it ran: %v", err)
	}
}

func TestAckIsOneByte(t *testing.T) {
	for data, good := range map[string]bool{"\x01": true, "\x00": false, "\x01\x01": false, "{}": false} {
		a, b, err := newSocketPair()
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Send(int(a), []byte(data), 0); err != nil {
			t.Fatal(err)
		}
		if err := awaitAck(b); (err == nil) != good {
			t.Errorf("%q: %v", data, err)
		}
		a.close()
		if err := awaitAck(b); !errors.Is(err, errAbove) {
			t.Errorf("closed: %v", err)
		}
		b.close()
	}
}

// TestAttestSeesWhoItIs: a thread that has one filter more and no right passes only as
// the agent, and only as a thread of the stage.
func TestAttestSeesWhoItIs(t *testing.T) {
	groups, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	defer close(done)
	thread := func(confine func() error) int {
		tid := make(chan int)
		go func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			defer close(tid)
			if err := errors.Join(kernel.SetCaps(0), unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), confine()); err != nil {
				t.Error(err)
				return
			}
			tid <- unix.Gettid()
			<-done
		}()
		return <-tid
	}
	install := func() error { _, err := filter.Install(filter.Static); return err }
	confined, bare, twice := thread(install), thread(func() error { return nil }), thread(func() error { return errors.Join(install(), install()) })
	if t.Failed() {
		return
	}
	me := supervision{UID: os.Getuid(), GID: os.Getgid(), Groups: groups}
	if err := attest(os.Getpid(), confined, me); err != nil {
		t.Errorf("as it is: %v", err)
	}
	if attest(os.Getpid(), bare, me) == nil || attest(os.Getpid(), unix.Gettid(), me) == nil {
		t.Error("a thread without a filter passed")
	}
	if attest(os.Getpid(), twice, me) == nil {
		t.Error("a thread with a filter too many passed")
	}
	if attest(os.Getppid(), confined, me) == nil {
		t.Error("another's thread passed")
	}
	for _, s := range []supervision{{UID: me.UID + 1, GID: me.GID, Groups: groups}, {UID: me.UID, GID: me.GID + 1, Groups: groups},
		{UID: me.UID, GID: me.GID, Groups: append([]int{4711}, groups...)}} {
		if attest(os.Getpid(), confined, s) == nil {
			t.Errorf("%+v passed", s)
		}
	}
}
