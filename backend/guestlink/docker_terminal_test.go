//go:build docker

package guestlink_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"testing"
	"time"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/policy"
	"loop/backend/soaktest"
	"loop/backend/wire"
)

// terminal spawns argv on a terminal.
func terminal(tb testing.TB, l *guestlink.Link, env []core.EnvVar, argv ...string) core.SpawnID {
	tb.Helper()
	id := core.SpawnID(core.NewID())
	if _, err := l.Spawn(tb.Context(), core.SpawnRequest{ID: id, Argv: argv, Env: env, Dir: "/tmp", Stdio: core.StdioPTY, Cols: 80, Rows: 24}); err != nil {
		tb.Fatal(err)
	}
	return id
}

// personal is a terminal as the window opens it: under the policy of a person's shell.
func personal(tb testing.TB, l *guestlink.Link, env []core.EnvVar, argv ...string) core.SpawnID {
	tb.Helper()
	p, err := policy.Baseline(policy.NamePerson, policy.Place{Home: home})
	if err != nil {
		tb.Fatal(err)
	}
	id := core.SpawnID(core.NewID())
	if _, err := l.Spawn(tb.Context(), core.SpawnRequest{ID: id, Argv: argv, Env: env, Dir: "/tmp", Stdio: core.StdioPTY, Cols: 80, Rows: 24,
		Policy: p.Encode(), PolicyVersion: 1}); err != nil {
		tb.Fatal(err)
	}
	return id
}

// screen reads a terminal and keeps everything it showed.
type screen struct {
	tb  testing.TB
	r   io.ReadCloser
	all bytes.Buffer
}

func watch(tb testing.TB, l *guestlink.Link, id core.SpawnID) *screen {
	tb.Helper()
	r, err := l.ReadHeld(tb.Context(), id, "out", 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = r.Close() })
	return &screen{tb: tb, r: r}
}

// until reads until text has come.
func (s *screen) until(text string) string {
	s.tb.Helper()
	timer := time.AfterFunc(patience, func() { _ = s.r.Close() })
	defer timer.Stop()
	buf := make([]byte, 4096)
	for !bytes.Contains(s.all.Bytes(), []byte(text)) {
		n, err := s.r.Read(buf)
		s.all.Write(buf[:n])
		if err != nil {
			s.tb.Fatalf("no %q in %q: %v", text, s.all.String(), err)
		}
	}
	return s.all.String()
}

func write(tb testing.TB, l *guestlink.Link, id core.SpawnID, text string) {
	tb.Helper()
	w, err := l.Stdin(tb.Context(), id)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
}

// printer prints blocks of 64 KiB with every byte value. Each block begins with its
// number.
func printer(blocks int) []string { return printerWhich(blocks, "") }

// printerWhich is printer that runs a piece of perl after each block, whose number is $_.
func printerWhich(blocks int, after string) []string {
	return []string{"sh", "-c", fmt.Sprintf(`stty raw -echo; exec perl -e '$|=1; my $pad = pack("C*", map { $_ & 255 } 0..65531);
		for (0..%d) { print pack("N", $_), $pad; %s }'`, blocks-1, after)}
}

const blockSize = 64 << 10

// printedBlocks checks printer's bytes from any offset on.
type printedBlocks struct {
	at  int64
	sum hash.Hash
}

func (c *printedBlocks) write(p []byte) (bad int64) {
	for i, b := range p {
		in := c.at + int64(i)
		want := byte(in%blockSize - 4)
		if k := in % blockSize; k < 4 {
			var n [4]byte
			binary.BigEndian.PutUint32(n[:], uint32(in/blockSize))
			want = n[k]
		}
		if b != want {
			return in
		}
	}
	c.at += int64(len(p))
	if c.sum != nil {
		c.sum.Write(p)
	}
	return -1
}

func spawnOf(tb testing.TB, l *guestlink.Link, id core.SpawnID) core.SpawnInfo {
	tb.Helper()
	list, err := l.Spawns(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	for _, i := range list {
		if i.ID == id {
			return i
		}
	}
	tb.Fatalf("spawn %s is not known", id)
	return core.SpawnInfo{}
}

// TestTerminalBacklog prints a lot on a terminal (100 MB under “make soak”). The host
// reads slowly, stops for a while in the middle, and reads the rest. The program waits
// all that time, and no byte is missing.
func TestTerminalBacklog(t *testing.T) {
	blocks := soaktest.Of(1600)
	total := int64(blocks) * blockSize
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	id := terminal(t, l, nil, printer(blocks)...)
	r, err := l.ReadHeld(t.Context(), id, "out", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if at := r.(interface{ Offset() int64 }).Offset(); at != 0 {
		t.Fatalf("starts at %d", at)
	}
	got := &printedBlocks{sum: sha256.New()}
	buf := make([]byte, 32<<10)
	read := func(until int64) {
		t.Helper()
		for got.at < until {
			n, err := r.Read(buf)
			if bad := got.write(buf[:n]); bad >= 0 {
				t.Fatalf("byte %d is wrong", bad)
			}
			if errors.Is(err, io.EOF) && got.at == total {
				return
			}
			if err != nil {
				t.Fatalf("at %d: %v", got.at, err)
			}
		}
	}
	began := time.Now()
	read(total / 2)
	// The program must be held up for good. It may also wait a moment until loop init
	// hears how far the reader came, since the reader reports only every quarter of the
	// window.
	eventually(t, "the program is held up", func() bool {
		i := spawnOf(t, l, id)
		return i.Paused == wire.PausedReader && i.OutEnd-got.at > wire.Window*3/4
	})
	stand := spawnOf(t, l, id)
	if ahead := stand.OutEnd - got.at; ahead > 512<<10 || stand.Exit != nil {
		t.Fatalf("%d bytes ahead of its reader, exit %v", ahead, stand.Exit)
	}
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for range soaktest.Of(20) {
		<-tick.C
		if now := spawnOf(t, l, id); now.OutEnd != stand.OutEnd || now.Paused != wire.PausedReader {
			t.Fatalf("went on to %d (%q) from %d", now.OutEnd, now.Paused, stand.OutEnd)
		}
	}
	read(total)
	if _, err := r.Read(buf); !errors.Is(err, io.EOF) {
		t.Fatalf("after the end: %v", err)
	}
	want := sha256.New()
	pad := make([]byte, blockSize)
	for i := range pad {
		pad[i] = byte(i - 4)
	}
	for i := range blocks {
		binary.BigEndian.PutUint32(pad, uint32(i))
		want.Write(pad)
	}
	if !bytes.Equal(got.sum.Sum(nil), want.Sum(nil)) {
		t.Fatal("the sums differ")
	}
	t.Logf("%d MiB in %v, some of it standing still", total>>20, time.Since(began).Round(time.Millisecond))
	if e, err := l.Wait(t.Context(), id); err != nil || e.Code != 0 {
		t.Fatalf("%+v %v", e, err)
	}
}

// TestTerminalLinkCut cuts the link of a reader that is behind. On a new link the
// reader goes on from its offset. Output that fits the ring is complete; for the rest,
// the start of the new stream tells how much is missing.
func TestTerminalLinkCut(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks int
		gap    bool
	}{
		{"what is left fits", 13, false}, // 832 KiB, of which the reader has at least 64
		{"it prints on", 800, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			total := int64(c.blocks) * blockSize
			b := newBox(t, boxOptions{agent: 1000})
			l, conn := b.link(t, guestlink.Options{})
			// After one block the program waits for a key: it may run further ahead of a
			// reader that is to come than of one that is there.
			id := terminal(t, l, nil, printerWhich(c.blocks, `sysread STDIN, my $key, 1 if $_ == 0`)...)
			r, err := l.ReadHeld(t.Context(), id, "out", 0)
			if err != nil {
				t.Fatal(err)
			}
			var got printedBlocks
			buf := make([]byte, 10_000)
			for typed := false; got.at < 70_000; {
				n, err := r.Read(buf)
				if err != nil || got.write(buf[:n]) >= 0 {
					t.Fatalf("at %d: %v", got.at, err)
				}
				if got.at == blockSize && !typed {
					typed = true
					write(t, l, id, "x")
				}
			}
			eventually(t, "the program is held up", func() bool { return spawnOf(t, l, id).Paused == wire.PausedReader })
			conn.kill() // every buffer on the way is full
			<-l.Done()
			_ = r.Close()
			again, _ := b.link(t, guestlink.Options{})
			if _, err := again.Wait(t.Context(), id); err != nil { // nobody holds it, so it prints to its end
				t.Fatal(err)
			}
			if r, err = again.ReadHeld(t.Context(), id, "out", got.at); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = r.Close() }()
			start := r.(interface{ Offset() int64 }).Offset()
			// The program has ended. Its terminal may still hold a little more output, for
			// which a place is left then.
			if c.gap != (start > got.at) || start > max(got.at, total-1<<20+2*wire.MaxChunk) || (c.gap && start < total-1<<20-wire.MaxChunk) {
				t.Fatalf("from %d on asked, starts at %d of %d", got.at, start, total)
			}
			got.at = start
			for {
				n, err := r.Read(buf)
				if bad := got.write(buf[:n]); bad >= 0 {
					t.Fatalf("byte %d is wrong", bad)
				}
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if got.at != total {
				t.Fatalf("%d bytes of %d", got.at, total)
			}
		})
	}
}

// TestTerminalGone ends an interactive shell together with programs that try to outlive
// the terminal.
func TestTerminalGone(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent})
		l, _ := b.link(t, guestlink.Options{})
		keep := sleeper(t, l)
		id := terminal(t, l, []core.EnvVar{{Name: "HISTFILE", Value: "/tmp/history"}, {Name: "PS1", Value: "$ "}}, "bash", "--norc", "-i")
		s := watch(t, l, id)
		const stay = `sh -c 'trap "" HUP INT TERM QUIT; while :; do sleep 1; done' LEFT`
		write(t, l, id, "nohup "+stay+" >/dev/null 2>&1 &\r")
		write(t, l, id, "setsid "+stay+" >/dev/null 2>&1 </dev/null &\r")
		write(t, l, id, `(perl -MPOSIX -e 'exit 0 if fork; setsid; exit 0 if fork; $SIG{$_} = "IGNORE" for keys %SIG; $0 = "LEFT twice"; sleep 1 while 1' >/dev/null 2>&1 &)`+"\r")
		write(t, l, id, "stty -echo; echo 'all' 'up'\r")
		s.until("all up")
		left := func() int { return strings.Count(docker(t, "top", string(b.id), "-eo", "pid,args"), "LEFT") }
		eventually(t, "all three", func() bool { return left() >= 3 })
		began := time.Now()
		if err := l.Kill(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		if n := left(); n != 0 {
			t.Fatalf("%d left", n)
		}
		t.Logf("ended in %v", took)
		if took > time.Minute { // the grace is three seconds, and a busy machine adds to it
			t.Error("that is more than the grace")
		}
		if e, err := l.Wait(t.Context(), id); err != nil || e.Signal != "SIGHUP" && e.Code != 129 {
			t.Errorf("%+v %v", e, err)
		}
		if out, _ := run(t, l, "cat /tmp/history"); !strings.Contains(out, "echo 'all' 'up'") {
			t.Errorf("history %q", out)
		}
		if spawnOf(t, l, keep).Exit != nil {
			t.Error("another spawn ended too")
		}
	})
}

// TestTerminalInput has a program that does not read. Pings, sizes and a new reader go
// on, the interrupt gets through, and all of the input arrives.
func TestTerminalInput(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	input := bytes.Repeat([]byte("0123456789abcdef\x03\x04\r\n\x1a\xff"), 50_000)
	id := terminal(t, l, nil, "bash", "-c", fmt.Sprintf(
		`trap hit=1 INT; stty raw -echo -isig; echo up; while [ -z "$hit" ]; do sleep 0.01; done; head -c %d | sha256sum`, len(input)))
	s := watch(t, l, id)
	s.until("up")
	w, err := l.Stdin(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() { _, err := w.Write(input); wrote <- err }()
	began := time.Now()
	for i := range 1000 {
		if err := l.Resize(t.Context(), id, uint16(20+i%100), 10); err != nil {
			t.Fatal(err)
		}
		if i%100 != 0 {
			continue
		}
		if _, err := l.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("a thousand sizes in %v", time.Since(began))
	select {
	case err := <-wrote:
		t.Fatalf("the queue took everything: %v", err)
	default:
	}
	if err := l.Signal(t.Context(), id, "SIGINT"); err != nil {
		t.Fatal(err)
	}
	s.until(fmt.Sprintf("%x", sha256.Sum256(input)))
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
}

// TestTerminalPrograms runs programs that need a terminal description and UTF-8, in an
// image whose environment sets neither.
func TestTerminalPrograms(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000, env: []string{"LANG=", "TERM=dumb"}})
	l, _ := b.link(t, guestlink.Options{})
	id := terminal(t, l, nil, "bash", "--norc", "-i")
	s := watch(t, l, id)
	write(t, l, id, "PS1='$ '; echo $TERM $COLORTERM; tput colors; tput -T tmux-256color colors; infocmp -1 | grep -c .; locale charmap 2>&1\r")
	s.until("xterm-256color truecolor")
	s.until("256\r\n256\r\n")
	write(t, l, id, "less --version >/dev/null && top -b -n1 >/dev/null && echo 'they' run\r")
	s.until("they run")
	write(t, l, id, "clear; TERM=xterm-256color top -n 1 -d 1\r")
	s.until("load average")
}

// TestManyTerminals keeps 64 terminals on one link, each supervised and with a reader and
// an input, in a container with as many processes as the settings allow by default.
func TestManyTerminals(t *testing.T) {
	limit := fmt.Sprint(config.Defaults().ContainerPids)
	b := newBox(t, boxOptions{agent: 1000, args: []string{"--pids-limit", limit}, env: []string{wire.GateEnabled + "=1"}})
	l, _ := b.link(t, guestlink.Options{})
	memory := func() string {
		out, err := b.sh(t, "0:0", `awk '/VmRSS|VmHWM|Threads/ { printf "%s %s ", $1, $2 }' /proc/1/status; ps -eLo pid= | wc -l; for p in $(pgrep -f 'loop syscallwrap'); do cat /proc/$p/smaps_rollup; done 2>/dev/null | awk '/^(Pss|Rss|Private_Dirty|Private_Clean):/ { s[$1] += $2 } END { for (k in s) print k, s[k] }'`)
		if err != nil {
			t.Fatal(err, out)
		}
		return strings.Join(strings.Fields(out), " ")
	}
	before := memory()
	const n = 64
	f := newFleet(t, l, n, personal)
	idle := memory()
	began := time.Now()
	for range 100 {
		if _, err := l.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("before: %s\nwith %d: %s\nping: %v", before, n, idle, time.Since(began)/100)
	f.fill()
	t.Logf("with full rings: %s", memory())
	f.forget()
	t.Logf("after: %s", memory())
}

// fleet are terminals on one link, each with a reader and an input.
type fleet struct {
	tb      testing.TB
	l       *guestlink.Link
	ids     []core.SpawnID
	screens []*screen
	inputs  []io.WriteCloser
}

// newFleet opens n terminals with a shell in each, and waits until all of them answer.
func newFleet(tb testing.TB, l *guestlink.Link, n int, open func(testing.TB, *guestlink.Link, []core.EnvVar, ...string) core.SpawnID) *fleet {
	tb.Helper()
	f := &fleet{tb: tb, l: l}
	for range n {
		id := open(tb, l, []core.EnvVar{{Name: "PS1", Value: "$ "}}, "bash", "--norc", "-i")
		w, err := l.Stdin(tb.Context(), id)
		if err != nil {
			tb.Fatal(err)
		}
		f.ids, f.screens, f.inputs = append(f.ids, id), append(f.screens, watch(tb, l, id)), append(f.inputs, w)
	}
	f.each(func(i int) (string, string) {
		return fmt.Sprintf("echo $((%d * 1000003))\r", i+1), fmt.Sprint((i + 1) * 1000003)
	})
	return f
}

// fill fills the ring of every terminal.
func (f *fleet) fill() {
	f.tb.Helper()
	f.each(func(int) (string, string) {
		return "head -c 1300000 /dev/zero | tr '\\0' x; echo; echo 'fi'lled\r", "filled"
	})
}

// each types into all terminals, and then waits for what each of them says to it.
func (f *fleet) each(line func(i int) (types, shows string)) {
	f.tb.Helper()
	for i, w := range f.inputs {
		types, _ := line(i)
		if _, err := io.WriteString(w, types); err != nil {
			f.tb.Fatal(err)
		}
	}
	for i, s := range f.screens {
		_, shows := line(i)
		s.until(shows)
	}
}

func (f *fleet) forget() {
	f.tb.Helper()
	for _, id := range f.ids {
		if err := f.l.Kill(f.tb.Context(), id); err != nil {
			f.tb.Fatal(err)
		}
		if err := f.l.Forget(f.tb.Context(), id); err != nil {
			f.tb.Fatal(err)
		}
	}
}
