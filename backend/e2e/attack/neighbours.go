//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// neighbours are programs without a policy, as a person's own shell is: the attacks
// try to act through them.
func neighbours() []attack {
	return []attack{
		{"hold", holdSecret},
		{"serve", serveShell},
		{"wait", func(place, *report) { pauseForever() }},
	}
}

// held is how an attack finds its neighbour.
type held struct {
	Pid    int
	Secret uintptr // address of the secret's text
	Flag   uintptr // set to 1, it makes the neighbour run the forbidden program
	FD     int     // the open file
	TTY    string  // the terminal that its shell listens at, if it has one
}

func (p place) neighbour(r *report) (held, bool) {
	var h held
	if !await(p.at("neighbour.json")) {
		return h, r.tried("find the neighbour", unix.ENOENT)
	}
	data, err := os.ReadFile(p.at("neighbour.json"))
	return h, r.tried("read about the neighbour", err) && r.tried("read about the neighbour", json.Unmarshal(data, &h))
}

// holdSecret keeps the secret in its memory and in a descriptor, and waits.
func holdSecret(p place, r *report) {
	fd, err := unix.Open(p.secret(), unix.O_RDWR|unix.O_APPEND, 0)
	if !r.tried("open", err) {
		return
	}
	page, err := unix.MmapPtr(-1, 0, nil, uintptr(unix.Getpagesize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if !r.tried("mmap", err) {
		return
	}
	text := unsafe.Slice((*byte)(page), unix.Getpagesize())
	n, err := unix.Pread(fd, text[64:], 0)
	if !r.tried("read", err) || n == 0 {
		return
	}
	h := held{Pid: unix.Getpid(), Secret: uintptr(page) + 64, Flag: uintptr(page), FD: fd}
	if tty, err := os.Readlink("/proc/self/fd/0"); err == nil {
		h.TTY = tty
	}
	data, err := json.Marshal(h)
	if !r.tried("marshal", err) || !r.tried("tell", os.WriteFile(p.at("neighbour.new"), data, 0o644)) ||
		!r.tried("tell", os.Rename(p.at("neighbour.new"), p.at("neighbour.json"))) {
		return
	}
	tick := time.NewTicker(5 * time.Millisecond)
	for range tick.C {
		if text[0] != 0 {
			text[0] = 0
			_ = exec.Command("touch", p.marker()).Run() //nolint:noctx // ends with the container
		}
	}
}

// serveShell runs what it is sent, as a terminal multiplexer does, and gives its
// descriptor of the secret to whoever connects.
func serveShell(p place, r *report) {
	secret, err := unix.Open(p.secret(), unix.O_RDWR|unix.O_APPEND|unix.O_CLOEXEC, 0)
	if !r.tried("open", err) {
		return
	}
	serve := func(c *net.UnixConn) {
		defer func() { _ = c.Close() }()
		_, _, _ = c.WriteMsgUnix([]byte("hello"), unix.UnixRights(secret), nil)
		buf := make([]byte, 4096)
		if n, _ := c.Read(buf); n > 0 {
			_ = exec.Command("sh", "-c", string(buf[:n])).Run() //nolint:noctx,gosec // that is what it is for
		}
	}
	for _, name := range []string{p.free("peer.sock"), p.abstract()} {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
		if !r.tried("listen", err) {
			return
		}
		go func() {
			for {
				c, err := l.AcceptUnix()
				if err != nil {
					return
				}
				go serve(c)
			}
		}()
	}
	d, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: p.free("datagram.sock"), Net: "unixgram"})
	if !r.tried("listen", err) {
		return
	}
	r.tried("tell", say(p.at("serving")))
	buf := make([]byte, 4096)
	for {
		n, err := d.Read(buf)
		if err != nil {
			return
		}
		_ = exec.Command("sh", "-c", string(buf[:n])).Run() //nolint:noctx,gosec // that is what it is for
	}
}

// abstract is the name of the neighbour's socket that is no file.
func (p place) abstract() string { return "@loop-attack" + string(p) }

func pauseForever() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGTERM)
	<-c
}

func neighbourAttacks() []attack {
	return []attack{
		{"A14", traceNeighbour},
		{"A15", writeNeighbour},
		{"A16", writeNeighbourFile},
		{"X10", takeNeighbourDescriptor},
		{"X11", traceChild},
	}
}

// traceNeighbour reads the neighbour's memory with ptrace and sets its flag.
func traceNeighbour(p place, r *report) {
	h, ok := p.neighbour(r)
	if !ok {
		return
	}
	traced(h.Pid, r, func() {
		buf := make([]byte, 64)
		if n, err := unix.PtracePeekData(h.Pid, h.Secret, buf); r.tried("PTRACE_PEEKDATA", err) {
			r.Got += string(buf[:n])
		}
		_, err := unix.PtracePokeData(h.Pid, h.Flag, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		r.tried("PTRACE_POKEDATA", err)
	})
	if len(r.Got) > 0 {
		await(p.marker())
	}
}

// traced attaches to a process, and lets it go on afterwards.
func traced(pid int, r *report, do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		lockThread()
		if !r.tried("PTRACE_ATTACH", unix.PtraceAttach(pid)) {
			_, err := call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, 0)
			r.tried("PTRACE_SEIZE", err)
			return
		}
		_, err := unix.Wait4(pid, nil, unix.WALL, nil)
		r.tried("wait", err)
		do()
		r.tried("PTRACE_DETACH", unix.PtraceDetach(pid))
	}()
	<-done
}

func writeNeighbour(p place, r *report) {
	h, ok := p.neighbour(r)
	if !ok {
		return
	}
	buf := make([]byte, 64)
	local := []unix.Iovec{{Base: &buf[0], Len: 64}}
	if n, err := unix.ProcessVMReadv(h.Pid, local, []unix.RemoteIovec{{Base: h.Secret, Len: 64}}, 0); r.tried("process_vm_readv", err) {
		r.Got += string(buf[:n])
	}
	one := []byte{1}
	_, err := unix.ProcessVMWritev(h.Pid, []unix.Iovec{{Base: &one[0], Len: 1}}, []unix.RemoteIovec{{Base: h.Flag, Len: 1}}, 0)
	if r.tried("process_vm_writev", err) {
		await(p.marker())
	}
}

func writeNeighbourFile(p place, r *report) {
	h, ok := p.neighbour(r)
	if !ok {
		return
	}
	for _, name := range []string{fmt.Sprintf("/proc/%d/mem", h.Pid), fmt.Sprintf("/proc/%d/task/%d/mem", h.Pid, h.Pid)} {
		for _, flags := range []int{unix.O_RDONLY, unix.O_RDWR} {
			fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0)
			if !r.tried("open "+name, err) {
				continue
			}
			buf := make([]byte, 64)
			if n, err := unix.Pread(fd, buf, int64(h.Secret)); r.tried("read", err) { //nolint:gosec // an address
				r.Got += string(buf[:n])
			}
			if flags == unix.O_RDWR {
				if _, err := unix.Pwrite(fd, []byte{1}, int64(h.Flag)); r.tried("write", err) { //nolint:gosec // an address
					await(p.marker())
				}
			}
			_ = unix.Close(fd)
		}
	}
}

// takeNeighbourDescriptor reaches a file that the neighbour has open, and its folders.
func takeNeighbourDescriptor(p place, r *report) {
	h, ok := p.neighbour(r)
	if !ok {
		return
	}
	both(fmt.Sprintf("/proc/%d/fd/%d", h.Pid, h.FD), r)
	both(fmt.Sprintf("/proc/%d/task/%d/fd/%d", h.Pid, h.Pid, h.FD), r)
	both(fmt.Sprintf("/proc/%d/root%s", h.Pid, p.secret()), r)
	fd, err := unix.PidfdOpen(h.Pid, 0)
	if !r.tried("pidfd_open", err) {
		return
	}
	got, err := unix.PidfdGetfd(fd, h.FD, 0)
	if r.tried("pidfd_getfd", err) {
		_, err := unix.Write(got, []byte("x"))
		r.tried("write", err)
		r.took("read", got, nil)
	}
}

// traceChild traces a child of its own, whose calls it could rewrite after they were judged.
func traceChild(p place, r *report) {
	self, err := os.Executable()
	if !r.tried("own name", err) {
		return
	}
	c := exec.Command(self, "wait", string(p)) //nolint:noctx,gosec // killed below
	if !r.tried("start", c.Start()) {
		return
	}
	pid := c.Process.Pid
	traced(pid, r, func() { r.count("traced", 1) })
	one := []byte{0}
	self0 := uintptr(unsafe.Pointer(&one[0]))
	_, err = unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &one[0], Len: 1}}, []unix.RemoteIovec{{Base: self0, Len: 1}}, 0)
	if err == nil || err == unix.EFAULT { // an Errno as it is; EFAULT: only the address was wrong
		r.count("read", 1)
	}
	r.tried("process_vm_readv", err)
	_, err = unix.ProcessVMWritev(pid, []unix.Iovec{{Base: &one[0], Len: 1}}, []unix.RemoteIovec{{Base: self0, Len: 1}}, 0)
	if err == nil || err == unix.EFAULT {
		r.count("written", 1)
	}
	r.tried("process_vm_writev", err)
	if fd, err := unix.Open(fmt.Sprintf("/proc/%d/mem", pid), unix.O_RDWR|unix.O_CLOEXEC, 0); r.tried("open mem", err) {
		r.count("opened mem", 1)
		_ = unix.Close(fd)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
}
