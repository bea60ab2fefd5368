//go:build docker

package guestlink_test

import (
	"fmt"
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"

	"loop/backend/config"
	"loop/backend/core"
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

// opens are the ways in which a terminal is opened: without the gate, and with it as the
// window does.
var opens = map[string]func(tb testing.TB, l *guestlink.Link, env []core.EnvVar, argv ...string) core.SpawnID{
	"guest": terminal, "gated": personal,
}

// BenchmarkTerminalFlood sends a flood through a terminal of the guest, with the gate and
// without it, and through one of the engine's own, in turn. The figures “x-exec” and
// “x-guest” are ratios of rates, medians of rounds.
func BenchmarkTerminalFlood(b *testing.B) {
	box := newBox(b, boxOptions{agent: 1000})
	l, _ := box.link(b, guestlink.Options{})
	drained := func(r io.Reader, began time.Time) float64 {
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, make([]byte, 64<<10))
		if err != nil || n != int64(floodSize) {
			b.Fatal(n, err)
		}
		return float64(floodSize) / 1e6 / time.Since(began).Seconds()
	}
	rates := map[string][]float64{}
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
		rates["exec"] = append(rates["exec"], drained(out, began))
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		for name, open := range opens { // in any order
			began = time.Now()
			id := open(b, l, nil, "sh", "-c", flood)
			r, err := l.ReadHeld(b.Context(), id, "out", 0)
			if err != nil {
				b.Fatal(err)
			}
			rates[name] = append(rates[name], drained(r, began))
			_ = r.Close()
			if err := l.Forget(b.Context(), id); err != nil {
				b.Fatal(err)
			}
		}
	}
	for name, all := range rates {
		b.ReportMetric(middle(all), "MB/s-"+name)
	}
	b.ReportMetric(middle(ratios(rates["guest"], rates["exec"])), "x-exec")
	b.ReportMetric(middle(ratios(rates["gated"], rates["guest"])), "x-guest")
}

// ratios divides what was measured in the same rounds.
func ratios(of, by []float64) []float64 {
	out := make([]float64, len(of))
	for i := range of {
		out[i] = of[i] / by[i]
	}
	return out
}

// BenchmarkTerminalEcho sends a key through a terminal of the guest and back, with the gate
// and without it. In turn it sends one byte through cat in a container by docker exec. The
// latter is the limit, as it passes neither a terminal nor a multiplexer.
func BenchmarkTerminalEcho(b *testing.B) {
	box := newBox(b, boxOptions{agent: 1000})
	l, _ := box.link(b, guestlink.Options{})
	key := func(w io.Writer, r io.Reader) float64 {
		var p [1]byte
		began := time.Now()
		if _, err := w.Write([]byte("x")); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(r, p[:]); err != nil || p[0] != 'x' {
			b.Fatal(p, err)
		}
		return float64(time.Since(began).Microseconds())
	}
	conn, err := (&cliDialer{}).DialExec(b.Context(), box.id, "1000:1000", []string{"cat"})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	key(conn, conn)
	press := map[string]func() float64{"exec": func() float64 { return key(conn, conn) }}
	for name, open := range opens {
		id := open(b, l, nil, "sh", "-c", "stty raw -echo; printf up; exec cat")
		s := watch(b, l, id)
		s.until("up")
		w, err := l.Stdin(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		press[name] = func() float64 { return key(w, s.r) }
	}
	took := map[string][]float64{}
	for b.Loop() {
		for name, f := range press { // in any order
			took[name] = append(took[name], f())
		}
	}
	b.ReportMetric(middle(ratios(took["gated"], took["guest"])), "x-guest")
	for name, all := range took {
		slices.Sort(all)
		for _, q := range []int{50, 95} {
			b.ReportMetric(all[len(all)*q/100], fmt.Sprintf("p%d-µs-%s", q, name))
		}
	}
}

// BenchmarkManyTerminals reports what 64 terminals of one container keep in memory, each
// with a reader and an input, with the gate and without it: the resident set of loop init
// before them, when they are idle, and when every ring is full, and what one keeper has for
// itself.
func BenchmarkManyTerminals(b *testing.B) {
	for name, open := range opens {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				box := newBox(b, boxOptions{agent: 1000, args: []string{"--pids-limit", fmt.Sprint(config.Defaults().ContainerPids)}})
				l, _ := box.link(b, guestlink.Options{})
				report := func(when string) {
					out, err := box.sh(b, "0:0", `awk '/VmRSS/ { print $2 }' /proc/1/status
for p in $(pgrep -f '^loop syscallwrap'); do cat /proc/$p/smaps_rollup; done | awk '/^Private_/ { s += $2 } /^Rss/ { n++ } END { print (n ? s / n : 0) }'`)
					var init, keeper float64
					if _, serr := fmt.Sscan(out, &init, &keeper); err != nil || serr != nil {
						b.Fatal(out, err, serr)
					}
					b.ReportMetric(init/1024, "init-MiB-"+when)
					b.ReportMetric(keeper/1024, "keeper-MiB-"+when)
				}
				report("before")
				f := newFleet(b, l, 64, open)
				report("idle")
				f.fill()
				report("full")
				f.forget()
			}
		})
	}
}
