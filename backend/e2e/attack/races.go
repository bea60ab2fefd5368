//go:build linux

package main

import (
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The races change a call's arguments while it is judged. One store turns one name into
// the other.
//
// How the threads take turns is the kernel's affair, so that a race is not over after its
// rounds: it goes on until it has shown something. Without a gate that is a win; with one,
// that both names came to be judged.

func raceAttacks() []attack {
	return []attack{
		{"A1", func(p place, r *report) { raceNames(p.at("dent/secret"), p.secret(), unix.O_RDONLY, r) }},
		{"A1-write", func(p place, r *report) { raceNames(p.at("dent/secret"), p.secret(), unix.O_WRONLY|unix.O_APPEND, r) }},
		{"X1", func(p place, r *report) {
			raceNames(p.at(".git/good"), p.at(".git/config"), unix.O_WRONLY|unix.O_APPEND, r)
		}},
		{"X2", raceAcrossChange},
		{"A2", raceExec},
		{"A19", raceFromOtherProcess},
		{"X3", raceParentFolder},
		{"X4", raceRename},
	}
}

// flipped is a path that changes by itself.
type flipped struct {
	path unsafe.Pointer
	word *uint64
	a, b uint64 // the word of the one name and of the other
}

// flip prepares two names that differ in at most eight bytes, in memory that processes
// may share.
func flip(one, other string) (flipped, error) {
	page, err := unix.MmapPtr(-1, 0, nil, uintptr(unix.Getpagesize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		return flipped{}, err
	}
	at := 0
	for one[at] == other[at] {
		at++
	}
	path := unsafe.Add(page, 8-at%8) // the first byte that differs is the first of a word
	f := flipped{path: path, word: (*uint64)(unsafe.Add(path, at))}
	buf := unsafe.Slice((*byte)(path), unix.Getpagesize()-8)
	copy(buf, other+"\x00")
	f.b = *f.word
	*f.word = 0
	copy(buf, one+"\x00")
	f.a = *f.word
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
			atomic.StoreUint64(f.word, f.a)
			atomic.StoreUint64(f.word, f.b)
		}
	})
	return func() { done.Store(true); wg.Wait() }
}

// raced is what came of the rounds of a race.
type raced struct {
	tries, won int            // won: the closed one
	allowed    int            // the free one
	refused    int            // for want of a permission
	other      map[string]int // other errors
}

// shown says that the race has shown something.
func (n *raced) shown() bool { return n.won > 0 || n.allowed > 0 && n.refused > 0 }

// hasWon is for races that must be won.
func (n *raced) hasWon() bool { return n.won > 0 }

// race tries until enough has been seen, but at least so many times.
func race(times int, enough func(*raced) bool, try func(*raced)) *raced {
	n := &raced{other: make(map[string]int)}
	began := time.Now()
	for {
		if n.tries >= times && (enough(n) || time.Since(began) > raceLasts) {
			return n
		}
		n.tries++
		try(n)
	}
}

// raceLasts bounds races that show nothing.
const raceLasts = time.Minute

// count reports a race.
func (n *raced) count(r *report, prefix string) {
	r.count(prefix+"tries", n.tries)
	r.count(prefix+"allowed", n.allowed)
	r.count(prefix+"refused", n.refused)
	r.count(prefix+"won", n.won)
	for name, times := range n.other {
		r.count(prefix+name, times)
	}
	if !n.shown() {
		r.count("inconclusive", 1)
	}
}

// raceNames opens a path that changes between a name that is free and one that is not.
func raceNames(one, other string, flags int, r *report) {
	f, err := flip(one, other)
	if !r.tried("mmap", err) {
		return
	}
	stop := f.run()
	defer stop()
	race(rounds(2000), (*raced).shown, opener(f.path, flags, other, r)).count(r, "")
}

// raceAcrossChange races for a file that is closed meanwhile: until it is told that this
// is so, and then as other races do. What it wins then counts.
func raceAcrossChange(p place, r *report) {
	f, err := flip(p.at("tight/file"), p.at("tight/filf"))
	if !r.tried("mmap", err) {
		return
	}
	stop := f.run()
	defer stop()
	try := opener(f.path, unix.O_WRONLY|unix.O_APPEND, p.at("tight/filf"), r)
	told := func(n *raced) bool { return n.tries%64 == 0 && unix.Access(p.free("told"), unix.F_OK) == nil }
	race(0, told, try).count(r, "before ")
	race(rounds(2000), (*raced).shown, try).count(r, "")
}

// opener opens a path and looks which file that has led to.
func opener(path unsafe.Pointer, flags int, closed string, r *report) func(*raced) {
	var secret, st unix.Stat_t
	r.tried("stat", unix.Stat(closed, &secret))
	buf := make([]byte, 64)
	cwd := unix.AT_FDCWD
	return func(n *raced) {
		fd, err := call(unix.SYS_OPENAT, uintptr(cwd), uintptr(path), uintptr(flags|unix.O_CLOEXEC|unix.O_NOCTTY))
		if err != nil {
			n.failed(err)
			return
		}
		if unix.Fstat(fd, &st) == nil && st.Dev == secret.Dev && st.Ino == secret.Ino {
			n.won++
			if flags&unix.O_WRONLY == 0 {
				got, _ := unix.Read(fd, buf)
				r.Got = string(buf[:max(got, 0)])
			}
		} else {
			n.allowed++
		}
		if flags&unix.O_WRONLY != 0 {
			_, _ = unix.Write(fd, []byte("x"))
		}
		_ = unix.Close(fd)
	}
}

func (n *raced) failed(err error) {
	e, _ := errors.AsType[unix.Errno](err)
	if e == unix.EACCES {
		n.refused++
	} else {
		n.other[unix.ErrnoName(e)]++
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
	race(rounds(300), (*raced).shown, func(n *raced) {
		pid := vforkExec(f.path, unsafe.Pointer(&argv[0]), unsafe.Pointer(&envp[0]))
		if pid < 0 {
			n.other["vfork"]++
			return
		}
		var ws unix.WaitStatus
		_, err := unix.Wait4(pid, &ws, 0, nil)
		switch {
		case err != nil || ws.ExitStatus() != 0:
			n.refused++
		case n.won == 0 && unix.Access(p.marker(), unix.F_OK) == nil:
			n.won++
		default:
			n.allowed++
		}
	}).count(r, "")
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
	pid := cloneFlipper((*uint32)(unsafe.Pointer(f.word)), uint32(f.a), uint32(f.b), stop, unsafe.Add(stack, 64<<10-64))
	if pid < 0 {
		r.tried("clone", unix.Errno(-pid))
		return
	}
	raceBoth(f.path, p.secret(), r)
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
	path := cstring(name)
	raceBoth(path, p.secret(), r)
	runtime.KeepAlive(path)
	done.Store(true)
	wg.Wait()
}

// raceBoth opens for reading, then for writing.
func raceBoth(path unsafe.Pointer, closed string, r *report) {
	for _, flags := range []int{unix.O_RDONLY, unix.O_WRONLY | unix.O_APPEND} {
		race(rounds(2000), (*raced).shown, opener(path, flags, closed, r)).count(r, "")
	}
}
