//go:build linux

package supervise

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

func init() {
	acts["flip"] = actFlip
	acts["signal"] = actSignal
	acts["own"] = actOwn
	acts["ways"] = actWays
	acts["unmapped"] = actUnmapped
	acts["keeperproc"] = actKeeperProc
}

func openRaw(dirfd int, path unsafe.Pointer, flags int) (int, unix.Errno) {
	fd, _, e := unix.Syscall6(unix.SYS_OPENAT, uintptr(dirfd), uintptr(path), uintptr(flags), 0, 0, 0)
	return int(fd), e
}

// actFlip opens a path that another thread rewrites all the time, and counts how often
// it read the file that is denied.
func actFlip(args []string) {
	tries, _ := strconv.Atoi(args[0])
	names := [2]string{"good\x00", "evil\x00"}
	buf := make([]byte, 8)
	copy(buf, names[0])
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		word := (*uint32)(unsafe.Pointer(&buf[0]))
		good, evil := *(*uint32)(unsafe.Pointer(unsafe.StringData(names[0]))), *(*uint32)(unsafe.Pointer(unsafe.StringData(names[1])))
		for !stop.Load() {
			atomic.StoreUint32(word, good)
			atomic.StoreUint32(word, evil)
		}
	}()
	got, opened := 0, 0
	text := make([]byte, 4)
	for range tries {
		fd, e := openRaw(unix.AT_FDCWD, unsafe.Pointer(&buf[0]), unix.O_RDONLY)
		if e != 0 {
			continue
		}
		opened++
		if n, _ := unix.Read(fd, text); string(text[:n]) == "evil" {
			got++
		}
		_ = unix.Close(fd)
	}
	stop.Store(true)
	<-done
	fmt.Println(got, opened)
}

// Two threads cannot make an open of one name read another file; where the kernel reads
// the name once more, they can.
func TestFlippedPath(t *testing.T) {
	if !keeper(t) {
		return
	}
	tries := 2000
	if os.Getenv("LOOP_SOAK") != "" {
		tries = 100_000
	}
	dir := os.Getenv(dirVar)
	asAgent(t, func() {
		for _, n := range []string{"good", "evil"} {
			if err := os.WriteFile(filepath.Join(dir, n), []byte(n), 0o644); err != nil {
				t.Error(err)
			}
		}
	})
	var got, opened int
	p := start(t, Options{Judge: &rules{list: []rule{{"", filepath.Join(dir, "evil"), policy.Deny}}}}, "flip", fmt.Sprint(tries))
	fmt.Sscan(p.wait(t), &got, &opened)
	if got != 0 || opened == 0 {
		t.Errorf("%d of %d opens read the denied file, %d succeeded", got, tries, opened)
	}
	won := 0
	for range 10 { // the control: it decides on the name and lets the kernel go on
		l := launch(t, "filter", "flip", "4000")
		done := make(chan struct{})
		go func() { defer close(done); continueOnly(listener(l.listener), "evil") }()
		l.let(t)
		fmt.Sscan(l.wait(t), &won, &opened)
		<-done
		_ = unix.Close(l.listener)
		if won > 0 {
			break
		}
	}
	if won == 0 {
		t.Error("the control without a guard never won: the test proves nothing")
	}
	t.Logf("%d of %d with a supervisor, %d of 4000 without", got, tries, won)
}

// continueOnly is what a supervisor must not be: it reads a path, and lets the kernel
// read it again.
func continueOnly(l listener, denied string) {
	for {
		fds := []unix.PollFd{{Fd: int32(l), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err == unix.EINTR {
			continue
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notification
		if l.receive(&n) != 0 {
			continue
		}
		r := response{ID: n.ID, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if n.Nr == unix.SYS_OPENAT && denied != "" {
			if path, err := (memory{int(n.Tid)}).path(n.Args[1]); err != nil || path == denied {
				r = response{ID: n.ID, Error: -int32(unix.EACCES)}
			}
		}
		_ = l.send(r)
	}
}

// asAgent runs f with the agent's file system uid.
func asAgent(t testing.TB, f func()) {
	t.Helper()
	done := make(chan struct{})
	uid := agentID(t)
	go func() {
		defer close(done)
		if _, err := become(Agent{UID: uid, GID: uid, Groups: []int{uid}}, 0); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

// actSignal tries to reach the threads of the keeper.
func actSignal(args []string) {
	pid, _ := strconv.Atoi(args[0])
	fmt.Println("kill", name(unix.Kill(pid, unix.SIGTERM)))
	for _, a := range args[1:] {
		tid, _ := strconv.Atoi(a)
		fmt.Println("tgkill", name(unix.Tgkill(pid, tid, unix.SIGSTOP)))
		fmt.Println("attach", name(unix.PtraceAttach(tid)))
		_, _, e := unix.Syscall6(unix.SYS_PTRACE, 0x4206, uintptr(tid), 0, 0, 0, 0)
		fmt.Println("seize", unix.ErrnoName(e))
		buf := make([]byte, 8)
		_, err := unix.ProcessVMReadv(tid, []unix.Iovec{{Base: &buf[0], Len: 8}}, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
		fmt.Println("read", name(err))
		fmt.Println("prlimit", name(unix.Prlimit(tid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1, Max: 1}, nil)))
	}
}

// The agent can neither signal nor trace nor read the threads that perform as it.
func TestThreadsAreOutOfReach(t *testing.T) {
	if !keeper(t) {
		return
	}
	uid := agentID(t)
	a := Agent{UID: uid, GID: uid, Groups: []int{uid}}
	for _, extra := range []uint64{0, capDACOverride} {
		ready, end, gone := make(chan *thread), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(gone)
			th, err := become(a, extra)
			if err != nil {
				t.Error(err)
			}
			ready <- th
			<-end
		}()
		th := <-ready
		p := start(t, Options{}, "signal", fmt.Sprint(os.Getpid()), fmt.Sprint(th.tid))
		if got := p.wait(t); got != "kill EPERM\ntgkill EPERM\nattach EPERM\nseize EPERM\nread EPERM\nprlimit EPERM\n" {
			t.Errorf("got %s", got)
		}
		close(end)
		<-gone
	}
}

// actOwn prints what the caller's own entries of /proc lead to.
func actOwn([]string) {
	data, err := os.ReadFile("/proc/self/cmdline")
	fmt.Println("cmdline", strings.Contains(string(data), "own"), name(err))
	data, err = os.ReadFile("/proc/self/stat")
	fmt.Println("stat", strings.HasPrefix(string(data), strconv.Itoa(os.Getpid())+" "), name(err))
	data, err = os.ReadFile("/proc/thread-self/status")
	fmt.Println("thread", strings.Contains(string(data), "Tgid:\t"+strconv.Itoa(os.Getpid())+"\n"), name(err))
	f, err := os.Open("file")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, dir := range []string{"/proc/self/fd/", "/dev/fd/", "/proc/thread-self/fd/", fmt.Sprintf("/proc/%d/fd/", os.Getpid())} {
		data, err = os.ReadFile(dir + strconv.Itoa(int(f.Fd())))
		fmt.Println("fd", string(data), name(err))
	}
	data, err = os.ReadFile("/proc/self/cwd/file")
	fmt.Println("cwd", string(data), name(err))
	exe, err := os.Open("/proc/self/exe")
	fmt.Println("exe", exe != nil, name(err))
	_, err = os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	fmt.Println("mem", name(err))
	_, err = os.OpenFile("/dev/tty", os.O_RDWR, 0)
	fmt.Println("tty", name(err))
	_, err = os.ReadFile("/proc/self/environ")
	fmt.Println("environ", name(err))
	out, err := os.OpenFile("/dev/stdout", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		fmt.Println("stdout", name(err))
		return
	}
	fmt.Fprintln(out, "stdout ok")
}

// /proc/self and its kin are the caller's, and not the supervisor's.
func TestProcIsTheCallersOwn(t *testing.T) {
	if !keeper(t) {
		return
	}
	asAgent(t, func() { _ = os.WriteFile(filepath.Join(os.Getenv(dirVar), "file"), []byte("text"), 0o644) })
	want := "cmdline true ok\nstat true ok\nthread true ok\nfd text ok\nfd text ok\nfd text ok\nfd text ok\ncwd text ok\nexe true ok\nmem EACCES\ntty ENXIO\nenviron ok\n"
	got := start(t, Options{}, "own").wait(t)
	// The pipe of standard output was made by the keeper, so its file is not the agent's.
	if got != want+"stdout EACCES\n" && got != want+"stdout ok\n" {
		t.Errorf("got %s", got)
	}
}

// actKeeperProc looks into the supervisor through /proc.
func actKeeperProc(args []string) {
	for _, tid := range args {
		for _, n := range []string{"environ", "maps", "mem", "fd", "fdinfo/0", "cwd/x", "root/etc/hostname", "exe", "task/" + tid + "/environ", "fd/0", "auxv", "io"} {
			_, err := os.Open("/proc/" + tid + "/" + n)
			fmt.Println(n, name(err))
		}
		_, err := os.OpenFile("/proc/"+tid+"/oom_score_adj", os.O_WRONLY, 0)
		fmt.Println("oom", name(err))
		_, err = os.ReadFile("/proc/" + tid + "/status")
		fmt.Println("status", name(err))
	}
}

// The supervisor shows the agent nothing of itself, although the kernel lets its own
// threads see everything.
func TestSupervisorsOwnFilesAreClosed(t *testing.T) {
	if !keeper(t) {
		return
	}
	tids := []string{fmt.Sprint(os.Getpid())}
	ready, end := make(chan int), make(chan struct{})
	defer close(end)
	go func() {
		th, err := become(Agent{UID: agentID(t), GID: agentID(t)}, 0)
		if err != nil {
			t.Error(err)
		}
		ready <- th.tid
		<-end
	}()
	tids = append(tids, fmt.Sprint(<-ready))
	for line := range strings.Lines(start(t, Options{}, "keeperproc", tids...).wait(t)) {
		if want := "EACCES\n"; !strings.HasSuffix(line, want) && line != "status ok\n" {
			t.Errorf("got %s", line)
		}
	}
}

// actWays tries to write and read a denied file in every way that names can be bent.
func actWays(args []string) {
	secret := args[0]
	dir, base := filepath.Split(secret)
	_ = os.Symlink(secret, "link")
	_ = os.Symlink(dir, "dirlink")
	d, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	fmt.Println("dir", name(err))
	p, err := unix.Open(secret, unix.O_PATH, 0)
	fmt.Println("pin", name(err))
	try := func(what string, f func() error) { fmt.Println(what, name(f())) }
	opens := func(path string, flags int) func() error {
		return func() error { fd, err := unix.Open(path, flags, 0); _ = unix.Close(fd); return err }
	}
	for _, path := range []string{secret, "link", "dirlink/" + base, "./dirlink/../.ssh//" + base, "/proc/self/cwd/link", "/./" + secret, dir + "/./" + base, fmt.Sprintf("/proc/self/fd/%d", p), fmt.Sprintf("/dev/fd/%d", p), fmt.Sprintf("/proc/self/fd/%d/%s", d, base), "/proc/self/root" + secret, fmt.Sprintf("/proc/%d/root%s", os.Getppid(), secret), fmt.Sprintf("/proc/thread-self/fd/%d", p)} {
		for _, flags := range []int{unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR | unix.O_CREAT, unix.O_WRONLY | unix.O_TRUNC} {
			try("open "+path, opens(path, flags))
		}
	}
	try("openat", func() error { _, err := unix.Openat(d, base, unix.O_RDWR, 0); return err })
	for _, r := range []uint64{0, unix.RESOLVE_BENEATH, unix.RESOLVE_IN_ROOT, unix.RESOLVE_NO_SYMLINKS, unix.RESOLVE_NO_MAGICLINKS, unix.RESOLVE_NO_XDEV} {
		try("openat2", func() error {
			_, err := unix.Openat2(d, base, &unix.OpenHow{Flags: unix.O_RDWR, Resolve: r})
			return err
		})
	}
	try("link", func() error { return os.Link(secret, "hard") })
	try("linkfd", func() error {
		return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", p), unix.AT_FDCWD, "hard", unix.AT_SYMLINK_FOLLOW)
	})
	try("linkempty", func() error { return unix.Linkat(p, "", unix.AT_FDCWD, "hard", unix.AT_EMPTY_PATH) })
	try("rename", func() error { return os.Rename(secret, "moved") })
	try("renamedir", func() error { return os.Rename(strings.TrimRight(dir, "/"), "moveddir") })
	try("exchange", func() error {
		_ = os.WriteFile("other", nil, 0o600)
		return unix.Renameat2(unix.AT_FDCWD, "other", unix.AT_FDCWD, secret, unix.RENAME_EXCHANGE)
	})
	try("onto", func() error { return os.Rename("other", "dirlink/"+base) })
	try("truncate", func() error { return unix.Truncate("link", 0) })
	try("chmod", func() error { return unix.Chmod(secret, 0o777) })
	try("chmodfd", func() error { return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", p), 0o777) })
	try("chown", func() error { return unix.Fchownat(p, "", -1, -1, unix.AT_EMPTY_PATH) })
	try("utimes", func() error { return unix.UtimesNanoAt(d, base, nil, 0) })
	try("setxattr", func() error { return unix.Setxattr("link", "user.x", []byte("1"), 0) })
	try("unlink", func() error { return unix.Unlinkat(d, base, 0) })
	fmt.Println("end")
}

// No way of naming a file evades a rule about its path.
func TestWaysOfNaming(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	secret := filepath.Join(dir, "deep", ".ssh", "key")
	asAgent(t, func() {
		_ = os.MkdirAll(filepath.Dir(secret), 0o755)
		_ = os.WriteFile(secret, []byte("secret"), 0o666)
	})
	var asked atomic.Int32
	p := start(t, Options{
		Judge: &rules{list: []rule{{"", secret, policy.Deny}}},
		Ask:   func(context.Context, wire.Approval) wire.Answer { asked.Add(1); return wire.Answer{Allow: true} },
	}, "ways", secret)
	got := p.wait(t)
	for line := range strings.Lines(got) {
		switch strings.TrimSpace(line) {
		case "dir ok", "pin ok", "end":
		default:
			if !strings.HasSuffix(line, "EACCES\n") {
				t.Errorf("got %s", line)
			}
		}
	}
	if data, err := os.ReadFile(secret); string(data) != "secret" || err != nil || !strings.HasSuffix(got, "end\n") {
		t.Errorf("the file is %q, %v\n%s", data, err, got)
	}
	if n := strings.Count(p.errs.String(), "loop: Loop's gate denied"); n == 0 || n > 30 {
		t.Errorf("told %d times", n)
	}
}

// actUnmapped opens a path that ends where memory does.
func actUnmapped([]string) {
	page := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = unix.Munmap(mem) // both pages; the first is taken again
	addr, err := unix.MmapPtr(-1, 0, unsafe.Pointer(&mem[0]), uintptr(page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		fmt.Println(err)
		return
	}
	first := unsafe.Slice((*byte)(addr), page)
	copy(first[page-4:], "/tmp")
	_, e := openRaw(unix.AT_FDCWD, unsafe.Pointer(&first[page-4]), unix.O_RDONLY)
	fmt.Println(unix.ErrnoName(e))
	_, e = openRaw(unix.AT_FDCWD, nil, unix.O_RDONLY)
	fmt.Println(unix.ErrnoName(e))
	copy(first[page-5:], "/tmp\x00")
	_, e = openRaw(unix.AT_FDCWD, unsafe.Pointer(&first[page-5]), unix.O_RDONLY)
	fmt.Println(e)
}

func TestPathAtTheEndOfMemory(t *testing.T) {
	if !keeper(t) {
		return
	}
	if got := start(t, Options{}, "unmapped").wait(t); got != "EFAULT\nEFAULT\nerrno 0\n" {
		t.Errorf("got %s", got)
	}
}
