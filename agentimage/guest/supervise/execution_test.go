//go:build linux

package supervise

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/denial"
	"loop/agentimage/guest/threads"
	"loop/backend/policy"
	"loop/backend/wire"
)

// traced is an act whose keeper traces what it executes.
type traced struct {
	*launched
	ended  chan syscall.WaitStatus
	over   chan struct{} // the tracer waits no more
	denied atomic.Int64  // programs that were exchanged
}

// trace runs an act as the agent, supervised and traced.
func trace(t testing.TB, judge Judge, act string, args ...string) *traced {
	t.Helper()
	return traceAsking(t, judge, noQuestions, act, args...)
}

// traceAsking is trace with somebody who answers.
func traceAsking(t testing.TB, judge Judge, ask func(context.Context, wire.Approval) wire.Answer, act string, args ...string) *traced {
	t.Helper()
	p := launch(t, "filter", act, args...)
	tr := &traced{launched: p, ended: make(chan syscall.WaitStatus, 1), over: make(chan struct{})}
	tracer := threads.NewTracer()
	go func() {
		defer close(tr.over)
		tracer.Run(func(pid int, ws syscall.WaitStatus) {
			if pid == p.cmd.Process.Pid {
				tr.ended <- ws
			}
		})
	}()
	uid := agentID(t)
	s, err := Start(Options{Listener: p.listener, SpawnID: "s1", Judge: judge, Ask: ask, Tracer: tracer,
		Denied: func(d denial.Denial) {
			if d.By == "exchanged" {
				tr.denied.Add(1)
			}
		},
		Agent: Agent{UID: uid, GID: uid, Groups: []int{uid}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		within(t, "everything ends", tr.over)
		_ = s.Close()
	})
	p.Supervisor = s
	p.let(t)
	return tr
}

// wait returns what the act printed; it must have ended well. The next act begins when
// this one's tracer has ended: two in one process take each other's stops.
func (p *traced) wait(t testing.TB) string {
	t.Helper()
	var ws syscall.WaitStatus
	select {
	case ws = <-p.ended:
	case <-time.After(limit):
		t.Fatalf("%q has not ended within %v", p.cmd.Args, limit)
	}
	within(t, "the tracer ends", p.over)
	_ = p.cmd.Wait() // the tracer has taken the end; this waits for the output
	if !ws.Exited() || ws.ExitStatus() != 0 {
		t.Fatalf("act ended with %x\nout: %s\nerr: %s", int(ws), p.out.String(), p.errs.String())
	}
	return p.out.String()
}

// argumentRules denies programs whose second argument is "evil".
type argumentRules struct{ rules }

func (r *argumentRules) Exec(path string, argv []string) policy.Verdict {
	if len(argv) > 1 && argv[1] == "evil" {
		return policy.Verdict{Decision: policy.Deny, Rule: "evil"}
	}
	return r.rules.Exec(path, argv)
}

// freeExec is a judge under which every program may run.
type freeExec struct{ rules }

func (*freeExec) ExecMatters() bool { return false }

// Results of a program that is executed by a racing call.
const (
	ranGood = 10
	ranEvil = 11
	refused = 12
)

// sharedMemory maps a file, so that what one process writes another one sees at once.
func sharedMemory(path string) []byte {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return mem
}

// The memory that races has a text at 0, which is executed, and one at 2048, its second
// argument. Both end in "good" or "evil".
const argumentAt = 2048

func init() {
	ran := func([]string) { // says which file it is
		exe, _ := os.Executable()
		if strings.Contains(exe, "evil") {
			os.Exit(ranEvil)
		}
		os.Exit(ranGood)
	}
	acts["ran"], acts["good"] = ran, ran
	acts["evil"] = func([]string) { os.Exit(ranEvil) }
	acts["hop"] = func(args []string) { // executes what the memory says at the moment
		mem := sharedMemory(args[0])
		argv := []*byte{mustBytes("ran"), &mem[argumentAt], nil}
		if mem[argumentAt] == 0 {
			argv[1] = mustBytes("ran")
		}
		env := []*byte{mustBytes(roleVar + "=agent"), mustBytes("RACE=1"), nil}
		_, _, _ = unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(&mem[0])), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])))
		os.Exit(refused)
	}
	acts["race"] = func(args []string) { // kind, how often
		n, _ := strconv.Atoi(args[1])
		dir, _ := os.Getwd()
		for _, name := range []string{"in-good", "in-evil"} {
			_ = os.Mkdir(name, 0o755)
			copyFile("/proc/self/exe", name+"/x")
		}
		_ = os.WriteFile("memory", make([]byte, 4096), 0o600)
		mem := sharedMemory("memory")
		at := len(dir) + len("/in-")
		copy(mem, dir+"/in-good/x\x00")
		switch args[0] {
		case "argument":
			at = argumentAt
			copy(mem[at:], "good\x00")
		case "interpreter":
			at = -1
			copy(mem, dir+"/script\x00")
			_ = os.WriteFile("script", []byte("#!"+dir+"/link/x ran\n"), 0o755)
			_ = os.Symlink("in-good", "link")
			_ = os.Symlink("in-evil", "other")
		}
		var stop atomic.Bool
		var flips sync.WaitGroup
		flips.Go(func() { flip(mem, at, &stop) })
		counts := map[string]int{}
		for range n {
			cmd := exec.Command("/proc/self/exe", "hop", "memory")
			_ = cmd.Run()
			switch ws := cmd.ProcessState.Sys().(syscall.WaitStatus); {
			case ws.Signaled() && ws.Signal() == syscall.SIGKILL:
				counts["killed"]++
			case ws.ExitStatus() == ranGood:
				counts["good"]++
			case ws.ExitStatus() == ranEvil:
				counts["evil"]++
			case ws.ExitStatus() == refused:
				counts["refused"]++
			default:
				counts[ws.Signal().String()]++
			}
		}
		stop.Store(true)
		flips.Wait()
		printJSON(counts)
	}
}

// flip exchanges good and evil until it is stopped: in memory, or two links.
func flip(mem []byte, at int, stop *atomic.Bool) {
	for !stop.Load() {
		if at < 0 {
			_ = unix.Renameat2(unix.AT_FDCWD, "link", unix.AT_FDCWD, "other", unix.RENAME_EXCHANGE)
			continue
		}
		copy(mem[at:], "evil")
		copy(mem[at:], "good")
	}
}

func mustBytes(s string) *byte {
	p, err := unix.BytePtrFromString(s)
	if err != nil {
		panic(err)
	}
	return p
}

func copyFile(from, to string) {
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o755)
	}
	if err != nil {
		panic(err)
	}
}

// tries is how often a race is run at least; the control needs fewer to be won.
func tries(kind string) string {
	switch {
	case os.Getenv("LOOP_SOAK") != "":
		return "20000"
	case kind == "path":
		return "500"
	}
	return "120"
}

// Rounds follow until a race was both won and lost, and without a tracer until it was won: on
// a busy machine the program that flips may hardly run.
const (
	controlTries = "60" // of a round
	maxRounds    = 20
)

// TestExecRaces (A2, A3, A13): what was judged and what is executed are told apart before
// it runs. Without a tracer the race is won.
func TestExecRaces(t *testing.T) {
	if !keeper(t) {
		return
	}
	for _, kind := range []string{"path", "argument", "interpreter"} {
		judge := func() Judge {
			return &argumentRules{rules{list: []rule{{"exec", "*/in-evil/x", policy.Deny}}}}
		}
		both, good, killed := false, false, false
		for round := 0; round < maxRounds && !both; round++ {
			p := trace(t, judge(), "race", kind, tries(kind))
			got := counts(t, p.wait(t))
			t.Logf("%s: %v", kind, got)
			if got["evil"] != 0 {
				t.Errorf("%s: %v", kind, got)
			}
			good, killed = good || got["good"] > 0, killed || got["killed"] > 0
			both = good && killed
			<-p.Done()
			// The last one may have been killed right before the end.
			if told, killed := p.denied.Load(), int64(got["killed"]); told > killed || told < killed-1 {
				t.Errorf("%s: told of %d programs that were killed, and not of %d", kind, told, killed)
			}
		}
		if !both {
			t.Errorf("%s: not in both ways: run %v, killed %v", kind, good, killed)
		}
		won := false
		for round := 0; round < maxRounds && !won; round++ {
			control := counts(t, start(t, Options{Judge: judge()}, "race", kind, controlTries).wait(t))
			t.Logf("%s without a tracer: %v", kind, control)
			won = control["evil"] > 0
		}
		if !won {
			t.Errorf("%s: the control did not win", kind)
		}
	}
}

func counts(t *testing.T, line string) map[string]int {
	t.Helper()
	var got map[string]int
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	return got
}
