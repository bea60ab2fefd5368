//go:build linux

package supervise

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

func init() {
	acts["fifos"] = actFifos
	acts["openone"] = actOpenOne
	acts["fiforeaders"] = actFifoReaders
	acts["crowd"] = actCrowd
	acts["fifowait"] = func([]string) { _, _ = os.OpenFile("fifo", os.O_RDONLY, 0) }
	acts["blackhole"] = func([]string) {
		s, _ := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		fmt.Println(name(unix.Connect(s, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{192, 0, 2, 1}})))
	}
	acts["sockets"] = actSockets
	acts["timer"] = actTimer
}

// actFifos opens both ends of many FIFOs, first the ones that wait.
func actFifos(args []string) {
	n, _ := strconv.Atoi(args[0])
	var all sync.WaitGroup
	for i := range n {
		path := fmt.Sprint("fifo", i)
		_ = unix.Mkfifo(path, 0o600)
		all.Add(2)
		first, second := unix.O_RDONLY, unix.O_WRONLY
		if i%2 == 0 {
			first, second = second, first
		}
		for _, flags := range []int{first, second} {
			go func() {
				defer all.Done()
				fd, err := unix.Open(path, flags, 0)
				fl, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
				if err != nil || fl&unix.O_NONBLOCK != 0 {
					fmt.Println("open", name(err), fl)
				}
			}()
			if flags == first {
				for range 50 { // other opens go on meanwhile
					if f, err := os.Open("/dev/null"); err == nil {
						_ = f.Close()
					}
				}
			}
		}
	}
	all.Wait()
	fmt.Println("done")
}

// FIFOs that wait for their other end keep out nobody, and get it.
func TestFifosDoNotStallOthers(t *testing.T) {
	if !keeper(t) {
		return
	}
	if got := start(t, Options{Receivers: 1}, "fifos", "60").wait(t); got != "done\n" {
		t.Errorf("got %s", got)
	}
}

// actFifoReaders has many threads wait for one FIFO.
func actFifoReaders(args []string) {
	n, _ := strconv.Atoi(args[0])
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if fd, err := unix.Open("fifo", unix.O_RDONLY, 0); err != nil {
				fmt.Println("open", name(err))
			} else {
				_ = unix.Close(fd)
			}
		})
	}
	all.Wait()
	fmt.Println("done")
}

// A container that is full of processes gets no thread more. What waits then waits for the
// first thread, and comes to its end.
func TestCrewsGrowWhereThereIsRoom(t *testing.T) {
	if !keeper(t) {
		return
	}
	fifo := filepath.Join(os.Getenv(dirVar), "fifo")
	asAgent(t, func() { _ = unix.Mkfifo(fifo, 0o600) })
	const callers = 10
	for _, room := range []bool{true, false} {
		p := start(t, Options{room: func() bool { return room }}, "fiforeaders", strconv.Itoa(callers))
		w := p.crews[readers]
		until(t, func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return len(w.busy)+len(w.queue) == callers && (len(w.busy) == callers) == room
		})
		w.mu.Lock()
		if want := map[bool]int{true: callers, false: 1}[room]; w.here != want {
			t.Errorf("room %v: %d threads, not %d", room, w.here, want)
		}
		w.mu.Unlock()
		asAgent(t, func() {
			f, err := os.OpenFile(fifo, os.O_RDWR, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = f.Close() }()
			if got := p.wait(t); got != "done\n" {
				t.Errorf("room %v: %s", room, got)
			}
		})
	}
}

// A caller that dies while it waits for a FIFO or a connection frees what waits for it.
func TestCallerDiesWhileItWaits(t *testing.T) {
	if !keeper(t) {
		return
	}
	asAgent(t, func() { _ = unix.Mkfifo(filepath.Join(os.Getenv(dirVar), "fifo"), 0o600) })
	for _, act := range []string{"fifowait", "blackhole"} {
		p := start(t, Options{Receivers: 1}, act)
		until(t, func() bool {
			p.crews[readers].mu.Lock()
			defer p.crews[readers].mu.Unlock()
			return len(p.crews[readers].busy) == 1 || act == "blackhole"
		})
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		within(t, act+": the end", p.Done())
		ended := make(chan struct{})
		go func() { _ = p.Close(); close(ended) }()
		within(t, act+": no goroutine left", ended)
	}
}

// until waits for something that is looked at again and again.
func until(t testing.TB, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(limit); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("it did not come to it within %v", limit)
		}
	}
}

func actOpenOne(args []string) {
	f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_APPEND, 0)
	fmt.Println(name(err))
	if err == nil {
		_, _ = f.WriteString("x")
	}
}

// A question is withdrawn when its caller is killed, and nothing is left of it.
func TestCallerKilledWhileAsked(t *testing.T) {
	if !keeper(t) {
		return
	}
	path := filepath.Join(os.Getenv(dirVar), "asked")
	asAgent(t, func() { _ = os.WriteFile(path, nil, 0o644) })
	asked, withdrawn := make(chan struct{}), make(chan struct{})
	p := start(t, Options{
		Judge: &rules{list: []rule{{policy.Write, path, policy.Approve}}},
		Ask: func(ctx context.Context, _ wire.Approval) wire.Answer {
			close(asked)
			<-ctx.Done()
			close(withdrawn)
			return wire.Deny(1, "withdrawn")
		},
	}, "openone", path)
	within(t, "the question", asked)
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	within(t, "the withdrawal", withdrawn)
	within(t, "the end", p.Done())
	before := runtime.NumGoroutine()
	_ = p.Close()
	if left := runtime.NumGoroutine(); left > before {
		t.Errorf("%d goroutines, %d before", left, before)
	}
}

// A call that waits is judged by the policy there is when it is performed.
func TestPolicyChangesWhileAsked(t *testing.T) {
	if !keeper(t) {
		return
	}
	path := filepath.Join(os.Getenv(dirVar), "asked")
	asAgent(t, func() { _ = os.WriteFile(path, nil, 0o644) })
	asked, answer := make(chan struct{}), make(chan struct{})
	p := start(t, Options{
		Version: 1, Judge: &rules{list: []rule{{policy.Write, path, policy.Approve}}},
		Ask: func(_ context.Context, a wire.Approval) wire.Answer {
			close(asked)
			<-answer
			return wire.Answer{ID: 1, Allow: true}
		},
	}, "openone", path)
	within(t, "the question", asked)
	p.SetJudge(&rules{list: []rule{{policy.Write, path, policy.Deny}}}, 2)
	close(answer)
	if got := p.wait(t); got != "EACCES\n" {
		t.Errorf("got %s", got)
	}
}

// What changes while it is asked about is asked about anew.
func TestFileChangesWhileAsked(t *testing.T) {
	if !keeper(t) {
		return
	}
	path := filepath.Join(os.Getenv(dirVar), "asked")
	asAgent(t, func() { _ = os.WriteFile(path, []byte("one"), 0o644) })
	var texts []string
	p := start(t, Options{
		Judge: &rules{list: []rule{{policy.Write, path, policy.Approve}}},
		Ask: func(_ context.Context, a wire.Approval) wire.Answer {
			if texts = append(texts, string(a.Before.Text)); len(texts) == 1 {
				asAgent(t, func() { _ = os.WriteFile(path, []byte("two"), 0o644) })
			}
			return wire.Answer{ID: 1, Allow: true}
		},
	}, "openone", path)
	if got := p.wait(t); got != "ok\n" || strings.Join(texts, " ") != "one two" {
		t.Errorf("got %s, asked %q", got, texts)
	}
}

// actCrowd has many threads that wait at a time.
func actCrowd(args []string) {
	n, _ := strconv.Atoi(args[0])
	var all sync.WaitGroup
	var ok, denied atomic.Int32
	for i := range n {
		all.Add(1)
		go func() {
			defer all.Done()
			fd, err := unix.Open(fmt.Sprint("asked", i%50), unix.O_WRONLY|unix.O_CLOEXEC, 0)
			if err == nil {
				_ = unix.Close(fd)
				ok.Add(1)
			} else {
				denied.Add(1)
			}
		}()
	}
	all.Wait()
	fmt.Println(ok.Load(), denied.Load())
}

// A thousand threads that wait at a time occupy no threads of the supervisor, share
// their questions, and are all answered.
func TestThousandWait(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	judge := &rules{}
	asAgent(t, func() {
		for i := range 50 {
			path := filepath.Join(dir, fmt.Sprint("asked", i))
			_ = os.WriteFile(path, nil, 0o644)
			judge.list = append(judge.list, rule{policy.Write, path, policy.Approve})
		}
	})
	var asked atomic.Int32
	release := make(chan struct{})
	p := start(t, Options{Judge: judge, Ask: func(context.Context, wire.Approval) wire.Answer {
		asked.Add(1)
		<-release
		return wire.Answer{ID: 1, Allow: true}
	}}, "crowd", "1000")
	until(t, func() bool {
		p.desk.mu.Lock()
		defer p.desk.mu.Unlock()
		return p.desk.held == 1000
	})
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fds, _ := os.ReadDir("/proc/self/fd")
	tasks, _ := os.ReadDir("/proc/self/task")
	began := time.Now()
	close(release)
	if got := p.wait(t); got != "1000 0\n" || asked.Load() != 50 {
		t.Errorf("got %s after %d questions", got, asked.Load())
	}
	t.Logf("%d KiB in use, %d descriptors, %d threads; answered in %v", m.HeapInuse>>10, len(fds), len(tasks), time.Since(began))
	if m.HeapInuse > 64<<20 || len(tasks) > 60 {
		t.Errorf("%d bytes, %d threads", m.HeapInuse, len(tasks))
	}
}

// actTimer is interrupted all the time while its one call waits.
func actTimer([]string) {
	tick := time.NewTicker(10 * time.Millisecond)
	go func() {
		for range tick.C {
			_ = unix.Kill(os.Getpid(), unix.SIGURG)
		}
	}()
	actOpenOne([]string{"asked0"})
}

// Signals do not make a call that waits ask again.
func TestTimerWhileAsked(t *testing.T) {
	if !keeper(t) {
		return
	}
	path := filepath.Join(os.Getenv(dirVar), "asked0")
	asAgent(t, func() { _ = os.WriteFile(path, nil, 0o644) })
	var asked atomic.Int32
	p := start(t, Options{Judge: &rules{list: []rule{{policy.Write, path, policy.Approve}}}, Ask: func(ctx context.Context, _ wire.Approval) wire.Answer {
		asked.Add(1)
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
		return wire.Answer{ID: 1, Allow: true}
	}}, "timer")
	if got := p.wait(t); got != "ok\n" || asked.Load() != 1 {
		t.Errorf("got %s after %d questions", got, asked.Load())
	}
}

// actSockets makes and uses sockets of all kinds.
func actSockets(args []string) {
	report := func(what string, err error) { fmt.Println(what, name(err)) }
	for _, addr := range []string{"rel.sock", mustGetwd() + "/abs.sock", "@abstract-" + strconv.Itoa(os.Getpid())} {
		ln, err := net.Listen("unix", addr)
		report("listen", err)
		if err != nil {
			continue
		}
		same := ln.Addr().String() == addr
		go func() {
			if c, err := ln.Accept(); err == nil {
				_, _ = c.Write([]byte("hello"))
				_ = c.Close()
			}
		}()
		c, err := net.Dial("unix", addr)
		report("dial", err)
		if err == nil {
			buf := make([]byte, 5)
			_, err = c.Read(buf)
			report("read "+string(buf), err)
		}
		_ = ln.Close()
		_, err = os.Lstat("rel.sock")
		fmt.Println("same address", same, "removed", err != nil)
	}
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	report("socket", err)
	old := unix.Umask(0o077)
	report("bind", unix.Bind(s, &unix.SockaddrUnix{Name: "mode.sock"}))
	var st unix.Stat_t
	_ = unix.Stat("mode.sock", &st)
	fmt.Printf("%o\n", st.Mode)
	unix.Umask(old)
	report("again", unix.Bind(s, &unix.SockaddrUnix{Name: "mode.sock"}))
	c, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	report("refused", unix.Connect(c, &unix.SockaddrUnix{Name: "mode.sock"}))
	report("missing", unix.Connect(c, &unix.SockaddrUnix{Name: "nope"}))
	report("no socket", unix.Connect(0, &unix.SockaddrUnix{Name: "nope"}))
	report("no descriptor", unix.Connect(999, &unix.SockaddrUnix{Name: "nope"}))

	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	report("tcp", err)
	if err == nil {
		b, _ := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0) // one that waits
		addr := &unix.SockaddrInet4{Port: tcp.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}
		report("connect", unix.Connect(b, addr))
		report("connected", unix.Connect(b, addr))
		fl, _ := unix.FcntlInt(uintptr(b), unix.F_GETFL, 0)
		fmt.Println("nonblock", fl&unix.O_NONBLOCK)
		_ = tcp.Close()
		b, _ = unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		// A port that is taken and not listened at: nobody else can come to listen there.
		deaf := must(unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0))
		report("bind", unix.Bind(deaf, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
		report("closed", unix.Connect(b, must(unix.Getsockname(deaf))))
	}
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	report("udp", err)
	if err == nil {
		_, err = u.WriteTo([]byte("datagram"), u.LocalAddr())
		report("send", err)
		buf := make([]byte, 20)
		n, _, err := u.ReadFrom(buf)
		report("receive "+string(buf[:n]), err)
	}
}

func mustGetwd() string { wd, _ := os.Getwd(); return wd }

// Sockets behave as without a supervisor.
func TestSocketsSameAsWithout(t *testing.T) {
	if !keeper(t) {
		return
	}
	compare(t, "sockets", "sockets")
}
