//go:build linux

package supervise

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() { acts["bench"] = actBench }

// actBench prints the median and the 99th percentile of calls, in nanoseconds.
func actBench(args []string) {
	n, _ := strconv.Atoi(args[0])
	_ = os.WriteFile("file", nil, 0o644)
	closing := func(fd int, _ error) { _ = unix.Close(fd) }
	for _, b := range []struct {
		name string
		call func(i int)
	}{
		{"open", func(int) { closing(unix.Open("file", unix.O_RDONLY, 0)) }},
		{"create", func(i int) { closing(unix.Open(fmt.Sprint("new", i), unix.O_CREAT|unix.O_WRONLY, 0o644)) }},
		{"rename", func(i int) { _ = unix.Rename(fmt.Sprint("new", i), "there") }},
		{"connect", func(int) {
			s, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			_ = unix.Connect(s, &unix.SockaddrUnix{Name: "file"})
			_ = unix.Close(s)
		}},
	} {
		took := make([]time.Duration, n)
		for i := range took {
			began := time.Now()
			b.call(i)
			took[i] = time.Since(began)
		}
		slices.Sort(took)
		fmt.Printf("%s p50 %v p99 %v\n", b.name, took[n/2], took[n*99/100])
	}
}

// BenchmarkCalls prints what a call costs without a filter, with one that only lets the
// kernel go on, and supervised.
func BenchmarkCalls(b *testing.B) {
	if !keeper(b) {
		return
	}
	n := fmt.Sprint(max(b.N, 100))
	for _, how := range []string{"none", "continue", "supervised"} {
		var out string
		switch how {
		case "supervised":
			out = start(b, Options{}, "bench", n).wait(b)
		case "none":
			p := launch(b, "none", "bench", n)
			p.let(b)
			out = p.wait(b)
		default:
			p := launch(b, "filter", "bench", n)
			go continueOnly(listener(p.listener), "")
			p.let(b)
			out = p.wait(b)
		}
		fmt.Fprintf(os.Stderr, "%s, %s calls\n%s", how, n, out)
	}
}
