//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

func decimal(n int) string { return strconv.Itoa(n) }

// supervisorAttacks turn on Loop's own processes.
func supervisorAttacks() []attack {
	return []attack{
		{"A30", attackSupervisor},
		{"A30-all", killAll},
		{"X34", signalByDescriptor},
		{"E7", touchPolicyElsewhere},
		{"E12", touchPolicy},
		{"E13", touchAudit},
	}
}

const supervisorUID = 64999

// loops lists the threads of Loop's own programs.
func loops() []int {
	var out []int
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == unix.Getpid() {
			continue
		}
		tasks, err := os.ReadDir("/proc/" + d.Name() + "/task")
		if err != nil {
			continue
		}
		for _, task := range tasks {
			status, err := os.ReadFile("/proc/" + d.Name() + "/task/" + task.Name() + "/status")
			tid, err2 := strconv.Atoi(task.Name())
			if err == nil && err2 == nil && strings.Contains(string(status), fmt.Sprintf("Uid:\t%d\t", supervisorUID)) {
				out = append(out, tid)
			}
		}
	}
	return out
}

// attackSupervisor tries on every thread of Loop's what the kernel offers against a
// process, while the threads work for this one.
func attackSupervisor(p place, r *report) {
	stop := busy(p)
	defer stop()
	all := loops()
	r.count("threads", len(all))
	try := func(what string, err error) {
		if err == nil {
			r.tried(what, nil)
			r.count("succeeded", 1)
		}
	}
	for range 5 {
		for _, tid := range all {
			try("kill", unix.Kill(tid, unix.SIGCONT))
			try("tkill", callOnly(unix.SYS_TKILL, uintptr(tid), uintptr(unix.SIGCONT)))
			try("stop", callOnly(unix.SYS_TKILL, uintptr(tid), uintptr(unix.SIGSTOP)))
			try("kill it", unix.Kill(tid, unix.SIGKILL))
			try("setpriority", unix.Setpriority(unix.PRIO_PROCESS, tid, 19))
			try("sched_setscheduler", callOnly(unix.SYS_SCHED_SETSCHEDULER, uintptr(tid), 5, uintptr(unsafe.Pointer(new(uint64)))))
			try("ioprio_set", callOnly(unix.SYS_IOPRIO_SET, 1, uintptr(tid), 3<<13))
			set := unix.CPUSet{}
			set.Set(0)
			try("sched_setaffinity", unix.SchedSetaffinity(tid, &set))
			try("prlimit", unix.Prlimit(tid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 4, Max: 4}, nil))
			try("migrate_pages", callOnly(unix.SYS_MIGRATE_PAGES, uintptr(tid), 0, 0, 0))
			try("PTRACE_SEIZE", callOnly(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(tid), 0, 0))
			b := []byte{0}
			_, err := unix.ProcessVMReadv(tid, []unix.Iovec{{Base: &b[0], Len: 1}}, []unix.RemoteIovec{{Base: 0x400000, Len: 1}}, 0)
			try("process_vm_readv", err)
			if fd, err := unix.PidfdOpen(tid, 0); err == nil {
				try("pidfd_send_signal", unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0))
				_, err := unix.PidfdGetfd(fd, 0, 0)
				try("pidfd_getfd", err)
				_ = unix.Close(fd)
			}
			for _, f := range []string{"mem", "environ", "maps", "auxv"} {
				try("open "+f, readsAny(fmt.Sprintf("/proc/%d/%s", tid, f)))
			}
			// Where the agent has uid 0 it may count what a thread that works for it has open.
			list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", tid))
			for _, d := range list {
				_, err = os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", tid, d.Name()))
				try("see a descriptor", err)
			}
			for name, value := range map[string]string{"oom_score_adj": "1000", "coredump_filter": "0"} {
				file := fmt.Sprintf("/proc/%d/%s", tid, name)
				try(name, os.WriteFile(file, []byte(value), 0o644)) //nolint:gosec // a file of the kernel
			}
		}
		all = append(all, loops()...)
	}
}

// signalByDescriptor has the kernel signal Loop's processes when a pipe gets a byte. For
// that the kernel looks at the uid of whoever asked for it, and lets 0 pass.
func signalByDescriptor(_ place, r *report) {
	var pipe [2]int
	if !r.tried("pipe", unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK)) {
		return
	}
	for _, tid := range loops() {
		if tid == 1 {
			continue // loop init is the namespace's first process, which such signals spare
		}
		_, err := unix.FcntlInt(uintptr(pipe[0]), unix.F_SETOWN, tid)
		r.tried("F_SETOWN", err)
		_, err = unix.FcntlInt(uintptr(pipe[0]), unix.F_SETSIG, int(unix.SIGKILL))
		r.tried("F_SETSIG", err)
		_, err = unix.FcntlInt(uintptr(pipe[0]), unix.F_SETFL, unix.O_ASYNC|unix.O_NONBLOCK)
		r.tried("O_ASYNC", err)
		_, err = unix.Write(pipe[1], []byte("x"))
		r.tried("write", err)
		_, _ = unix.Read(pipe[0], make([]byte, 1))
	}
}

func callOnly(n uintptr, args ...uintptr) error {
	_, err := call(n, args...)
	return err
}

// readsAny reports whether a byte of a file can be read: some files open and give nothing.
func readsAny(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = f.ReadAt(make([]byte, 1), 0)
	return err
}

// busy keeps the supervisor's threads at work until it is stopped.
func busy(p place) (stop func()) {
	end := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				if fd, err := unix.Open(p.free("good"), unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
					_ = unix.Close(fd)
				}
			}
		})
	}
	return func() { close(end); wg.Wait() }
}

// killAll signals everything that it may, which is its own tree. The threads at work for
// it must not be among them.
func killAll(p place, r *report) {
	stop := busy(p)
	defer stop()
	for range 50 {
		r.tried("kill -1", unix.Kill(-1, unix.SIGCONT))
	}
	for range 20 {
		err := unix.Kill(-1, unix.SIGKILL) // everything but itself
		if err != nil && err != unix.ESRCH {
			r.tried("kill -1", err)
		}
	}
}

// touchPolicy reaches for the document by which it is judged.
func touchPolicy(_ place, r *report) {
	for _, dir := range []string{"/run/loop/gate", "/run/loop/private", "/run/loop"} {
		entries, err := os.ReadDir(dir)
		r.tried("list "+dir, err)
		for _, e := range entries {
			name := dir + "/" + e.Name()
			if e.Name() == "runs" {
				continue // its own files lie there
			}
			if r.tried("write "+name, callOnly(unix.SYS_TRUNCATE, uintptr(cstring(name)), 0)) {
				r.count("changed", 1)
			}
			if r.tried("rename "+name, unix.Rename(name, name+"x")) {
				r.count("changed", 1)
			}
			if r.tried("unlink "+name, unix.Unlink(name)) {
				r.count("changed", 1)
			}
		}
		if r.tried("create in "+dir, say(dir+"/made-by-attack")) {
			r.count("changed", 1)
		}
		if r.tried("rename "+dir, unix.Rename(dir, dir+"x")) {
			r.count("changed", 1)
		}
	}
	for _, name := range []string{"/etc/loop/gate-policy.json", "/etc/loop"} {
		if r.tried("unlink "+name, unix.Unlink(name)) {
			r.count("changed", 1)
		}
	}
}

// touchPolicyElsewhere reaches for it by other ways than its name.
func touchPolicyElsewhere(p place, r *report) {
	file := os.Getenv("LOOP_GATE_POLICY_FILE")
	if file == "" {
		return
	}
	// It may be read: it tells the program what it may do.
	if _, err := os.ReadFile(file); r.tried("read it", err) {
		r.count("read", 1)
	}
	for _, root := range []string{"/proc/self/root", "/proc/1/root", fmt.Sprintf("/proc/%d/root", unix.Getppid()), "/proc/self/cwd/.."} {
		fd, err := unix.Open(root+file, unix.O_WRONLY|unix.O_TRUNC|unix.O_CLOEXEC, 0)
		if r.wrote("open by "+root, fd, err) {
			r.count("changed", 1)
		}
	}
	if fd, err := unix.Open(file, unix.O_PATH|unix.O_CLOEXEC, 0); r.tried("open O_PATH", err) {
		again, err := unix.Open(selfFD(fd), unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if r.wrote("reopen", again, err) {
			r.count("changed", 1)
		}
	}
	for what, err := range map[string]error{
		"link":      unix.Link(file, p.free("policy")),
		"exchange":  unix.Renameat2(unix.AT_FDCWD, p.free("good"), unix.AT_FDCWD, file, unix.RENAME_EXCHANGE),
		"overwrite": unix.Rename(p.free("good"), file),
		"chmod":     unix.Chmod(file, 0o666),
		"mount":     unix.Mount(p.free("good"), file, "", unix.MS_BIND, ""),
	} {
		if r.tried(what, err) {
			r.count("changed", 1)
		}
	}
}

// touchAudit looks for anything of the log of decisions in the container.
func touchAudit(_ place, r *report) {
	for _, name := range []string{"/run/loop/private/spool", "/run/loop/audit", "/var/log/loop", "/run/loop/private"} {
		_, err := os.ReadDir(name)
		if r.tried("list "+name, err) {
			r.count("reached", 1)
		}
	}
}
