//go:build linux

package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"loop/backend/leaktest"
	"loop/backend/policy"
	"loop/backend/wire"
)

// A test of this package runs in a process of its own that has the keeper's uid and
// capabilities (keeper), and starts programs as the agent under a filter (agent). All of
// them are this test binary.
const (
	roleVar  = "SUPERVISE_ROLE"  // keeper, stage or agent
	agentVar = "SUPERVISE_AGENT" // uid of the agent
	dirVar   = "SUPERVISE_DIR"   // the agent's folder
	modeVar  = "SUPERVISE_MODE"  // of the stage: filter, or none
	usersVar = "SUPERVISE_USERS" // own: in a namespace of users with a format of programs
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "jail":
		jail()
	case "formats":
		switch err := formats(os.Getenv(dirVar)); {
		case errors.Is(err, unix.EPERM): // before Linux 6.7
			fmt.Println("a namespace of users has no formats of its own on this kernel")
			os.Exit(0)
		case err != nil:
			fmt.Fprintln(os.Stderr, "formats:", err)
			os.Exit(6)
		}
		becomeKeeper()
	case "stage":
		stage()
	case "agent":
		act := acts[os.Args[1]]
		if act == nil {
			fmt.Fprintln(os.Stderr, "no act", os.Args[1])
			os.Exit(3)
		}
		act(os.Args[2:])
		os.Exit(0)
	}
	goleak.VerifyTestMain(leaktest.Patient(m))
}

// keeper runs the rest of a test as the keeper, once for an ordinary agent and once for
// one that is uid 0. It reports whether this is that process.
func keeper(t testing.TB) bool {
	t.Helper()
	return keeperIn(t)
}

// keeperIn is keeper with more variables.
func keeperIn(t testing.TB, env ...string) bool {
	t.Helper()
	if os.Getenv(roleVar) == "keeper" {
		return true
	}
	if os.Getuid() != 0 {
		t.Fatal("these tests start a keeper with capabilities, for which they must be root")
	}
	for _, uid := range []int{1000, 0} {
		dir := t.TempDir()
		for d := dir; d != "/tmp" && d != "/"; d = dir[:strings.LastIndexByte(d, '/')] {
			if err := os.Chmod(d, 0o755); err != nil {
				break
			}
			if d == dir[:strings.LastIndexByte(dir, '/')] {
				break
			}
		}
		if err := os.Chown(dir, uid, uid); err != nil {
			t.Fatal(err)
		}
		args := []string{"-test.run=^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$", "-test.v", "-test.count=1", "-test.timeout=20m"}
		if _, is := t.(*testing.B); is {
			args = []string{"-test.run=^$", "-test.bench=^" + t.Name() + "$", "-test.benchtime=" + benchtime()}
		}
		cmd := exec.Command("/proc/self/exe", args...)
		cmd.Env = append(os.Environ(), roleVar+"=jail", agentVar+"="+strconv.Itoa(uid), dirVar+"="+dir)
		cmd.Env = append(cmd.Env, env...)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("agent %d: %v\n%s", uid, err, out)
		} else if testing.Verbose() {
			t.Logf("agent %d:\n%s", uid, out)
		}
	}
	return false
}

func benchtime() string { return "2000x" }

func agentID(t testing.TB) int {
	n, err := strconv.Atoi(os.Getenv(agentVar))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// rules is a Judge for tests: the first rule that matches decides, and everything else
// is allowed.
type rules struct {
	list []rule
	mu   sync.Mutex
	seen []string
	log  bool
}

type rule struct {
	op   policy.Operation // empty: every one
	path string           // exactly, or below it with a slash at the end, or anywhere with a star before it
	says policy.Decision
}

func (r *rules) Folder(path string) policy.Verdict { return r.File(policy.Create, path) }

func (r *rules) File(op policy.Operation, path string) policy.Verdict {
	if r.log {
		r.mu.Lock()
		r.seen = append(r.seen, string(op)+" "+path)
		r.mu.Unlock()
	}
	for i, l := range r.list {
		if (l.op == "" || l.op == op) && l.matches(path) {
			return policy.Verdict{Decision: l.says, Rule: fmt.Sprint("rule-", i), Message: "a test says so"}
		}
	}
	return policy.Verdict{Decision: policy.Allow}
}

func (l rule) matches(path string) bool {
	if tail, ok := strings.CutPrefix(l.path, "*"); ok {
		return strings.HasSuffix(path, tail)
	}
	return path == l.path || strings.HasSuffix(l.path, "/") && strings.HasPrefix(path, l.path)
}

func (r *rules) Under(op policy.Operation, dir string) policy.Verdict {
	out := policy.Verdict{Decision: policy.Allow}
	for i, l := range r.list {
		if (l.op == "" || l.op == op) && strings.HasPrefix(l.path, dir+"/") {
			out = stricter(out, policy.Verdict{Decision: l.says, Rule: fmt.Sprint("rule-", i)})
		}
	}
	return out
}

func (r *rules) Leads(op policy.Operation, link string) policy.Verdict { return r.Under(op, link) }

func (r *rules) Connect(target string) policy.Verdict { return r.File("connect", target) }
func (r *rules) Exec(path string, argv []string) policy.Verdict {
	return r.File("exec", path)
}
func (r *rules) ReadsMatter() bool { return true }

// supervised is a program of the agent that runs under a filter.
type supervised struct {
	*Supervisor
	cmd  *exec.Cmd
	out  strings.Builder
	errs strings.Builder
}

func noQuestions(context.Context, wire.Approval) wire.Answer { return wire.Deny(1, "nobody is here") }

// start runs an act as the agent, supervised.
func start(t testing.TB, o Options, act string, args ...string) *supervised {
	t.Helper()
	p := launch(t, "filter", act, args...)
	uid := agentID(t)
	o.Agent = Agent{UID: uid, GID: uid, Groups: []int{uid}}
	o.Listener, o.SpawnID = p.listener, "s1"
	if o.Ask == nil {
		o.Ask = noQuestions
	}
	if o.Judge == nil {
		o.Judge = &rules{}
	}
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	p.Supervisor = s
	t.Cleanup(func() { _ = s.Close() })
	p.let(t)
	return &p.supervised
}

type launched struct {
	supervised
	sock     int
	listener int
}

func (p *launched) let(t testing.TB) {
	t.Helper()
	if _, err := unix.Write(p.sock, []byte{1}); err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(p.sock)
}

// launch starts the stage, which waits before it becomes the act.
func launch(t testing.TB, mode, act string, args ...string) *launched {
	t.Helper()
	return launchIn(t, os.Getenv(dirVar), mode, act, args...)
}

// launchIn is launch in a folder that the stage makes where it is missing.
func launchIn(t testing.TB, dir, mode, act string, args ...string) *launched {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &launched{sock: pair[0], listener: -1}
	p.cmd = exec.Command("/proc/self/exe", append([]string{act}, args...)...)
	p.cmd.Env = append(os.Environ(), roleVar+"=stage", modeVar+"="+mode, "GOMAXPROCS=2", "GOCOVERDIR=/tmp")
	p.cmd.Dir = "/"
	p.cmd.Env = append(p.cmd.Env, "SUPERVISE_IN="+dir)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errs
	p.cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(pair[1]), "stage")}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.ExtraFiles[0].Close()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	if mode == "none" {
		return p
	}
	oob := make([]byte, 64)
	_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		_ = p.cmd.Wait()
		t.Fatalf("no listener: %v %s", err, p.errs.String())
	}
	msgs, _ := unix.ParseSocketControlMessage(oob[:n])
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		t.Fatal(err)
	}
	p.listener = fds[0]
	return p
}

// wait returns what the act printed; it must have ended well.
func (p *supervised) wait(t testing.TB) string {
	t.Helper()
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("act: %v\nout: %s\nerr: %s", err, p.out.String(), p.errs.String())
	}
	return p.out.String()
}

// acts are the programs of the agent, by name.
var acts = map[string]func(args []string){}

func name(err error) string {
	var e unix.Errno
	if errors.As(err, &e) {
		return unix.ErrnoName(e)
	}
	if err != nil {
		return err.Error()
	}
	return "ok"
}

func printJSON(v any) { _ = json.NewEncoder(os.Stdout).Encode(v) }

// limit bounds what hangs, and nothing else: all that a test starts are processes, which
// a busy computer leaves alone for long.
const limit = 4 * time.Minute

func within(t testing.TB, what string, ch <-chan struct{}) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(limit):
		buf := make([]byte, 1<<20)
		t.Fatalf("%s: nothing within %v\n%s", what, limit, buf[:runtime.Stack(buf, true)])
	}
}
