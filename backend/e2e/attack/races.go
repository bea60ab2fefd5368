//go:build linux

package main

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The races change a call's arguments while it is judged. Two names differ in one
// byte, so that one store turns the one into the other.

func raceAttacks() []attack {
	return []attack{
		{"A1", func(p place, r *report) { raceNames(p.at("dent/secret"), p.secret(), unix.O_RDONLY, r) }},
		{"A1-write", func(p place, r *report) { raceNames(p.at("dent/secret"), p.secret(), unix.O_WRONLY|unix.O_APPEND, r) }},
		{"X1", func(p place, r *report) {
			raceNames(p.at(".git/confih"), p.at(".git/config"), unix.O_WRONLY|unix.O_APPEND, r)
		}},
		{"X2", func(p place, r *report) {
			raceNames(p.at("tight/file"), p.at("tight/filf"), unix.O_WRONLY|unix.O_APPEND, r)
		}},
		{"A2", raceExec},
		{"A19", raceFromOtherProcess},
		{"X3", raceParentFolder},
		{"X4", raceRename},
	}
}

// flipped is a path that changes by itself.
type flipped struct {
	path unsafe.Pointer
	word *uint32
	a, b uint32 // the word of the one name and of the other
}

// flip prepares two names of one length that differ in one byte. The memory is shared
// and below 4 GiB, so that other processes can have it too.
func flip(one, other string) (flipped, error) {
	page, err := unix.MmapPtr(-1, 0, nil, uintptr(unix.Getpagesize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		return flipped{}, err
	}
	at := 0
	for one[at] == other[at] {
		at++
	}
	buf := unsafe.Slice((*byte)(page), unix.Getpagesize())
	copy(buf, one)
	f := flipped{path: page, word: (*uint32)(unsafe.Add(page, at&^3))}
	f.a = *f.word
	buf[at] = other[at]
	f.b = *f.word
	return f, nil
}

// run flips on a thread of its own until the returned function is called.
func (f flipped) run() (stop func()) {
	debug.SetGCPercent(-1) // a collection would wait for a thread that the kernel holds
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread()
		for !done.Load() {
			atomic.StoreUint32(f.word, f.a)
			atomic.StoreUint32(f.word, f.b)
		}
	})
	return func() { done.Store(true); wg.Wait() }
}

// raceNames opens a path that changes between a name that is free and one that is not.
// The test sees on the disk what was written, and in Got what was read.
func raceNames(one, other string, flags int, r *report) {
	f, err := flip(one, other)
	if !r.tried("mmap", err) {
		return
	}
	stop := f.run()
	defer stop()
	f.opens(flags, r)
}

// opens opens the path many times. Files whose text begins with “GOOD” are the free ones.
func (f flipped) opens(flags int, r *report) {
	buf := make([]byte, 64)
	cwd := unix.AT_FDCWD
	for range rounds(2000) {
		fd, err := call(unix.SYS_OPENAT, uintptr(cwd), uintptr(f.path), uintptr(flags|unix.O_CLOEXEC|unix.O_NOCTTY))
		if err != nil {
			r.count("refused", 1)
			continue
		}
		if flags&unix.O_WRONLY != 0 {
			_, _ = unix.Write(fd, []byte("x"))
			r.count("opened", 1)
		} else if n, _ := unix.Read(fd, buf); strings.HasPrefix(string(buf[:n]), "GOOD") {
			r.count("opened", 1)
		} else {
			r.count("won", 1)
			r.Got = string(buf[:n])
		}
		_ = unix.Close(fd)
	}
}

// raceExec executes a path that changes between a program that may run and one that may not.
func raceExec(p place, r *report) {
	f, err := flip(p.at("bin/denief"), p.at("bin/denied"))
	if !r.tried("mmap", err) {
		return
	}
	argv := []unsafe.Pointer{cstring("program"), cstring(p.marker()), nil}
	envp := []unsafe.Pointer{nil}
	stop := f.run()
	defer stop()
	runtime.LockOSThread()
	for range rounds(300) {
		pid := vforkExec(f.path, unsafe.Pointer(&argv[0]), unsafe.Pointer(&envp[0]))
		if pid < 0 {
			r.tried("vfork", unix.Errno(-pid))
			return
		}
		var ws unix.WaitStatus
		_, err := unix.Wait4(pid, &ws, 0, nil)
		if err == nil && ws.ExitStatus() == 0 {
			r.count("ran", 1)
		} else {
			r.count("refused", 1)
		}
	}
	if unix.Access(p.marker(), unix.F_OK) == nil {
		r.count("won", 1)
	}
	runtime.KeepAlive(argv)
	runtime.KeepAlive(envp)
}

// raceFromOtherProcess has a process with the same memory change the path, which is no
// thread of the one that opens it.
func raceFromOtherProcess(p place, r *report) {
	f, err := flip(p.at("dent/secret"), p.secret())
	if !r.tried("mmap", err) {
		return
	}
	stack, err := unix.MmapPtr(-1, 0, nil, 64<<10, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if !r.tried("mmap", err) {
		return
	}
	stop := new(uint32)
	pid := cloneFlipper(f.word, f.a, f.b, stop, unsafe.Add(stack, 64<<10-64))
	if pid < 0 {
		r.tried("clone", unix.Errno(-pid))
		return
	}
	f.opens(unix.O_RDONLY, r)
	f.opens(unix.O_WRONLY|unix.O_APPEND, r)
	atomic.StoreUint32(stop, 1)
	_, _ = unix.Wait4(pid, nil, 0, nil)
}

// raceParentFolder lets a link in the path lead to a free folder and to a closed one by turns.
func raceParentFolder(p place, r *report) {
	for name, to := range map[string]string{"to-dent": "dent", "to-deny": "deny"} {
		r.tried("symlink", unix.Symlink(p.at(to), p.free(name)))
	}
	swapper(p, r, func() {
		_ = unix.Rename(p.free("to-dent"), p.free("now"))
		_ = unix.Symlink(p.at("dent"), p.free("to-dent"))
		_ = unix.Rename(p.free("to-deny"), p.free("now"))
		_ = unix.Symlink(p.at("deny"), p.free("to-deny"))
	}, p.free("now/secret"))
}

// raceRename exchanges two folders, of which one holds a link to the closed one.
func raceRename(p place, r *report) {
	r.tried("mkdir", unix.Mkdir(p.free("a"), 0o755))
	r.tried("symlink", unix.Symlink(p.at("dent/secret"), p.free("a/secret")))
	r.tried("mkdir", unix.Mkdir(p.free("b"), 0o755))
	r.tried("symlink", unix.Symlink(p.secret(), p.free("b/secret")))
	swapper(p, r, func() {
		_ = unix.Renameat2(unix.AT_FDCWD, p.free("a"), unix.AT_FDCWD, p.free("b"), unix.RENAME_EXCHANGE)
	}, p.free("a/secret"))
}

// swapper opens a name while another thread changes what it means.
func swapper(p place, r *report, swap func(), name string) {
	var done atomic.Bool
	var wg sync.WaitGroup
	begun := make(chan struct{})
	wg.Go(func() {
		runtime.LockOSThread()
		swap()
		close(begun)
		for !done.Load() {
			swap()
		}
	})
	<-begun
	f := flipped{path: cstring(name)}
	f.opens(unix.O_RDONLY, r)
	f.opens(unix.O_WRONLY|unix.O_APPEND, r)
	done.Store(true)
	wg.Wait()
}
