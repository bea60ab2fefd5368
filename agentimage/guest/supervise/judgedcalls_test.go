//go:build linux

package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

func socketOf(kind int) int { return must(unix.Socket(unix.AF_UNIX, kind, 0)) }

func init() {
	acts["judged"] = func([]string) { // each way to change something, below a closed folder and beside it
		listen := func(name string) {
			s := socketOf(unix.SOCK_STREAM)
			if err := errors.Join(unix.Bind(s, &unix.SockaddrUnix{Name: name}), unix.Listen(s, 1)); err != nil {
				fmt.Println("listen", name, err)
			}
		}
		here := must(os.Getwd()) // abstract names are everybody's
		listen("@closed" + here)
		listen("@open" + here)
		open := func(path string, flags int, mode uint32) error {
			fd, err := unix.Open(path, flags, mode)
			if err == nil {
				_ = unix.Close(fd)
			}
			return err
		}
		for _, in := range []string{"open", "closed"} {
			at := func(n string) string { return in + "/" + n }
			try := func(what string, err error) { fmt.Println(in, what, name(err)) }
			try("create", open(at("created"), unix.O_CREAT|unix.O_WRONLY, 0o644))
			try("excl", open(at("excl"), unix.O_CREAT|unix.O_EXCL|unix.O_RDONLY, 0o644))
			try("creat", func() error { fd, err := unix.Creat(at("creat"), 0o644); _ = unix.Close(fd); return err }())
			try("unnamed", open(in, unix.O_TMPFILE|unix.O_RDWR, 0o644))
			try("empty", open(at("text"), unix.O_RDONLY|unix.O_TRUNC, 0))
			try("append", open(at("text"), unix.O_WRONLY|unix.O_APPEND, 0))
			try("mkdir", unix.Mkdir(at("dir"), 0o755))
			try("mkfifo", unix.Mkfifo(at("fifo"), 0o644))
			try("symlink", unix.Symlink("x", at("symlink")))
			try("link", unix.Link("mine", at("link")))
			try("rename", unix.Rename("moved-"+in, at("moved")))
			try("bind", unix.Bind(socketOf(unix.SOCK_STREAM), &unix.SockaddrUnix{Name: at("bound")}))
			try("truncate", unix.Truncate(at("text"), 1))
			try("chmod", unix.Chmod(at("text"), 0o600))
			try("times", unix.UtimesNano(at("text"), []unix.Timespec{{}, {}}))
			try("attribute", unix.Setxattr(at("text"), "user.x", []byte("x"), 0))
			try("descriptor", func() error {
				fd, err := unix.Open(at("text"), unix.O_RDONLY, 0)
				if err == nil {
					err = unix.Fchmod(fd, 0o640)
					_ = unix.Close(fd)
				}
				return err
			}())
			try("unlink", unix.Unlink(at("text")))
			try("rmdir", unix.Rmdir(at("folder")))
			try("connect", unix.Connect(socketOf(unix.SOCK_STREAM), &unix.SockaddrUnix{Name: at("socket")}))
			try("abstract", unix.Connect(socketOf(unix.SOCK_STREAM), &unix.SockaddrUnix{Name: "@" + in + here}))
		}
	}
	acts["exchange"] = func([]string) { // two folders with something in each
		for _, d := range []string{"a", "b"} {
			_ = os.MkdirAll(d+"/x", 0o755)
		}
		fmt.Println(name(unix.Renameat2(unix.AT_FDCWD, "a", unix.AT_FDCWD, "b", unix.RENAME_EXCHANGE)))
	}
	acts["both"] = func(args []string) { fmt.Println(name(must2(unix.Open(args[0], unix.O_RDWR, 0)))) }
	acts["huge"] = func([]string) { // sizes that no call has
		_ = os.WriteFile("text", nil, 0o644)
		p := func(s string) uintptr { return uintptr(unsafe.Pointer(mustBytes(s))) }
		buf := make([]byte, 4096)
		b := uintptr(unsafe.Pointer(&buf[0]))
		udp := must(unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0))
		for what, c := range map[string][7]uintptr{
			"openat2":    {unix.SYS_OPENAT2, 0, p("text"), b, 1 << 40},
			"setxattr":   {unix.SYS_SETXATTR, p("text"), p("user.x"), b, 1 << 40},
			"name":       {unix.SYS_SETXATTR, p("text"), p("user." + strings.Repeat("x", 1000)), b, 1},
			"setxattrat": {unix.SYS_SETXATTRAT, 0, p("text"), 0, p("user.x"), b, 1 << 40},
			"connect":    {unix.SYS_CONNECT, uintptr(udp), b, 1 << 30},
			"sendto":     {unix.SYS_SENDTO, uintptr(udp), b, 1 << 40, 0, b, 16},
		} {
			_, _, e := unix.Syscall6(c[0], c[1], c[2], c[3], c[4], c[5], c[6])
			if e == 0 {
				fmt.Println(what, "succeeded")
			}
		}
		_, err := os.Stat("text")
		fmt.Println("lives", name(err))
	}
	acts["children"] = func([]string) { // one child waits for an answer, one for a FIFO; the parent lives on
		_ = unix.Mkfifo("fifo", 0o600)
		for _, args := range [][]string{{"self", "openone", "asked"}, {"self", "fifowait"}} {
			p := must(os.StartProcess("/proc/self/exe", args, &os.ProcAttr{Env: os.Environ(), Files: []*os.File{nil, os.Stdout, os.Stderr}}))
			go func() { _, _ = p.Wait() }()
		}
		for { // until the test ends it
			_ = unix.Pause()
		}
	}
	acts["unlinkone"] = func(args []string) { fmt.Println(name(unix.Unlink(args[0]))) }
}

func must2[T any](_ T, err error) error { return err }

// TestEachCallIsJudged: whatever a call is, a rule about its object decides it, and one
// beside it goes on.
func TestEachCallIsJudged(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	asAgent(t, func() {
		for _, in := range []string{"open", "closed"} {
			err := errors.Join(os.MkdirAll(filepath.Join(dir, in, "folder"), 0o755),
				os.WriteFile(filepath.Join(dir, in, "text"), []byte("text"), 0o644), os.WriteFile(filepath.Join(dir, "moved-"+in), nil, 0o644),
				os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644))
			s, serr := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err = errors.Join(err, serr, unix.Bind(s, &unix.SockaddrUnix{Name: filepath.Join(dir, in, "socket")}), unix.Listen(s, 1)); err != nil {
				t.Error(err)
			}
		}
	})
	judge := &rules{list: []rule{{policy.Read, dir + "/closed/", policy.Allow}, {"", dir + "/closed/", policy.Deny}, {"connect", "@closed" + dir, policy.Deny}}}
	got := start(t, Options{Judge: judge}, "judged").wait(t)
	n := 0
	for line := range strings.Lines(got) {
		n++
		if open := strings.HasPrefix(line, "open "); open && !strings.HasSuffix(line, " ok\n") || !open && !strings.HasSuffix(line, " EACCES\n") {
			t.Errorf("got %s", line)
		}
	}
	if n != 2*21 {
		t.Errorf("%d calls\n%s", n, got)
	}
}

// TestExchangeIsJudgedFourTimes: each of two folders goes from its name and comes to the
// other's, with what is in it.
func TestExchangeIsJudgedFourTimes(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	for _, r := range []rule{{policy.Write, "/a", policy.Deny}, {policy.Write, "/b", policy.Deny}, {policy.Delete, "/a", policy.Deny},
		{policy.Delete, "/b", policy.Deny}, {policy.Create, "/a/x", policy.Deny}, {policy.Create, "/b/x", policy.Deny},
		{policy.Delete, "/a/x", policy.Deny}, {policy.Delete, "/b/x", policy.Deny}, {policy.Read, "/a", policy.Deny}} {
		want := "EACCES\n"
		if r.op == policy.Read {
			want = "ok\n"
		}
		what := string(r.op) + " " + r.path
		if strings.HasSuffix(r.path, "/x") {
			r.op, what = "", what+" within" // the folders themselves are made by the act
		}
		list := []rule{{r.op, dir + r.path, r.says}}
		if r.op == "" {
			list = []rule{{policy.Operation(strings.Fields(what)[0]), dir + r.path, r.says}}
			if list[0].op == policy.Create {
				asAgent(t, func() { _ = os.MkdirAll(dir+"/a/x", 0o755); _ = os.MkdirAll(dir+"/b/x", 0o755) })
			}
		}
		if got := start(t, Options{Judge: &rules{list: list}}, "exchange").wait(t); got != want {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// TestReadingAndWritingIsBoth: who opens a file for both is judged by both.
func TestReadingAndWritingIsBoth(t *testing.T) {
	if !keeper(t) {
		return
	}
	path := filepath.Join(os.Getenv(dirVar), "text")
	asAgent(t, func() { _ = os.WriteFile(path, nil, 0o644) })
	for _, op := range []policy.Operation{policy.Read, policy.Write} {
		if got := start(t, Options{Judge: &rules{list: []rule{{op, path, policy.Deny}}}}, "both", path).wait(t); got != "EACCES\n" {
			t.Errorf("%s is denied: %s", op, got)
		}
	}
}

// TestHugeSizesAreBounded: what a caller says how large something is takes no memory here.
func TestHugeSizesAreBounded(t *testing.T) {
	if !keeper(t) {
		return
	}
	if got := start(t, Options{}, "huge").wait(t); got != "lives ok\n" {
		t.Errorf("got %s", got)
	}
}

// TestAnotherFileOfTheSameText: an answer about one file is none about the one that has
// its name by then, whatever is in it; and a file that changes each time is not asked about
// without end.
func TestAnotherFileOfTheSameText(t *testing.T) {
	if !keeper(t) {
		return
	}
	path := filepath.Join(os.Getenv(dirVar), "asked")
	for _, act := range []string{"openone", "unlinkone"} {
		for most, want := range map[int]string{1: "ok\n", 100: "EACCES\n"} {
			asAgent(t, func() { _ = os.WriteFile(path, []byte("same"), 0o644) })
			asked := 0
			got := start(t, Options{
				Judge: &rules{list: []rule{{policy.Write, path, policy.Approve}, {policy.Delete, path, policy.Approve}}},
				Ask: func(context.Context, wire.Approval) wire.Answer {
					if asked++; asked <= most {
						asAgent(t, func() {
							if err := errors.Join(os.WriteFile(path+".new", []byte("same"), 0o644), os.Rename(path+".new", path)); err != nil {
								t.Error(err)
							}
						})
					}
					return wire.Answer{ID: 1, Allow: true}
				},
			}, act, path).wait(t)
			if got != want || asked != min(most+1, maxAsked) {
				t.Errorf("%s: %s after %d questions", act, got, asked)
			}
		}
	}
}

// TestPartsOfASpawnThatDie: a call whose thread is gone is given up, while the rest of the
// spawn lives on.
func TestPartsOfASpawnThatDie(t *testing.T) {
	if !keeper(t) {
		return
	}
	path := filepath.Join(os.Getenv(dirVar), "asked")
	asAgent(t, func() { _ = os.WriteFile(path, nil, 0o644) })
	asked, withdrawn := make(chan int, 1), make(chan struct{})
	p := start(t, Options{
		Judge: &rules{list: []rule{{policy.Write, path, policy.Approve}}},
		Ask: func(ctx context.Context, a wire.Approval) wire.Answer {
			asked <- a.Processes[0].Pid
			<-ctx.Done()
			close(withdrawn)
			return wire.Deny(1, "withdrawn")
		},
	}, "children")
	busy := func() (pid int) {
		p.crews[readers].mu.Lock()
		defer p.crews[readers].mu.Unlock()
		for _, c := range p.crews[readers].busy {
			pid = c.tid
		}
		return pid
	}
	var waits int
	select {
	case waits = <-asked:
	case <-time.After(limit):
		t.Fatal("nothing is asked")
	}
	until(t, func() bool { return busy() != 0 })
	fifo := busy()
	if err := errors.Join(unix.Kill(waits, unix.SIGKILL), unix.Kill(fifo, unix.SIGKILL)); err != nil {
		t.Error(err)
	}
	within(t, "the withdrawal", withdrawn)
	until(t, func() bool { return busy() == 0 })
	select {
	case <-p.Done():
		t.Error("the spawn ended too soon to show it")
	default:
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// TestFolderAsideIsTheSupervisors: what is put in the place of a file is made where no agent
// can open it, is not put where the agent could not, and leaves nothing behind.
func TestFolderAsideIsTheSupervisors(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	for _, c := range []struct {
		name    string
		prepare func(aside string) error
		want    string
	}{
		{"nothing", func(string) error { return nil }, "ok\n"},
		{"left", func(string) error { return nil }, "ok\n"}, // by a supervisor that was killed
		{"agents", func(aside string) error { return os.Mkdir(aside, 0o700) }, "EACCES\n"},
		{"link", func(aside string) error {
			return errors.Join(os.Mkdir(aside+"-to", 0o700), os.Symlink(aside+"-to", aside))
		}, "EACCES\n"},
		{"readonly", func(aside string) error { return os.Chmod(filepath.Dir(aside), 0o555) }, "EACCES\n"},
	} {
		in := filepath.Join(dir, c.name)
		asAgent(t, func() {
			if err := errors.Join(os.Mkdir(in, 0o755), os.WriteFile(filepath.Join(dir, "tmp"), []byte("new"), 0o600),
				os.Chmod(filepath.Join(dir, "tmp"), 0o640), c.prepare(filepath.Join(in, asideName))); err != nil {
				t.Error(err)
			}
		})
		if aside := filepath.Join(in, asideName); c.name == "left" {
			if err := errors.Join(os.Mkdir(aside, 0o700), os.WriteFile(aside+"/x", nil, 0o600)); err != nil {
				t.Error(err)
			}
		}
		path := filepath.Join(in, "config")
		got := start(t, Options{Judge: &rules{list: []rule{{"", path, policy.Approve}}},
			Ask: func(context.Context, wire.Approval) wire.Answer { return wire.Answer{ID: 1, Allow: true} },
		}, "renameone", "tmp", path).wait(t)
		if got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
		_ = os.Remove(filepath.Join(dir, "tmp"))
		if c.want != "ok\n" {
			continue
		}
		asAgent(t, func() {
			if st, err := os.Stat(path); err != nil || st.Mode() != 0o640 {
				t.Errorf("%s: %v, %v", c.name, st.Mode(), err)
			}
			if _, err := os.Lstat(filepath.Join(in, asideName)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: the folder aside is left: %v", c.name, err)
			}
		})
	}
}

// TestPlainPolicyRefusesAnonymousPrograms: also where every program may run, none does that
// no path names: what it is, nobody could say.
func TestPlainPolicyRefusesAnonymousPrograms(t *testing.T) {
	if !keeper(t) {
		return
	}

	got := trace(t, &freeExec{}, "anonymous").wait(t)

	if strings.Count(got, " EACCES\n") != 4 {
		t.Errorf("got %q", got)
	}
}
