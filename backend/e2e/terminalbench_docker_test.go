//go:build docker

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
)

const benchBytes = 64 << 20

// benchProgram waits for Enter and prints benchBytes and an end.
var benchProgram = fmt.Sprintf(`stty raw -echo; printf OPEN; head -c 1 >/dev/null; yes 'the quick brown fox jumps over the lazy dog 0123456789' | head -c %d; printf 'THE-END'; sleep 1000`, benchBytes)

// BenchmarkTerminalBytes is the rate at which a client takes a program's output,
// acknowledges it and drops it. The program runs on this computer and in a container. A
// bare read of the same program's terminal is the comparison.
func BenchmarkTerminalBytes(b *testing.B) {
	b.Run("raw", func(b *testing.B) {
		b.SetBytes(benchBytes)
		for b.Loop() {
			b.StopTimer()
			p := newQuietPane(b, 80, 24)
			cmd := exec.CommandContext(b.Context(), "/bin/sh", "-c", benchProgram)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = p.tty, p.tty, p.tty
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			read := func(until string) {
				var tail []byte
				buf := make([]byte, 64<<10)
				for !bytes.HasSuffix(tail, []byte(until)) {
					n, err := p.file.Read(buf)
					if err != nil {
						b.Fatal(err)
					}
					tail = append(tail[max(0, len(tail)-len(until)):], buf[max(0, n-len(until)):n]...)
				}
			}
			read("OPEN")
			b.StartTimer()
			p.typeIn("\r")
			read("THE-END")
			b.StopTimer()
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait()
			b.StartTimer()
		}
	})
	h := newHome(b, "")
	s := h.serve()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	var ch core.Channel
	s.must("Channels.Add", &ch, dir, "")
	for _, target := range []string{"host", "agent"} {
		b.Run(target, func(b *testing.B) {
			b.SetBytes(benchBytes)
			var used time.Duration
			n := 0
			for b.Loop() {
				n++
				b.StopTimer()
				conn, _, err := websocket.Dial(b.Context(), strings.Replace(s.url, "http", "ws", 1)+"api/ws/terminal", &websocket.DialOptions{Subprotocols: []string{"loop", "loop.token." + s.token}})
				if err != nil {
					b.Fatal(err)
				}
				conn.SetReadLimit(1 << 20)
				say := func(format string, args ...any) {
					if err := conn.Write(b.Context(), websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
						b.Fatal(err)
					}
				}
				var tail []byte
				var got, ack int64
				read := func(until string) {
					for !bytes.HasSuffix(tail, []byte(until)) {
						kind, data, err := conn.Read(b.Context())
						if err != nil {
							b.Fatal(err)
						}
						if kind == websocket.MessageText {
							if bytes.Contains(data, []byte(`"error"`)) || bytes.Contains(data, []byte(`"resync"`)) {
								b.Fatalf("%s", data)
							}
							continue
						}
						tail = append(tail[max(0, len(tail)-len(until)):], data[max(0, len(data)-len(until)):]...)
						if got += int64(len(data)); got-ack >= 16<<10 {
							ack = got
							say(`{"type":"ack","offset":%d}`, got)
						}
					}
				}
				say(`{"type":"create","target":%q,"channel_id":%q,"acks":true,"cmd":["/bin/sh","-c",%q]}`, target, ch.ID, benchProgram)
				read("OPEN")
				before := cpuTime(b, s.cmd.Process.Pid)
				b.StartTimer()
				say(`{"type":"input","data":"DQ=="}`)
				read("THE-END")
				b.StopTimer()
				used += cpuTime(b, s.cmd.Process.Pid) - before
				say(`{"type":"close"}`)
				for {
					if kind, data, err := conn.Read(b.Context()); err != nil || kind == websocket.MessageText && bytes.Contains(data, []byte(`"stopped"`)) {
						break
					}
				}
				_ = conn.CloseNow()
				b.StartTimer()
			}
			// On a busy computer this is the figure to trust.
			b.ReportMetric(float64(n)*benchBytes/1e6/used.Seconds(), "MB/cpu-s")
		})
	}
}

// cpuTime is the processor time of a process so far, in steps of 10 ms.
func cpuTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	ticks := 0
	for _, f := range fields[11:13] { // utime and stime; 100 a second on every Linux
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100)
}
