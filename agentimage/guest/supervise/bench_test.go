//go:build linux

package supervise

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

func init() { acts["bench"] = actBench }

// actBench makes calls and prints the median and the 99th percentile of each, in
// nanoseconds. What is renamed was created before.
func actBench(args []string) {
	n, _ := strconv.Atoi(args[0])
	// Few names in one folder: a file system's search for room is not what is measured.
	const names = 64
	_ = os.WriteFile("file", nil, 0o644)
	listen, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	_ = unix.Unlink("socket")
	_ = unix.Bind(listen, &unix.SockaddrUnix{Name: "socket"})
	_ = unix.Listen(listen, names)
	var made, connected int
	for _, b := range []struct {
		name string
		call func(i int)
		then func(i int) // not measured
		part int         // of n, since it takes long
	}{
		{"open", func(int) { made, _ = unix.Open("file", unix.O_RDONLY, 0) }, func(int) { _ = unix.Close(made) }, 1},
		{"missing", func(int) { made, _ = unix.Open("/usr/lib/none/file", unix.O_RDONLY, 0) }, func(int) {}, 1},
		{"create", func(i int) {
			made, _ = unix.Open(fmt.Sprint("new", i%names), unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o644)
		},
			func(i int) { _ = unix.Close(made); _ = unix.Unlink(fmt.Sprint("new", i%names)) }, 1},
		{"rename", func(i int) {
			_ = unix.Rename(fmt.Sprint("file", "moved"[:i%2*5]), fmt.Sprint("file", "moved"[:(i+1)%2*5]))
		}, func(int) {}, 1},
		{"connect", func(int) { _ = unix.Connect(made, &unix.SockaddrUnix{Name: "socket"}) }, func(int) {
			connected, _, _ = unix.Accept(listen)
			_ = unix.Close(connected)
			_ = unix.Close(made)
			made, _ = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		}, 1},
		// With fork and wait, as no program times its own execution.
		{"execve", func(int) {
			pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{})
			if err == nil {
				_, _ = syscall.Wait4(pid, nil, 0, nil)
			}
		}, func(int) {}, 4},
	} {
		if b.name == "connect" {
			made, _ = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		}
		took := make([]int, max(n/b.part, 1))
		for i := range took {
			began := time.Now()
			b.call(i)
			took[i] = int(time.Since(began))
			b.then(i)
		}
		slices.Sort(took)
		fmt.Println(b.name, took[len(took)/2], took[len(took)*99/100])
	}
}

// benchRounds is how often each way is measured, in turn with the others.
const benchRounds = 5

// benchWays are the ways in which calls are made.
var benchWays = []string{"none", "continue", "unruled", "ruled", "approved", "strace"}

// BenchmarkCalls prints what calls cost without a filter, with one that only lets the
// kernel go on, supervised by a policy without rules and by the one that agents have,
// when each is asked about and answered at once, and below strace: medians of rounds.
func BenchmarkCalls(b *testing.B) {
	if !keeper(b) {
		return
	}
	if b.N == 1 {
		return // the trial that go test makes before the number that it was told
	}
	n := b.N
	p50, p99 := map[string][]int{}, map[string][]int{}
	var names []string
	for range benchRounds {
		for _, way := range benchWays {
			for line := range strings.Lines(benchOut(b, way, n)) {
				f := strings.Fields(line)
				median, _ := strconv.Atoi(f[1])
				late, _ := strconv.Atoi(f[2])
				p50[way+f[0]], p99[way+f[0]] = append(p50[way+f[0]], median), append(p99[way+f[0]], late)
				if !slices.Contains(names, f[0]) {
					names = append(names, f[0])
				}
			}
		}
	}
	for _, name := range names {
		free := float64(benchMedian(p50["none"+name]))
		for _, way := range benchWays {
			at := benchMedian(p50[way+name])
			fmt.Fprintf(os.Stderr, "%-8s %-10s p50 %8.1f µs (%5.1f ×)  p99 %8.1f µs\n", name, way, float64(at)/1e3, float64(at)/free,
				float64(benchMedian(p99[way+name]))/1e3)
		}
	}
}

func benchMedian(all []int) int {
	slices.Sort(all)
	return all[len(all)/2]
}

func benchOut(b *testing.B, way string, n int) string {
	count := strconv.Itoa(n)
	switch way {
	case "none":
		p := launch(b, "none", "bench", count)
		p.let(b)
		return p.wait(b)
	case "continue":
		p := launch(b, "filter", "bench", count)
		go continueOnly(listener(p.listener), "")
		p.let(b)
		return p.wait(b)
	case "unruled":
		return start(b, Options{}, "bench", count).wait(b)
	case "ruled":
		doc, err := policy.Baseline(policy.NameAgent, policy.Place{Home: "/root", Workspaces: []string{os.Getenv(dirVar)}})
		if err != nil {
			b.Fatal(err)
		}
		e, err := policy.Compile(doc)
		if err != nil {
			b.Fatal(err)
		}
		return start(b, Options{Judge: engineJudge{e}}, "bench", count).wait(b)
	case "approved":
		allow := func(context.Context, wire.Approval) wire.Answer { return wire.Answer{Allow: true} }
		return start(b, Options{Ask: allow, Judge: &rules{list: []rule{
			{path: os.Getenv(dirVar) + "/", says: policy.Approve}, {op: "exec", path: "*/true", says: policy.Approve}}}}, "bench",
			strconv.Itoa(max(n/10, 10))).wait(b)
	}
	// As the agent, who may trace what it starts.
	uid := uint32(agentID(b))
	cmd := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=open,openat,rename,renameat,renameat2,connect,execve",
		"/proc/self/exe", "bench", strconv.Itoa(max(n/10, 10)))
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Args[len(cmd.Args)-3] = self
	cmd.Dir = os.Getenv(dirVar)
	cmd.Env = append(os.Environ(), roleVar+"=agent", "GOMAXPROCS=2")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("strace: %v", err)
	}
	return string(out)
}

// engineJudge is an engine as a supervisor asks it.
type engineJudge struct{ *policy.Engine }

func (j engineJudge) Exec(path string, argv []string) policy.Verdict {
	return j.Engine.Exec(policy.Command{Path: path, Argv: argv})
}
