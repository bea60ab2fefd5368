//go:build linux

package supervise

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
)

// offer listens on a path and on an abstract name, and opens a terminal.
func offer(name string) (path, abstract, terminal string) {
	path, abstract = must(filepath.Abs(name+".sock")), "@"+name+"\x00of "+must(os.Getwd())
	must(net.Listen("unix", path))
	must(net.Listen("unix", abstract))
	master := must(unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0))
	n := must(unix.IoctlGetInt(master, unix.TIOCGPTN))
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		panic(err)
	}
	return path, abstract, "/dev/pts/" + strconv.Itoa(n)
}

func use(path, abstract, terminal string) {
	for _, at := range []string{path, abstract} {
		conn, err := net.Dial("unix", at)
		fmt.Println("connect", name(err))
		if err == nil {
			_ = conn.Close()
		}
	}
	fd, err := unix.Open(terminal, unix.O_RDWR|unix.O_NOCTTY, 0)
	fmt.Println("terminal", name(err))
	if err == nil {
		_ = unix.Close(fd)
	}
}

func init() {
	acts["offer"] = func(args []string) {
		path, abstract, terminal := offer("theirs")
		out := must(os.OpenFile(args[0], os.O_WRONLY, 0))
		_, _ = fmt.Fprintf(out, "%s|%s|%s\n", path, strings.ReplaceAll(abstract, "\x00", "%"), terminal)
		_ = out.Close()
		_, _ = os.ReadFile(args[0]) // waits until the test ends it
	}
	acts["use"] = func(args []string) {
		use(args[0], strings.ReplaceAll(args[1], "%", "\x00"), args[2])
		use(offer("own"))
	}
}

// TestActingThroughOthers: a program reaches neither sockets nor terminals of those under
// a laxer policy, and its own and those of a stricter one all the same.
func TestActingThroughOthers(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir, err := os.MkdirTemp(os.Getenv(dirVar), "marks") // the supervisors'
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	fifo := filepath.Join(dir, "said")
	if err := errors.Join(unix.Mkfifo(fifo, 0o666), os.Chmod(fifo, 0o666), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	const open, closed = "connect ok\nconnect ok\nterminal ok\n", "connect EACCES\nconnect EACCES\nterminal EACCES\n"
	for i := range 9 { // each with each, so that old marks lie about from one to the next
		theirs, mine := i/3, i%3
		marks := filepath.Join(dir, "marks")
		other := start(t, Options{Marks: &Marks{Dir: marks, Strictness: theirs}}, "offer", fifo)
		at := strings.Split(strings.TrimSpace(string(must(os.ReadFile(fifo)))), "|")
		user := start(t, Options{Marks: &Marks{Dir: marks, Strictness: mine}}, "use", at...)
		got := user.wait(t)
		want := open + open
		if mine > theirs {
			want = closed + open
		}
		if got != want {
			t.Errorf("strictness %d, theirs %d: got %q", mine, theirs, got)
		}
		_ = other.cmd.Process.Kill()
		_ = other.cmd.Wait()
		for _, p := range []*supervised{user, other} { // neither holds a socket or the FIFO for its program any more
			<-p.Done()
			_ = p.Close()
		}
		for _, name := range []string{"theirs.sock", "own.sock"} {
			_ = os.Remove(filepath.Join(os.Getenv(dirVar), name))
		}
	}
}

func init() {
	acts["piping"] = func([]string) { // leaves an orphan, which reads from a pipe
		sh := exec.Command("sh", "-c", "sleep 100000 2>/dev/null | sleep 100000 >/dev/null 2>&1 & echo $!")
		sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		fmt.Println(string(must(sh.Output())))
		fmt.Println(sh.Process.Pid)
	}
	acts["pipes"] = func(args []string) {
		r, _, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		for _, pipe := range []string{args[0], fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), r.Fd())} {
			_, err := unix.Open(pipe, unix.O_WRONLY, 0)
			fmt.Println("pipe", name(err))
			// What only points to it is no way around: nobody asks before it is made. A fence of
			// Landlock's refuses that already where the process is another spawn's.
			pointer, err := unix.Open(pipe, unix.O_PATH, 0)
			if err != nil {
				fmt.Println("pointer fenced")
				continue
			}
			_, err = unix.Open("/proc/self/fd/"+strconv.Itoa(pointer), unix.O_WRONLY, 0)
			fmt.Println("pointer", name(err))
		}
	}
}

// outsider is a process that no supervisor knows, which holds a pipe. It ends with the test.
func outsider(t *testing.T) (pid int) {
	t.Helper()
	p := launch(t, "none", "piping")
	p.let(t)
	var group int
	if _, err := fmt.Sscan(p.wait(t), &pid, &group); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Kill(-group, unix.SIGKILL) })
	until(t, func() bool { // it was a copy of the shell when its number was printed
		in, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", pid))
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		return err == nil && strings.HasPrefix(in, "pipe:") && !strings.HasSuffix(exe, "sh")
	})
	return pid
}

// TestPipesOfOthers: a program under a strict policy does not write into the pipe of one
// that its supervisor does not know, and into its own all the same.
func TestPipesOfOthers(t *testing.T) {
	if !keeper(t) {
		return
	}
	pid := outsider(t)
	pipe := fmt.Sprintf("/proc/%d/fd/0", pid)
	dir, err := os.MkdirTemp(os.Getenv(dirVar), "marks") // the supervisors'
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	marks := filepath.Join(dir, "marks")
	const open, closed = "pipe ok\npointer ok\npipe ok\npointer ok\n", "pipe EACCES\npointer EACCES\npipe ok\npointer EACCES\n"
	for strictness, want := range map[int]string{policy.Lax: open, policy.Strict: closed, policy.Strictest: closed} {
		got := start(t, Options{Marks: &Marks{Dir: marks, Strictness: strictness}}, "pipes", pipe).wait(t)
		got = strings.Replace(got, "pointer fenced\n", strings.SplitAfter(want, "\n")[1], 1)
		if got != want {
			t.Errorf("strictness %d: got %q", strictness, got)
		}
	}
}

func init() {
	acts["look into"] = func(args []string) {
		own := exec.Command("sleep", "100000")
		if err := own.Start(); err != nil {
			panic(err)
		}
		defer func() { _ = own.Process.Kill() }()
		for _, pid := range []string{args[0], strconv.Itoa(own.Process.Pid), "self"} {
			for _, file := range []string{"environ", "maps", "exe", "cwd/.", "root/bin/true", "task/" + pid + "/auxv", "stat", "cmdline", "net/unix"} {
				fd, err := unix.Open("/proc/"+pid+"/"+strings.Replace(file, "self", strconv.Itoa(os.Getpid()), 1), unix.O_RDONLY, 0)
				_ = unix.Close(fd)
				fmt.Print(file, " ", name(err), "; ")
			}
			fd, err := unix.Open("/proc/"+pid+"/coredump_filter", unix.O_WRONLY, 0)
			_ = unix.Close(fd)
			fmt.Println("coredump_filter", name(err))
		}
	}
}

// TestLookingIntoOthers: a program under a strict policy reads nothing of a process that
// its supervisor does not know, which its fence would close to it if it tried by itself.
func TestLookingIntoOthers(t *testing.T) {
	if !keeper(t) {
		return
	}
	pid := outsider(t)
	const open = "environ ok; maps ok; exe ok; cwd/. ok; root/bin/true ok; task/%v/auxv ok; stat ok; cmdline ok; net/unix ok; coredump_filter ok\n"
	const closed = "environ EACCES; maps EACCES; exe EACCES; cwd/. EACCES; root/bin/true EACCES; task/%v/auxv EACCES; stat ok; cmdline ok; net/unix ok; " +
		"coredump_filter EACCES\n"
	for strictness, want := range map[int]string{policy.Lax: open, policy.Strict: closed, policy.Strictest: closed} {
		got := start(t, Options{Marks: &Marks{Dir: "/nowhere", Strictness: strictness}}, "look into", strconv.Itoa(pid)).wait(t)
		got = regexp.MustCompile(`task/[0-9]+`).ReplaceAllString(got, "task/%v")
		if got != want+open+strings.Replace(open, "%v", "self", 1) {
			t.Errorf("strictness %d: got %q", strictness, got)
		}
	}
}
