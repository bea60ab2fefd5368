package programs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/hostpty"
	"loop/backend/terminal"
)

// shellPrograms start programs on this computer for a benchmark.
type shellPrograms struct{ terminal.Programs }

func (shellPrograms) Start(_ context.Context, s terminal.Start) (terminal.Program, error) {
	pty, err := hostpty.Start(hostpty.Options{Argv: s.Spec.Cmd, Cols: s.Spec.Cols, Rows: s.Spec.Rows})
	if err != nil {
		return nil, err
	}
	return hostProgram{pty}, nil
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTerminal prints a file of 80 column lines on a terminal of this computer. It
// is read bare, and through a session by viewers that acknowledge. Rounds of each kind
// take turns.
func BenchmarkTerminal(b *testing.B) {
	const size = 32 << 20
	line := append(bytes.Repeat([]byte("0123456789abcdef"), 5)[:79], '\n')
	file := filepath.Join(b.TempDir(), "text")
	if err := os.WriteFile(file, bytes.Repeat(line, size/len(line)), 0o600); err != nil {
		b.Fatal(err)
	}
	argv := []string{"cat", file}
	want := int64(size / len(line) * (len(line) + 1)) // the terminal adds carriage returns
	bare := func() error {
		p, err := hostpty.Start(hostpty.Options{Argv: argv})
		if err != nil {
			return err
		}
		defer p.Close()
		n, err := io.Copy(io.Discard, struct{ io.Reader }{p})
		if err == nil && n != want {
			err = fmt.Errorf("%d bytes", n)
		}
		return err
	}
	frames := 0
	session := func(viewers int) error {
		s := terminal.New(terminal.Options{
			Programs: shellPrograms{}, Publish: func(core.EventType, core.TerminalInfo) {}, Log: slog.New(slog.DiscardHandler),
		})
		defer s.Close()
		info, err := s.Create(b.Context(), core.TerminalSpec{Target: core.TargetHost, Cmd: argv})
		if err != nil {
			return err
		}
		results := make(chan error, viewers)
		for range viewers {
			v, err := s.Attach(b.Context(), info.ID, core.TerminalAttach{Acks: true})
			if err != nil {
				return err
			}
			go func() {
				defer v.Close()
				at, got := int64(-1), int64(0)
				for {
					f, err := v.Next(b.Context())
					switch {
					case err != nil:
						results <- err
						return
					case f.Kind == core.FrameEnded:
						if at != want {
							results <- fmt.Errorf("ended at %d", at)
							return
						}
						results <- nil
						return
					case f.Kind == core.FrameOutput && f.Offset != at:
						results <- errors.New("a hole")
						return
					}
					got += int64(len(f.Data))
					if at = f.Offset; f.Kind == core.FrameOutput {
						at += int64(len(f.Data))
						frames++
					}
					v.Ack(got)
				}
			}()
		}
		for range viewers {
			if err := <-results; err != nil {
				return err
			}
		}
		return nil
	}
	kinds := []struct {
		name string
		run  func() error
		wall time.Duration
		cpu  time.Duration
	}{{name: "bare", run: bare}, {name: "1viewer", run: func() error { return session(1) }}}
	for b.Loop() {
		for i := range kinds {
			k := &kinds[i]
			start, cpu := time.Now(), cpuTime()
			if err := k.run(); err != nil {
				b.Fatal(err)
			}
			k.wall += time.Since(start)
			k.cpu += cpuTime() - cpu
		}
	}
	mb := float64(want) / 1e6 * float64(b.N)
	for _, k := range kinds {
		b.ReportMetric(mb/k.wall.Seconds(), k.name+"-MB/s")
		b.ReportMetric(k.cpu.Seconds()*1000/mb, k.name+"-cpu-ms/MB")
	}
	b.ReportMetric(float64(frames)/mb, "frames/MB")
	b.ReportMetric(kinds[0].wall.Seconds()/kinds[1].wall.Seconds(), "x-bare")
}
