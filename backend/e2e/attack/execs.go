//go:build linux

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// execAttacks run a program that may not run, under other names and by other calls.
// The forbidden program is a copy of touch, which makes the marker.
func execAttacks() []attack {
	return []attack{
		{"A2-plain", func(p place, r *report) { execute(r, p.at("bin/denied"), "denied", p.marker()) }},
		{"A3", execChangingArguments},
		{"A8", execAnonymous},
		{"A10", execByLoader},
		{"A11", execCopy},
		{"A13", execScript},
		{"A13-swap", execScriptSwapped},
		{"A26", execSetuid},
		{"X8", execByInterpreters},
		{"X9", execUngated},
		{"X31", execFresh},
	}
}

// execute runs a program in a child and waits for it.
func execute(r *report, path string, argv ...string) {
	executeAt(r, "execve "+path, unix.SYS_EXECVE, []uintptr{uintptr(cstring(path))}, nil, argv...)
}

// executeAt makes a child that makes one exec call; before and after are its arguments
// around argv and the environment.
func executeAt(r *report, what string, number uintptr, before, after []uintptr, argv ...string) {
	args := make([]unsafe.Pointer, 0, len(argv)+1)
	for _, a := range argv {
		args = append(args, cstring(a))
	}
	args = append(args, nil)
	env := []unsafe.Pointer{cstring("PATH=/usr/local/bin:/usr/bin:/bin"), nil}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all := append(append(append([]uintptr(nil), before...), uintptr(unsafe.Pointer(&args[0])), uintptr(unsafe.Pointer(&env[0]))), after...)
	pid, err := forkCall(number, all)
	runtime.KeepAlive(args)
	runtime.KeepAlive(env)
	if !r.tried("fork", err) {
		return
	}
	var ws unix.WaitStatus
	_, err = unix.Wait4(pid, &ws, 0, nil)
	switch {
	case err != nil:
		r.tried(what, err)
	case ws.Exited() && ws.ExitStatus() >= 128: // forkCall's child says the error of its call
		r.tried(what, unix.Errno(ws.ExitStatus()-128))
	case ws.Signaled():
		r.tried(what+": "+unix.SignalName(ws.Signal()), unix.ECANCELED)
	case ws.ExitStatus() != 0:
		r.tried(what+": the program failed", unix.ECANCELED)
	default:
		r.tried(what, nil)
	}
}

// forkCall makes a child with copied memory that makes one system call, and ends with
// 128 and its error when it returns. The child runs on the one thread that was copied,
// so it does nothing else.
//
//go:norace
//go:nosplit
func forkCall(number uintptr, args []uintptr) (int, error) {
	var a [6]uintptr
	copy(a[:], args)
	pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e != 0 {
		return 0, e
	}
	if pid == 0 {
		_, _, e := unix.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 128+uintptr(e)%128, 0, 0)
	}
	return int(pid), nil
}

// execChangingArguments changes an argument while a person thinks about the command.
func execChangingArguments(p place, r *report) {
	innocent := p.at("ran/notice")
	page, err := unix.MmapPtr(-1, 0, nil, uintptr(unix.Getpagesize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if !r.tried("mmap", err) {
		return
	}
	arg := unsafe.Slice((*byte)(page), unix.Getpagesize())
	copy(arg, innocent)
	argv := []unsafe.Pointer{cstring("askrun"), page, nil}
	env := []unsafe.Pointer{nil}
	path := cstring(p.at("bin/askrun"))
	unasked := os.Getenv("ASKED") == "" // without a gate nobody asks, and there is no time to change anything later
	if unasked {
		copy(arg, p.marker())
	}
	pid, err := forkCall(unix.SYS_EXECVE, []uintptr{uintptr(path), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0]))})
	if !r.tried("fork", err) {
		return
	}
	if !unasked && await(p.free("asked")) {
		copy(arg, p.marker())
	}
	r.tried("tell", say(p.free("swapped")))
	var ws unix.WaitStatus
	_, err = unix.Wait4(pid, &ws, 0, nil)
	r.tried("wait", err)
	runtime.KeepAlive(argv)
	runtime.KeepAlive(env)
}

// anonymous copies a program into memory that has no name.
func anonymous(r *report, path string) (int, bool) {
	data, err := os.ReadFile(path)
	if !r.tried("read the program", err) {
		return 0, false
	}
	fd, err := unix.MemfdCreate("program", 0)
	if !r.tried("memfd_create", err) {
		return 0, false
	}
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if err != nil {
			r.tried("write memfd", err)
			return 0, false
		}
		data = data[n:]
	}
	return fd, true
}

func execAnonymous(p place, r *report) {
	fd, ok := anonymous(r, p.at("bin/denied"))
	if !ok {
		return
	}
	executeAt(r, "execveat memfd", unix.SYS_EXECVEAT, []uintptr{uintptr(fd), uintptr(cstring(""))},
		[]uintptr{unix.AT_EMPTY_PATH}, "denied", p.marker())
}

// loader is the dynamic linker of the image.
func loader() string {
	for _, pattern := range []string{"/lib64/ld-linux-*.so.2", "/lib/ld-linux-*.so.*"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
	}
	return "/lib64/ld-linux-x86-64.so.2"
}

func execByLoader(p place, r *report) {
	execute(r, loader(), "ld.so", p.at("bin/denied"), p.marker())
	execute(r, loader(), "ld.so", "--argv0", "innocent", p.at("bin/denied"), p.marker())
}

func execCopy(p place, r *report) {
	data, err := os.ReadFile(p.at("bin/denied"))
	if r.tried("read the program", err) && script(r, p.free("innocent"), string(data)) {
		execute(r, p.free("innocent"), "innocent", p.marker())
	}
	r.tried("link", unix.Link(p.at("bin/denied"), p.free("linked")))
	execute(r, p.free("linked"), "linked", p.marker())
	r.tried("symlink", unix.Symlink(p.at("bin/denied"), p.free("pointing")))
	execute(r, p.free("pointing"), "pointing", p.marker())
	r.tried("rename", unix.Rename(p.at("bin/denied"), p.free("renamed")))
	execute(r, p.free("renamed"), "renamed", p.marker())
	execute(r, p.at("open/../bin/./denied"), "innocent", p.marker())
}

func script(r *report, path, text string) bool {
	return r.tried("write script", os.WriteFile(path, []byte(text), 0o755)) //nolint:gosec // a script must be executable
}

func execScript(p place, r *report) {
	if script(r, p.free("script"), "#!"+p.at("bin/denied")+" "+p.marker()+"\n") {
		execute(r, p.free("script"), "script")
	}
	if script(r, p.free("script2"), "#!"+p.free("script")+"\n") {
		execute(r, p.free("script2"), "script2")
	}
}

// execScriptSwapped has a script approved and then names another interpreter in it.
func execScriptSwapped(p place, r *report) {
	if !script(r, p.free("askscript"), "#!"+p.at("bin/denief")+" "+p.marker()+"\n") {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Getenv("ASKED") == "" || await(p.free("asked")) {
			script(r, p.free("askscript"), "#!"+p.at("bin/denied")+" "+p.marker()+"\n")
		}
		r.tried("tell", say(p.free("swapped")))
	}()
	if os.Getenv("ASKED") == "" {
		<-done
	}
	execute(r, p.free("askscript"), "askscript")
	<-done
}

// execSetuid runs a program that belongs to root and has the set-user-id bit; it makes
// a file where only root can.
func execSetuid(p place, r *report) {
	execute(r, p.at("open/setuid"), "setuid", p.at("root/marker"))
}

// execByInterpreters runs the forbidden program from others.
func execByInterpreters(p place, r *report) {
	execute(r, "/bin/sh", "sh", "-c", p.at("bin/denied")+" "+p.marker())
	execute(r, "/usr/bin/env", "env", p.at("bin/denied"), p.marker())
	execute(r, "/usr/bin/perl", "perl", "-e", "exec @ARGV", p.at("bin/denied"), p.marker())
	execute(r, "/usr/bin/find", "find", p.at("ran"), "-maxdepth", "0", "-exec", p.at("bin/denied"), p.marker(), ";")
	execute(r, "/usr/bin/git", "git", "-c", "alias.x=!"+p.at("bin/denied")+" "+p.marker(), "x")
	execute(r, "/bin/sh", "sh", "-c", "cat "+p.secret()+"; echo x >> "+p.secret())
	execute(r, "/usr/bin/perl", "perl", "-e", "open F, '>>', $ARGV[0] and print F 'x'", p.secret())
}

// execUngated starts the attack program anew with every word that could switch a gate off.
func execUngated(p place, r *report) {
	self, err := os.Executable()
	if !r.tried("own name", err) {
		return
	}
	execute(r, "/usr/bin/env", "env", "-i", "LOOP_GATE_ENABLED=false", "LOOP_GATE=off", "LOOP_CHANNEL_ID=x", "LOOP_GATE_POLICY_FILE=/dev/null",
		self, "A12", string(p))
	execute(r, "/opt/loop/bin/loop", "loop", "spawn", "/bin/sh", "-c", "echo x >> "+p.secret())
	execute(r, "/opt/loop/bin/loop", "loop", "syscallwrap", "/bin/sh", "-c", "echo x >> "+p.secret())
}

// execFresh writes programs and runs each at once. Whoever opened the file in the place
// of this process must have closed it, or the kernel says that it is being written.
func execFresh(p place, r *report) {
	for i := range rounds(100) {
		name := p.free("fresh" + decimal(i))
		if !script(r, name, "#!/bin/sh\n") {
			return
		}
		execute(r, name, "fresh")
		if last := r.Steps[len(r.Steps)-1]; last.Errno != "" {
			r.count("failed "+last.Errno, 1)
		} else {
			r.count("ran", 1)
		}
		r.Steps = nil
	}
}
