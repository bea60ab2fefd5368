//go:build docker

package guestlink_test

import (
	"fmt"
	"io"
	"os/exec"
	"sort"
	"testing"
	"time"

	"loop/backend/guestlink"
)

// flood prints 64 MB of lines like those of a build.
const flood = `yes 'src/module/file.c:123:45: warning: something about this line [-Wsomething]' | head -c 64000000`

// floodSize is the size of the flood on a terminal, where each line ends with two
// bytes.
const (
	floodLine = len("src/module/file.c:123:45: warning: something about this line [-Wsomething]\n")
	floodSize = 64_000_000 + 64_000_000/floodLine
)

// BenchmarkTerminalFlood sends a flood through a terminal of the guest and through one
// of the engine's own, in turn. The figure “x-exec” is the ratio of their rates.
func BenchmarkTerminalFlood(b *testing.B) {
	box := newBox(b, boxOptions{agent: 1000})
	l, _ := box.link(b, guestlink.Options{})
	var guest, engine time.Duration
	b.SetBytes(int64(floodSize))
	for b.Loop() {
		began := time.Now()
		cmd := exec.Command("docker", "exec", "-t", "-u", "1000:1000", string(box.id), "sh", "-c", flood)
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{out}, make([]byte, 64<<10))
		if err != nil || n != int64(floodSize) {
			b.Fatal(n, err)
		}
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		engine += time.Since(began)

		began = time.Now()
		id := terminal(b, l, nil, "sh", "-c", flood)
		r, err := l.ReadHeld(b.Context(), id, "out", 0)
		if err != nil {
			b.Fatal(err)
		}
		n, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, make([]byte, 64<<10))
		if err != nil || n != int64(floodSize) {
			b.Fatal(n, err)
		}
		_ = r.Close()
		guest += time.Since(began)
		if err := l.Forget(b.Context(), id); err != nil {
			b.Fatal(err)
		}
	}
	mb := float64(floodSize) * float64(b.N) / 1e6
	b.ReportMetric(mb/guest.Seconds(), "MB/s-guest")
	b.ReportMetric(mb/engine.Seconds(), "MB/s-exec")
	b.ReportMetric(engine.Seconds()/guest.Seconds(), "x-exec")
}

// BenchmarkTerminalEcho sends a key through a terminal of the guest and back. In turn
// it sends one byte through cat in a container by docker exec. The latter is the limit,
// as it passes neither a terminal nor a multiplexer.
func BenchmarkTerminalEcho(b *testing.B) {
	box := newBox(b, boxOptions{agent: 1000})
	l, _ := box.link(b, guestlink.Options{})
	id := terminal(b, l, nil, "sh", "-c", "stty raw -echo; printf up; exec cat")
	s := watch(b, l, id)
	s.until("up")
	w, err := l.Stdin(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	conn, err := (&cliDialer{}).DialExec(b.Context(), box.id, "1000:1000", []string{"cat"})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	key := func(w io.Writer, r io.Reader) time.Duration {
		var p [1]byte
		began := time.Now()
		if _, err := w.Write([]byte("x")); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(r, p[:]); err != nil || p[0] != 'x' {
			b.Fatal(p, err)
		}
		return time.Since(began)
	}
	key(conn, conn)
	var guest, raw []time.Duration
	for b.Loop() {
		raw = append(raw, key(conn, conn))
		guest = append(guest, key(w, s.r))
	}
	for name, all := range map[string][]time.Duration{"guest": guest, "exec": raw} {
		sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
		for _, q := range []int{50, 95} {
			b.ReportMetric(float64(all[len(all)*q/100].Microseconds()), fmt.Sprintf("p%d-µs-%s", q, name))
		}
	}
}
